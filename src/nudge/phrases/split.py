"""Splitting a sentence into a message and its time: "call mum friday 5pm"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, Moment, as_instant
from nudge.phrases.dateparser_gate import translate
from nudge.phrases.grammar import Reading, read
from nudge.phrases.leftovers import refuse_cut, refuse_other_clock, refuse_other_day, without_joint
from nudge.phrases.refusal import REMINDER_EXAMPLES, Refused, Unread, refusal, shown
from nudge.phrases.resolve import resolve
from nudge.phrases.result import Understood
from nudge.phrases.tokens import Kind, tokenize
from nudge.phrases.understanding import read_any
from nudge.phrases.vocabulary import SHORT_WEEKDAYS, VOCABULARY

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


def split_reminder(text: str, now: Moment, zone: ZoneInfo) -> tuple[str, Understood]:
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
    try:
        message, understood = _split(text, as_instant(now), zone)
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
    raise Refused("there is no time at its beginning or its end")


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
    """Refuse a time of which a part, or another one, is left at an edge of the message or inside it."""
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
