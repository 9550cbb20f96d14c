"""What the parts of a phrase say, before anybody looks at the calendar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from enum import Enum
from typing import Final

from nudge.instants import Instant
from nudge.phrases.refusal import Refused

DEFAULT_TIME: Final = time(9)
"""The time of a day that was named without one. The echo shows it."""

CLOSING_TIME: Final = time(17)
"""When a day, a week or a month ends for the people who say so."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. `marked` means that it cannot be another one: it has am or pm, or only the 24-hour clock has it.

    `alone` is a number with nothing around it that makes it a time, such as the 9 of "9 in the morning".
    """

    at: time
    said: str
    marked: bool
    alone: bool = False
    midnight: bool = False


class Part(Enum):
    """A part of the day: its name, its time if none is said, and the hours that belong to it."""

    MORNING = ("morning", time(9), range(12))
    AFTERNOON = ("afternoon", time(15), range(12, 19))
    EVENING = ("evening", time(18), range(16, 24))
    NIGHT = ("night", time(20), range(18, 24))
    CLOSE = ("end of day", CLOSING_TIME, range(16, 24))

    @property
    def label(self) -> str:
        return self.value[0]

    @property
    def default(self) -> time:
        return self.value[1]

    def fit(self, clock: Clock) -> time:
        """The time of the clock within this part: "8" in the evening is 20:00, and 3pm in the morning is refused."""
        hour = clock.at.hour
        if not clock.marked and hour < 12 and self is not Part.MORNING:
            hour += 12
        if hour not in self.value[2]:
            name = "tonight" if self is Part.NIGHT else f"the {self.label}"
            raise Refused(f"{clock.said} is not a time of {name}")
        return clock.at.replace(hour=hour)


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """`bare` is "morning" without "in the" or "this": it needs a day or a rule beside it."""

    part: Part
    bare: bool = False


class Week(Enum):
    SOONEST = "soonest"  # friday: the next one whose time is ahead
    THIS = "this"  # this friday: the one within seven days, refused if its time has passed
    NEXT = "next"  # next friday: the one of next week; weeks begin on Monday


class Period(Enum):
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class InDays:
    """today, tomorrow, the day after tomorrow."""

    days: int


@dataclass(frozen=True, slots=True)
class OnWeekday:
    weekday: int
    week: Week = Week.SOONEST


@dataclass(frozen=True, slots=True)
class OnDate:
    """A day of the calendar. `numeric` dates (2026-02-20 5:00) come with the 24-hour clock."""

    month: int
    day: int
    year: int | None = None
    numeric: bool = False
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class OnDayOfMonth:
    day: int
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class StartOfNext:
    period: Period


@dataclass(frozen=True, slots=True)
class EndOf:
    period: Period


Day = InDays | OnWeekday | OnDate | OnDayOfMonth | StartOfNext | EndOf


@dataclass(frozen=True, slots=True)
class Shift:
    """A distance: calendar months and days, then microseconds. A day keeps the wall clock over a DST change."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __add__(self, other: Shift) -> Shift:
        return Shift(self.months + other.months, self.days + other.days, self.microseconds + other.microseconds)

    @property
    def empty(self) -> bool:
        return not (self.months or self.days or self.microseconds)


@dataclass(frozen=True, slots=True)
class Exact:
    instant: Instant


@dataclass(frozen=True, slots=True)
class Interval:
    microseconds: int


class Freq(Enum):
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


@dataclass(frozen=True, slots=True)
class Rule:
    """The days of a recurring phrase; the times come from its clocks.

    `weekdays` are weekly, or with `nth` (1 to 4, or -1 for the last) monthly; `monthdays` may hold -1, the last day.
    """

    freq: Freq
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    nth: int | None = None
    monthdays: tuple[int, ...] = ()
    month: int | None = None

    def falls_on(self, day: date) -> bool:
        """Whether the rule names this day, wherever its interval begins."""
        if self.month not in (None, day.month):
            return False
        if self.monthdays and not ({day.day, day.day - _days_in_month(day) - 1} & set(self.monthdays)):
            return False
        if self.weekdays and day.weekday() not in self.weekdays:
            return False
        if self.nth is None:
            return True
        from_start = (day.day - 1) // 7 + 1
        return self.nth == (from_start if self.nth > 0 else -1 - (_days_in_month(day) - day.day) // 7)


def _days_in_month(day: date) -> int:
    following = day.replace(day=28) + timedelta(days=4)
    return (following - timedelta(days=following.day)).day


LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
