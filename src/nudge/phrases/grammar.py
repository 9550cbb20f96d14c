"""The grammar: one pass over the tokens, piece by piece, in any order that people use.

"5pm on friday" and "friday 5pm" are the same two pieces. Nothing is skipped but commas: a word that no piece takes
makes the phrase unread, because a word that was ignored may be the one that mattered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from nudge.instants import as_instant
from nudge.phrases.clocks import (
    read_clocks,
    read_from_now,
    read_part,
    read_part_of_today,
    read_same_time,
    read_vague_time,
    read_window,
    read_without_unit,
)
from nudge.phrases.days import read_date, read_day
from nudge.phrases.pieces import (
    Clock,
    Day,
    Exact,
    Freq,
    InDays,
    Interval,
    OnDate,
    OnDayOfMonth,
    OnWeekday,
    PartOfDay,
    Period,
    Rule,
    Shift,
    StartOfNext,
    Week,
    Window,
)
from nudge.phrases.reader import Reader, Refused, Unread
from nudge.phrases.recurrence import read_recurring, read_times_a_day
from nudge.phrases.tokens import MAX_LENGTH, NO_TIMES, Correction, Kind, respelled, tokenize

_ONE_DAY: Final = "name only one day"
_ONE_TIME: Final = "give only one time"


@dataclass(frozen=True, slots=True)
class Reading:
    """The pieces of a phrase. At most one of `day`, `shift`, `exact`, `rule` and `interval` says which day; only an
    interval inside hours may have a rule beside it, for its days.

    `vague` is a time of day that has to be asked for, such as "after work"; `times_a_day` is the 2 of "twice a day",
    which leaves open when; `corrections` are the slips put right.
    """

    day: Day | None = None
    shift: Shift | None = None
    exact: Exact | None = None
    rule: Rule | None = None
    interval: Interval | None = None
    clocks: tuple[Clock, ...] = ()
    part: PartOfDay | None = None
    window: Window | None = None
    vague: str | None = None
    times_a_day: int | None = None
    corrections: tuple[Correction, ...] = ()

    def answered(self, answer: Reading) -> Reading:
        """This reading, settled by the answer to a question about it: what the answer names replaces what was said."""
        settled = replace(self, corrections=(*self.corrections, *answer.corrections))
        if self.rule is not None and self.rule.lacks_days and answer.day is not None:
            settled = replace(settled, rule=self.rule.on(answer.day) or self.rule)
        elif answer.names_a_day:
            settled = replace(
                settled, day=answer.day, shift=answer.shift, exact=answer.exact, rule=answer.rule,
                interval=answer.interval, window=answer.window,
            )  # fmt: skip
        if answer.clocks or answer.part or (answer.names_a_day and answer.vague is None):
            settled = replace(settled, vague=None)
        if answer.clocks:
            return replace(settled, clocks=answer.clocks, part=answer.part)
        return replace(settled, part=answer.part or settled.part)

    @property
    def names_a_day(self) -> bool:
        return any(piece is not None for piece in (self.day, self.shift, self.exact, self.rule, self.interval))

    @property
    def names_a_time(self) -> bool:
        return self.names_a_day or bool(self.clocks or self.part or self.vague)

    @property
    def lacks_a_clock(self) -> bool:
        """Whether a time of day is supplied for it: that of a bare day, of "tonight", of "every monday"."""
        counted = self.shift is not None and not self.shift.microseconds
        return not self.clocks and self.window is None and bool(counted or self.day or self.rule or self.part)

    def with_day(self, day: Day) -> Reading:
        """This reading with one more day. A weekday may stand beside its own date, or beside "next week"."""
        if self.rule is not None and self.rule.lacks_days:
            filled = self.rule.on(day)
            if filled is not None:
                return replace(self, rule=filled)
        merged = day if self.day is None else _merge(self.day, day) or _merge(day, self.day)
        if isinstance(self.day, OnWeekday) and isinstance(day, OnWeekday):
            raise Refused("name one weekday, or join them, such as mon, wed and fri at 18:00")
        if merged is None or (self.day is None and self.names_a_day):
            raise Refused(_ONE_DAY)
        return replace(self, day=merged)


def read(text: str, *, free: bool = False) -> Reading:
    """The pieces of a whole phrase.

    Raises `Unread` where a word has no place and `Refused` where the words are known and still do not name a time.
    """
    if len(text) > MAX_LENGTH:
        raise Refused(f"it is longer than {MAX_LENGTH} characters")
    tokens = tokenize(text)
    if not tokens:
        raise Refused("it is empty")
    tokens, corrections = respelled(tokens)
    reader = Reader(tokens, free=free)
    reading = Reading(corrections=corrections)
    while not reader.done:
        if reader.at and reader.take_mark(","):
            continue
        following = _read_piece(reader, reading)
        if following is None:
            raise reader.unread()
        reading = following
    return reading


def read_any(text: str) -> Reading:
    """The reading of our own grammar, or, where it does not know a word, what the gate lets through."""
    try:
        return read(text)
    except Unread:
        from nudge.phrases.dateparser_gate import translate  # it builds readings itself

        foreign = translate(text)
        if foreign is None:
            raise
        return foreign


def _read_piece(reader: Reader, reading: Reading) -> Reading | None:
    for read_one in _PIECES:
        start = reader.at
        found = read_one(reader, reading)
        if found is not None:
            return found
        reader.at = start
    return None


def _times_a_day(reader: Reader, reading: Reading) -> Reading | None:
    count = read_times_a_day(reader)
    if count is None:
        return None
    if reading.names_a_day:
        raise Refused(_ONE_DAY)
    return replace(reading, rule=Rule(Freq.DAILY), times_a_day=count)


def _recurring(reader: Reader, reading: Reading) -> Reading | None:
    found = read_recurring(reader)
    if found is None:
        return None
    if isinstance(found, Interval):
        if reading.interval or (reading.names_a_day and not reading.rule):
            raise Refused(_ONE_DAY)
        return replace(reading, interval=found)
    if reading.rule or (reading.names_a_day and not reading.interval):
        raise Refused(_ONE_DAY)
    return replace(reading, rule=found)


def _window(reader: Reader, reading: Reading) -> Reading | None:
    window = read_window(reader)
    if window is None:
        return None
    if reading.window or reading.clocks:
        raise Refused(_ONE_TIME)
    return replace(reading, window=window)


def _same_time(reader: Reader, reading: Reading) -> Reading | None:
    clock = read_same_time(reader)
    if clock is None:
        return None
    if reading.clocks:
        raise Refused(_ONE_TIME)
    return replace(reading, clocks=(clock,))


def _vague(reader: Reader, reading: Reading) -> Reading | None:
    vague = reader.attempt(read_without_unit) if not reading.names_a_time else None
    vague = (
        vague or read_vague_time(reader) or next((name for name in _NO_TIMES if reader.take_row(*name.split())), None)
    )
    if vague is None:
        return None
    if reading.vague or reading.clocks or reading.part:
        raise Refused(_ONE_TIME)
    return replace(reading, vague=vague)


def _exact(reader: Reader, reading: Reading) -> Reading | None:
    token = reader.take_kind(Kind.EXACT)
    if token is None:
        return None
    if reading != Reading(corrections=reading.corrections):
        raise Refused(_ONE_TIME)
    day = read_date(Reader(tokenize(token.text[:10])))
    assert day is not None
    try:
        moment = datetime.fromisoformat(token.text.upper().replace(" +", "+").replace(" -", "-").replace(" Z", "Z"))
        return Reading(exact=Exact(as_instant(moment)))
    except (ValueError, OverflowError):
        raise Refused(f"{token.text[11:]} is not a time of day with an offset from UTC") from None


def _from_now(reader: Reader, reading: Reading) -> Reading | None:
    shift = read_from_now(reader)
    if shift is None:
        return None
    if reading.names_a_day:
        raise Refused(_ONE_TIME)
    return replace(reading, shift=shift)


def _part_of_today(reader: Reader, reading: Reading) -> Reading | None:
    part = read_part_of_today(reader)
    return None if part is None else _with_part(reading.with_day(InDays(0)), part)


def _part(reader: Reader, reading: Reading) -> Reading | None:
    part = read_part(reader)
    if part is None or (part.bare and reader.free and not reading.names_a_day):
        return None
    return _with_part(reading, part)


def _day(reader: Reader, reading: Reading) -> Reading | None:
    day = read_day(reader)
    return None if day is None else reading.with_day(day)


def _clocks(reader: Reader, reading: Reading) -> Reading | None:
    clocks = read_clocks(reader)
    if clocks is None:
        return None
    if reading.clocks:
        raise Refused(_ONE_TIME)
    return replace(reading, clocks=clocks)


def _with_part(reading: Reading, part: PartOfDay) -> Reading:
    if reading.part is not None and reading.part.part is not part.part:
        raise Refused(_ONE_TIME)
    return replace(reading, part=part)


def _merge(one: Day, other: Day) -> Day | None:
    if isinstance(one, OnWeekday) and one.week is Week.SOONEST:
        if isinstance(other, OnDate | OnDayOfMonth) and other.weekday is None:
            return replace(other, weekday=one.weekday)
        if other == StartOfNext(Period.WEEK):
            return replace(one, week=Week.NEXT)
    return None


_PIECES: Final[tuple[Callable[[Reader, Reading], Reading | None], ...]] = (
    _vague,
    _times_a_day,
    _same_time,
    _window,
    _recurring,
    _exact,
    _from_now,
    _part_of_today,
    _part,
    _day,
    _clocks,
)
_NO_TIMES: Final = sorted(NO_TIMES, key=len, reverse=True)

__all__ = ["Reading", "Unread", "read"]
