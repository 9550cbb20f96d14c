"""What reminders need of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nudge.attention.store import AttentionStore

if TYPE_CHECKING:
    from nudge.reminders.tables import ReminderTable


class ReminderStore(AttentionStore, Protocol):
    @property
    def reminders(self) -> ReminderTable: ...
