"""What all series share: the length of their periods, how far and how long they search, and counting.

A series is the walls at which a rule strikes. A question is answered by arithmetic from its start, never by walking
through its past, so the age of the start costs nothing. A search looks one whole cycle of the calendar ahead (400
years, after which weekdays and leap years repeat) and takes a limited number of jumps; a rule that needs more is
refused.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import takewhile
from typing import Final

from nudge.errors import InvalidScheduleError
from nudge.schedules.times import Listed, Times
from nudge.schedules.walls import DAY_SECONDS, LAST_DAY

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
