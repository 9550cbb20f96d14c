"""What a preference allows or forbids: "don't message about sleep", "you can message about sleep after midnight".

The coach's model reads the preferences too. The gate reads them as well, so that keeping to them does not depend on a
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

DATED = re.compile(r"\(?(?:set |since |on )?(\d{4}-\d{2}-\d{2})\)?")

_NEVER = re.compile(r"(?:please )?(?:don'?t|do not|never|stop|no more|no longer|avoid|quit)\s+(?:ever )?(.+)")
_MAY = re.compile(
    r"(?:please )?(?:you (?:can|may|should|could)|(?:it'?s |is )?(?:ok|okay|fine|all right)(?: now)?(?: for you)? to"
    r"|feel free to|do|start|go ahead and)\s+(?:now |again )?(.+)"
)
_CONDITION = re.compile(
    r"\b(?:after|before|until|till|from|between|during|when|while|unless|except|if|on|in|at|only|once|but|more)\b.*"
)
_FILLERS = frozenset(("a", "an", "the", "me", "my", "to", "about", "of", "with", "for", "any", "all", "it", "s"))
_FILLERS |= {"again", "anymor", "now", "pleas"}  # as stems
# What a coach does. The rest is the topic.
_SAYING = frozenset(
    ("messag", "ask", "remind", "nudg", "ping", "text", "mention", "talk", "writ", "bring", "up", "send")
)


_FAMILIES: Final = (
    frozenset(("sleep", "bed", "bedtim", "asleep", "goodnight")),
    frozenset(("workout", "exercis", "gym", "train")),
)
"""Words, as stems, for one thing: a message about bed is about sleep."""


def contradict(one: str, other: str) -> bool:
    """Whether one line forbids outright what the other allows, with or without a condition. Two conditions ("not before
    noon", "after six is fine") can both be true, so a prohibition with a condition contradicts nothing.

    >>> contradict("Don't message about sleep", "You can message about sleep after midnight")
    True
    """
    first, second = _stance(one), _stance(other)
    if first is None or second is None or first.allows == second.allows or first.topic != second.topic:
        return False
    return not (second if first.allows else first).conditional


def forbids(preferences: Iterable[str], about: str) -> bool:
    """Whether the person does not want to hear about it. If several lines are about the topic, the last one counts. A
    line with a condition ("not before noon") forbids nothing here, because a rule cannot judge it.

    >>> forbids(["Don't message about sleep"], "Time to sleep?")
    True
    """
    words = {stem(word) for word in re.findall(r"\w+", about.casefold())}
    words |= {word for family in _FAMILIES if words & family for word in family}
    silenced = False
    for line in preferences:
        stance = _stance(line)
        if stance is None:
            continue
        topic = stance.topic - _SAYING
        if topic and topic <= words:
            silenced = not stance.allows and not stance.conditional
    return silenced


def topic_of(line: str) -> object:
    """What a line is about, or None if it neither allows nor forbids anything."""
    stance = _stance(line)
    return stance.topic if stance else None


@dataclass(frozen=True, slots=True)
class _Stance:
    allows: bool
    topic: frozenset[str]
    conditional: bool


def _stance(line: str) -> _Stance | None:
    """What a line allows or forbids, or None if it does neither."""
    words = " ".join(re.sub(r"[\"“”]", "", DATED.sub("", line.replace("’", "'"))).casefold().split()).rstrip(" .!")
    for allows, pattern in ((False, _NEVER), (True, _MAY)):
        match = pattern.fullmatch(words)
        if match:
            about = _CONDITION.sub("", match[1])
            topic = frozenset(stem(word) for word in re.findall(r"\w+", about)) - _FILLERS
            return _Stance(allows, topic, about != match[1]) if topic else None
    return None


def stem(word: str) -> str:
    """The same stem for "message", "messages" and "messaging"."""
    for ending in ("ing", "es", "s", "e"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word
