"""A daemon that can die anywhere: its tasks end, its memory is gone, and what it had not committed never happened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

from nudge.coach.polling import Polling
from nudge.daemon.assemble import Daemon

CURRENT: ContextVar[Process | None] = ContextVar("process", default=None)
"""The process whose code is running. Tasks inherit it, so whatever a daemon starts belongs to it."""


class Crash(BaseException):
    """The process dies here. No `except Exception` may hold it up."""


class Process:
    """One run of the daemon. It is dead from the moment it crashes: whatever of it still runs can write and send
    nothing."""

    def __init__(self, owner: str, home: str) -> None:
        self.owner = owner
        self.home = home
        self.dead = False
        self.ended = asyncio.Event()
        self.daemon: Daemon | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def adopt(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def die(self) -> None:
        """From here on it is dead; its tasks are cleared away before time goes on."""
        if not self.dead:
            self.dead = True
            asyncio.get_running_loop().call_soon(self._clear)

    async def run(
        self, make: Callable[[], Daemon], started: Callable[[], Awaitable[None]], poll: Callable[[Daemon], Polling]
    ) -> None:
        """Start, listen and fire until stopped. Runs in a context of its own."""
        CURRENT.set(self)
        try:
            self.daemon = make()
            await self.daemon.start()
            await started()
            await self.daemon.store.timers.cancel("coach", "routines")
            polling = asyncio.create_task(poll(self.daemon).run())
            try:
                await self.daemon.run()
            finally:
                polling.cancel()
                await asyncio.gather(polling, return_exceptions=True)
        finally:
            self.ended.set()

    def _clear(self) -> None:
        living = [task for task in self._tasks if not task.done()]
        for task in living:
            task.cancel()
        if living:  # one that swallows its cancellation is cancelled again
            asyncio.get_running_loop().call_soon(self._clear)
        else:
            self.ended.set()


def task_factory(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any
) -> asyncio.Task[Any]:
    """Every task belongs to the process that started it."""
    task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
    process = CURRENT.get()
    if process is not None:
        process.adopt(task)
    return task


def check_alive() -> None:
    """Called wherever a process touches the world."""
    process = CURRENT.get()
    if process is not None and process.dead:
        raise Crash
