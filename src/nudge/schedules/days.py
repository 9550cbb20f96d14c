"""Which calendar days a rule allows, and the first such day at or after a given one.

Days are ordinals (0001-01-01 is 1). What a month allows depends only on its length, the weekday it starts on and, for
rules that count in years, on where leap years lie around it. So each rule keeps a few dozen small tables at most, and a
search over centuries is a walk over years, not over days.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from calendar import isleap, monthrange
from collections.abc import Iterable, Sequence
from datetime import date
from enum import Enum
from functools import lru_cache
from typing import Final

NthWeekday = tuple[int, int]
"""(2, 1) is the second Tuesday, (-1, 4) the last Friday, (0, 0) any Monday."""

_EVERY_DAY: Final = (0,) * 7
_WHOLE_WEEK: Final = frozenset(range(7))
_LENGTHS: Final = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class DependsOn(Enum):
    """What decides which days of a month are allowed, besides the weekday it starts on."""

    MONTH = "how long the month is"
    YEAR = "which month of a leap or common year it is"
    NEIGHBOURS = "also whether the years around are leap years: weeks reach across"


class Days(ABC):
    """The base of both calendars: every day, or certain weekdays, without a table; anything else by months."""

    __slots__ = ("_depends_on", "_months", "_steps", "_tables", "_years")

    def __init__(
        self,
        *,
        weekdays: Iterable[int] | None = None,
        months: frozenset[int] | None = None,
        depends_on: DependsOn = DependsOn.MONTH,
    ) -> None:
        """`weekdays` is for a rule that asks for nothing else."""
        self._steps = None if weekdays is None else _steps_to(frozenset(weekdays))
        self._months = months
        self._depends_on = depends_on
        self._tables: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._years: dict[tuple[int, ...], tuple[int, ...]] = {}

    @property
    def every_day(self) -> bool:
        return self._steps == _EVERY_DAY

    @property
    def weekdays(self) -> frozenset[int] | None:
        """The weekdays (Monday is 0) of a rule that asks for nothing else."""
        if self._steps is None:
            return None
        return frozenset((day - 1) % 7 for day, step in enumerate(self._steps) if step == 0)

    def first(self, day: int, limit: int) -> int | None:
        """The first allowed day at or after `day` and not after `limit`."""
        if self._steps is not None:
            found = day + self._steps[day % 7]
            return found if found <= limit else None
        start = date.fromordinal(day)
        found_day = self._first_in_year(start, day)
        year = start.year
        while found_day is None:
            year += 1
            first = date(year, 1, 1).toordinal() if year <= 9998 else limit + 1
            if first > limit:
                return None
            in_year = self.in_year(year)
            if in_year:
                found_day = first + in_year[0]
        return found_day if found_day <= limit else None

    def allows(self, day: int) -> bool:
        if self._steps is not None:
            return self._steps[day % 7] == 0
        on = date.fromordinal(day)
        if self._months is not None and on.month not in self._months:
            return False
        return on.day in self._table(on.year, on.month, day - on.day + 1)

    def between(self, start: int, end: int) -> list[int]:
        """All allowed days from `start` to `end`, both included."""
        if self._steps is not None:
            steps = self._steps
            return [day for day in range(start, end + 1) if steps[day % 7] == 0]
        on = date.fromordinal(start)
        first = start - on.day + 1
        if end < first + _length(on.year, on.month):
            if self._months is not None and on.month not in self._months:
                return []
            return [first + n - 1 for n in self._table(on.year, on.month, first) if start <= first + n - 1 <= end]
        found: list[int] = []
        for year in range(on.year, date.fromordinal(end).year + 1):
            first = date(year, 1, 1).toordinal()
            found += [first + day for day in self.in_year(year) if start <= first + day <= end]
        return found

    def in_year(self, year: int) -> tuple[int, ...]:
        """The allowed days of a year, 1 January being 0. A rare rule looks at each kind of year once."""
        first = date(year, 1, 1).toordinal()
        key = _kind(year, first)
        found = self._years.get(key)
        if found is None:
            days: list[int] = []
            for month in range(1, 13) if self._months is None else sorted(self._months):
                begins = date(year, month, 1).toordinal()
                days += [begins - first + number - 1 for number in self._table(year, month, begins)]
            found = self._years[key] = tuple(days)
        return found

    def _first_in_year(self, start: date, day: int) -> int | None:
        """Month by month, unless the whole year was looked at before: most rules find a day nearby."""
        if self._years:
            new_year = date(start.year, 1, 1).toordinal()
            known = self._years.get(_kind(start.year, new_year))
            if known is not None:
                index = bisect_left(known, day - new_year)
                return new_year + known[index] if index < len(known) else None
        months, number = self._months, start.day
        for month in range(start.month, 13):
            if months is None or month in months:
                first = date(start.year, month, 1).toordinal()
                for allowed in self._table(start.year, month, first):
                    if allowed >= number:
                        return first + allowed - 1
            number = 1
        return None

    def _table(self, year: int, month: int, first: int) -> tuple[int, ...]:
        key: tuple[int, ...]
        if self._depends_on is DependsOn.MONTH:
            key = (first % 7, _length(year, month))
        elif self._depends_on is DependsOn.YEAR:
            key = (first % 7, month, isleap(year))
        else:
            key = (first % 7, month, isleap(year), isleap(year - 1), isleap(year + 1))
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = tuple(self._allowed(year, month))
        return table

    @abstractmethod
    def _allowed(self, year: int, month: int) -> Iterable[int]:
        """The allowed days of one month, in order."""


class RuleDays(Days):
    """The days of an RRULE: a day must pass every part that the rule has."""

    __slots__ = ("_month_days", "_nth", "_nth_of_year", "_week_numbers", "_week_start", "_weekdays", "_year_days")

    def __init__(
        self,
        *,
        months: tuple[int, ...] | None,
        week_numbers: tuple[int, ...] | None,
        year_days: tuple[int, ...] | None,
        month_days: tuple[int, ...] | None,
        weekdays: tuple[NthWeekday, ...] | None,
        week_start: int,
        nth_of_year: bool,
    ) -> None:
        self._weekdays = frozenset(day for nth, day in weekdays or () if nth == 0)
        self._nth = tuple(pair for pair in weekdays or () if pair[0])
        self._nth_of_year = nth_of_year
        self._month_days = frozenset(month_days) if month_days is not None else None
        self._year_days = frozenset(year_days) if year_days is not None else None
        self._week_numbers = frozenset(week_numbers) if week_numbers is not None else None
        self._week_start = week_start
        simple = not self._nth and all(part is None for part in (months, month_days, year_days, week_numbers))
        if week_numbers is not None:
            depends_on = DependsOn.NEIGHBOURS
        elif year_days is not None or (nth_of_year and self._nth):
            depends_on = DependsOn.YEAR
        else:
            depends_on = DependsOn.MONTH
        super().__init__(
            weekdays=(self._weekdays or _WHOLE_WEEK) if simple else None,
            months=frozenset(months) if months is not None else None,
            depends_on=depends_on,
        )

    def _allowed(self, year: int, month: int) -> Iterable[int]:
        first_weekday, length = monthrange(year, month)
        numbers: Iterable[int] = range(1, length + 1)
        if self._month_days is not None:
            wanted = {number if number > 0 else length + 1 + number for number in self._month_days}
            numbers = sorted(wanted.intersection(numbers))
        if self._year_days is not None:
            before = date(year, month, 1).toordinal() - date(year, 1, 1).toordinal()
            back = before - (366 if isleap(year) else 365) - 1
            wanted = {day - (before if day > 0 else back) for day in self._year_days}
            numbers = sorted(wanted.intersection(numbers))
        if self._weekdays or self._nth:
            nth = self._nth_days(year, month, first_weekday, length)
            weekdays = self._weekdays
            numbers = [n for n in numbers if (first_weekday + n - 1) % 7 in weekdays or n in nth]
        if self._week_numbers is not None:
            in_weeks = self._days_in_weeks(date(year, month, 1).toordinal(), length)
            numbers = [number for number in numbers if number in in_weeks]
        return numbers

    def _nth_days(self, year: int, month: int, first_weekday: int, length: int) -> set[int]:
        """The days of the month that are an nth weekday of it, or of the whole year."""
        offset = 0
        if self._nth_of_year and self._nth:
            offset = date(year, month, 1).toordinal() - date(year, 1, 1).toordinal()
            first_weekday, length = date(year, 1, 1).weekday(), 366 if isleap(year) else 365
        found = set()
        for nth, weekday in self._nth:
            first = 1 + (weekday - first_weekday) % 7
            last = length - (first_weekday + length - 1 - weekday) % 7
            number = first + 7 * (nth - 1) if nth > 0 else last + 7 * (nth + 1)
            if 1 <= number <= length:
                found.add(number - offset)
        return found

    def _days_in_weeks(self, first: int, length: int) -> set[int]:
        """The days around a month whose week is asked for, by its number from the front or from the back of its year.

        A week belongs to the year that has four of its days or more, so the first days of January may be of week 53.
        """
        assert self._week_numbers is not None
        found: set[int] = set()
        for middle in range(first - (first - 1 - self._week_start) % 7 + 3, first + length + 3, 7):
            year = date.fromordinal(middle).year
            front = (middle - date(year, 1, 1).toordinal()) // 7 + 1
            back = -((date(year, 12, 31).toordinal() - middle) // 7 + 1)
            if front in self._week_numbers or back in self._week_numbers:
                found.update(range(middle - first - 2, middle - first + 5))
        return found


def _kind(year: int, first: int) -> tuple[int, ...]:
    """Years of one kind have the same allowed days, whatever the rule."""
    return first % 7, isleap(year), isleap(year - 1), isleap(year + 1)


def _length(year: int, month: int) -> int:
    return 29 if month == 2 and isleap(year) else _LENGTHS[month]


@lru_cache(maxsize=128)
def _steps_to(weekdays: frozenset[int]) -> Sequence[int]:
    """For each `ordinal % 7` (1 is Monday), how many days it is to the next of the weekdays."""
    return tuple(next(step for step in range(7) if (day - 1 + step) % 7 in weekdays) for day in range(7))


@lru_cache(maxsize=256)
def rule_days(
    months: tuple[int, ...] | None,
    week_numbers: tuple[int, ...] | None,
    year_days: tuple[int, ...] | None,
    month_days: tuple[int, ...] | None,
    weekdays: tuple[NthWeekday, ...] | None,
    week_start: int,
    nth_of_year: bool,
) -> RuleDays:
    """The days of these parts; rules that differ only in their start or their times share one."""
    return RuleDays(
        months=months,
        week_numbers=week_numbers,
        year_days=year_days,
        month_days=month_days,
        weekdays=weekdays,
        week_start=week_start,
        nth_of_year=nth_of_year,
    )
