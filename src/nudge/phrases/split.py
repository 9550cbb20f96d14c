"""Splitting a sentence into a message and its time: "call mum friday 5pm"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, Moment, Zone, as_instant, zone_of
from nudge.phrases.asking import (
    Asking,
    asking_at_start,
    without_asking_at_end,
    without_link,
    without_must,
    without_openers,
    without_symbols,
    without_thanks,
)
from nudge.phrases.clocks import read_clocks, read_duration, read_from_now
from nudge.phrases.dateparser_gate import translate
from nudge.phrases.days import read_day
from nudge.phrases.grammar import Reading, read, read_any
from nudge.phrases.reader import REMINDER_EXAMPLES, Question, Reader, Refused, Unread, refusal, shown, unclear
from nudge.phrases.recurrence import read_recurring
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
    respelled,
    tokenize,
)

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
    last = (tokenize(message[-_MOST_READ:]) or (None,))[-1]
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


_MOST_READ: Final = 1_000
"""So many characters of a message are searched for another time."""
_MOST_SAID: Final = 60
"""So many words of a message are searched for times; whoever names one says it early."""


def _found(message: str, readers: tuple[Callable[[Reader], object], ...]) -> Iterator[str]:
    tokens = tokenize(message[:_MOST_READ])
    for start in range(min(len(tokens), _MOST_SAID)):
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
    def clear(self) -> bool:
        """Whether it is a time, or would be with an answer."""
        return self.understood is not None or isinstance(self.refused, Question)

    @property
    def names_a_day(self) -> bool:
        return self.reading is None or self.reading.names_a_day


def split_reminder(text: str, now: Moment, zone: Zone, answers: Sequence[str] = ()) -> tuple[str, Understood]:
    """The message of a sentence, as it was typed, and the time at its end or its beginning.

    A day at one end and a clock at the other belong together: "tomorrow call mum at 5pm". Two times that do not fit
    together are refused; quotes around the message settle it. Raises `InvalidPhraseError`; where one word would settle
    it, an `UnclearPhraseError` whose question it answers: pass the sentence again, with the answers so far.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> message, when = split_reminder("remind me to pay rent by friday", now, zone)
    >>> message, when.echo(now, zone)
    ('pay rent', 'Friday 2026-02-20 9:00 AM America/Toronto (in 1 day 19 h)')
    >>> split_reminder("bring 2 bottles at 6", now, zone, ["pm"])[1].first_at(zone).hour
    18
    """
    where = zone_of(zone)
    sentence = Sentence(text, as_instant(now), where)
    try:
        found = sentence.read()
        for answer in answers:
            found = sentence.settled(found, answer)
        return sentence.clear(found)
    except Question as question:
        raise unclear(text, "a reminder", question, REMINDER_EXAMPLES) from None
    except Refused as refused:
        raise refusal(text, "a reminder", refused.why, REMINDER_EXAMPLES) from None


_NO_MESSAGE: Final = frozenset(
    ("", "again", "something", "sth", "a thing", "one more time", "once more", "another time")
)
WHEN: Final = "When?"
WHAT: Final = "About what?"


@dataclass(frozen=True, slots=True)
class Found:
    """The message of a sentence and what its time says. Either may still be missing."""

    message: str = ""
    reading: Reading | None = None
    said: str = ""


_ARROW: Final = re.compile(r"(?<!\s)\s*(?:->|=>|→|>>)\s*")
_TIMER: Final = re.compile(r"(?P<what>.+?)(?<!\s)\s+(?:timer|alarm)\s+(?:for\s+)?(?P<length>\S.*)", re.IGNORECASE)


def with_lead(text: str) -> str:
    """The sentence with "in" before a length that leads to the task: "20 minutes: check the oven", "45 mins
    remind me to stir", "pasta timer 9 minutes". An arrow only stands between the two."""
    text = _ARROW.sub(" ", text).strip() if _ARROW.search(text) else text
    timer = _TIMER.fullmatch(text.strip())
    if timer is not None and asking_at_start(text) is None and _is_length(timer["length"]):
        return f"{timer['what']} in {timer['length']}"
    words = list(_WORD.finditer(text))[:MOST_WORDS]
    for word in words[:-1]:
        lead, rest = text[: word.end()], text[word.end() :].strip()
        ends = lead.endswith((":", " -", " –", " —")) or rest[:1] in "–—-:"
        if (ends or asking_at_start(rest) is not None) and _is_length(lead.rstrip(_EDGES)):
            return f"in {lead.rstrip(_EDGES)} {rest.lstrip(_EDGES)}"
    return text


def _is_length(said: str) -> bool:
    reader = Reader(respelled(tokenize(said))[0], free=True)
    try:
        return reader.attempt(read_duration) is not None and reader.done
    except Refused:
        return False


class Sentence:
    """One sentence, read at one moment."""

    def __init__(self, text: str, now: Instant, zone: ZoneInfo) -> None:
        self.text = with_lead(text)
        self.now = now
        self.zone = zone
        self.asking: Asking | None = None

    def read(self) -> Found:
        """What the sentence says. The reading may be unclear; that is for `clear` to find out."""
        quoted = _QUOTED.match(self.text) or _QUOTED_LAST.match(self.text)
        found = _quoted(quoted, self.now, self.zone) if quoted is not None else None
        if found is not None:
            return found
        body, self.asking = _without_asking(self.text)
        asked = self.asking is not None
        start = next(_times_at_start(body, self.now, self.zone), None)
        end = next(_times_at_end(body, self.now, self.zone), None)
        chosen = _choose(start, end, self.now, self.zone)
        if chosen is None:
            return _after_last_by(body, asked=asked)
        if chosen.reading is None:
            assert chosen.refused is not None
            _refuse_unclear(chosen.said, chosen.refused)
        message = _clean(chosen.rest, asked=asked)
        if asked and message.casefold() in _NO_MESSAGE:
            message = ""
        if chosen.reading is not None:
            first, last = chosen is not end, chosen is not start
            _refuse_leftovers(message, chosen, self.now, self.zone, first=first, last=last)
        default = "" if self.asking is None else self.asking.message
        return Found(message or default, chosen.reading, chosen.said)

    def settled(self, found: Found, answer: str) -> Found:
        """What the sentence says with the answer to the question that it raises."""
        try:
            self.clear(found)
        except Question as question:
            if question.why == WHAT:
                return replace(found, message=without_link(answer.strip(_EDGES)))
            reading = _answer(question, without_thanks(answer))
            return replace(found, reading=reading if found.reading is None else found.reading.answered(reading))
        raise Refused("there is nothing left to settle")

    def clear(self, found: Found) -> tuple[str, Understood]:
        """The message and its time, or a question."""
        if found.reading is None:
            raise Question(WHEN if found.message else WHAT)
        try:
            understood = resolve(found.reading, self.now, self.zone)
        except Question:
            raise
        except Refused as refused:
            raise Refused(f"{shown(found.said)} is not clear: {refused.why}") from None
        if not found.message:
            raise Question(WHAT)
        return found.message, understood


def _answer(question: Question, answer: str) -> Reading:
    """The option that an answer picks, by any of its words, or what it says itself."""
    said = {token.text for token in tokenize(answer)} - {"the", "at", "in", "on"}
    picked = [option for option in question.options if said and said <= {token.text for token in tokenize(option)}]
    try:
        return read_any(picked[0] if len(picked) == 1 else answer)
    except Unread as unread:
        raise Refused(unread.why) from None  # it is no answer


def _refuse_unclear(said: str, refused: Refused) -> None:
    if isinstance(refused, Question):
        raise refused
    raise Refused(f"{shown(said)} is not clear: {refused.why}")


def _quoted(match: re.Match[str], now: Instant, zone: ZoneInfo) -> Found | None:
    """A message in quotes: all that is outside them is the time."""
    groups = match.groupdict()
    outside, _ = _without_asking((groups.get("before") or groups.get("after") or "").strip(_EDGES))
    outside = _LINK_LAST.sub("", outside)
    if not outside:
        return Sentence(groups["message"], now, zone).read()
    try:
        return Found(groups["message"].strip(), read_any(outside), outside)
    except Unread:
        return None


def _choose(start: _Time | None, end: _Time | None, now: Instant, zone: ZoneInfo) -> _Time | None:
    if start is None or end is None:
        return end or start
    if not start.rest.strip(_EDGES):
        return start
    if not start.clear and start.names_a_day and end.clear and end.names_a_day:
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
    said = said.strip("()[]")
    if not tokenize(said) or said.strip(".!").casefold() in SHORT_WEEKDAYS:
        return None  # a bullet; "sit in the sun"
    reading = None
    try:
        reading = read(said, free=True)
        return _Time(said, rest, reading, resolve(reading, now, zone))
    except Unread:
        return None
    except Refused as refused:
        known = reading is not None or all(
            token.text in VOCABULARY for token in tokenize(said) if token.kind is Kind.WORD
        )
        return _Time(said, rest, reading, refused=refused) if known else None


def _after_last_by(body: str, *, asked: bool) -> Found:
    """What stands after the last "by" is said to be a time, so it may be one of another language."""
    for match in list(_BY.finditer(body))[-1:]:
        reading = translate(body[match.end() :])
        if reading is not None:
            return Found(_clean(body[: match.start()], asked=True), reading, body[match.end() :])
    message = _clean(body, asked=asked)
    if asked:
        return Found("" if message.casefold() in _NO_MESSAGE else message)
    raise Refused("there is no time at the beginning or the end")


def _without_asking(text: str) -> tuple[str, Asking | None]:
    """The sentence without the words that ask for a reminder and those that thank for it."""
    text = text.strip()
    asking = asking_at_start(text)
    thanked = without_thanks(text) if asking is not None else without_openers(without_thanks(text))
    if asking is not None and asking.end <= len(thanked):
        body = thanked[asking.end :].lstrip(" \t\r\n:,.;!–—-").rstrip("? ")
        return (_after_noun(body, asking) if asking.noun else body), asking
    before = without_asking_at_end(thanked)
    if before is not None:
        return without_symbols(before), Asking(0)
    return without_symbols(thanked), None


def _after_noun(body: str, asking: Asking) -> str:
    """ "for 10 minutes", "for 7pm", "for friday": after a timer, an alarm or a reminder "for" leads to the time."""
    head, _, rest = body.partition(" ")
    if head.casefold() != "for":
        if not asking.message or not body[:1].isdigit():
            return body
        rest = body  # timer 10 minutes
    if Reader(tokenize(rest)[:6], free=True).attempt(read_duration) is not None:
        return f"in {rest}"
    return f"at {rest}" if Reader(tokenize(f"at {rest}")[:6], free=True).attempt(_read_clock) is not None else rest


def _clean(rest: str, *, asked: bool) -> str:
    """The message as typed, without what asks for the reminder and what led to the time."""
    message = rest.strip(_EDGES).lstrip(")]").rstrip("([").strip(_EDGES)
    if not asked:
        asking = asking_at_start(message)
        if asking is not None and asking.end < len(message):
            message, asked = message[asking.end :].strip(_EDGES), True
    if asked:
        message = without_link(message)
    return without_must(_TRAILING.sub("", message).strip(_EDGES))


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
        sentence = Sentence(text, at, where)
        found.append(sentence.clear(sentence.read())[1])  # a day at one end and a clock at the other belong together
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
