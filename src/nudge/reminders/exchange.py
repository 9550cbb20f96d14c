"""Export and import: reminders as JSON, with all they have been through, for a backup or a move to another home."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nudge.errors import NudgeError, StoreError, UsageError
from nudge.instants import Instant
from nudge.queue.agents import Agents
from nudge.reminders.changes import on_free_slot, timer_at
from nudge.reminders.definition import UNKNOWN_VERSION, reminder_from_json, reminder_to_json
from nudge.reminders.reminder import Reminder, Status
from nudge.reminders.service import random_id
from nudge.reminders.slots import first_slot
from nudge.reminders.store import ReminderStore

FORMAT = "nudge-reminders"
VERSION = 1
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Imported:
    added: tuple[Reminder, ...]
    already_here: tuple[Reminder, ...]
    completed: int
    """How many of the added ones had no time left."""


class Exchange:
    def __init__(self, store: ReminderStore, *, new_id: Callable[[], str] = random_id) -> None:
        self._store = store
        self._new_id = new_id

    async def export(self, agent: str | None = None, *, ended: bool = False) -> dict[str, Any]:
        """One that its role or file asks for is exported even if the person removed it: elsewhere it must stay so."""
        found = [
            one
            for one in await self._store.reminders.everything(agent)
            if ended or not one.status.ended or (one.status is Status.CANCELLED and one.source.follows_a_file)
        ]
        return {"format": FORMAT, "version": VERSION, "reminders": [reminder_to_json(one) for one in found]}

    async def import_(self, document: Any, now: Instant, agent: str | None = None) -> Imported:
        """All of it or nothing. What is here already is left alone, so importing a file twice changes nothing. An id
        that means something else here is replaced by a new one.

        What a role or a routine asked for still belongs to it: at the next start it follows the file that is here.
        """
        wanted = [_read(number, one, agent) for number, one in enumerate(_reminders(document), 1)]
        _refuse_twice(wanted)
        added: list[Reminder] = []
        here: list[Reminder] = []
        completed = 0
        agents = Agents(self._store)
        async with self._store.transaction():
            await agents.ensure_default(now)
            for name in sorted({one.agent for one in wanted}):
                await agents.get(name)
            for reminder in wanted:
                there = await self._there(reminder)
                if there is not None:
                    here.append(there)
                    continue
                one = await self._add(reminder, now)
                completed += one.status is Status.COMPLETED and not reminder.status.ended
                added.append(one)
        return Imported(tuple(added), tuple(here), completed)

    async def _there(self, reminder: Reminder) -> Reminder | None:
        """The same one, if it is here already: by its id and creation, or because its role or file has made it here.
        One that has ended is history, which may stand beside it."""
        there = await self._store.reminders.get(reminder.id)
        if there is not None and there.created_at == reminder.created_at:
            return there
        if reminder.source.follows_a_file and not reminder.status.ended:
            for other in await self._store.reminders.named(reminder.name, reminder.agent):
                if other.source is reminder.source:
                    return other
        return None

    async def _add(self, reminder: Reminder, now: Instant) -> Reminder:
        if reminder.name and not reminder.status.ended:
            for other in await self._store.reminders.named(reminder.name, reminder.agent):
                raise UsageError(
                    f"{reminder.agent} already has a reminder called {reminder.name!r}: {other.id}.",
                    next_step=f"Rename it in the file, or run 'nudge reminder remove {other.id}'.",
                )
        first = first_slot(reminder, now) if reminder.status is Status.ACTIVE else None
        if reminder.status is Status.ACTIVE and first is None and reminder.one_shot:
            first = now  # it had fired and was snoozed
        if reminder.status is Status.ACTIVE and first is None:
            reminder = replace(reminder, status=Status.COMPLETED, ended_reason="Its schedule ended before the import.")
        for _ in range(_TRIES):
            if await self._store.reminders.add(reminder):
                if first is not None:
                    await self._store.timers.set(await on_free_slot(self._store, timer_at(reminder, first)))
                return reminder
            reminder = replace(reminder, id=self._new_id())
        raise StoreError("Could not find a free id for the reminder.", next_step="Try again.")


def _reminders(document: Any) -> list[Any]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise UsageError("This is not an export of reminders.", next_step="Use what 'nudge reminder export' wrote.")
    if document.get("version") != VERSION:
        raise UsageError("A newer nudge wrote this export.", next_step="Update nudge.")
    found = document.get("reminders")
    if not isinstance(found, list):
        raise UsageError("This export has no list of reminders.", next_step="Use what 'nudge reminder export' wrote.")
    return found


def _read(number: int, data: Any, agent: str | None) -> Reminder:
    try:
        reminder = reminder_from_json(data)
    except NudgeError as error:
        raise UsageError(f"Reminder {number} of the file: {error.message}", next_step=error.next_step) from None
    if reminder.source.follows_a_file and not reminder.spec:
        reminder = replace(reminder, spec=UNKNOWN_VERSION)
    return replace(reminder, agent=agent) if agent else reminder


def _refuse_twice(wanted: Sequence[Reminder]) -> None:
    """Two reminders of one id, or two that can fire under one name: nobody can say which of them is meant."""
    seen: dict[tuple[str, str], int] = {}
    for number, one in enumerate(wanted, 1):
        keys = [("id", one.id)]
        if one.name and not one.status.ended:
            keys.append((f"name for {one.agent}", one.name))
        for what, value in keys:
            first = seen.setdefault((what, value), number)
            if first != number:
                raise UsageError(
                    f"Reminders {first} and {number} of the file have the same {what}: {value!r}.",
                    next_step="Change or remove one of them. Nothing was imported.",
                )
