"""Reminders in the database, and the row that a list needs of each.

The rules' types are loaded when the first whole reminder is read or written, and the rows are named tuples: a command
that lists reminders loads neither the rules nor dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from nudge.instants import Instant, rfc3339

if TYPE_CHECKING:
    from nudge.database import Database, Row
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

    def public(self, zone: tzinfo) -> dict[str, Any]:
        """As JSON, with times as the zone's clocks show them."""

        def time(instant: Instant | None) -> str | None:
            return None if instant is None else rfc3339(instant, zone)

        return {
            "id": self.id,
            "agent": self.agent,
            "name": self.name,
            "message": self.message,
            "schedule_words": self.schedule_words,
            "tz": self.tz,
            "to_person": self.to_person,
            "source": self.source,
            "status": self.status,
            "ended_reason": self.ended_reason,
            "next_at": time(self.next_at),
            "last_fired_at": time(self.last_fired_at),
            "fire_count": self.fire_count,
            "created_at": time(self.created_at),
        }


class ComingReminder(NamedTuple):
    """A reminder whose timer is set."""

    reminder: Reminder
    due_at: Instant
    slot_at: Instant


class ReminderTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, reminder: Reminder) -> bool:
        """False, and nothing written, if the id is taken."""
        return await self._db.run("reminders_add", _params(reminder)) > 0

    async def get(self, reminder_id: str) -> Reminder | None:
        row = await self._db.one("reminders_get", {"id": reminder_id})
        return _reminder(row) if row else None

    async def lock(self, reminder_id: str) -> Reminder | None:
        """The same, and nobody else changes it before the transaction around this ends. Take its timer first:
        whoever fires it does so in that order."""
        if not await self._db.run("reminders_lock", {"id": reminder_id}):
            return None
        return await self.get(reminder_id)

    async def save(self, reminder: Reminder) -> None:
        """Everything but where it comes from and when."""
        params = _params(reminder)
        for name in ("agent", "source", "created_at"):
            params.pop(name)
        await self._db.run("reminders_save", params)

    async def save_state(self, reminder: Reminder) -> None:
        """What firing changes."""
        from nudge.reminders.fields import to_columns
        from nudge.reminders.reminder import STATE

        await self._db.run("reminders_save_state", {"id": reminder.id, **to_columns(STATE, reminder)})

    async def named(self, name: str, agent: str | None = None) -> Sequence[Reminder]:
        """Those of that name that can still fire."""
        if agent is None:
            rows = await self._db.all("reminders_named", {"name": name})
        else:
            rows = await self._db.all("reminders_named_of", {"name": name, "agent": agent})
        return [_reminder(row) for row in rows]

    async def named_ended(self, name: str) -> Sequence[Reminder]:
        """The last few of that name that have ended, the latest first."""
        return [_reminder(row) for row in await self._db.all("reminders_named_ended", {"name": name})]

    async def listed(
        self, agent: str | None = None, *, ended: bool = False, limit: int = 50
    ) -> Sequence[ListedReminder]:
        """The next one first, then what is paused, then, if asked for, what has ended."""
        suffix, who = ("", {}) if agent is None else ("_of", {"agent": agent})
        found = list(await self._db.all(f"reminders_listed{suffix}", {**who, "limit": limit}))
        for status in ("paused", "completed", "cancelled") if ended else ("paused",):
            if len(found) < limit:
                params = {**who, "status": status, "limit": limit - len(found)}
                found += await self._db.all(f"reminders_resting{suffix}", params)
        return [_listed(row) for row in found]

    async def everything(self, agent: str | None = None) -> Sequence[Reminder]:
        return [_reminder(row) for row in await self._db.all("reminders_everything", {"agent": agent})]

    async def seeded(self, agent: str, source: Source) -> Sequence[Reminder]:
        """All that a role or the routines of an agent ever asked for, the newest first."""
        rows = await self._db.all("reminders_seeded", {"agent": agent, "source": source.value})
        return [_reminder(row) for row in rows]

    async def coming(self, agent: str, until: Instant, limit: int = 500) -> Sequence[ComingReminder]:
        """Those due not after `until`, in order."""
        rows = await self._db.all("reminders_coming", {"agent": agent, "until": until, "limit": limit})
        return [_coming(row) for row in rows]

    async def following(self, agent: str, tz: str) -> Sequence[Reminder]:
        """Those in that zone that move with the person."""
        return [_reminder(row) for row in await self._db.all("reminders_following", {"agent": agent, "tz": tz})]

    async def reserved(self, agent: str) -> Sequence[ComingReminder]:
        return [_coming(row) for row in await self._db.all("reminders_reserved", {"agent": agent})]

    async def fired_since(self, agent: str, since: Instant, limit: int = 100) -> Sequence[Reminder]:
        """The latest first."""
        rows = await self._db.all("reminders_fired_since", {"agent": agent, "since": since, "limit": limit})
        return [_reminder(row) for row in rows]

    async def from_chat_since(self, agent: str, since: Instant) -> Sequence[Reminder]:
        """Those that a chat has set since then, ended ones too."""
        rows = await self._db.all("reminders_from_chat_since", {"agent": agent, "since": since})
        return [_reminder(row) for row in rows]

    async def delete(self, reminder_id: str) -> None:
        """For good, without a trace: what has ended normally stays as history."""
        await self._db.run("reminders_delete", {"id": reminder_id})

    async def by_model(self, agent: str, since: Instant) -> tuple[int, int]:
        """How many a model set that can still fire, and how many it has set since then."""
        row = await self._db.one("reminders_by_model", {"agent": agent, "since": since})
        assert row is not None
        return int(row["active"]), int(row["made"])

    async def active_ids(self) -> Sequence[tuple[str, bool]]:
        """Every active reminder, and whether it has a timer."""
        return [(row["id"], row["key"] is not None) for row in await self._db.all("reminders_active_ids", {})]

    async def end(self, reminder_id: str, reason: str) -> None:
        """For one that cannot be read: whoever can read it uses `save_state`."""
        await self._db.run("reminders_end", {"id": reminder_id, "reason": reason})

    async def cancel_all(self, agent: str, reason: str) -> int:
        """Of an agent that goes. What its role asked for is forgotten, so that it can come back with the agent."""
        return await self._db.run("reminders_cancel_all", {"agent": agent, "reason": reason})


def _params(reminder: Reminder) -> dict[str, Any]:
    from nudge.reminders.fields import to_columns
    from nudge.reminders.reminder import FIELDS
    from nudge.reminders.text import schedule_words

    return {**to_columns(FIELDS, reminder), "schedule_words": schedule_words(reminder)}


def _reminder(row: Row) -> Reminder:
    return _read(_columns()(row))


@cache
def _columns() -> Callable[[Row], tuple[Any, ...]]:
    from nudge.reminders.reminder import FIELDS

    return itemgetter(*(field.name for field in FIELDS))


@lru_cache(maxsize=2_000)
def _read(columns: tuple[Any, ...]) -> Reminder:
    """Reminders are read far more often than they change, and reading takes longer than finding. They are frozen,
    so one value can serve everybody."""
    from nudge.reminders.fields import from_columns
    from nudge.reminders.reminder import FIELDS, Reminder

    return Reminder(**from_columns(FIELDS, dict(zip((field.name for field in FIELDS), columns, strict=True))))


def _coming(row: Row) -> ComingReminder:
    return ComingReminder(_reminder(row), Instant(row["due_at"]), Instant(row["slot_at"]))


def _listed(row: Row) -> ListedReminder:
    return ListedReminder(
        id=row["id"],
        agent=row["agent"],
        name=row["name"],
        message=row["message"],
        schedule_words=row["schedule_words"],
        status=row["status"],
        ended_reason=row["ended_reason"],
        to_person=bool(row["to_person"]),
        source=row["source"],
        tz=row["tz"],
        created_at=Instant(row["created_at"]),
        last_fired_at=row["last_fired_at"],
        fire_count=row["fire_count"],
        next_at=row["next_at"],
    )
