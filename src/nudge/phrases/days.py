"""Reading days: "tomorrow", "next tuesday", "feb 20", "the 1st", "2026-02-20"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nudge.phrases.pieces import (
    LONGEST_MONTHS,
    Day,
    EndOf,
    InDays,
    OnDate,
    OnDayOfMonth,
    OnWeekday,
    Period,
    StartOfNext,
    Week,
)
from nudge.phrases.reader import Reader
from nudge.phrases.refusal import Refused
from nudge.phrases.tokens import MONTH_NAMES, MONTHS, ORDINAL_WORDS, WEEKDAYS, Kind

_PERIODS: Final = {period.value: period for period in Period}
_RELATIVE: Final = {"today": InDays(0), "tomorrow": InDays(1), "tmrw": InDays(1), "tmr": InDays(1)}
_ENDS: Final = {"eow": EndOf(Period.WEEK), "eom": EndOf(Period.MONTH)}


def read_day(reader: Reader) -> Day | None:
    """One day, with or without "on", "by" or "due" before it. In a free sentence "the first" needs one of them."""
    due = reader.take("due")
    preposition = reader.take("on", "by") or due
    for read in _DAYS:
        day = reader.attempt(read)
        if day is not None:
            return day
    return reader.attempt(_read_day_of_month) if preposition or not reader.free else None


def _read_relative(reader: Reader) -> Day | None:
    reader.take("the")
    if reader.take_row("day", "after", "tomorrow"):
        return InDays(2)
    if reader.take("yesterday"):
        raise Refused("yesterday is in the past")
    return reader.take_from(_RELATIVE)


def _read_weekday(reader: Reader) -> Day | None:
    if reader.word() == "last" and reader.word(1) in WEEKDAYS:
        raise Refused(_last_weekday(reader))
    week = Week.NEXT if reader.take("next") else Week.THIS if reader.take("this") else Week.SOONEST
    if reader.take("weekend"):
        raise Refused("a weekend has two days; say saturday or sunday, or weekends for all of them")
    weekday = reader.take_from(WEEKDAYS)
    return None if weekday is None else OnWeekday(weekday, week)


def _last_weekday(reader: Reader) -> str:
    name = reader.word(1)
    if reader.word(2) == "of":
        return f'is that one day or each month? Say "every last {name} of the month", or the date'
    return f"last {name} is in the past"


def _read_next_period(reader: Reader) -> Day | None:
    if not reader.take("next"):
        return None
    period = reader.take_from(_PERIODS)
    return None if period is None else StartOfNext(period)


def _read_end(reader: Reader) -> Day | None:
    reader.take("the")
    short = reader.take_from(_ENDS)
    if short is not None:
        return short
    if not reader.take_row("end", "of"):
        return None
    reader.take("the")
    period = reader.take_from(_PERIODS)
    return None if period is None else EndOf(period)


def _read_day_of_month(reader: Reader) -> OnDayOfMonth | None:
    """ "the 20th", "on the first"; a first without "the" is too little to be a day."""
    said_the = reader.take("the")
    token = reader.take_kind(Kind.ORDINAL)
    number = int(token.text[:-2]) if token is not None else reader.take_from(ORDINAL_WORDS) if said_the else None
    if number is None:
        return None
    return OnDayOfMonth(checked_monthday(number))


def read_date(reader: Reader) -> OnDate | None:
    """A day of the calendar in words or in figures."""
    token = reader.take_kind(Kind.YEAR_FIRST)
    if token is not None:
        year, month, day = (int(part) for part in token.text.replace("/", "-").split("-"))
        return _checked(month, day, year, numeric=True)
    token = reader.take_kind(Kind.DOTTED)
    if token is not None:
        parts = [int(part) for part in token.text.split(".") if part]
        return _checked(parts[1], parts[0], parts[2] if len(parts) > 2 else None, numeric=True)
    token = reader.take_kind(Kind.SLASHED)
    if token is not None:
        return _slashed(*(int(part) for part in token.text.split("/")))
    return reader.attempt(_read_month_first) or reader.attempt(_read_day_first)


def _read_month_first(reader: Reader) -> OnDate | None:
    month = reader.take_from(MONTHS)
    if month is None:
        return None
    reader.take("the")
    token = reader.take_kind(Kind.NUMBER, Kind.ORDINAL)
    if token is None or reader.peek().kind is Kind.MERIDIEM:
        return None
    return _checked(month, int(token.text.rstrip("stndrh")), _read_year(reader))


def _read_day_first(reader: Reader) -> OnDate | None:
    reader.take("the")
    token = reader.take_kind(Kind.NUMBER, Kind.ORDINAL)
    if token is None:
        return None
    reader.take("of")
    month = reader.take_from(MONTHS)
    if month is None:
        return None
    return _checked(month, int(token.text.rstrip("stndrh")), _read_year(reader))


def _read_year(reader: Reader) -> int | None:
    ahead = 1 if reader.peek().text == "," else 0
    token = reader.peek(ahead)
    if token.kind is not Kind.NUMBER or len(token.text) != 4:
        return None
    reader.advance(ahead + 1)
    return int(token.text)


def _slashed(first: int, second: int, year: int | None = None) -> OnDate:
    """Day and month with a slash are read only where both orders agree or one of them is impossible."""
    if first > 12 >= second:
        return _checked(second, first, year, numeric=True)
    if second > 12 >= first or first == second:
        return _checked(first, second, year, numeric=True)
    if 0 in (first, second) or first > 12:
        raise Refused(f"{first}/{second} is not a date; write it like 2026-02-20")
    if year is not None:
        raise Refused(f"is it {year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}?")
    month_first, day_first = MONTH_NAMES[first - 1], MONTH_NAMES[second - 1]
    raise Refused(f"is it {month_first} {second} or {day_first} {first}?")


def _checked(month: int, day: int, year: int | None, *, numeric: bool = False) -> OnDate:
    if not 1 <= month <= 12:
        raise Refused(f"there is no month {month}")
    leap = year is None or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    longest = LONGEST_MONTHS[month - 1] if leap or month != 2 else 28
    if not 1 <= day <= longest:
        raise Refused(f"{MONTH_NAMES[month - 1]}{'' if year is None else f' {year}'} has no {day}")
    if year == 0:
        raise Refused("there is no year 0")
    return OnDate(month, day, year, numeric)


def checked_monthday(day: int) -> int:
    if not 1 <= day <= 31:
        raise Refused(f"no month has a {day}")
    return day


_DAYS: Final[tuple[Callable[[Reader], Day | None], ...]] = (
    _read_relative,
    _read_weekday,
    _read_next_period,
    _read_end,
    read_date,
)
