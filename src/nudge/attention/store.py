"""What the store keeps about a person's attention: one row per agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nudge.attention.bedtime import BedtimeCount
from nudge.attention.bucket import PingBudget
from nudge.instants import Instant
from nudge.queue.store import QueueStore

if TYPE_CHECKING:
    from nudge.attention.tables import AttentionTable


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """`budget` has the zone UTC: the caller puts the person's in its place."""

    budget: PingBudget
    quiet_until: Instant | None = None
    left_alone: bool = False
    busy_until: Instant | None = None
    delayed_until: Instant | None = None
    last_conversation: Instant | None = None
    last_activity: Instant | None = None
    bedtime: BedtimeCount = field(default_factory=BedtimeCount)


class AttentionStore(QueueStore, Protocol):
    """What the attention governor needs of the store."""

    @property
    def attention(self) -> AttentionTable: ...
