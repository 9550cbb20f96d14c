"""The reminders that the coach sets for its person, and what the buttons under them do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from nudge.coach.facts import DueReminder
from nudge.errors import NotFoundError
from nudge.instants import Instant
from nudge.phrases import Understood
from nudge.reminders.reminder import Reminder, Source, Status
from nudge.reminders.service import Reminders
from nudge.reminders.tables import ListedReminder
from nudge.reminders.timing import schedule_from


class PersonReminders:
    """Everything here is part of the caller's transaction, and about one agent: it does not see another's reminders."""

    def __init__(self, reminders: Reminders) -> None:
        self._reminders = reminders

    async def remind(self, agent: str, text: str, when: Understood, now: Instant) -> str:
        """Set a reminder to the person; its id. A chat has no way to give it a condition."""
        schedule = schedule_from(when, now, self._reminders.zone(agent))
        definition = {"message": text, "schedule": schedule, "to_person": True}
        return (await self._reminders.add(agent, definition, now, Source.CHAT)).reminder.id

    async def done(self, agent: str, reminder_id: str, now: Instant) -> str:
        """The person did it; what it was."""
        await self._mine(agent, reminder_id)
        return _words((await self._reminders.done(reminder_id, now)).reminder)

    async def snooze(self, agent: str, reminder_id: str, length: int, now: Instant) -> str:
        """Again after `length` microseconds."""
        await self._mine(agent, reminder_id)
        return _words((await self._reminders.snooze(reminder_id, length, now)).reminder)

    async def skip(self, agent: str, reminder_id: str, now: Instant) -> str:
        await self._mine(agent, reminder_id)
        return _words((await self._reminders.skip(reminder_id, now)).reminder)

    async def forget(self, agent: str, reminder_id: str, now: Instant) -> bool:
        """Remove it, unless it has ended."""
        try:
            reminder = await self._mine(agent, reminder_id)
        except NotFoundError:
            return False
        if reminder.status.ended:
            return False
        await self._reminders.remove(reminder_id, now)
        return True

    async def active(self, agent: str, limit: int) -> Sequence[ListedReminder]:
        """What is still ahead, the next one first."""
        listed = await self._reminders.list(agent, limit=limit)
        return [one for one in listed if one.status == Status.ACTIVE]

    async def due(self, agent: str, now: Instant) -> tuple[DueReminder, ...]:
        """What waits to reach the person, or reached them and has no answer yet."""
        found = await self._reminders.open_for_person(agent, now)
        return tuple(DueReminder(one.reminder.id, one.reminder.message, one.due_at) for one in found)

    async def _mine(self, agent: str, reminder_id: str) -> Reminder:
        with suppress(NotFoundError):
            reminder = await self._reminders.get(reminder_id)
            if reminder.agent == agent:
                return reminder
        raise NotFoundError(f"There is no reminder {reminder_id!r}.", next_step="/status lists them.")


def _words(reminder: Reminder) -> str:
    return " ".join((reminder.name or reminder.message).split())
