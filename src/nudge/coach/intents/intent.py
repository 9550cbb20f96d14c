"""What an intent is: a name, what it does, how people say it, and the rows of words that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from string import Template
from typing import Final


class About(StrEnum):
    """What `{what}` must name."""

    NOTHING = ""
    REMINDER = "reminder"
    TASK = "task"
    ANYTHING = "anything"


class Rank(IntEnum):
    """What is read first: a wish, then a reminder to set, then something to note, then small talk."""

    WISH = 1
    NOTE = 2
    TALK = 3


WORDS: Final = {
    "the": "-|the|my|that|this|your",
    "rem": "reminder|reminders|alarm|alarms|remainder",
    "move": "move|reschedule|shift|change|push|put|postpone|delay|bump|switch|swap|bring",
    "cancel": "cancel|delete|remove|drop|scrap|erase|kill|ditch|bin|clear|cancle|unset|discard|axe|lose",
    "write": "write|text|message|ping|nudge|contact|bother",
    "feel": "am|feel|feeling|am -|feeling -|so|really|very|just|quite|pretty|a|totally|completely|absolutely|still|"
    "kinda|such|honestly -|bit|little|a",
}
"""Words that many rows share: `$cancel {what}`."""


@dataclass(frozen=True, slots=True)
class Way:
    """Rows of words (`nudge.phrases.wording`) with the same slots. `{what}` must name something that exists, `{when}`
    a time, `{length}` a length of time. A `sure` one is meant even where `{what}` names nothing; any other is then not
    meant. `fixed` are slots that the wording itself fills."""

    rows: tuple[str, ...]
    about: About = About.NOTHING
    sure: bool = False
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Intent:
    """`examples` are its tests and its help; `before` is the message, or the reminder in brackets, that came before
    them. `says` are the answers of small talk. An intent without ways is read elsewhere: times in words by
    `nudge.phrases`, restraint by `nudge.attention.restraint`, danger and corrections by the coach's own rules."""

    name: str
    does: str
    examples: tuple[str, ...]
    ways: tuple[Way, ...] = ()
    before: str = ""
    rank: Rank = Rank.WISH
    says: tuple[str, ...] = ()


def intent(
    name: str,
    does: str,
    examples: str,
    *ways: Way,
    before: str = "",
    rank: Rank = Rank.WISH,
    says: tuple[str, ...] = (),
) -> Intent:
    """An intent whose examples stand side by side, with dots between them."""
    shown = tuple(one.strip() for line in examples.splitlines() for one in line.split(" · ") if one.strip())
    return Intent(name, does, shown, ways, before, rank, says)


def way(rows: str, about: About = About.NOTHING, *, sure: bool = False, fixed: Mapping[str, str] | None = None) -> Way:
    """Ways to say it, one row a line; a backslash continues a long one."""
    lines = (Template(line).substitute(WORDS).strip() for line in rows.splitlines())
    return Way(tuple(line for line in lines if line), about, sure, fixed or {})
