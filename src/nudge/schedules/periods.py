"""What all series share: sets of times within a period, how long a period is, and how far to search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import IntEnum
from itertools import takewhile
from typing import Final, Protocol

from nudge.errors import InvalidScheduleError
from nudge.schedules.walls import DAY_SECONDS, LAST_DAY

_LISTED = 512


class Times(Protocol):
    """An ordered set of seconds."""

    @property
    def size(self) -> int: ...

    def first(self, second: int) -> int | None:
        """The first one at or after `second`, or None."""

    def index(self, second: int) -> int:
        """How many lie before `second`."""

    def nth(self, index: int) -> int:
        """The one with `index` others before it."""


class Listed:
    """Times written out."""

    __slots__ = ("_seconds", "size")

    def __init__(self, seconds: Sequence[int]) -> None:
        self._seconds = tuple(seconds)
        self.size = len(self._seconds)

    def first(self, second: int) -> int | None:
        index = bisect_left(self._seconds, second)
        return self._seconds[index] if index < self.size else None

    def index(self, second: int) -> int:
        return bisect_left(self._seconds, second)

    def nth(self, index: int) -> int:
        return self._seconds[index]


class Product:
    """Every one of the hours with every one of the minutes and seconds."""

    __slots__ = ("_hours", "_minutes", "_seconds", "size")

    def __init__(self, hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> None:
        self._hours, self._minutes, self._seconds = tuple(hours), tuple(minutes), tuple(seconds)
        self.size = len(self._hours) * len(self._minutes) * len(self._seconds)

    def first(self, second: int) -> int | None:
        index = self.index(second)
        return self.nth(index) if index < self.size else None

    def index(self, second: int) -> int:
        hour, rest = divmod(second, 3600)
        minute, rest = divmod(rest, 60)
        hours, minutes, seconds = self._hours, self._minutes, self._seconds
        at = bisect_left(hours, hour)
        before = at * len(minutes) * len(seconds)
        if at == len(hours) or hours[at] != hour:
            return before
        at = bisect_left(minutes, minute)
        before += at * len(seconds)
        if at == len(minutes) or minutes[at] != minute:
            return before
        return before + bisect_left(seconds, rest)

    def nth(self, index: int) -> int:
        index, second = divmod(index, len(self._seconds))
        hour, minute = divmod(index, len(self._minutes))
        return self._hours[hour] * 3600 + self._minutes[minute] * 60 + self._seconds[second]


def times_of(hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> Times:
    """The times that these hours, minutes and seconds (each in order) make together."""
    if len(hours) * len(minutes) * len(seconds) > _LISTED:
        return Product(hours, minutes, seconds)
    return Listed([hour * 3600 + minute * 60 + second for hour in hours for minute in minutes for second in seconds])


HORIZON_DAYS: Final = 146_097
"""400 years, to the day."""

JUMPS: Final = 1_000
"""What one search may take. Rules people write take one to three; the strangest that is not refused takes some 500."""

COUNTING_JUMPS: Final = 500
"""What finding the end of a COUNT may take, all searches together."""


class Freq(IntEnum):
    """How long one period of a rule is; the larger, the finer."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5
    SECONDLY = 6


PERIOD_SECONDS: Final = {Freq.DAILY: DAY_SECONDS, Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}


def too_costly() -> InvalidScheduleError:
    return InvalidScheduleError(
        "This rule never fires, or so rarely that its next time cannot be found quickly.",
        next_step="Use an INTERVAL that divides the day or the year, or fewer BY parts.",
    )


def nth_of_equal_periods(start: int, base: int, step: int, times: Times, count: int) -> int | None:
    """The `count`th wall from `start` where every period has the same times; the first period begins at `base`."""
    if times.size == 0:
        return None
    periods, index = divmod(times.index(start - base) + count - 1, times.size)
    wall = base + periods * step + times.nth(index)
    return wall if wall // DAY_SECONDS <= LAST_DAY else None


def picked(times: Times, positions: tuple[int, ...]) -> Times:
    """The times at these positions, for periods that all have the same times."""
    return Listed([times.nth(index) for index in indices(positions, times.size)])


def indices(positions: tuple[int, ...], size: int) -> list[int]:
    """BYSETPOS as indices into a period of `size` walls, in order and each once; what is outside falls away."""
    inside = takewhile(lambda position: abs(position) <= size, positions)
    return sorted({position - 1 if position > 0 else size + position for position in inside})


def too_many_to_count() -> InvalidScheduleError:
    return InvalidScheduleError(
        "This rule's COUNT is too large to find its end quickly.", next_step="Say when it ends with UNTIL instead."
    )
