"""The repository of reminders, and the row that a list needs of each.

The rules' own types are imported for the type checker only, and the rows are named tuples: a command that lists
reminders loads neither the rules nor dataclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nudge.attention.store import AttentionStore
from nudge.instants import Instant

if TYPE_CHECKING:
    from nudge.reminders.reminder import Reminder
    from nudge.reminders.tables import ReminderTable


class ListedReminder(NamedTuple):
    """`next_at` is when its timer is due; None while it is paused and after it has ended."""

    id: str
    agent: str
    name: str
    message: str
    schedule_words: str
    status: str
    ended_reason: str
    to_person: bool
    source: str
    tz: str
    created_at: Instant
    last_fired_at: Instant | None
    fire_count: int
    next_at: Instant | None


class ComingReminder(NamedTuple):
    """A reminder whose timer is set."""

    reminder: Reminder
    due_at: Instant
    slot_at: Instant


class ReminderStore(AttentionStore, Protocol):
    """What reminders need of the store."""

    @property
    def reminders(self) -> ReminderTable: ...
