"""What the worker needs of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nudge.progress.store import ProgressStore
from nudge.reminders.store import ReminderStore

if TYPE_CHECKING:
    from nudge.worker.questions import QuestionTable


class WorkerStore(ProgressStore, ReminderStore, Protocol):
    @property
    def questions(self) -> QuestionTable: ...
