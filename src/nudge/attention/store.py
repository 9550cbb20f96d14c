"""What the store keeps about a person's attention: one row per agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nudge.attention.bedtime import BedtimeCount
from nudge.attention.bucket import PingBudget
from nudge.attention.restraint import Requests
from nudge.instants import Instant
from nudge.queue.store import QueueStore

if TYPE_CHECKING:
    from nudge.attention.tables import AttentionTable, WelcomeTable


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """`budget` is in UTC: the gate puts it into the person's zone."""

    budget: PingBudget
    requests: Requests = field(default_factory=Requests)
    last_conversation: Instant | None = None
    last_activity: Instant | None = None
    bedtime: BedtimeCount = field(default_factory=BedtimeCount)


class AttentionStore(QueueStore, Protocol):
    """What the attention governor needs of the store."""

    @property
    def attention(self) -> AttentionTable: ...
    @property
    def welcomes(self) -> WelcomeTable: ...
