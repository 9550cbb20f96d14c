"""Repeated nudges: the same thing is not said twice within 24 hours.

Every ping has a topic (a reminder's id, a routine, or a name the model gives) and a signature of the state it talks
about. The signature ignores what changes by itself: "3 tasks are overdue since 18:30" and "4 tasks are overdue since
19:15" tell the person the same thing, and a growing number must not be a reason to nag. To speak again, the state must
change, or the person must have asked for a chain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from hashlib import blake2s
from types import MappingProxyType

from nudge.instants import DAY, HOUR, Instant, Moment, as_instant, from_timedelta, to_datetime

WINDOW = DAY
"""Within this time the same topic and signature is a repetition. Exactly 24 hours later it is not."""

_SLACK = 3 * HOUR
"""Longer than any change of the clocks."""

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_WEEKDAY_SHORT = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_UNIT = r"(?:h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|d|days?|w|weeks?|months?|years?)"
_CLOCK = r"(?:a\.?m\b\.?|p\.?m\b\.?|o'clock)"
_DIGITS = r"\d+(?:[.,:/\-]\d+)*"

_PASSING = re.compile(
    rf"""
      \d{{4}}-\d\d-\d\dt\d[\d:.]*(?:z|[+\-]\d\d:?\d\d)?                       # 2026-02-20T18:30:00-05:00
    | \b{_WEEKDAY_SHORT}\b\.?(?=,?\s*(?:\d|{_MONTH}\b))                       # Fri 20 Feb, Fri, Feb 20
    | \b{_MONTH}\b\.?\s*\d{{1,4}}(?:st|nd|rd|th)?\b                           # Feb 20th, March 2026
    | \b\d{{1,2}}(?:st|nd|rd|th)?\s*(?:of\s+)?{_MONTH}\b\.?                   # 20 February, 1st of March
    | \b(?:half\s+an?|an?)\s+(?:hour|minute|day|week)\b                       # an hour, half an hour
    | {_DIGITS}\s*(?:st|nd|rd|th|{_CLOCK}|{_UNIT}\b)?                         # 18:30, 6 pm, 2nd, 45 min, 3
    | \b(?:{_NUMBER_WORD}[\s-]*)+\b(?:\s*{_UNIT}\b)?                          # twenty-five minutes
    | \b(?:{_WEEKDAY}|today|tonight|tomorrow|yesterday|noon|midnight)\b
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_VERB_NUMBER = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't", "haven't": "hasn't"}


def normalised(text: str) -> str:
    """The text without numbers, times, dates, case, punctuation, spacing and plurals.

    >>> normalised("3 tasks are overdue since 18:30!")
    'task is overdue since'
    >>> normalised("1 task is  overdue since 7:15 PM")
    'task is overdue since'
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    words = _WORD.findall(_PASSING.sub(" ", plain))
    return " ".join(_VERB_NUMBER.get(word, _singular(word)) for word in words)


def _singular(word: str) -> str:
    if word.endswith("'s"):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def signature(text: str) -> str:
    """The signature of what a ping says: short, stable, and without the person's words.

    >>> signature("Reply to Mary by Friday, 2 days left") == signature("reply to Mary by Monday: 1 day left!")
    True
    >>> signature("Mary has answered") == signature("Reply to Mary")
    False
    """
    return blake2s(normalised(text).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class RepeatLedger:
    """When each topic and signature was last said.

    >>> from nudge.instants import HOUR, Instant
    >>> ledger = RepeatLedger().remember("inbox", signature("2 mails wait"), Instant(0))
    >>> ledger.repeats("inbox", signature("5 mails wait"), Instant(23 * HOUR))
    True
    >>> ledger.repeats("inbox", signature("5 mails wait"), Instant(24 * HOUR))
    False
    """

    said: Mapping[tuple[str, str], Instant] = field(default_factory=lambda: MappingProxyType({}))

    def repeats(self, topic: str, signature: str, at: Moment, zone: tzinfo = UTC) -> bool:
        """Whether this was said less than 24 hours before `at`.

        Both elapsed and wall-clock hours count: on the day the clocks go forward, tonight's 20:30 is a day after
        yesterday's 20:30, although only 23 hours have passed. Something said in the future, by a clock that was wrong,
        counts only within the same 24 hours.
        """
        said = self.said.get((topic, signature))
        if said is None:
            return False
        instant = as_instant(at)
        passed = abs(instant - said)
        if passed >= WINDOW:
            return False
        if passed < WINDOW - _SLACK:
            return True
        return abs(_wall(instant, zone) - _wall(said, zone)) < WINDOW

    def remember(self, topic: str, signature: str, at: Moment) -> RepeatLedger:
        """Return the ledger after a ping was sent; this one stays as it is. Older ones are dropped."""
        instant = as_instant(at)
        kept = {key: said for key, said in self.said.items() if instant - said < WINDOW}
        kept[topic, signature] = instant
        return RepeatLedger(MappingProxyType(kept))


def _wall(instant: Instant, zone: tzinfo) -> int:
    offset = to_datetime(instant, zone).utcoffset()
    assert offset is not None
    return instant + from_timedelta(offset)
