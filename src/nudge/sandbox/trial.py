"""What a sandbox really stops, found out by trying: `nudge doctor` runs these, each first without the sandbox.

An attempt that fails without a sandbox too proves nothing. The targets are made for the trial, beside the workspace: a
file with a secret, a process, a service.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nudge.sandbox.choose import unconfined
from nudge.worker.sandbox import Job, Limits, Sandbox

_WORD = "through-"
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that a command must not be able to do; it ends with 0 if it did. `{name}` are targets of the trial."""

    what: str
    command: str


ATTEMPTS: tuple[Attempt, ...] = (
    Attempt("read files outside", "grep -q secret {outside}/secret"),
    Attempt("list folders outside", "ls {outside} | grep -q secret"),
    Attempt("write files outside", "echo x > {outside}/written"),
    Attempt("change modes outside", "chmod 600 {outside}/secret"),
    Attempt("use the network", "exec 3<>/dev/tcp/127.0.0.1/{port}"),
    Attempt("see other processes", "grep -qz NUDGE_TRIAL /proc/{pid}/environ"),
    Attempt("end other processes", "kill -0 {pid}"),
)
_WORK = "echo x > made && grep -q x made && rm made"


@dataclass(frozen=True, slots=True)
class Found:
    """`works` says whether ordinary work is possible. Attempts that do not succeed without a sandbox either are in
    neither list."""

    works: bool
    stopped: tuple[str, ...]
    possible: tuple[str, ...]


def examine(sandbox: Sandbox) -> Found:
    async def main() -> Found:
        with targets() as (workspace, names):
            attempts = [attempt.command for attempt in ATTEMPTS]
            works = bool(await _succeeding(sandbox, [_WORK], workspace, names))
            without = await _succeeding(unconfined(), attempts, workspace, names)
            inside = await _succeeding(sandbox, attempts, workspace, names)
            return Found(
                works,
                tuple(ATTEMPTS[number].what for number in sorted(without - inside)),
                tuple(ATTEMPTS[number].what for number in sorted(inside)),
            )

    return asyncio.run(main())


async def _succeeding(sandbox: Sandbox, commands: Sequence[str], workspace: Path, names: Mapping[str, str]) -> set[int]:
    """The numbers of the commands that ended with 0."""
    script = "\n".join(
        f"( {command} ) >/dev/null 2>&1 && echo {_WORD}{number}" for number, command in enumerate(commands)
    )
    for name, value in names.items():
        script = script.replace(f"{{{name}}}", value)
    ran = await sandbox.run(Job(script, workspace, Limits(seconds=_SECONDS)))
    return {number for number in range(len(commands)) if f"{_WORD}{number}" in ran.output.split()}


@contextlib.contextmanager
def targets() -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty workspace, and things beside it to reach for."""
    with tempfile.TemporaryDirectory(prefix="nudge-trial-") as name, socket.socket() as service:
        folder = Path(name)
        workspace, outside = folder / "workspace", folder / "outside"
        workspace.mkdir()
        outside.mkdir()
        (outside / "secret").write_text("secret\n")
        service.bind(("127.0.0.1", 0))
        service.listen(64)
        sleeper = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            env={**os.environ, "NUDGE_TRIAL": "1"},
        )
        try:
            yield (
                workspace,
                {
                    "outside": str(outside),
                    "port": str(service.getsockname()[1]),
                    "pid": str(sleeper.pid),
                },
            )
        finally:
            sleeper.kill()
            sleeper.communicate()
