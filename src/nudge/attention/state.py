"""What the store keeps about a person's attention: one row per agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from nudge.attention.bedtime import BedtimeCount
from nudge.attention.bucket import PingBudget
from nudge.instants import Instant


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """`budget` has the zone UTC: the caller puts the person's in its place."""

    budget: PingBudget
    quiet_until: Instant | None = None
    left_alone: bool = False
    busy_until: Instant | None = None
    last_conversation: Instant | None = None
    last_activity: Instant | None = None
    bedtime: BedtimeCount = field(default_factory=BedtimeCount)


class AttentionStore(Protocol):
    async def get(self, agent: str, *, to_change: bool = False) -> AttentionRow | None:
        """`to_change`, inside a transaction, keeps others from changing the row until its end."""
        ...

    async def create(self, agent: str, capacity: int, refill_minutes: int, now: Instant, today: date) -> None:
        """A full bucket and a person who wants nothing in particular; leaves a row that is there alone."""
        ...

    async def set_quiet(self, agent: str, until: Instant | None) -> None: ...

    async def set_busy(self, agent: str, until: Instant | None) -> None: ...

    async def set_left_alone(self, agent: str, on: bool) -> None: ...

    async def conversation(self, agent: str, now: Instant) -> None:
        """The person wrote: a conversation is going on, and "leave me alone" is over."""
        ...

    async def activity(self, agent: str, now: Instant) -> None:
        """The phone gave a sign of life. It lifts nothing."""
        ...

    async def set_bucket(self, agent: str, budget: PingBudget) -> None:
        """Another size, rate or level; the counters stay."""
        ...

    async def take_ping(self, agent: str, now: Instant, today: date, at_least: int) -> bool:
        """Debit one ping if the level is `at_least` so many micro-pings; one statement, True if it took one."""
        ...

    async def take_critical(self, agent: str, now: Instant, today: date) -> None: ...

    async def bedtime_sent(self, agent: str, night: date) -> None: ...

    async def remember_said(self, agent: str, topic: str, signature: str, at: Instant) -> None: ...

    async def said(self, agent: str, topic: str) -> dict[str, Instant]: ...
