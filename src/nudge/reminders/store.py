"""The repository of reminders, and the row that a list needs of each.

The rules' own types are imported for the type checker only, and the rows are named tuples: a command that lists
reminders loads neither the rules nor dataclasses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nudge.instants import Instant

if TYPE_CHECKING:
    from nudge.reminders.reminder import Reminder, Source


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


class Reminders(Protocol):
    async def add(self, reminder: Reminder) -> bool:
        """False, and nothing written, if the id is taken."""
        ...

    async def get(self, reminder_id: str) -> Reminder | None: ...

    async def lock(self, reminder_id: str) -> Reminder | None:
        """The same, and nobody else changes it before the transaction around this ends. Take its timer first: who
        fires it does so in that order."""
        ...

    async def save(self, reminder: Reminder) -> None:
        """Everything but where it comes from and when."""
        ...

    async def save_state(self, reminder: Reminder) -> None:
        """What firing changes."""
        ...

    async def named(self, name: str, agent: str | None = None) -> Sequence[Reminder]:
        """Those of that name that can still fire."""
        ...

    async def named_ended(self, name: str) -> Sequence[Reminder]:
        """The last few of that name that have ended, the latest first."""
        ...

    async def listed(
        self, agent: str | None = None, *, ended: bool = False, limit: int = 50
    ) -> Sequence[ListedReminder]:
        """The next one first, then what is paused, then, if asked for, what has ended."""
        ...

    async def everything(self, agent: str | None = None) -> Sequence[Reminder]: ...

    async def seeded(self, agent: str, source: Source) -> Sequence[Reminder]:
        """All that a role or the routines of an agent ever asked for, the newest first."""
        ...

    async def coming(self, agent: str, until: Instant, limit: int = 500) -> Sequence[ComingReminder]:
        """Those due not after `until`, in order."""
        ...

    async def reserved(self, agent: str) -> Sequence[ComingReminder]: ...

    async def fired_since(self, agent: str, since: Instant, limit: int = 100) -> Sequence[Reminder]:
        """The latest first."""
        ...

    async def cancel_all(self, agent: str, reason: str) -> int:
        """Of an agent that goes. What its role asked for is forgotten, so that it can come back with the agent."""
        ...
