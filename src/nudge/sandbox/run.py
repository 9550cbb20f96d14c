"""Start a prepared command through the launcher, keep the ends of its output, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from nudge import process_tree
from nudge.output_pipe import OutputPipe
from nudge.worker.sandbox import Ending, Job, Limits, Ran

_LAUNCHER = Path(__file__).with_name("launch.py")
_MARK = "NUDGE_COMMAND_RUN"
_PATIENCE = 5.0
_THREADS_PER_PROCESS = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """How a sandbox runs one job: the program with its arguments, what is in its environment, and what the launcher
    does to it before it starts. `seccomp_argument` takes the filter's descriptor in place of installing it there.
    A `free` program is the person's own: it keeps all it may do, and only its time and its output are limited."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    landlock: Mapping[str, Any] | None = None
    seccomp: bytes | None = None
    seccomp_argument: str = ""
    stdin: bytes = b""
    free: bool = False


class CommandSandbox:
    """A sandbox that runs shell commands as `prepare` says. `prepare` gets the job and an empty private folder, which
    is gone afterwards."""

    def __init__(self, name: str, prepare: Callable[[Job, Path], Prepared], *, confines: bool = True) -> None:
        self.name = name
        self.confines = confines
        self._prepare = prepare

    def __repr__(self) -> str:
        return f"<CommandSandbox {self.name}>"

    async def run(self, job: Job) -> Ran:
        scratch = Path(tempfile.mkdtemp(prefix="nudge-run-"))
        try:
            return await _launch(self._prepare(job, scratch), job)
        finally:
            _remove(scratch)


async def run_own(
    argv: Sequence[str], folder: Path, environment: Mapping[str, str], *, stdin: bytes = b"", limits: Limits
) -> Ran:
    """Run a program of the person's own to its end or to its time limit. It is not confined, but nothing of it stays
    behind, whether it ends by itself, is stopped, or nudge dies."""
    prepared = Prepared(tuple(argv), environment, stdin=stdin, free=True)
    return await _launch(prepared, Job("", folder, limits))


async def _launch(prepared: Prepared, job: Job) -> Ran:
    mark = token_hex(8)
    half = max(1, job.limits.output_bytes // 2)
    output, status = OutputPipe(half, half), OutputPipe(1_000)
    filters = _file_with(prepared.seccomp) if prepared.seccomp and prepared.seccomp_argument else None
    argv = list(prepared.argv)
    if filters is not None:
        argv[1:1] = [prepared.seccomp_argument, str(filters)]
    orders = _orders(prepared, argv, job, {**prepared.environment, _MARK: mark}, filters)
    spec = _file_with(json.dumps(orders).encode())
    given = _file_with(prepared.stdin) if prepared.stdin else None
    passed = [spec, status.writer, *([filters] if filters is not None else [])]
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_LAUNCHER),
            str(spec),
            str(status.writer),
            env={_MARK: mark, "PATH": os.defpath},
            stdin=asyncio.subprocess.DEVNULL if given is None else given,
            stdout=output.writer,
            stderr=output.writer,
            pass_fds=passed,
            start_new_session=True,
        )
    except BaseException:
        output.close()
        status.close()
        raise
    finally:
        for descriptor in (*passed[::2], *([given] if given is not None else [])):
            os.close(descriptor)
    output.listen()
    status.listen()
    ending, code = Ending.TIMED_OUT, None
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(job.limits.seconds):
                await status.ended.wait()
            ending, code = _ending(status.text)
    finally:
        await _end(process, mark)
        status.close()
        output.close()
    return Ran(ending, code, output.text, output.left_out)


def _orders(
    prepared: Prepared, argv: list[str], job: Job, environment: Mapping[str, str], filters: int | None
) -> dict[str, Any]:
    inside = prepared.seccomp is not None and filters is None
    return {
        "parent": os.getpid(),
        "process_tree": process_tree.__file__,
        "argv": argv,
        "environment": dict(environment),
        "folder": str(job.folder),
        "free": prepared.free,
        "rlimits": {} if prepared.free else _rlimits(job.limits),
        "processes": job.limits.processes,
        "memory_bytes": job.limits.memory_bytes,
        "inherited": [] if filters is None else [filters],
        "landlock": prepared.landlock,
        "seccomp": prepared.seccomp.hex() if inside and prepared.seccomp else None,
    }


def _rlimits(limits: Limits) -> dict[str, int]:
    """The kernel's own limits. That of processes counts all of the user's, so those that are there now come on top; it
    does not bind root, whose processes the launcher counts."""
    found = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": limits.file_bytes, "RLIMIT_NOFILE": limits.open_files}
    if os.getuid():
        found["RLIMIT_NPROC"] = process_tree.tasks_of_user() + limits.processes * _THREADS_PER_PROCESS
    return found


def _ending(status: str) -> tuple[Ending, int | None]:
    """What the launcher wrote. One that wrote nothing was killed by somebody else."""
    if not status:
        return Ending.EXITED, -9
    ending, code = json.loads(status)
    return Ending(ending), code


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """The launcher ends everything below it and goes. What it may have missed is found by its mark."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    waiting = asyncio.ensure_future(process.wait())
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await asyncio.shield(waiting)
    finally:
        process_tree.kill_tree(process.pid, f"{_MARK}={mark}")
        await waiting


def _file_with(content: bytes) -> int:
    """A descriptor to read this from. No name leads to it."""
    descriptor, path = tempfile.mkstemp()
    Path(path).unlink()
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _remove(folder: Path) -> None:
    """Also what a command left there without permission to look into."""

    def unlock(function: Any, path: str, error: Any) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=unlock)
    shutil.rmtree(folder, ignore_errors=True)
