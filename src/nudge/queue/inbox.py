"""Letters: what waits in an agent's inbox, and how urgent each one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from nudge.instants import Instant

LETTERS = "letters"
"""The timer, by kind and key, of an agent that has letters to read."""


class Priority(IntEnum):
    """When an agent reads a message: at the next safe point of a running turn, before the next turn, when idle."""

    INTERRUPT = 0
    NORMAL = 1
    IDLE = 2

    @property
    def word(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Priority:
        return cls[word.upper()]


@dataclass(frozen=True, slots=True)
class Letter:
    """A message in an agent's inbox. `topic` (where not empty) is unique among the unread letters of an agent: the same
    topic again refreshes the letter and counts it, so that nothing piles up.

    One that somebody took is theirs until `taken_until`, and comes back then unless they say that it is done. `takes`
    counts how often it was taken or put off."""

    agent: str
    sender: str
    body: str
    priority: Priority
    created_at: Instant
    topic: str = ""
    count: int = 1
    read_at: Instant | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0
    takes: int = 0
    taken_until: Instant | None = None

    @property
    def receipt(self) -> str:
        """What whoever took it acknowledges it by: a later taker has another."""
        return f"{self.id}-{self.takes}"


def letter_key(letter_id: int, count: int = 1) -> str:
    """The name of the occurrence that a letter is to a program that works on it. One that was refreshed since has
    another.

    >>> letter_key(7), letter_key(7, 3)
    ('letter:7', 'letter:7.3')
    """
    return f"letter:{letter_id}" if count == 1 else f"letter:{letter_id}.{count}"
