"""What the parts of a phrase say, before anybody looks at the calendar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from enum import Enum
from typing import Final

from nudge.instants import Instant
from nudge.phrases.reader import Refused

DEFAULT_TIME: Final = time(9)
"""The time of a day that was named without one. The echo shows it."""

CLOSING_TIME: Final = time(17)
"""When a day, a week or a month ends for the people who say so."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. `marked` means that it cannot be another one: it has am or pm, or only the 24-hour clock has it.

    `alone` is a number with nothing around it that makes it a time, such as the 9 of "9 in the morning". `figures` is
    one with minutes in figures (7:30). `now` is "this time", whose hour only the clock on the wall knows.
    """

    at: time
    said: str
    marked: bool
    alone: bool = False
    midnight: bool = False
    figures: bool = False
    now: bool = False

    def is_clear(self, *, rule: bool = False) -> bool:
        """Whether it can stand without am or pm. 9, 10 and 11 are in the morning; in a rule, so is 7:30 in figures."""
        return self.marked or (7 if rule and self.figures else 9) <= self.at.hour < 12


class Part(Enum):
    """A part of the day: its name, its time if none is said, and the hours that belong to it."""

    MORNING = ("morning", time(9), range(12))
    AFTERNOON = ("afternoon", time(15), range(12, 19))
    EVENING = ("evening", time(18), range(16, 24))
    NIGHT = ("night", time(20), range(18, 24))
    CLOSE = ("end of day", CLOSING_TIME, range(16, 24))
    NOON = ("lunchtime", time(12), range(11, 15))
    AFTER_LUNCH = ("after lunch", time(13), range(12, 16))

    @property
    def label(self) -> str:
        return self.value[0]

    @property
    def default(self) -> time:
        return self.value[1]

    def fit(self, clock: Clock) -> time:
        """The time of the clock within this part: "8" in the evening is 20:00, and 3pm in the morning is refused."""
        hour = clock.at.hour
        if not clock.marked and hour < 12 and self is not Part.MORNING and hour not in self.value[2]:
            hour += 12
        if hour not in self.value[2]:
            name = {Part.NIGHT: "tonight", Part.NOON: "lunchtime"}.get(self, f"the {self.label}")
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
    """A day of the calendar. `numeric` dates (2026-02-20 5:00) come with the 24-hour clock; a `holiday` that has passed
    is next year's."""

    month: int
    day: int
    year: int | None = None
    numeric: bool = False
    weekday: int | None = None
    holiday: bool = False


@dataclass(frozen=True, slots=True)
class OnDayOfMonth:
    day: int
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class StartOfNext:
    period: Period


@dataclass(frozen=True, slots=True)
class EndOf:
    """The last day of this period, or with `ahead` of the next one."""

    period: Period
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class OfMonth:
    """One day of one month: the first Monday of March, the last day of next month.

    `month` is 1 to 12, or None for this one, `ahead` months later. `nth` is -1 for the last.
    """

    nth: int
    month: int | None = None
    ahead: int = 0
    weekday: int | None = None
    close: bool = False
    """The "end" of a month rather than its last day: at the hour when things end."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A week from friday, two days before christmas."""

    day: Day
    shift: Shift


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A day that only the person knows: this weekend, mid march, easter. `asks` is the question for it."""

    asks: str
    options: tuple[str, ...] = ()


Day = InDays | OnWeekday | OnDate | OnDayOfMonth | StartOfNext | EndOf | OfMonth | Moved | Unnamed


@dataclass(frozen=True, slots=True)
class Shift:
    """A distance: calendar months and days, then microseconds. A day keeps the wall clock over a DST change."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __add__(self, other: Shift) -> Shift:
        return Shift(self.months + other.months, self.days + other.days, self.microseconds + other.microseconds)

    def times(self, count: int) -> Shift:
        return Shift(self.months * count, self.days * count, self.microseconds * count)

    @property
    def empty(self) -> bool:
        return not (self.months or self.days or self.microseconds)


@dataclass(frozen=True, slots=True)
class Exact:
    instant: Instant


@dataclass(frozen=True, slots=True)
class Interval:
    microseconds: int


@dataclass(frozen=True, slots=True)
class Window:
    """The hours of a day in which an interval counts: from 9 to 5. Both ends are inside."""

    start: Clock
    end: Clock


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

    @property
    def lacks_days(self) -> bool:
        """Whether it says every week, month or year and not on which day."""
        return self.freq is not Freq.DAILY and not (self.weekdays or self.monthdays)

    def on(self, day: Day) -> Rule | None:
        """The rule on this day, which it lacked; None where the day does not fit it."""
        match self.freq, day:
            case Freq.WEEKLY, OnWeekday(weekday, Week.SOONEST):
                return replace(self, weekdays=(weekday,))
            case Freq.MONTHLY, OnDayOfMonth(number, None):
                return replace(self, monthdays=(number,))
            case Freq.YEARLY, OnDate(month, number, None):
                return replace(self, month=month, monthdays=(number,))
        return None

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
