"""When somebody is up, seen from their signs of life, and whether their targets still fit that.

An hour counts as slept through if it has signs on one of the last seven days at most. The longest such stretch is the
night, whenever it falls: a night worker's is by day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from nudge.instants import DAY, Instant, to_datetime

LOOK_BACK = 7 * DAY
ENOUGH_DAYS = 6
"""So many of the days must have signs of life; fewer say nothing."""
SHORTEST_NIGHT, LONGEST_NIGHT = 4, 11
"""Hours. A longer stretch without a sign is somebody whose phone is silent, not their sleep."""
SHIFTED = 3
"""Hours between a target and what is seen, from which on it is worth a question."""
_AWAKE_DAYS = 2


@dataclass(frozen=True, slots=True)
class SeenRhythm:
    """The full hours at which somebody gets up and goes to bed, and the hours in which they are mostly there."""

    wake: int
    bedtime: int
    awake: tuple[int, ...]

    def shifted_from(self, wake: float, bedtime: float) -> bool:
        """Whether targets, in hours, are far from this."""
        return apart(self.wake, wake) >= SHIFTED or apart(self.bedtime, bedtime) >= SHIFTED


def seen_rhythm(signs: Iterable[Instant], now: Instant, zone: tzinfo) -> SeenRhythm | None:
    """What the signs of life of the last week say; None where they say too little."""
    days: list[set[date]] = [set() for _ in range(24)]
    for sign in signs:
        if now - LOOK_BACK <= sign <= now:
            local = to_datetime(sign, zone)
            days[local.hour].add(local.date())
    if len(set().union(*days)) < ENOUGH_DAYS:
        return None
    there = [len(hour) >= _AWAKE_DAYS for hour in days]
    start, length = _longest_night(there)
    if not SHORTEST_NIGHT <= length <= LONGEST_NIGHT:
        return None
    return SeenRhythm((start + length) % 24, start, tuple(hour for hour in range(24) if there[hour]))


def _longest_night(there: Sequence[bool]) -> tuple[int, int]:
    """The hour with which the longest stretch without signs begins, around midnight too, and its length."""
    best = (0, 0)
    for start in range(24):
        length = next((n for n in range(24) if there[(start + n) % 24]), 24)
        if length > best[1]:
            best = start, length
    return best


def apart(one: float, other: float) -> float:
    """Hours between two times of day, the short way round.

    >>> apart(23, 1), apart(10, 16)
    (2, 6)
    """
    distance = abs(one - other) % 24
    return min(distance, 24 - distance)
