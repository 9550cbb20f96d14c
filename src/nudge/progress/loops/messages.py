"""The agent's messages since it last did something."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from nudge.progress.loops.outcomes import result_digest, without_clock
from nudge.progress.phases import has_plan

_MOST = 64
_LONGEST = 400

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_FILLER_WORDS = """
a about again also am an and are be by for from going gonna i i'll i'm i've in into is it it's its just let let's me my
next now of on ok okay once onto our please right shall so that that's the then this to up us want we we'll we're will
with would
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_INTENTION = re.compile(
    r"\b(?:I(?:['’]ll| will| shall| need to| should| want to| plan to|['’]m (?:going|about) to| am (?:going|about) to)"
    r"|(?:now|next|first|so),? I\b|let(?:['’]s| me| us)(?! know)|(?:my|the|our) plan is)",
    re.IGNORECASE,
)


class MessageWatch:
    """Counts messages without an action between them: equal ones, and announcements in whatever words.

    Case, spaces, clock readings and random ids do not make a message a different one; numbers do. In a short message
    the words that carry nothing and the order of the others do not count either.
    """

    __slots__ = ("_announced", "_counts")

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._announced = 0

    def clear(self) -> None:
        if self._counts:
            self._counts.clear()
            self._announced = 0

    def add(self, text: str) -> tuple[int, int]:
        """How often this was said, and how often anything was announced, this time included."""
        key = result_digest(_gist(text))
        self._counts[key] += 1
        if len(self._counts) > _MOST:
            del self._counts[next(iter(self._counts))]
        announces = is_announcement(text)
        self._announced += announces
        return self._counts[key], self._announced if announces else 0

    def to_json(self) -> dict[str, Any]:
        return {"counts": dict(self._counts), "announced": self._announced}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MessageWatch:
        watch = cls()
        watch._counts.update(data["counts"])
        watch._announced = int(data["announced"])
        return watch


def is_announcement(text: str) -> bool:
    """Whether a message says what is going to be done: a plan, or a few words such as "I will"."""
    return has_plan(text) or (_INTENTION.search(text) is not None and len(text) <= _LONGEST)


def _gist(text: str) -> str:
    """What a message says, apart from how: of a short one the words that carry something, sorted."""
    plain = " ".join(text.lower().split())
    if len(plain) > _LONGEST:
        return plain
    plain = without_clock(plain)
    words = _WORD.findall(plain.replace("’", "'"))
    return " ".join(sorted(set(words) - _FILLERS)) or plain
