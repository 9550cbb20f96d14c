"""Splitting a sentence into a message and its time: "call mum friday 5pm"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, Moment, Zone, as_instant, zone_of
from nudge.phrases.clocks import read_clocks
from nudge.phrases.dateparser_gate import translate
from nudge.phrases.days import read_day
from nudge.phrases.durations import read_from_now
from nudge.phrases.grammar import Reading, read
from nudge.phrases.reader import Reader
from nudge.phrases.recurrence import read_recurring
from nudge.phrases.refusal import REMINDER_EXAMPLES, Refused, Unread, refusal, shown
from nudge.phrases.resolve import resolve
from nudge.phrases.result import Understood
from nudge.phrases.tokens import (
    MONTHS,
    ORDINAL_WORDS,
    RHYTHMS,
    SHORT_WEEKDAYS,
    SMALL_NUMBERS,
    TENS,
    VOCABULARY,
    WEEKDAYS,
    Kind,
    Token,
    tokenize,
)
from nudge.phrases.understanding import read_any

_OTHER_SENSE: Final = frozenset(
    (
        "a", "about", "after", "an", "and", "around", "before", "beginning", "between", "but", "except", "excluding",
        "following", "for", "from", "half", "if", "last", "mid", "minus", "next", "not", "of", "or", "past", "since",
        "starting", "than", "the", "till", "to", "unless", "until", "week", "weeks", "within",
    )
)  # fmt: skip
"""Words that make the time behind them mean something else: "book a table for friday", "friday or saturday"."""

_JOINING: Final = frozenset(("and", "but", "except", "not", "or", "starting", "through", "till", "to", "until"))
_COUNTS: Final = frozenset((*SMALL_NUMBERS, *TENS, "dozen", "hundred", "thousand"))
_REPEATING: Final = frozenset(("afternoons", "evenings", "everyday", "mornings", "nightly", "nights", "weekend"))
_DAY_OR_MONTH: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE: Final = (
    rf"(?:{_DAY_OR_MONTH}(?:st|nd|rd|th)|(?:on|{'|'.join((*WEEKDAYS, *MONTHS))})\.?\s{_DAY_OR_MONTH}"
    rf"|{_DAY_OR_MONTH}[-/.\s]{_DAY_OR_MONTH}(?:[-/.\s](?:\d{{4}}|\d{{2}}))?|(?:19|20)\d{{6}}(?:t\d+)?)"
)
"""What looks like a date but is not read as one: 28.2, 28-02-26, 28 02 2026, 20260228, fri 20."""

_DATE_LAST: Final = re.compile(rf"(?:\s|\A)({_DATE})\Z", re.IGNORECASE)
_DATE_FIRST: Final = re.compile(rf"({_DATE})(?:\s|\Z)", re.IGNORECASE)

_LATER: Final = re.compile(r"(?:minute|hour|day|week|month|year)s?'?\s(?:later|time|hence|ahead)\Z", re.IGNORECASE)
_WAY_OUT: Final = "put them together at the end, or the message in quotes"


def refuse_cut(message: str, said: str, reading: Reading) -> None:
    """Refuse a time whose first words stayed in the message: "two or" before "three hours from now"."""
    last = (tokenize(message) or (None,))[-1]
    if last is None:
        return
    cut = (last.kind is Kind.WORD and last.text in _OTHER_SENSE) or _LATER.search(message) is not None
    if cut or _splits_a_number(last, tokenize(said)[0], reading):
        raise Refused(f'"{last.text} {said}" may belong to the message; say on, at or by, or put the message in quotes')


def _splits_a_number(last: Token, first: Token, reading: Reading) -> bool:
    if first.text in WEEKDAYS:
        return last.kind is Kind.ORDINAL or last.text in ORDINAL_WORDS
    if first.text in MONTHS:
        return last.kind is Kind.NUMBER and len(last.text) < 3
    counted = last.kind in (Kind.NUMBER, Kind.DECIMAL) or last.text in _COUNTS
    return counted and reading.shift is not None and first.text != "in"


def without_joint(message: str, *, last: bool) -> str:
    """The message without the one word at its edge that may join a second time to the first."""
    words = message.split()
    if not words or words[-1 if last else 0].casefold() not in _JOINING:
        return message
    return " ".join(words[:-1] if last else words[1:])


def refuse_other_day(message: str, said: str, *, first: bool, last: bool) -> None:
    """Refuse a time without a day beside a message that has one: "meeting next week with bob at 5pm"."""
    plain = " ".join(message.split())
    *_, edge = plain.casefold().split() or [""]
    if last and edge in _REPEATING:
        raise Refused(f'{shown(said)} happens once, but "{edge}" repeats; say every day, or every saturday')
    date = (last and _DATE_LAST.search(plain)) or (first and _DATE_FIRST.match(plain))
    day = date[1] if date else next(_found(message, (_read_repeated, _read_day, _read_days)), None)
    if day is not None:
        raise Refused(f'the message says "{day}" and {shown(said)} names no day; {_WAY_OUT}')


def refuse_other_clock(message: str, said: str) -> None:
    """Refuse a day without a time beside a message that has one: "meeting at 3pm with bob tomorrow"."""
    clock = next(_found(message, (_read_clock,)), None)
    if clock is not None:
        raise Refused(f'the message says "{clock}" and {shown(said)} has no time of day; {_WAY_OUT}')


def _found(message: str, readers: tuple[Callable[[Reader], object], ...]) -> Iterator[str]:
    tokens = tokenize(message)
    for start in range(len(tokens)):
        for reads in readers:
            reader = Reader(tokens, free=True)
            reader.at = start
            try:
                found = reads(reader)
            except Refused:
                continue
            if found is not None:
                said = "".join(token.text if token.joined else f" {token.text}" for token in tokens[start : reader.at])
                yield said.strip()


def _read_repeated(reader: Reader) -> object:
    """A rule, but not the "daily" of a daily report."""
    return None if reader.word() in RHYTHMS else read_recurring(reader)


def _read_day(reader: Reader) -> object:
    """A day, but not the sun of "sit in the sun"."""
    return None if reader.word() in SHORT_WEEKDAYS else read_day(reader)


def _read_days(reader: Reader) -> object:
    shift = read_from_now(reader)
    return None if shift is None or shift.microseconds else shift


def _read_clock(reader: Reader) -> object:
    """A time of day in figures, or after "at": a midnight snack is none."""
    named = reader.peek().kind is Kind.WORD and reader.word() not in ("at", "by", "due", "half", "quarter")
    return None if named else read_clocks(reader)


MOST_WORDS: Final = 14
"""How many words of either end are looked at; no phrase for a time is longer."""

_WORD: Final = re.compile(r"\S+")
_ASKED: Final = re.compile(
    r"(?:(?:hey|please|(?:can|could|would|will)\s+you),?\s+){0,3}(?:/remind(?:@\w+)?|remind\s+me)(?![^\s:,])[\s:,]*",
    re.IGNORECASE,
)
_THANKED: Final = re.compile(r"(?<![\s,])[\s,]+(?:please|pls|thanks|thank\s+you)[.!?]*\Z", re.IGNORECASE)
_LINK: Final = re.compile(r"(?:to|that|about|of)\s+", re.IGNORECASE)
_LINK_LAST: Final = re.compile(r"(?:(?<=\s)|\A)(?:to|that|about|of)\Z", re.IGNORECASE)
_BY: Final = re.compile(r"\sby\s", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?:(?<=\s)|\A)(?:by|at|on|due|@)\Z", re.IGNORECASE)
_QUOTED: Final = re.compile(r"""\s*["“](?P<message>[^"“”]+)["”](?P<after>[^"“”]*)\Z""")
_QUOTED_LAST: Final = re.compile(r"""(?P<before>[^"“”]*)["“](?P<message>[^"“”]+)["”]\s*\Z""")
_EDGES: Final = " \t\r\n,;:-–—"


@dataclass(frozen=True, slots=True)
class _Time:
    """Words at one end of the sentence that are a time, or that would be one if they were clear."""

    said: str
    rest: str
    reading: Reading | None = None
    understood: Understood | None = None
    refused: Refused | None = None

    @property
    def names_a_day(self) -> bool:
        return self.reading is None or self.reading.names_a_day


def split_reminder(text: str, now: Moment, zone: Zone) -> tuple[str, Understood]:
    """The message of a sentence, as it was typed, and the time at its end or its beginning.

    A day at one end and a clock at the other belong together: "tomorrow call mum at 5pm". Two times that do not fit
    together are refused; quotes around the message settle it. Raises `InvalidPhraseError`.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> message, when = split_reminder("remind me to pay rent by friday", now, zone)
    >>> message, when.echo(now, zone)
    ('pay rent', 'Friday 2026-02-20 9:00 AM America/Toronto (in 1 day 19 h)')
    """
    where = zone_of(zone)
    try:
        message, understood = _split(text, as_instant(now), where)
    except Refused as refused:
        raise refusal(text, "a reminder", refused.why, REMINDER_EXAMPLES) from None
    if not message:
        raise refusal(text, "a reminder", "it has a time, but nothing to be reminded of", REMINDER_EXAMPLES)
    return message, understood


def _split(text: str, now: Instant, zone: ZoneInfo) -> tuple[str, Understood]:
    quoted = _QUOTED.match(text) or _QUOTED_LAST.match(text)
    if quoted is not None:
        found = _quoted(quoted, now, zone)
        if found is not None:
            return found
    body, asked = _without_asking(_THANKED.sub("", text.strip()))
    if asked:
        body = body.rstrip("? ")  # "can you remind me to call mum at 5pm?"
    start = next(_times_at_start(body, now, zone), None)
    end = next(_times_at_end(body, now, zone), None)
    chosen = _choose(start, end, now, zone)
    if chosen is None:
        return _after_last_by(body, now, zone)
    if chosen.understood is None:
        assert chosen.refused is not None
        raise Refused(f"{shown(chosen.said)} is not clear: {chosen.refused.why}")
    message = _clean(chosen.rest, asked=asked)
    _refuse_leftovers(message, chosen, now, zone, first=chosen is not end, last=chosen is not start)
    return message, chosen.understood


def _quoted(match: re.Match[str], now: Instant, zone: ZoneInfo) -> tuple[str, Understood] | None:
    """A message in quotes: all that is outside them is the time."""
    groups = match.groupdict()
    outside, _ = _without_asking((groups.get("before") or groups.get("after") or "").strip(_EDGES))
    outside = _LINK_LAST.sub("", outside)
    if not outside:
        return _split(groups["message"], now, zone)
    try:
        return groups["message"].strip(), resolve(read_any(outside), now, zone)
    except Unread:
        return None


def _choose(start: _Time | None, end: _Time | None, now: Instant, zone: ZoneInfo) -> _Time | None:
    if start is None or end is None:
        return end or start
    if not start.rest.strip(_EDGES):
        return start
    if start.understood is None and start.names_a_day and end.understood is not None and end.names_a_day:
        return end  # "last friday's numbers by tuesday": what cannot be the time belongs to the message
    joined = _time(f"{start.said} {end.said}", start.rest.removesuffix(end.said), now, zone)
    clear = start.understood is not None and end.understood is not None
    if joined is None or (clear and joined.understood is None):
        _refuse_second(start, end.said)
    return joined


def _times_at_end(body: str, now: Instant, zone: ZoneInfo) -> Iterator[_Time]:
    for match in list(_WORD.finditer(body))[-MOST_WORDS:]:
        found = _time(body[match.start() :], body[: match.start()], now, zone)
        if found is not None:
            yield found


def _times_at_start(body: str, now: Instant, zone: ZoneInfo) -> Iterator[_Time]:
    for match in reversed(list(_WORD.finditer(body))[:MOST_WORDS]):
        found = _time(body[: match.end()].rstrip(_EDGES), body[match.end() :], now, zone)
        if found is not None:
            yield found


def _time(said: str, rest: str, now: Instant, zone: ZoneInfo) -> _Time | None:
    """The longest run of words wins, even if it is refused: "at 5 friday" must not become "friday"."""
    if not tokenize(said) or said.strip(".!").casefold() in SHORT_WEEKDAYS:
        return None  # a bullet; "sit in the sun"
    reading = None
    try:
        reading = read(said, free=True)
        return _Time(said, rest, reading, resolve(reading, now, zone))
    except Unread:
        return None
    except Refused as refused:
        known = all(token.text in VOCABULARY for token in tokenize(said) if token.kind is Kind.WORD)
        return _Time(said, rest, reading, refused=refused) if known else None


def _after_last_by(body: str, now: Instant, zone: ZoneInfo) -> tuple[str, Understood]:
    """What stands after the last "by" is said to be a time, so it may be one of another language."""
    for match in list(_BY.finditer(body))[-1:]:
        reading = translate(body[match.end() :])
        if reading is not None:
            return _clean(body[: match.start()], asked=True), resolve(reading, now, zone)
    raise Refused("there is no time at the beginning or the end")


def _without_asking(text: str) -> tuple[str, bool]:
    match = _ASKED.match(text)
    return (text[match.end() :], True) if match is not None else (text, False)


def _clean(rest: str, *, asked: bool) -> str:
    """The message as typed, without what asks for the reminder and what led to the time."""
    message = rest.strip(_EDGES)
    message, asked_here = _without_asking(message)
    if asked or asked_here:
        message = _LINK.sub("", message, count=1) if _LINK.match(message) else message
    return _TRAILING.sub("", message).strip(_EDGES)


def _refuse_leftovers(message: str, chosen: _Time, now: Instant, zone: ZoneInfo, *, first: bool, last: bool) -> None:
    """Refuse a message in which part of the time, or another time, is left."""
    said, reading = chosen.said, chosen.reading
    assert reading is not None
    if last:
        _refuse_second(next(_times_at_end(without_joint(message, last=True), now, zone), None), said)
        refuse_cut(message, said, reading)
    if first:
        _refuse_second(next(_times_at_start(without_joint(message, last=False), now, zone), None), said)
    if not reading.names_a_day:
        refuse_other_day(message, said, first=first, last=last)
    if reading.lacks_a_clock:
        refuse_other_clock(message, said)


def _refuse_second(other: _Time | None, said: str) -> None:
    if other is not None:
        raise Refused(
            f"{shown(other.said)} and {shown(said)} are two times; leave one out, or put the message in quotes"
        )


_MOST_SAID: Final = 80
"""So many words of a message are searched for times; whoever names one says it early."""


def times_in(text: str, now: Moment, zone: Zone) -> tuple[Understood, ...]:
    """Every time that a message names, wherever it stands in it: how to know that somebody said it.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> [one.first_at(zone).hour for one in times_in("could it be at 5pm, or is 19:30 better?", now, zone)]
    [17, 19]
    """
    at, where = as_instant(now), zone_of(zone)
    found: list[Understood] = []
    with suppress(Refused):
        found.append(_split(text, at, where)[1])  # a day at one end and a clock at the other belong together
    words = [match[0].strip(_EDGES + ".!?()\"“”'") for match in _WORD.finditer(text)][:_MOST_SAID]
    start = 0
    while start < len(words):
        for end in range(min(len(words), start + MOST_WORDS), start, -1):
            time = _time(" ".join(words[start:end]), "", at, where)
            if time is not None and time.understood is not None:
                found.append(time.understood)
                start = end - 1
                break
        start += 1
    return tuple(found)
