"""Series of days: every so many years, months, weeks or days, and the same times on each day that is allowed."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date
from typing import Final

from nudge.schedules.days import Days
from nudge.schedules.periods import (
    COUNTING_JUMPS,
    HORIZON_DAYS,
    JUMPS,
    Freq,
    Listed,
    Times,
    indices,
    nth_of_equal_periods,
    picked,
    too_costly,
    too_many_to_count,
)
from nudge.schedules.walls import DAY_SECONDS, LAST_DAY

_PATIENCE: Final = 8
_SELDOM_DUE: Final = 180
_PICKING: Final = 200
_PICK_COUNTING: Final = 320
_YEAR_COST: Final = 4
_REMEMBERED: Final = 8
_REMEMBERED_WALLS: Final = 2_000
_WEEK: Final = 7 * DAY_SECONDS


class DaySeries:
    """Years, months, weeks or days, every `interval`th of them from the start, and the same times on each day."""

    __slots__ = ("_days", "_freq", "_interval", "_origin", "_picks", "_positions", "_times", "_week_start", "start")

    def __init__(
        self,
        *,
        freq: Freq,
        interval: int,
        start: int,
        days: Days,
        times: Times,
        week_start: int = 0,
        positions: tuple[int, ...] = (),
    ) -> None:
        """`positions` picks from the walls of a period: 1 is the first, -1 the last. Small ones come first."""
        self._freq = freq
        self._interval = interval
        self.start = start
        self._days = days
        self._week_start = week_start
        self._positions = positions
        if positions and freq is Freq.DAILY:
            times, self._positions = picked(times, positions), ()
        self._times = times
        self._origin = self._period(start // DAY_SECONDS)
        self._picks: dict[int, list[int]] = {}

    def first(self, wall: int) -> int | None:
        """The first wall of the series at or after `wall`."""
        wall = max(wall, self.start)
        found, left = self._first_pick(wall, _PICKING) if self._positions else self._search(wall, JUMPS)
        if left < 0:
            raise too_costly()
        return found

    def nth(self, count: int) -> int | None:
        """The wall at which the series has struck `count` times, or None if that is centuries after its start."""
        if self._positions:
            return self._nth_pick(count)
        if self._freq is Freq.DAILY and self._days.every_day:
            base = self.start // DAY_SECONDS * DAY_SECONDS
            return nth_of_equal_periods(self.start, base, self._interval * DAY_SECONDS, self._times, count)
        week = self._week()
        if week is not None:
            day = self.start // DAY_SECONDS
            base = (day - (day - 1 - self._week_start) % 7) * DAY_SECONDS
            return nth_of_equal_periods(self.start, base, self._interval * _WEEK, week, count)
        wall, left = self.start, COUNTING_JUMPS
        while wall < self._end_of_counting:
            found, left = self._search(wall, left)
            if left < 0:
                raise too_many_to_count()
            if found is None:
                return None
            day, second = divmod(found, DAY_SECONDS)
            before = self._times.index(second)
            here = self._times.size - before
            if count <= here:
                return day * DAY_SECONDS + self._times.nth(before + count - 1)
            count -= here
            wall = (day + 1) * DAY_SECONDS
        return None

    def _week(self) -> Times | None:
        """The times of a week, if all weeks of the series are the same."""
        weekdays = self._days.weekdays
        if weekdays is None or not (self._freq is Freq.WEEKLY or (self._freq is Freq.DAILY and self._interval == 1)):
            return None
        days = sorted((day - self._week_start) % 7 for day in weekdays)
        if len(days) * self._times.size > _REMEMBERED_WALLS:
            return None
        times = [self._times.nth(index) for index in range(self._times.size)]
        return Listed([day * DAY_SECONDS + time for day in days for time in times])

    def _search(self, wall: int, jumps: int) -> tuple[int | None, int]:
        """The first wall at or after `wall` and the jumps that are left; fewer than none if they did not suffice."""
        day, second = divmod(wall, DAY_SECONDS)
        limit = min(day + HORIZON_DAYS, LAST_DAY)
        patience = jumps - _PATIENCE
        while jumps > 0 and day <= limit:
            jumps -= 1
            found = self._days.first(day, limit)
            if found is None:
                return None, jumps
            if found != day:
                day, second = found, 0
            if self._interval > 1:
                due = self._aligned(day)
                if due != day:
                    day, second = due, 0
                    if jumps < patience and self._freq is Freq.DAILY:
                        return self._walk(day, limit, jumps)
                    continue
            time = self._times.first(second)
            if time is not None:
                return day * DAY_SECONDS + time, jumps
            day, second = day + 1, 0
        return None, jumps if day > limit else -1

    def _walk(self, day: int, limit: int, jumps: int) -> tuple[int | None, int]:
        """The same for days that are seldom both due and allowed: through the fewer of the two kinds, without jumps."""
        found = self._walk_due(day, limit) if self._interval >= _SELDOM_DUE else self._walk_allowed(day, limit)
        if found is None:
            return None, jumps - 1
        time = self._times.first(0)
        return (None, -1) if time is None else (found * DAY_SECONDS + time, jumps - 1)

    def _walk_due(self, day: int, limit: int) -> int | None:
        return next(
            (due for due in range(self._aligned(day), limit + 1, self._interval) if self._days.allows(due)), None
        )

    def _walk_allowed(self, day: int, limit: int) -> int | None:
        interval, origin = self._interval, self._origin
        for year in range(date.fromordinal(day).year, date.fromordinal(limit).year + 1):
            first = date(year, 1, 1).toordinal()
            due = (origin - first) % interval
            for allowed in self._days.in_year(year):
                if allowed % interval == due and first + allowed >= day:
                    return first + allowed if first + allowed <= limit else None
        return None

    def _first_pick(self, wall: int, effort: int) -> tuple[int | None, int]:
        """The same for BYSETPOS, where whole periods are laid out: a year of days costs more than a month."""
        period = self._aligned_period(self._period(wall // DAY_SECONDS))
        limit = min(wall // DAY_SECONDS + HORIZON_DAYS, LAST_DAY)
        cost = _YEAR_COST if self._freq is Freq.YEARLY else 1
        while effort > 0:
            effort -= cost
            picks = self._picks_of(period)
            if picks and picks[-1] >= wall:
                return picks[bisect_left(picks, wall)], max(effort, 0)
            start = self._first_day(period + self._interval)
            day = self._days.first(start, limit) if start <= limit else None
            if day is None:
                return None, max(effort, 0)
            period = self._aligned_period(self._period(day))
        return None, -1

    def _nth_pick(self, count: int) -> int | None:
        wall, left = self.start, _PICK_COUNTING
        while wall < self._end_of_counting:
            found, left = self._first_pick(wall, left)
            if left < 0:
                raise too_many_to_count()
            if found is None:
                return None
            period = self._period(found // DAY_SECONDS)
            picks = self._picks_of(period)
            here = picks[bisect_left(picks, wall) :]
            if count <= len(here):
                return here[count - 1]
            count -= len(here)
            wall = self._first_day(period + self._interval) * DAY_SECONDS
        return None

    @property
    def _end_of_counting(self) -> int:
        return self.start + HORIZON_DAYS * DAY_SECONDS

    def _picks_of(self, period: int) -> list[int]:
        """The walls that BYSETPOS picks from a period."""
        known = self._picks.get(period)
        if known is not None:
            return known
        days = self._days.between(self._first_day(period), self._first_day(period + 1) - 1)
        per_day = self._times.size
        picks = []
        for index in indices(self._positions, len(days) * per_day):
            day, time = divmod(index, per_day)
            picks.append(days[day] * DAY_SECONDS + self._times.nth(time))
        if len(self._picks) == _REMEMBERED:
            self._picks.clear()
        self._picks[period] = picks
        return picks

    def _period(self, day: int) -> int:
        """The number of the period that a day belongs to."""
        if self._freq is Freq.DAILY:
            return day
        if self._freq is Freq.WEEKLY:
            return (day - 1 - self._week_start) // 7
        on = date.fromordinal(day)
        return on.year if self._freq is Freq.YEARLY else on.year * 12 + on.month - 1

    def _first_day(self, period: int) -> int:
        if self._freq is Freq.DAILY:
            return period
        if self._freq is Freq.WEEKLY:
            return max(period * 7 + 1 + self._week_start, 1)
        year, month = (period, 0) if self._freq is Freq.YEARLY else divmod(period, 12)
        return date(year, month + 1, 1).toordinal() if year <= 9998 else LAST_DAY + 1

    def _aligned_period(self, period: int) -> int:
        return period + (self._origin - period) % self._interval

    def _aligned(self, day: int) -> int:
        """The day itself if its period is one of every `interval`, else the first day of the next that is."""
        period = self._period(day)
        due = self._aligned_period(period)
        return day if due == period else self._first_day(due)
