"""Reading times of day.

A bare hour is taken as it is written or refused, never moved: 13 to 23 and 0 are the 24-hour clock, 6 to 12 are the
morning and noon, and 1 to 5 are refused, because five in the morning is hardly ever meant and always possible. A
leading zero (05:30) says the 24-hour clock.
"""

from __future__ import annotations

from datetime import time
from typing import Final

from nudge.phrases.pieces import Clock, Part, PartOfDay
from nudge.phrases.reader import Reader
from nudge.phrases.refusal import Refused
from nudge.phrases.tokens import Kind

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


def read_part_of_today(reader: Reader) -> PartOfDay | None:
    """ "tonight", "this evening"."""
    if reader.take("tonight"):
        return PartOfDay(Part.NIGHT)
    if not reader.take("this"):
        return None
    part = reader.take_from(_PARTS)
    return None if part is None else PartOfDay(part)


def _read_following(reader: Reader) -> Clock | None:
    if not reader.joined_by_and():
        return None
    return _read_clock(reader, after_clock=True)


def _read_clock(reader: Reader, *, after_clock: bool = False) -> Clock | None:
    reader.take("due")
    said_at = reader.take("at", "by") or reader.take_mark("@")
    if reader.peek().text == "12" and reader.word(1) in _NAMED:
        reader.advance()
    named = reader.take_from(_NAMED)
    if named is not None:
        return named
    if reader.take_row("half", "past"):
        return _read_hour_moved(reader, 30)
    if reader.take_row("quarter", "past"):
        return _read_hour_moved(reader, 15)
    if reader.take_row("quarter", "to"):
        return _read_hour_moved(reader, -15)
    token = reader.take_kind(Kind.CLOCK)
    if token is not None:
        return _clock(token.text, _read_meridiem(reader))
    token = reader.take_kind(Kind.DECIMAL)
    if token is not None:
        meridiem = _read_meridiem(reader)
        hour, _, minute = token.text.partition(".")
        return _clock(f"{hour}:{minute}", meridiem) if meridiem and len(minute) == 2 else None
    return _read_number(reader, said_at=said_at or after_clock)


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
    said_at = reader.take("o'clock") or said_at
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
    """ "quarter to 6pm": the hour, moved by so many minutes."""
    clock = reader.attempt(lambda inner: _read_number(inner, said_at=True))
    if clock is None:
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
    return Clock(at, said, marked)
