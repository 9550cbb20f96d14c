"""Fakes of the worker's ports: blobs in memory, and a sandbox by script."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping

from nudge.instants import Instant
from nudge.worker.blobs import BlobInfo
from nudge.worker.command_rules import Command, CommandJob, CommandRan, command_words
from nudge.worker.sandbox import Ending, Job, Ran


class MemoryBlobs:
    """Blobs that end with the process. `damage` and `lose` do what disks do.

    >>> blobs = MemoryBlobs()
    >>> blobs.put_new("a/1", b"x"), blobs.put_new("a/1", b"y"), blobs.get("a/1")
    (True, False, b'x')
    """

    def __init__(self, now: Callable[[], Instant] = lambda: Instant(0)) -> None:
        self._contents: dict[str, tuple[bytes, Instant]] = {}
        self._lock = threading.Lock()
        self._now = now

    def get(self, key: str) -> bytes | None:
        found = self._contents.get(key)
        return found[0] if found else None

    def put(self, key: str, content: bytes) -> None:
        self._contents[key] = (content, self._now())

    def put_new(self, key: str, content: bytes) -> bool:
        with self._lock:
            if key in self._contents:
                return False
            self.put(key, content)
            return True

    def list(self, prefix: str) -> Mapping[str, BlobInfo]:
        return {
            key: BlobInfo(len(content), at)
            for key, (content, at) in sorted(self._contents.items())
            if key.startswith(f"{prefix}/")
        }

    def delete(self, keys: Iterable[str]) -> None:
        for key in [*keys]:
            self._contents.pop(key, None)

    def damage(self, key: str) -> None:
        """Change one byte, or add one where there is none."""
        content = self.get(key) or b""
        self.put(key, bytes([content[0] ^ 1]) + content[1:] if content else b"x")

    def lose(self, key: str) -> None:
        del self._contents[key]


class ScriptedCommands:
    """The program of an agent by script: it runs nothing, gives one end after the other, and remembers how it was
    started. An end is an exit code, or all of it as a `CommandRan`.

    >>> import asyncio
    >>> program = ScriptedCommands("claude -p {message}", 0)
    >>> asyncio.run(program.run(CommandJob("builder", "run-1", ["claude"], "", {}, program.command))).ran.code
    0
    """

    def __init__(self, line: str, *ends: int | CommandRan) -> None:
        self.command = Command(command_words(line))
        self.jobs: list[CommandJob] = []
        self.before_end: Callable[[CommandJob], Awaitable[None]] | None = None
        self._ends = list(ends)

    async def run(self, job: CommandJob) -> CommandRan:
        self.jobs.append(job)
        if self.before_end is not None:
            await self.before_end(job)
        end = self._ends.pop(0) if self._ends else 0
        return CommandRan(Ran(Ending.EXITED, end, f"exit {end}\n")) if isinstance(end, int) else end


class ScriptedSandbox:
    """A sandbox that runs nothing: it gives one result after the other and remembers the jobs.

    >>> import asyncio
    >>> from pathlib import Path
    >>> asyncio.run(ScriptedSandbox("3 passed").run(Job("pytest", Path(".")))).output
    '3 passed'
    """

    name = "scripted"
    confines = True

    def __init__(self, *results: str | Ran) -> None:
        self._results = [Ran(Ending.EXITED, 0, one) if isinstance(one, str) else one for one in results]
        self.jobs: list[Job] = []

    async def run(self, job: Job) -> Ran:
        self.jobs.append(job)
        return self._results.pop(0) if self._results else Ran(Ending.EXITED, 0, "")
