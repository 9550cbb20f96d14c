"""Reading times of day, and distances in time: "2h", "an hour and a half", "30 more min".

A bare hour is taken as it is written or asked about, never moved: 13 to 23 and 0 are the 24-hour clock, and 9 to 11
beside a day are in the morning. 1 to 8 and 12 could be either half of the day. A leading zero (05:30) says the 24-hour
clock. What people say around a time ("around 4pm", "4pm or so", "4pm sharp") changes nothing.
"""

from __future__ import annotations

from datetime import time
from fractions import Fraction
from typing import Final

from nudge.instants import HOUR, MINUTE
from nudge.phrases.pieces import Clock, Part, PartOfDay, Shift, Window
from nudge.phrases.reader import Reader, Refused
from nudge.phrases.tokens import DAY_UNITS, EXACT_UNITS, MONTH_UNITS, SMALL_NUMBERS, TENS, VAGUE_TIMES, Kind, tokenize

_NAMED: Final = {
    "noon": Clock(time(12), "noon", marked=True),
    "midday": Clock(time(12), "midday", marked=True),
    "midnight": Clock(time(0), "midnight", marked=True, midnight=True),
}
_PARTS: Final = {
    "morning": Part.MORNING,
    "afternoon": Part.AFTERNOON,
    "evening": Part.EVENING,
    "night": Part.NIGHT,
}
_LUNCH: Final = (("at", "lunch"), ("at", "lunchtime"), ("lunchtime",), ("at", "lunch", "time"), ("lunch", "time"))
_LEADS: Final = ("at", "by", "around", "about", "approximately", "roughly", "exactly")
_VAGUE: Final = sorted((tuple(name.replace("-", " - ").split()) for name in VAGUE_TIMES), key=len, reverse=True)
_MINUTES_PAST: Final = {"five": 5, "ten": 10, "twenty": 20, "quarter": 15, "half": 30}


def read_clocks(reader: Reader) -> tuple[Clock, ...] | None:
    """One time or a list: "at 8 and 20", "at 9am, 1pm and 5pm"."""
    first = reader.attempt(_read_clock)
    if first is None:
        return None
    found = [first]
    while (following := reader.attempt(_read_following)) is not None:
        found.append(following)
    return tuple(found)


def read_part(reader: Reader) -> PartOfDay | None:
    """ "in the evening", "at night", "end of day", or a bare "morning" beside a day."""
    if reader.take_row("first", "thing"):
        later = reader.attempt(_read_morning)
        return PartOfDay(Part.MORNING) if later is None else later
    if reader.take_row("after", "lunch"):
        return PartOfDay(Part.AFTER_LUNCH)
    if any(reader.take_row(*words) for words in _LUNCH):
        return PartOfDay(Part.NOON)
    if reader.take_row("in", "the"):
        part = reader.take_from(_PARTS)
        return None if part is None else PartOfDay(part)
    if reader.take_row("at", "night"):
        return PartOfDay(Part.NIGHT)
    reader.take("by", "at")
    reader.take("the")
    if reader.take("eod") or reader.take_row("end", "of", "day") or reader.take_row("end", "of", "the", "day"):
        return PartOfDay(Part.CLOSE)
    part = reader.take_from(_PARTS)
    return None if part is None else PartOfDay(part, bare=True)


def _read_morning(reader: Reader) -> PartOfDay | None:
    """The morning after "first thing"."""
    said = reader.take_row("in", "the", "morning") or reader.take("morning")
    return PartOfDay(Part.MORNING) if said else None


def read_vague_time(reader: Reader) -> str | None:
    """ "after work": a time that only the person knows."""
    for row in _VAGUE:
        if reader.take_row(*row):
            return " ".join(row).replace(" - ", "-")
    return None


def read_without_unit(reader: Reader) -> str | None:
    """ "in 15" at the end of a phrase: of what has to be asked."""
    token = reader.peek(1)
    last = reader.word() == "in" and reader.at == len(reader.tokens) - 2 and token.kind is Kind.NUMBER
    if not last or not 0 < int(token.text) <= _MOST_WITHOUT_UNIT:
        return None
    reader.advance(2)
    return f"in {token.text}"


_MOST_WITHOUT_UNIT: Final = 90


def read_same_time(reader: Reader) -> Clock | None:
    """ "this time tomorrow", "at the same time on friday"."""
    if reader.take("at"):
        reader.take("the")
    if not (reader.take_row("this", "time") or reader.take_row("same", "time")):
        return None
    return Clock(time(0), "this time", marked=True, now=True)


def read_window(reader: Reader) -> Window | None:
    """ "from 9 to 5", "between 9am and 5pm"."""
    if reader.take("between"):
        joints: tuple[str, ...] = ("and",)
    elif reader.take("from"):
        joints = ("to", "till", "until", "til")
    else:
        return None
    start = reader.attempt(_read_clock_of_window)
    if start is None or not (reader.take(*joints) or (joints[0] == "to" and reader.take_mark("-"))):
        return None
    end = reader.attempt(_read_clock_of_window)
    return None if end is None else Window(start, end)


def _read_clock_of_window(reader: Reader) -> Clock | None:
    """One end of a window: there "9 to 5" is no nine minutes to five."""
    return _read_bare_clock(reader, said_at=True, moved=False)


def read_part_of_today(reader: Reader) -> PartOfDay | None:
    """ "tonight", "this evening"."""
    if reader.take("tonight"):
        return PartOfDay(Part.NIGHT)
    if not reader.take("this"):
        return None
    part = reader.take_from(_PARTS)
    return None if part is None else PartOfDay(part)


_MOST_TOKENS: Final = 20
"""No time of day has more."""


def clock_in(text: str) -> Clock | None:
    """The first time of day in a piece of a sentence: "up at 8", "bed by half past eleven"; None if there is none.

    >>> clock_in("usually in bed by half past eleven").said
    '11:30'
    """
    tokens = tokenize(text)
    for start in range(len(tokens)):
        try:
            found = Reader(tokens[start : start + _MOST_TOKENS]).attempt(
                lambda reader: _read_bare_clock(reader, said_at=True)
            )
        except Refused:
            return None
        if found is not None:
            return found
    return None


def _read_following(reader: Reader) -> Clock | None:
    if not reader.joined_by_and():
        return None
    return _read_clock(reader, after_clock=True)


def _read_clock(reader: Reader, *, after_clock: bool = False) -> Clock | None:
    reader.take("due")
    said_at = reader.take("at", "by") or reader.take_mark("@")
    said_at = reader.take(*_LEADS) or reader.take_mark("~") or said_at
    clock = _read_bare_clock(reader, said_at=said_at or after_clock)
    if clock is not None and not clock.alone:
        take_or_so(reader)
    return clock


def take_or_so(reader: Reader) -> bool:
    """Move past words behind a time that make it neither later nor earlier."""
    rows = (("or", "so"), ("sharp",), ("exactly",), ("on", "the", "dot"), ("ish",), ("or", "thereabouts"))
    return any(reader.take_row(*row) for row in rows) or reader.attempt(_take_ish) is True


def _take_ish(reader: Reader) -> bool | None:
    return True if reader.take_mark("-") and reader.take("ish") else None


def _read_bare_clock(reader: Reader, *, said_at: bool, moved: bool = True) -> Clock | None:
    if reader.peek().text == "12" and reader.word(1) in _NAMED:
        reader.advance()
    named = reader.take_from(_NAMED)
    if named is not None:
        return named
    past = reader.attempt(lambda inner: _read_moved(inner, said_at=said_at)) if moved else None
    past = past or (reader.attempt(_read_beside) if moved else None)
    if past is not None:
        return past
    token = reader.take_kind(Kind.CLOCK)
    if token is not None:
        return _clock(token.text, _read_meridiem(reader))
    token = reader.take_kind(Kind.DECIMAL)
    if token is not None:
        meridiem = _read_meridiem(reader)
        hour, _, minute = token.text.partition(".")
        written = len(minute) == 2 and (bool(meridiem) or (said_at and int(hour) < 24 and int(minute) < 60))
        return _clock(f"{hour}:{minute}", meridiem) if written else None
    return reader.attempt(lambda inner: _read_number_words(inner, said_at=said_at)) or _read_number(
        reader, said_at=said_at
    )


def _read_moved(reader: Reader, *, said_at: bool) -> Clock | None:
    """ "half past six", "quarter to 8 pm", "ten to nine", "20 past 3", "half six"."""
    reader.take("a")
    figures = reader.peek().kind is Kind.NUMBER
    if figures:
        minutes = int(reader.peek().text)
        reader.advance()
        if minutes not in range(1, 30) or (reader.free and not said_at and minutes % 5):
            return None
    elif reader.word() == "half" and (
        reader.word(1) in SMALL_NUMBERS or (reader.peek(1).kind is Kind.NUMBER and (said_at or not reader.free))
    ):
        reader.advance()
        return _read_hour_moved(reader, 30)
    elif reader.word() in ("quarter", "half"):
        minutes = _MINUTES_PAST[reader.word()]
        reader.advance()
    else:
        number = read_number_word(reader)
        if number is None or number > 29:
            return None
        minutes = number
    reader.take("minutes", "min", "mins")
    if reader.take("past", "after"):
        return _read_hour_moved(reader, minutes)
    if reader.free and figures and not said_at:
        return None  # "5 to 10" may be a range
    return _read_hour_moved(reader, -minutes) if reader.take("to", "till", "before") else None


def _read_beside(reader: Reader) -> Clock | None:
    """ "half an hour before 6pm", "20 minutes after noon"."""
    shift = read_duration(reader)
    if shift is None or shift.days or shift.months or not shift.microseconds:
        return None
    sign = -1 if reader.take("before") else 1 if reader.take("after", "past") else 0
    clock = reader.attempt(lambda inner: _read_bare_clock(inner, said_at=True, moved=False)) if sign else None
    if clock is None:
        return None
    minutes = clock.at.hour * 60 + clock.at.minute + sign * (shift.microseconds // MINUTE)
    if not 0 <= minutes < 24 * 60:
        raise Refused(f"that is not on the same day as {clock.said}")
    at = time(minutes // 60, minutes % 60)
    hour = at.hour if clock.marked else (at.hour - 1) % 12 + 1
    return Clock(at, f"{hour}:{at.minute:02}", clock.marked)


def _read_number_words(reader: Reader, *, said_at: bool) -> Clock | None:
    """ "seven", "seven thirty", "seven o'clock", "eight oh five"."""
    hour = reader.take_from(SMALL_NUMBERS)
    if hour is None or hour > 12:
        return None
    minutes = reader.attempt(_read_minute_words)
    said_at = reader.take("o'clock", "oclock") or said_at
    meridiem = _read_meridiem(reader)
    part = (reader.word(), reader.word(1)) == ("in", "the")
    if not (said_at or meridiem or part or (not reader.free and minutes is None)) and minutes is None:
        return None
    if minutes is not None and reader.free and not (said_at or meridiem or part):
        return None
    written = str(hour) if minutes is None else f"{hour}:{minutes:02}"
    clock = _clock(written, meridiem)
    return Clock(clock.at, clock.said, clock.marked, alone=not (said_at or meridiem or minutes is not None))


def _read_minute_words(reader: Reader) -> int | None:
    if reader.take("oh"):
        return reader.take_from(SMALL_NUMBERS)
    if reader.word() in TENS and TENS[reader.word()] < 60:
        return read_number_word(reader)
    return reader.take_from(SMALL_NUMBERS) if SMALL_NUMBERS.get(reader.word(), 0) >= 10 else None


def _read_number(reader: Reader, *, said_at: bool) -> Clock | None:
    token = reader.take_kind(Kind.NUMBER)
    if token is None:
        return None
    minute = reader.peek(1)
    if reader.word() == "h" and minute.kind is Kind.NUMBER and len(minute.text) == 2 and minute.joined:
        reader.advance(2)
        if not said_at and len(token.text) < 2:
            raise Refused(f"say in {token.text}h{minute.text} or {token.text.zfill(2)}:{minute.text}")
        return _clock(f"{token.text.zfill(2)}:{minute.text}", "")
    said_at = reader.take("o'clock", "oclock") or said_at
    said_at = (reader.word() == "ish" and reader.peek().joined) or said_at
    meridiem = _read_meridiem(reader)
    if not (meridiem or said_at or not reader.free or (reader.word(), reader.word(1)) == ("in", "the")):
        return None
    if len(token.text) > 2 or int(token.text) > 23:
        if meridiem or said_at:
            raise Refused(f"{token.text}{meridiem} is not a time of day")
        return None
    clock = _clock(token.text, meridiem)
    return clock if said_at or meridiem else Clock(clock.at, clock.said, clock.marked, alone=True)


def _read_meridiem(reader: Reader) -> str:
    token = reader.take_kind(Kind.MERIDIEM)
    return "" if token is None else f"{token.text[0]}m"


def _read_hour_moved(reader: Reader, minutes: int) -> Clock | None:
    """The hour, moved by so many minutes; midnight is the start of the day that comes."""
    clock = (
        reader.take_from(_NAMED)
        or reader.attempt(lambda inner: _read_number_words(inner, said_at=True))
        or reader.attempt(lambda inner: _read_number(inner, said_at=True))
    )
    if clock is None or clock.at.minute:
        return None
    total = (clock.at.hour * 60 + minutes) % (24 * 60)
    moved = time(total // 60, total % 60)
    hour = moved.hour if clock.marked else (moved.hour - 1) % 12 + 1
    return Clock(moved, f"{hour}:{moved.minute:02}", clock.marked)


def _clock(written: str, meridiem: str) -> Clock:
    hour_text, *rest = written.split(":")
    second_text, _, fraction = rest[1].partition(".") if len(rest) > 1 else ("0", "", "")
    hour = int(hour_text)
    said = f"{written}{meridiem}"
    if meridiem:
        if not 1 <= hour <= 12:
            raise Refused(f"{said} is not a time of day")
        hour = hour % 12 + (12 if meridiem == "pm" else 0)
    try:
        at = time(hour, int(rest[0]) if rest else 0, int(second_text), int(fraction.ljust(6, "0")))
    except ValueError:
        raise Refused(f"{said} is not a time of day") from None
    marked = bool(meridiem) or (len(hour_text) > 1 and hour_text[0] == "0") or hour == 0 or hour > 12
    return Clock(at, said, marked, figures=bool(rest))


_NUMBER_WORDS: Final = frozenset((*SMALL_NUMBERS, *TENS))
_ABOUT: Final = ("about", "like", "around", "approximately", "roughly", "exactly")
_HALF: Final = Fraction(1, 2)
_HOURS: Final = tuple(str(hour) for hour in range(13, 24))
"""With an h behind it, each is a time of day to many, and a distance to others."""


def read_from_now(reader: Reader) -> Shift | None:
    """A distance from now: "in 2h", "2 hours from now". A bare "2h" is one only where it is the whole phrase."""
    start = reader.at
    if reader.take("in"):
        reader.take(*_ABOUT)
        refuse_lone_number(reader)
        shift = _not_empty(read_duration(reader))
        if shift is not None:
            _take_time(reader)
        return shift
    shift = read_duration(reader)
    if shift is None:
        return None
    if reader.take_row("or", "so", "from", "now") or reader.take_row("from", "now"):
        return _not_empty(shift)
    if reader.take("ago"):
        raise Refused("that is in the past")
    a_clock = reader.tokens[reader.at - 1].kind is Kind.NUMBER  # 15h30 without "in"
    lone = start == 0 and reader.done and not reader.free and not a_clock
    if lone and len(reader.tokens) == 2 and reader.tokens[0].text in _HOURS and reader.tokens[1].text == "h":
        raise Refused(f"say in {reader.tokens[0].text}h or {reader.tokens[0].text}:00")
    return _not_empty(shift) if lone else None


def _take_time(reader: Reader) -> None:
    """Move past the rest of "in two weeks' time" and "in an hour or so"."""
    if reader.peek().text == "'" and reader.word(1) == "time":
        reader.advance()
    reader.take("time")
    reader.take_row("or", "so")


def refuse_lone_number(reader: Reader) -> None:
    """Refuse a number at the end of a phrase for a distance: "in 5", "snooze 30"."""
    token = reader.peek()
    if reader.at == len(reader.tokens) - 1 and (token.kind is Kind.NUMBER or token.text in _NUMBER_WORDS):
        raise Refused(f"say the unit, such as {token.text} minutes")


def read_duration(reader: Reader, *, unit_alone: bool = False) -> Shift | None:
    """A distance. With `unit_alone`, a unit without a number is one of it: the hour of "every hour and a half"."""
    total = reader.attempt(lambda inner: _read_term(inner, unit_alone=unit_alone))
    if total is None:
        return None
    while (more := reader.attempt(_read_next_term)) is not None:
        total += more
    reader.take("more")
    return total


def _read_next_term(reader: Reader) -> Shift | None:
    if not reader.take_mark(","):
        reader.take("and")
    return _read_term(reader)


def _read_term(reader: Reader, *, unit_alone: bool = False) -> Shift | None:
    fraction = reader.attempt(_read_fraction)
    if fraction is not None:
        return fraction
    another = reader.take("another")
    count = reader.attempt(_read_count)
    if count is None:
        if not (unit_alone or another):
            return None
        count = Fraction(1)
    elif reader.take_row("and", "a", "half"):
        count += _HALF
    reader.take("more")
    unit = reader.word()
    shift = _read_unit(reader, count)
    if shift is None:
        return None
    if reader.take_row("and", "a", "half"):
        return shift + _times(unit, _HALF)
    minutes = reader.peek()
    if unit == "h" and minutes.kind is Kind.NUMBER and minutes.joined and not reader.peek(1).joined:
        reader.advance()
        return shift + Shift(microseconds=int(minutes.text) * MINUTE)
    return shift


def _read_fraction(reader: Reader) -> Shift | None:
    """ "half an hour", "a half hour", "half a day", "a quarter of an hour"."""
    if reader.take_row("three", "quarters", "of", "an", "hour"):
        return Shift(microseconds=HOUR * 3 // 4)
    reader.take("a")
    if reader.take("half"):
        reader.take("a", "an")
        return _read_unit(reader, _HALF)
    if not reader.take("quarter"):
        return None
    reader.take_row("of", "an")
    return Shift(microseconds=HOUR // 4) if reader.take("hour") else None


def _read_count(reader: Reader) -> Fraction | None:
    token = reader.take_kind(Kind.NUMBER, Kind.DECIMAL)
    if token is not None:
        return Fraction(token.text)
    if reader.take_row("a", "couple"):
        reader.take("of")
        return Fraction(2)
    if reader.take("a", "an"):
        return Fraction(1)
    number = read_number_word(reader)
    return None if number is None else Fraction(number)


def read_number_word(reader: Reader) -> int | None:
    """ "two", "forty", "forty-five"."""
    tens = reader.take_from(TENS)
    if tens is None:
        return reader.take_from(SMALL_NUMBERS)
    ones = reader.attempt(_read_ones)
    return tens if ones is None else tens + ones


def _read_ones(reader: Reader) -> int | None:
    reader.take_mark("-")
    ones = reader.take_from(SMALL_NUMBERS)
    return ones if ones is not None and ones < 10 else None


def _read_unit(reader: Reader, count: Fraction) -> Shift | None:
    unit = reader.word()
    if unit not in EXACT_UNITS and unit not in DAY_UNITS and unit not in MONTH_UNITS:
        return None
    reader.advance()
    return _times(unit, count)


def _times(unit: str, count: Fraction) -> Shift:
    if unit in EXACT_UNITS:
        return Shift(microseconds=int(count * EXACT_UNITS[unit]))
    if unit in DAY_UNITS:
        days = count * DAY_UNITS[unit]
        return Shift(days=int(days), microseconds=int((days - int(days)) * 24 * HOUR))
    months = count * MONTH_UNITS[unit]
    if months.denominator != 1:
        raise Refused("I can't halve a month; say it in days")
    return Shift(months=int(months))


def _not_empty(shift: Shift | None) -> Shift | None:
    if shift is not None and shift.empty:
        raise Refused("0 is not in the future")
    return shift
