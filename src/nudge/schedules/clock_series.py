"""Series of the clock: every so many hours, minutes or seconds, where day and time allow it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd, prod
from typing import Final

from nudge.schedules.days import Days
from nudge.schedules.periods import (
    COUNTING_JUMPS,
    HORIZON_DAYS,
    JUMPS,
    PERIOD_SECONDS,
    Freq,
    Times,
    nth_of_equal_periods,
    picked,
    times_of,
    too_costly,
    too_many_to_count,
)
from nudge.schedules.walls import DAY_SECONDS, LAST_DAY

_LONGEST_CYCLE: Final = 300
_EVERY: Final = (tuple(range(24)), tuple(range(60)), tuple(range(60)))
_UNITS: Final = (3600, 60, 1)


class ClockSeries:
    """Every `interval`th hour, minute or second from the start, where day and clock allow it."""

    __slots__ = ("_days", "_gate", "_interval", "_times", "_unit", "start")

    def __init__(
        self,
        *,
        freq: Freq,
        interval: int,
        start: int,
        days: Days,
        gate: Times | None,
        times: Times,
        positions: tuple[int, ...] = (),
    ) -> None:
        """`gate` holds the seconds of the day at which a period may begin, `times` the seconds within a period."""
        self._unit = PERIOD_SECONDS[freq]
        self._interval = interval
        self.start = start
        self._days = days
        self._gate = gate
        self._times = picked(times, positions) if positions else times

    def first(self, wall: int) -> int | None:
        """The first wall of the series at or after `wall`."""
        found, left = self._search(max(wall, self.start), JUMPS)
        if left < 0:
            raise too_costly()
        return found

    def nth(self, count: int) -> int | None:
        """The wall at which the series has struck `count` times, or None if that is centuries after its start."""
        if self._gate is None and self._days.every_day:
            base = self.start // self._unit * self._unit
            return nth_of_equal_periods(self.start, base, self._interval * self._unit, self._times, count)
        wall, left = self.start, COUNTING_JUMPS
        while wall < self.start + HORIZON_DAYS * DAY_SECONDS:
            found, left = self._search(wall, left)
            if left < 0:
                raise too_many_to_count()
            if found is None:
                return None
            base = found // self._unit * self._unit
            before = self._times.index(found - base)
            here = self._times.size - before
            if count <= here:
                return base + self._times.nth(before + count - 1)
            count -= here
            wall = base + self._unit
        return None

    def _search(self, wall: int, jumps: int) -> tuple[int | None, int]:
        """The first wall at or after `wall` and the jumps that are left; fewer than none if they did not suffice."""
        unit, gate, days = self._unit, self._gate, self._days
        filtered = not days.every_day
        limit = min(wall // DAY_SECONDS + HORIZON_DAYS, LAST_DAY)
        period = self._aligned(wall // unit)
        while jumps > 0:
            jumps -= 1
            base = period * unit
            day, second = divmod(base, DAY_SECONDS)
            if day > limit:
                return None, jumps
            if filtered:
                found = days.first(day, limit)
                if found is None:
                    return None, jumps
                if found != day:
                    period = self._aligned(found * DAY_SECONDS // unit)
                    continue
            if gate is not None:
                opens = gate.first(second)
                if opens != second:
                    tomorrow = (day + 1) * DAY_SECONDS
                    period = self._aligned((tomorrow if opens is None else day * DAY_SECONDS + opens) // unit)
                    continue
            time = self._times.first(wall - base if wall > base else 0)
            if time is not None:
                return base + time, jumps
            period += self._interval
        return None, -1

    def _aligned(self, period: int) -> int:
        return period + (self.start // self._unit - period) % self._interval


class Gate:
    """The hours, minutes and seconds of the day at which a period may begin, down to the period's own unit."""

    __slots__ = ("_finest", "_levels", "times")

    def __init__(self, freq: Freq, limits: Sequence[tuple[int, ...] | None]) -> None:
        """`limits` are BYHOUR, BYMINUTE and BYSECOND; of these the ones finer than the period do not limit it."""
        depth = freq - Freq.DAILY
        self._levels = [limit or every for limit, every in zip(limits[:depth], _EVERY, strict=False)]
        limited = [level for level, limit in enumerate(limits[:depth]) if limit is not None]
        self._finest = limited[-1] if limited else None
        self.times = times_of(*self._levels, *([(0,)] * (3 - depth))) if limited else None

    def never_opens(self, start: int, period: int) -> bool:
        """Whether steps of `period` seconds from `start` miss all these times, on every day there is."""
        if self._finest is None:
            return False
        common = gcd(period, DAY_SECONDS)
        sums, last = {0}, len(self._levels) - 1
        for level, unit in zip(self._levels[:last], _UNITS, strict=False):
            sums = {(before + value * unit) % common for before in sums for value in level}
        rest = {value * _UNITS[last] % common for value in self._levels[last]}
        return not any((start - before) % common in rest for before in sums)

    def opens_too_rarely(self, period: int, *, every_day: bool) -> bool:
        """Whether steps of `period` seconds may take many jumps to meet these times on an allowed day.

        Steps that divide the day, or are whole days, meet the same times every day. Others drift: they meet each time
        of the day that they can meet at all within a cycle, whose length is what counts. If only some days are allowed
        the two can be out of step for centuries, unless the steps are so short that they meet the times every day.
        """
        if DAY_SECONDS % period == 0 or period % DAY_SECONDS == 0:
            return False
        if not every_day:
            return period > self._longest_opening()
        if self._finest is None:
            return False
        common = gcd(period, DAY_SECONDS)
        openings = prod(len(level) for level in self._levels[: self._finest + 1])
        cycle = min(DAY_SECONDS // common, period // common * openings, HORIZON_DAYS * DAY_SECONDS // period)
        return cycle > _LONGEST_CYCLE

    def _longest_opening(self) -> int:
        """The seconds of the longest row of hours, minutes or seconds that follow each other without a break."""
        if self._finest is None:
            return DAY_SECONDS
        level = self._levels[self._finest]
        longest = row = 1
        for before, value in pairwise(level):
            row = row + 1 if value == before + 1 else 1
            longest = max(longest, row)
        return longest * _UNITS[self._finest]
