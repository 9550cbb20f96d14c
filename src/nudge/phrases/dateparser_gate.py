"""Phrases in other languages, through dateparser and a strict gate.

dateparser fills in what a phrase does not say and ignores numbers that it cannot place: "at 5" becomes a day in May,
"mañana a las 10" tomorrow at this hour. So it is only used as a translator, never for the answer:

- the clock is read here, and it has to come back unchanged;
- the rest is parsed from two starting points that share no field, so what stays the same was said and what moves along
  was counted; anything else was guessed;
- every number has to be found again in the answer, and a counted one has to count when it is changed;
- all languages that can read the phrase have to agree.

What passes is a day and a clock, or a distance, and takes the same way as a phrase of our own grammar from there on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from nudge.instants import from_timedelta
from nudge.phrases.grammar import Reading
from nudge.phrases.pieces import Clock, Day, InDays, OnDate, OnWeekday, Shift
from nudge.phrases.tokens import RHYTHMS, VOCABULARY, Kind, tokenize

_LATIN: Final = ("fr", "de", "es", "it", "pt", "nl", "pl", "sv", "da", "nb", "fi", "cs", "tr")
_SCRIPTS: Final = {
    "CYRILLIC": ("ru", "uk"),
    "CJK": ("ja", "zh"),
    "HIRAGANA": ("ja",),
    "KATAKANA": ("ja",),
    "HANGUL": ("ko",),
}
"""The languages dateparser is asked for. English has its own grammar, and all 200 take over a second to load."""

LONGEST: Final = 60
"""Characters; a time in words is short."""

_CLOCK: Final = re.compile(
    r"(?<![0-9:.,])([0-9]{1,2})(?::([0-9]{2})(?:\s?uhr)?|\s?uhr(?:\s([0-9]{2}))?|\s?[h時时点點시]([0-9]{2})?)(?![\w:.])"
)
_NUMBER: Final = re.compile(r"[0-9]+")
_BASES: Final = (datetime(2026, 2, 18, 0, 0, 11), datetime(2029, 7, 6, 0, 0, 23))  # noqa: DTZ001 - walls, not instants
"""A Wednesday and a Friday with no field in common, so early that every clock of the same day is still ahead."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """One text, parsed from both starting points in one language."""

    language: str
    first: datetime
    second: datetime

    @property
    def days(self) -> tuple[int, int]:
        return (self.first.date() - _BASES[0].date()).days, (self.second.date() - _BASES[1].date()).days

    @property
    def moved(self) -> timedelta | None:
        """How far it lies ahead, if that is the same from both starting points."""
        ahead = self.first - _BASES[0]
        return ahead if ahead == self.second - _BASES[1] else None


def translate(text: str) -> Reading | None:
    """What a phrase of another language says, or None where a field of it would have to be guessed."""
    plain = text.casefold().strip()
    if len(plain) > LONGEST or not _is_foreign(plain):
        return None
    clocks = list(_CLOCK.finditer(plain))
    if len(clocks) > 1:
        return None
    readings = set(_with_clock(plain, clocks[0]) if clocks else _counted(plain))
    return readings.pop() if len(readings) == 1 else None


def _is_foreign(plain: str) -> bool:
    """Whether it has a number and a word that our own grammar does not know, and nothing that recurs.

    A short word is not enough: "man 10:00" is Monday in Danish.
    """
    tokens = tokenize(plain)
    words = {token.text for token in tokens if token.kind is Kind.WORD}
    if any(token.kind is Kind.MERIDIEM for token in tokens) or words & {"every", "each", *RHYTHMS}:
        return False
    strange = any(len(word) > 3 or word == "uhr" or not word.isascii() for word in words - VOCABULARY)
    return strange and all(len(number) <= 4 for number in _NUMBER.findall(plain)) and _NUMBER.search(plain) is not None


def _with_clock(plain: str, match: re.Match[str]) -> Iterator[Reading]:
    hour, minute = int(match[1]), int(match[2] or match[3] or match[4] or 0)
    if hour > 23 or minute > 59:
        return
    said = f"{hour:02}:{minute:02}"
    before, after = plain[: match.start()], plain[match.end() :]
    numbers = [int(number) for number in _NUMBER.findall(f"{before} {after}")]
    for parsed in _parse(f"{before}{said}{after}"):
        if all(moment.time().isoformat() == f"{said}:00" for moment in (parsed.first, parsed.second)):
            day = _day(parsed, numbers)
            clocks = (Clock(parsed.first.time(), said, marked=True),)
            if day == InDays(0) and _parse_from(_BASES[0], f"{before} {after}", parsed.language) is None:
                yield Reading(clocks=clocks)  # "um 15 Uhr" names no day, "heute um 15 Uhr" does
            elif day is not None:
                yield Reading(day=day, clocks=clocks)


def _day(parsed: _Parsed, numbers: list[int]) -> Day | None:
    first, second = parsed.first, parsed.second
    near = all(0 <= days <= 7 for days in parsed.days)
    if not numbers and near and parsed.days[0] == parsed.days[1]:
        return InDays(parsed.days[0])
    if not numbers and near and first.weekday() == second.weekday():
        return OnWeekday(first.weekday())
    if numbers == [first.day] and (first.day, first.month) == (second.day, second.month):
        return OnDate(first.month, first.day)
    if numbers == [first.day, first.year] and first == second:
        return OnDate(first.month, first.day, first.year)
    return None


def _counted(plain: str) -> Iterator[Reading]:
    """ "dans 2 heures": one number of minutes, hours, days or weeks; with one more it has to be one unit further."""
    match = _NUMBER.search(plain)
    if match is None or match.end() == len(plain) or len(_NUMBER.findall(plain)) != 1 or int(match[0]) < 1:
        return
    count = int(match[0])
    one_more = _parse(f"{plain[: match.start()]}{count + 1}{plain[match.end() :]}")
    further = {parsed.moved for parsed in one_more} - {None}
    if not further:
        return
    for parsed in _parse(plain):
        unit = None if parsed.moved is None else parsed.moved / count
        if unit in _UNITS and parsed.moved is not None and parsed.moved + unit in further:
            days = parsed.moved.days if unit >= timedelta(days=1) else 0
            yield Reading(shift=Shift(days=days, microseconds=from_timedelta(parsed.moved - timedelta(days=days))))


_UNITS: Final = (timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(weeks=1))


def _parse(plain: str) -> Iterator[_Parsed]:
    for language in _languages_of(plain):
        first, second = (_parse_from(base, plain, language) for base in _BASES)
        if first is not None and second is not None:
            yield _Parsed(language, first, second)


def _languages_of(plain: str) -> tuple[str, ...]:
    """The languages that are written with the letters of this text."""
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in plain}
    return tuple(sorted({language for script in scripts for language in _SCRIPTS.get(script, ())})) or _LATIN


def _parse_from(base: datetime, plain: str, language: str) -> datetime | None:
    import dateparser

    settings: dict[str, Any] = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "future", "TIMEZONE": "UTC"}
    try:
        found = dateparser.parse(plain, languages=[language], settings=settings)
    except Exception:  # a parser of arbitrary text in many languages: whatever it stumbles over, it did not understand
        return None
    return None if found is None or found.tzinfo is not None else found
