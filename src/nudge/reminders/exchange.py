"""Export and import: reminders as JSON, with all they have been through, for a backup or a move to another home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nudge.errors import NudgeError, StoreError, UsageError
from nudge.instants import Instant
from nudge.queue.agents import Agents
from nudge.reminders.changes import on_free_slot, timer_at
from nudge.reminders.json_form import reminder_from_json, reminder_to_json
from nudge.reminders.reminder import Reminder, Source, Status
from nudge.reminders.service import random_id
from nudge.reminders.slots import first_slot
from nudge.reminders.store import ReminderStore

FORMAT = "nudge-reminders"
VERSION = 1
_TRIES = 20
_KEPT = (Source.CLI, Source.CHAT)
"""The person set these; a role or a file, which is not there, no longer speaks for the others."""


@dataclass(frozen=True, slots=True)
class Imported:
    added: tuple[Reminder, ...]
    already_here: tuple[Reminder, ...]
    completed: int
    """Of those added, how many had no time left."""


class Exchange:
    def __init__(self, store: ReminderStore, *, new_id: Callable[[], str] = random_id) -> None:
        self._store = store
        self._new_id = new_id

    async def export(self, agent: str | None = None, *, ended: bool = False) -> dict[str, Any]:
        found = [one for one in await self._store.reminders.everything(agent) if ended or not one.status.ended]
        return {"format": FORMAT, "version": VERSION, "reminders": [reminder_to_json(one) for one in found]}

    async def import_(self, document: Any, now: Instant, agent: str | None = None) -> Imported:
        """All of it or nothing. What is here already (the same id, made at the same time) is left alone, so the same
        file twice changes nothing; an id that means something else here is replaced by a new one."""
        wanted = [_read(number, one, agent) for number, one in enumerate(_reminders(document), 1)]
        added: list[Reminder] = []
        here: list[Reminder] = []
        completed = 0
        agents = Agents(self._store)
        async with self._store.transaction():
            await agents.ensure_default(now)
            for name in sorted({one.agent for one in wanted}):
                await agents.get(name)
            for reminder in wanted:
                there = await self._store.reminders.get(reminder.id)
                if there is not None and there.created_at == reminder.created_at:
                    here.append(there)
                    continue
                source = reminder.source if reminder.source in _KEPT else Source.IMPORT
                one = await self._add(replace(reminder, source=source, spec="", ref=""), now)
                completed += one.status is Status.COMPLETED and not reminder.status.ended
                added.append(one)
        return Imported(tuple(added), tuple(here), completed)

    async def _add(self, reminder: Reminder, now: Instant) -> Reminder:
        if reminder.name and not reminder.status.ended:
            for other in await self._store.reminders.named(reminder.name, reminder.agent):
                raise UsageError(
                    f"{reminder.agent} has a reminder called {reminder.name!r} already: {other.id}.",
                    next_step=f"Rename it in the file, or run 'nudge reminder remove {other.id}'.",
                )
        first = first_slot(reminder, now) if reminder.status is Status.ACTIVE else None
        if reminder.status is Status.ACTIVE and first is None and reminder.one_shot:
            first = now  # it had fired and was snoozed
        if reminder.status is Status.ACTIVE and first is None:
            reminder = replace(reminder, status=Status.COMPLETED, ended_reason="It had no time left when it came here.")
        for _ in range(_TRIES):
            if await self._store.reminders.add(reminder):
                if first is not None:
                    await self._store.timers.set(await on_free_slot(self._store, timer_at(reminder, first)))
                return reminder
            reminder = replace(reminder, id=self._new_id())
        raise StoreError("No free id was found for the reminder.", next_step="Try again.")


def _reminders(document: Any) -> list[Any]:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise UsageError("This is not an export of reminders.", next_step="Use what 'nudge reminder export' wrote.")
    if document.get("version") != VERSION:
        raise UsageError("This export was written by a newer nudge.", next_step="Update nudge.")
    found = document.get("reminders")
    if not isinstance(found, list):
        raise UsageError("This export has no list of reminders.", next_step="Use what 'nudge reminder export' wrote.")
    return found


def _read(number: int, data: Any, agent: str | None) -> Reminder:
    try:
        if not isinstance(data, Mapping):
            raise UsageError("It is not an object.")
        reminder = reminder_from_json(data)
    except NudgeError as error:
        raise UsageError(f"Reminder {number} of the file: {error.message}", next_step=error.next_step) from None
    return replace(reminder, agent=agent) if agent else reminder
