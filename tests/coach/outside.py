"""What the tests of the outside adapters share."""

from __future__ import annotations

import traceback

from nudge.instants import SECOND, Instant


class HastyClock:
    """A clock on which every sleep is over at once, has taken its time, and is remembered."""

    def __init__(self, start: int = 1_800_000_000) -> None:
        self._now = start * SECOND
        self.slept: list[float] = []

    def now(self) -> Instant:
        return Instant(self._now)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += round(seconds * SECOND)


def everything_said(error: BaseException) -> str:
    """All text that a log could show of an error: itself, its causes and contexts, their attributes and tracebacks."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in seen:
            seen.append(one)
            waiting += [one.__cause__, one.__context__]
    parts = [str(one) + repr(one) + repr(getattr(one, "__dict__", {})) for one in seen]
    return "\n".join([*parts, *traceback.format_exception(error)])
