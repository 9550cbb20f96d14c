"""Reading distances in time: "2h", "an hour and a half", "1 hour 15 minutes", "30 more min"."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from nudge.instants import HOUR, MINUTE
from nudge.phrases.pieces import Shift
from nudge.phrases.reader import Reader, Refused
from nudge.phrases.tokens import DAY_UNITS, EXACT_UNITS, MONTH_UNITS, SMALL_NUMBERS, TENS, Kind

_NUMBER_WORDS: Final = frozenset((*SMALL_NUMBERS, *TENS))
_ABOUT: Final = ("about", "around", "approximately", "roughly", "exactly")
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
