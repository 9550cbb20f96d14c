"""Where else in the store a text may have left its words: messages, the feed, outcomes, letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nudge.instants import Instant


@dataclass(frozen=True, slots=True)
class Trace:
    """One row: its words, and what it knows besides."""

    place: str
    id: int
    words: str
    detail: Mapping[str, Any] = field(default_factory=dict)


class Traces(Protocol):
    async def since(self, agent: str, since: Instant) -> Sequence[Trace]:
        """Every row of that agent that was written at or after the instant."""
        ...

    async def rewrite(self, trace: Trace) -> None:
        """Put these words and this detail into the row, whatever it said before."""
        ...
