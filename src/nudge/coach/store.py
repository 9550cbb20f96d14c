"""What the coach keeps: what was said, when the phone gave a sign of life, which briefings have had their turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nudge.instants import Instant


@dataclass(frozen=True, slots=True)
class Saying:
    """Something said. `role` is user, assistant or system; `kind` is conversation, heartbeat, briefing, review, …"""

    agent: str
    at: Instant
    role: str
    content: str
    kind: str = "conversation"
    forwarded: bool = False
    id: int = 0


class Conversations(Protocol):
    async def add(self, saying: Saying) -> int: ...

    async def recent(self, agent: str, limit: int = 50) -> Sequence[Saying]:
        """Newest first."""
        ...

    async def redact(self, agent: str, count: int) -> Sequence[Saying]:
        """Delete the newest so many, in the archive too; what was deleted, newest first."""
        ...

    async def archive(self, agent: str, before: Instant) -> int:
        """Move what is older into the archive."""
        ...


class Activity(Protocol):
    async def add(self, agent: str, at: Instant) -> None: ...

    async def since(self, agent: str, since: Instant) -> Sequence[Instant]: ...

    async def prune(self, agent: str, before: Instant) -> int: ...


class Periods(Protocol):
    async def claim(self, agent: str, kind: str, period: str, now: Instant) -> bool:
        """Take the turn of a period; False if it was taken before. Part of the transaction that says the briefing."""
        ...

    async def taken(self, agent: str, kind: str, period: str) -> Instant | None: ...
