"""How urgent a message to an agent is."""

from __future__ import annotations

from enum import IntEnum


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
