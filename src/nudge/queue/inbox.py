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
    topic again refreshes the letter and counts it, so that nothing piles up."""

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
