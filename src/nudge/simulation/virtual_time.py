"""Virtual time: a loop whose clock jumps to the next deadline as soon as nothing is left to do now.

A month of waiting takes as long as the work in it. `asyncio.sleep`, `asyncio.timeout` and everything built on them are
virtual too, because the loop's own clock is.

When it misleads: work in a thread is invisible to the loop, so time may jump past it. Work on a socket or a pipe and in
a process is seen: while there is any, the loop first waits up to a real second for it, and only then jumps.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from nudge.instants import SECOND, Instant, Moment, as_instant

T = TypeVar("T")

_REAL_PATIENCE = 1.0

_RESOLUTION = 5e-7
"""Seconds that count as the same time. A loop takes the machine's nanosecond; after half a year of virtual seconds a
float can no longer tell one nanosecond from the next, and a deadline that has come would stay ahead forever."""


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of blocking until a deadline, it tells the loop that the deadline has come."""

    def __init__(self) -> None:
        super().__init__()
        self.jump: Callable[[float], None] = lambda seconds: None
        self.own = 0  # how many descriptors belong to the loop itself
        self.children: Callable[[], bool] = lambda: False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events or timeout == 0:
            return events
        if len(self.get_map()) > self.own or self.children():
            events = super().select(_REAL_PATIENCE if timeout is not None else None)
            if events:
                return events
        if timeout is None:
            return super().select(None)  # nothing to jump to: only the world can wake us
        self.jump(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits for time: when nothing is ready it moves its clock to the next deadline."""

    def __init__(self) -> None:
        selector = _JumpingSelector()
        self._virtual = 0.0
        super().__init__(selector)
        self._clock_resolution = _RESOLUTION
        selector.own = len(selector.get_map())
        selector.jump = self._jump
        selector.children = self._has_children
        self._children: list[asyncio.SubprocessTransport] = []

    async def _make_subprocess_transport(self, *args: Any, **options: Any) -> Any:
        """Before Python 3.12 a thread waits for a process to end; the loop sees its pipes, but not that."""
        transport = await super()._make_subprocess_transport(*args, **options)  # type: ignore[misc]
        self._children.append(transport)
        return transport

    def _has_children(self) -> bool:
        self._children = [child for child in self._children if child.get_returncode() is None]
        return bool(self._children)

    def time(self) -> float:
        return self._virtual

    def _jump(self, seconds: float) -> None:
        self._virtual += seconds


class VirtualClock:
    """The Clock on a VirtualLoop. `jump` moves the wall clock alone, as a suspend or a changed system time does. On an
    ordinary loop it shows `start` when it is first looked at, and goes on from there."""

    def __init__(self, start: Moment, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop
        self._start = as_instant(start)
        self._began: float | None = None

    def now(self) -> Instant:
        loop = self._loop or asyncio.get_running_loop()
        if self._began is None:
            self._began = 0.0 if isinstance(loop, VirtualLoop) else loop.time()
        return Instant(self._start + round((loop.time() - self._began) * SECOND))

    def jump(self, microseconds: int) -> None:
        self._start = Instant(self._start + microseconds)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True


def run_virtual(main: Callable[[VirtualClock], Awaitable[T]], start: Moment) -> T:
    """Run `main(clock)` to its end in virtual time.

    >>> from datetime import UTC, datetime, timedelta
    >>> async def main(clock):
    ...     before = clock.now()
    ...     await clock.sleep(30 * 86_400)
    ...     return clock.now() - before
    >>> timedelta(microseconds=run_virtual(main, datetime(2026, 1, 1, tzinfo=UTC)))
    datetime.timedelta(days=30)
    """

    async def on_clock() -> T:
        return await main(VirtualClock(start))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(on_clock())
