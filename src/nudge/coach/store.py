"""What the coach keeps: what was said, when the phone gave a sign of life, which briefings have had their turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nudge.instants import Instant
from nudge.reminders.store import ReminderStore
from nudge.spending.store import SpendingStore

if TYPE_CHECKING:
    from nudge.coach.tables import ActivityTable, ConversationTable, PeriodTable, TraceTable
    from nudge.progress.tables import SessionTable


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


@dataclass(frozen=True, slots=True)
class Trace:
    """One row: its words, and what it knows besides."""

    place: str
    id: int
    words: str
    detail: Mapping[str, Any] = field(default_factory=dict)


class CoachStore(ReminderStore, SpendingStore, Protocol):
    """What the coach needs of the store."""

    @property
    def sessions(self) -> SessionTable: ...
    @property
    def conversations(self) -> ConversationTable: ...
    @property
    def activity(self) -> ActivityTable: ...
    @property
    def periods(self) -> PeriodTable: ...
    @property
    def traces(self) -> TraceTable: ...
