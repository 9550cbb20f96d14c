"""Reading days: "tomorrow", "next tuesday", "feb 20", "the 1st", "2026-02-20"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nudge.phrases.clocks import read_duration
from nudge.phrases.pieces import (
    LONGEST_MONTHS,
    Day,
    EndOf,
    InDays,
    Moved,
    OfMonth,
    OnDate,
    OnDayOfMonth,
    OnWeekday,
    Period,
    Shift,
    StartOfNext,
    Unnamed,
    Week,
)
from nudge.phrases.reader import Question, Reader, Refused, either
from nudge.phrases.tokens import (
    HOLIDAYS,
    MONTH_NAMES,
    MONTHS,
    MOVING_HOLIDAYS,
    ORDINAL_WORDS,
    TENS,
    VAGUE_DAYS,
    WEEKDAYS,
    Kind,
)

_PERIODS: Final = {period.value: period for period in Period}
_RELATIVE: Final = {"today": InDays(0), "tomorrow": InDays(1), "tmrw": InDays(1), "tmr": InDays(1)}
_HOLIDAYS: Final = sorted(((name.split(), date) for name, date in HOLIDAYS.items()), key=lambda row: -len(row[0]))
_MOVING: Final = sorted((name.split() for name in (*MOVING_HOLIDAYS, *VAGUE_DAYS)), key=len, reverse=True)
_ENDS: Final = {"eow": EndOf(Period.WEEK), "eom": EndOf(Period.MONTH)}


def read_day(reader: Reader) -> Day | None:
    """One day, with or without "on", "by" or "due" before it. In a free sentence "the first" needs one of them."""
    due = reader.take("due")
    preposition = reader.take("on", "by", "at") or due
    if reader.tokens[reader.at - 1].text == "at" and not _at_a_day(reader):
        return None
    for read in _DAYS:
        day = reader.attempt(read)
        if day is not None:
            return day
    return reader.attempt(_read_day_of_month) if preposition or not reader.free else None


def _at_a_day(reader: Reader) -> bool:
    """ "at" goes before an end, a beginning and a holiday, not before other days."""
    ahead = 1 if reader.word() == "the" else 0
    return reader.word(ahead) in ("end", "start", "beginning", "weekend") or reader.word() in _HOLIDAY_WORDS


def _read_moved(reader: Reader) -> Day | None:
    """ "a week from friday", "two days before christmas", "the day before christmas", "friday week"."""
    if reader.word() in WEEKDAYS and reader.word(1) == "week":
        weekday = WEEKDAYS[reader.word()]
        reader.advance(2)
        return Moved(OnWeekday(weekday), Shift(days=7))
    reader.take("the")
    shift = Shift(days=1) if reader.take("day") else read_duration(reader)
    if shift is None or shift.microseconds or shift.empty:
        return None
    if reader.take("from", "after") or (shift.days % 7 == 0 and reader.take("on")):
        sign = 1
    elif reader.take("before"):
        sign = -1
    else:
        return None
    for read in (_read_relative, read_holiday, _read_weekday, _read_next_period, read_date):
        day = reader.attempt(read)
        if day is not None:
            return Moved(day, shift.times(sign))
    return None


def read_holiday(reader: Reader) -> OnDate | None:
    for name, (month, day) in _HOLIDAYS:
        if reader.take_row(*name):
            return OnDate(month, day, holiday=True)
    return None


def _read_unnamed(reader: Reader) -> Day | None:
    """A day that has to be asked for."""
    reader.take("the")
    for name in _MOVING:
        if reader.take_row(*name):
            return Unnamed(f"What day is “{' '.join(name)}”?")
    said = "mid" if reader.take("mid") else "the middle of" if reader.take_row("middle", "of") else ""
    if not said:
        return None
    reader.take_mark("-")
    month = reader.word()
    return Unnamed(f"What day is “{said} {month}”?") if reader.take_from(MONTHS) else None


def _read_of_month(reader: Reader) -> Day | None:
    """ "the first monday of march", "the last day of next month", "the end of april", "the start of next month"."""
    reader.take("the")
    weekday, close = None, False
    if reader.take("end"):
        number, close = -1, True
    elif reader.take("beginning", "start"):
        number = 1
    elif reader.take("last"):
        number = -1
        weekday = reader.take_from(WEEKDAYS)
        if weekday is None and not reader.take("day"):
            return None
    else:
        ordinal = read_ordinal(reader)
        weekday = reader.take_from(WEEKDAYS)
        if ordinal is None or (weekday is None and not reader.take("day")):
            return None
        number = ordinal
    if not reader.take("of", "in"):
        return None
    if weekday is not None and number > 5:
        raise Refused(f"no month has {number} of them")
    month = reader.take_from(MONTHS)
    if month is not None:
        return OfMonth(number, month, weekday=weekday, close=close)
    if reader.take_row("next", "month"):
        return OfMonth(number, ahead=1, weekday=weekday, close=close)
    if reader.take_row("this", "month") or (weekday is None and number == -1 and reader.take_row("the", "month")):
        return OfMonth(number, weekday=weekday, close=close)
    return None


def read_ordinal(reader: Reader) -> int | None:
    """ "2nd", "second", "twenty first"."""
    token = reader.take_kind(Kind.ORDINAL)
    if token is not None:
        return int(token.text[:-2])
    if reader.word() in ("twenty", "thirty"):
        ahead = 2 if reader.peek(1).text == "-" else 1
        ones = ORDINAL_WORDS.get(reader.word(ahead), 10)
        if ones > 9:
            return None
        tens = TENS[reader.word()]
        reader.advance(ahead + 1)
        return tens + ones
    return reader.take_from(ORDINAL_WORDS)


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
    if week is Week.SOONEST:
        reader.take_row("the", "coming")
    if reader.take("weekend"):
        which = "next " if week is Week.NEXT else ""
        return Unnamed("Saturday or Sunday?", (f"{which}saturday", f"{which}sunday"))
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
    ahead = 1 if reader.take("next") else 0
    if not ahead:
        reader.take("the", "this")
    period = reader.take_from(_PERIODS)
    return None if period is None else EndOf(period, ahead)


def _read_start(reader: Reader) -> Day | None:
    reader.take("the")
    if not (reader.take_row("start", "of", "next") or reader.take_row("beginning", "of", "next")):
        return None
    period = reader.take_from(_PERIODS)
    return None if period is None else StartOfNext(period)


def _read_day_of_month(reader: Reader) -> OnDayOfMonth | None:
    """ "the 20th", "on the first"; a first without "the" is too little to be a day."""
    said_the = reader.take("the")
    number = read_ordinal(reader) if said_the or reader.peek().kind is Kind.ORDINAL else None
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


def _read_date_or_ask(reader: Reader) -> Day | None:
    """A date; one that could be two (3/4) is a day to be asked for."""
    try:
        return read_date(reader)
    except Question as question:
        return Unnamed(question.why, question.options)


def _read_month_first(reader: Reader) -> OnDate | None:
    month = reader.take_from(MONTHS)
    if month is None:
        return None
    reader.take("the")
    number = _read_day_number(reader)
    if number is None or reader.peek().kind is Kind.MERIDIEM:
        return None
    return _checked(month, number, _read_year(reader))


def _read_day_number(reader: Reader) -> int | None:
    token = reader.take_kind(Kind.NUMBER)
    return int(token.text) if token is not None else read_ordinal(reader)


def _read_day_first(reader: Reader) -> OnDate | None:
    reader.take("the")
    number = _read_day_number(reader)
    if number is None:
        return None
    reader.take("of")
    month = reader.take_from(MONTHS)
    if month is None:
        return None
    return _checked(month, number, _read_year(reader))


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
        raise either(f"{year}-{first:02}-{second:02}", f"{year}-{second:02}-{first:02}")
    raise either(f"{MONTH_NAMES[first - 1]} {second}", f"{MONTH_NAMES[second - 1]} {first}")


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
    _read_moved,
    read_holiday,
    _read_unnamed,
    _read_of_month,
    _read_relative,
    _read_weekday,
    _read_next_period,
    _read_end,
    _read_start,
    _read_date_or_ask,
)
_HOLIDAY_WORDS: Final = frozenset(name[0] for name, _ in _HOLIDAYS)
