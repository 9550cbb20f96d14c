"""From text to tokens in one pass; no alternative can backtrack further than its own few digits."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum
from typing import Final

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
    MARK = "mark"  # , & @ -
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
    | (?P<mark>[,&@-])
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
