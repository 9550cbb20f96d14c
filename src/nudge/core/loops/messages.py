"""The agent's messages since it last did something."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nudge.core.loops.outcomes import result_digest

_MOST = 64


class MessageWatch:
    """Counts equal messages without an action between them.

    Case, spaces, clock readings and random ids do not make a message a different one; numbers do.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def clear(self) -> None:
        if self._counts:
            self._counts.clear()

    def add(self, text: str) -> int:
        """How often this was said, this time included."""
        key = result_digest(" ".join(text.lower().split()))
        self._counts[key] += 1
        if len(self._counts) > _MOST:
            del self._counts[next(iter(self._counts))]
        return self._counts[key]

    def to_json(self) -> dict[str, Any]:
        return dict(self._counts)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MessageWatch:
        watch = cls()
        watch._counts.update(data)
        return watch
