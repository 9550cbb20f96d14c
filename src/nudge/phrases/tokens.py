"""From text to tokens in one pass; no alternative can backtrack further than its own few digits.

Words for a time that are one slip of the finger away from a known one ("thrusday", "tomorow", "minuts") are put right.
Only long words are, and only within a time, so that the message stays as it was typed; and what was put right is said
back with the time.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Final

from nudge.instants import HOUR, MINUTE, SECOND
from nudge.text import one_slip

WEEKDAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

SHORT_WEEKDAYS: Final = {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "weds": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
LONG_WEEKDAYS: Final = {name.casefold(): number for number, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS: Final = {**LONG_WEEKDAYS, **SHORT_WEEKDAYS}
PLURAL_WEEKDAYS: Final = {f"{name}s": number for name, number in LONG_WEEKDAYS.items()}
DAY_GROUPS: Final = {
    "weekday": (0, 1, 2, 3, 4),
    "weekdays": (0, 1, 2, 3, 4),
    "weekend": (5, 6),
    "weekends": (5, 6),
}

MONTHS: Final = {
    **{name.casefold(): number for number, name in enumerate(MONTH_NAMES, start=1)},
    **{name[:3].casefold(): number for number, name in enumerate(MONTH_NAMES, start=1)},
    "sept": 9,
}

SMALL_NUMBERS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
ORDINAL_WORDS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip

EXACT_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), SECOND),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), HOUR),
}
"""Units of a fixed length. Days and longer follow the calendar: a day over a DST change has 23 or 25 hours."""

DAY_UNITS: Final = {
    "d": 1, "day": 1, "days": 1, "w": 7, "wk": 7, "wks": 7, "week": 7, "weeks": 7, "fortnight": 14, "fortnights": 14,
}  # fmt: skip
MONTH_UNITS: Final = {"mo": 1, "month": 1, "months": 1, "y": 12, "yr": 12, "yrs": 12, "year": 12, "years": 12}

RHYTHMS: Final = ("daily", "hourly", "nightly", "weekly", "monthly", "yearly", "annually")

HOLIDAYS: Final = {
    "april fools": (4, 1), "april fools day": (4, 1), "april fool's day": (4, 1), "boxing day": (12, 26),
    "canada day": (7, 1), "christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24),
    "cinco de mayo": (5, 5), "halloween": (10, 31), "juneteenth": (6, 19), "may day": (5, 1), "new year": (1, 1),
    "new year's": (1, 1), "new year's day": (1, 1), "new year's eve": (12, 31), "new years": (1, 1),
    "new years day": (1, 1), "new years eve": (12, 31), "nye": (12, 31), "pi day": (3, 14), "remembrance day": (11, 11),
    "st patrick's day": (3, 17), "st patricks day": (3, 17), "st paddy's day": (3, 17), "valentine's": (2, 14),
    "valentine's day": (2, 14), "valentines": (2, 14), "valentines day": (2, 14), "veterans day": (11, 11),
    "xmas": (12, 25), "xmas eve": (12, 24),
}  # fmt: skip
"""Holidays with the same date every year."""

MOVING_HOLIDAYS: Final = (
    "ash wednesday", "black friday", "chinese new year", "cyber monday", "diwali", "easter", "easter monday",
    "easter sunday", "eid", "father's day", "fathers day", "good friday", "hanukkah", "labor day", "labour day",
    "lunar new year", "memorial day", "mother's day", "mothers day", "palm sunday", "passover", "ramadan",
    "shrove tuesday", "super bowl sunday", "thanksgiving", "thanksgiving day", "whit monday",
)  # fmt: skip
"""Holidays whose date has to be asked for."""

VAGUE_TIMES: Final = (
    "after breakfast", "after class", "after dinner", "after school", "after supper", "after the gym",
    "after training", "after work", "at bedtime", "at breakfast", "at dawn", "at dinner", "at dinnertime", "at dusk",
    "at sunrise", "at sunset", "at teatime", "before bed", "before bedtime", "before breakfast", "before class",
    "before dinner", "before lunch", "before school", "before sleep", "before supper", "before work", "early",
    "early afternoon", "early evening", "early morning", "late", "late afternoon", "late evening", "late morning",
    "late night", "mid-afternoon", "mid-morning", "mid afternoon", "mid morning", "midafternoon", "midmorning",
    "over lunch", "when i get home", "when i get up", "when i go to bed", "when i wake up", "when i'm home",
    "when im home", "when i get to work", "after i wake up", "when i finish work",
)  # fmt: skip
"""Times that only the person knows."""

VAGUE_DAYS: Final = (
    "any day",
    "later this month",
    "later this week",
    "one day",
    "some day",
    "someday",
    "sometime soon",
)
NO_TIMES: Final = (
    "later", "later on", "soon", "some time", "sometime", "in a bit", "in a while", "at some point", "in a few",
    "in a few minutes", "in a few mins", "in a few hours", "in a few days", "in a moment", "in a minute or two",
    "in some minutes", "in some time", "sometime this week", "some time this week", "sometime next week",
    "some time next week", "sometime this month", "at some point this week",
)  # fmt: skip
"""Words that promise a time and name none."""

_OTHER_WORDS: Final = (
    "a", "after", "afternoon", "ago", "an", "and", "another", "at", "biweekly", "by", "couple", "day", "due", "each",
    "end", "eod", "eom", "eow", "evening", "every", "few", "fortnightly", "from", "half", "in", "last", "midday",
    "midnight", "more", "morning", "next", "night", "noon", "now", "o'clock", "of", "on", "once", "other", "past",
    "per", "quarter", "the", "this", "through", "times", "till", "tmr", "tmrw", "to", "today", "tomorrow", "tonight",
    "twice", "until", "yesterday",
    "about", "approximately", "around", "before", "beginning", "between", "exactly", "ish", "later", "lunch",
    "lunchtime", "mid", "middle", "or", "quarters", "roughly", "same", "sharp", "so", "start", "thing",
    "time", "weekend",
)  # fmt: skip

VOCABULARY: Final = frozenset(
    {
        *WEEKDAYS, *PLURAL_WEEKDAYS, *DAY_GROUPS, *MONTHS, *SMALL_NUMBERS, *TENS, *ORDINAL_WORDS,
        *EXACT_UNITS, *DAY_UNITS, *MONTH_UNITS, *RHYTHMS, *_OTHER_WORDS,
    }
)  # fmt: skip


MAX_LENGTH: Final = 200
"""Longer phrases are refused unread."""


class Kind(Enum):
    EXACT = "exact"  # a date and a clock with an offset: 2026-02-20T15:00:00+01:00
    YEAR_FIRST = "year_first"  # 2026-02-20, 2026/02/20
    DOTTED = "dotted"  # 20.02.2026, 20.2.
    SLASHED = "slashed"  # 2/20, 20/02/2026
    CLOCK = "clock"  # 14:30, 14:30:15
    ORDINAL = "ordinal"  # 2nd
    DECIMAL = "decimal"  # 1.5
    NUMBER = "number"
    MERIDIEM = "meridiem"  # am, p.m., the p of 5p
    WORD = "word"
    MARK = "mark"  # , & @ / ~ -
    OTHER = "other"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token in lower case. `joined` means that no space is before it: the 30 of 1h30, but not of "1h 30"."""

    kind: Kind
    text: str
    joined: bool = False


END: Final = Token(Kind.END, "")

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<exact>[0-9]{4}-[0-9]{2}-[0-9]{2}[t\ ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?\ ?
                (?:z(?![^\W_])|[+-][0-9]{2}:?[0-9]{2}(?![0-9:])))
    | (?P<year_first>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})(?:t(?=[0-9])|(?![0-9a-z/:-]))
    | (?P<dotted>[0-9]{1,2}\.[0-9]{1,2}\.(?:[0-9]{4})?)(?![0-9])
    | (?P<slashed>[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{4})?)(?![0-9/])
    | (?P<clock>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)(?![0-9:])
    | (?P<ordinal>[0-9]{1,4}(?:st|nd|rd|th))(?![^\W_])
    | (?P<decimal>[0-9]{1,9}\.[0-9]{1,6})(?![0-9.])
    | (?P<number>[0-9]{1,9})(?![0-9])
    | (?P<meridiem>[ap]m(?![^\W_])|[ap]\.\ ?m\.?(?![^\W_])|(?<=[0-9])[ap](?![^\W_]))
    | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)
    | (?P<stop>(?<=[^\W\d_])\.)
    | (?P<mark>[,&@/~-])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING_STOP: Final = re.compile(r"(?<![0-9]\.)(?<![0-9]\.[0-9])(?<![0-9]\.[0-9]{2})\.\Z")  # but not that of 20.2.
_LOOKALIKES: Final = str.maketrans({"’": "'", "‘": "'", "–": "-", "—": "-", "−": "-"})


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a phrase. A full stop or an exclamation mark at its end says nothing about time and is dropped."""
    plain = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES).casefold().strip().rstrip("!").rstrip()
    if _CLOSING_STOP.search(plain):
        plain = plain[:-1]
    plain = _FIGURES_IN_WORDS.sub(lambda match: _SPELLED_WITH_FIGURES[match[0]], plain)
    tokens: list[Token] = []
    joined = False
    for match in _TOKEN.finditer(plain):
        name = match.lastgroup
        if name in ("space", "stop"):
            joined = False
            continue
        tokens.append(Token(Kind(name), match.group(name or 0), joined))
        joined = True
    return tuple(tokens)


_SPELLED_WITH_FIGURES: Final = {
    "2moro": "tomorrow", "2morro": "tomorrow", "2morrow": "tomorrow", "2mrw": "tomorrow", "2mro": "tomorrow",
    "2nite": "tonight", "2night": "tonight", "2day": "today", "b4": "before",
}  # fmt: skip
_FIGURES_IN_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_SPELLED_WITH_FIGURES)})\b")

_KNOWN: Final = tuple(
    sorted(
        {
            *LONG_WEEKDAYS, *PLURAL_WEEKDAYS, *DAY_GROUPS, *(name.casefold() for name in MONTH_NAMES if len(name) > 5),
            "afternoon", "april", "evening", "every", "fortnight", "lunchtime", "midnight", "minute", "minutes",
            "morning", "today", "tomorrow", "tonight",
        }
    )
)  # fmt: skip
_SPELLINGS: Final = {
    "tommorow": "tomorrow", "tomrrow": "tomorrow", "tomoz": "tomorrow", "tmw": "tomorrow", "tmo": "tomorrow",
    "tonite": "tonight", "wensday": "wednesday", "wendsday": "wednesday", "weds": "wednesday", "evry": "every",
    "everyday": "every day", "everynight": "every night",
}  # fmt: skip
"""Spellings that are further away, and still nothing else."""

_NOT_SLIPS: Final = frozenset(
    (
        "emery", "ever", "frida", "minuet", "minuets", "minuted", "moaning", "mooning", "mourning", "sunda", "sundae",
        "sundry", "toady", "toddy", "very", "augusta", "octobre", "septembre", "novembre", "decembre",
    )
)  # fmt: skip
"""Words one letter away that mean something of their own."""

_SHORTEST: Final = 4

Correction = tuple[str, str]
"""What was typed, and what it was taken for."""


def respelled(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Correction, ...]]:
    """The tokens with their slips put right, and which they were."""
    found: list[Token] = []
    corrections: list[Correction] = []
    for token in tokens:
        meant = _meant(token.text) if token.kind is Kind.WORD else None
        if meant is None:
            found.append(token)
            continue
        found.extend(replace(token, text=word) for word in meant.split())
        if token.text.replace(" ", "") != meant.replace(" ", ""):
            corrections.append((token.text, _shown(meant)))
    return tuple(found), tuple(corrections)


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    if word in _SPELLINGS:
        return _SPELLINGS[word]
    if word in VOCABULARY or word in _NOT_SLIPS or len(word) < _SHORTEST or not word.isascii():
        return None
    near = [known for known in _KNOWN if one_slip(word, known) and word != f"{known}s"]
    if len(near) == 2 and near[1] == f"{near[0]}s":
        return near[1]  # "minuts" has its s
    return near[0] if len(near) == 1 else None


def _shown(word: str) -> str:
    return word.title() if word in LONG_WEEKDAYS or word.title() in MONTH_NAMES else word
