"""What is left of a sentence after its time was taken out can show that the time was not the whole of it.

"every day except sunday" ends in a day, "the 20th at 5pm" in a clock, and neither is what the sentence means. Such a
sentence is refused: quotes around the message settle it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from nudge.phrases.clocks import read_clocks
from nudge.phrases.days import read_day
from nudge.phrases.durations import read_from_now
from nudge.phrases.grammar import Reading
from nudge.phrases.reader import Reader
from nudge.phrases.recurrence import read_recurring
from nudge.phrases.refusal import Refused, shown
from nudge.phrases.tokens import Kind, Token, tokenize
from nudge.phrases.vocabulary import (
    MONTHS,
    ORDINAL_WORDS,
    RHYTHMS,
    SHORT_WEEKDAYS,
    SMALL_NUMBERS,
    TENS,
    WEEKDAYS,
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
"""What looks like a date and is none that is read: 28.2, 28-02-26, 28 02 2026, 20260228, fri 20."""

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
        raise Refused(f'{shown(said)} is once, and "{edge}" is not; say every day, or every saturday')
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
        for read in readers:
            reader = Reader(tokens, free=True)
            reader.at = start
            try:
                found = read(reader)
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
