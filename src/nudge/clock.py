"""The Clock: the one place that reads the time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from nudge.instants import Instant

if TYPE_CHECKING:
    import asyncio


class Clock(Protocol):
    def now(self) -> Instant:
        """The wall clock. It may jump: nothing may rely on it never going back."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for the event, at most that long. True if it came."""
        ...


class SystemClock:
    """The time of this machine."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1000)  # noqa: TID251

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        import asyncio

        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True
