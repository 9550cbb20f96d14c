"""What a sandbox really stops, found out by trying: `nudge doctor` runs these, each first without the sandbox.

An attempt that fails without a sandbox too proves nothing and is told as "not tried". Each prints a word if it
succeeded. Targets are made for the trial beside the workspace: a file with a secret, a process, a service.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nudge.sandbox.choose import unconfined
from nudge.worker.sandbox import Job, Limits, Sandbox

WORD = "got-through"
_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that a command must not be able to do. `{name}` in the command are the targets of the trial."""

    what: str
    command: str


ATTEMPTS: tuple[Attempt, ...] = (
    Attempt("read files outside", "grep -q secret {outside}/secret && echo {word}"),
    Attempt("list folders outside", "ls {outside} | grep -q secret && echo {word}"),
    Attempt("write files outside", "echo x > {outside}/written && echo {word}"),
    Attempt("change files outside", "chmod 600 {outside}/secret && echo {word}"),
    Attempt("reach services on this machine", "exec 3<>/dev/tcp/127.0.0.1/{port} && echo {word}"),
    Attempt("see other processes", "grep -qz NUDGE_TRIAL /proc/{pid}/environ && echo {word}"),
    Attempt("end other processes", "kill -0 {pid} && echo {word}"),
)
WORKS = "echo x > made && cat made >/dev/null && rm made && echo {word}"


@dataclass(frozen=True, slots=True)
class Found:
    """`stopped` is None where the attempt did not work without a sandbox either."""

    what: str
    stopped: bool | None


def examine(sandbox: Sandbox) -> tuple[bool, list[Found]]:
    """Whether ordinary work is possible in it, and what came of each attempt."""

    async def main() -> tuple[bool, list[Found]]:
        with targets() as (workspace, names):

            async def succeeds(where: Sandbox, command: str) -> bool:
                for name, value in names.items():
                    command = command.replace(f"{{{name}}}", value)
                ran = await where.run(Job(command, workspace, Limits(seconds=_SECONDS)))
                return WORD in ran.output

            works = await succeeds(sandbox, WORKS)
            found = []
            for attempt in ATTEMPTS:
                possible = await succeeds(unconfined(), attempt.command)
                stopped = not await succeeds(sandbox, attempt.command) if possible else None
                found.append(Found(attempt.what, stopped))
            return works, found

    return asyncio.run(main())


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
                    "word": WORD,
                },
            )
        finally:
            sleeper.kill()
            sleeper.communicate()
