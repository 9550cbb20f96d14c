"""The Clock port. Nobody but its adapters reads the time."""

from __future__ import annotations

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
