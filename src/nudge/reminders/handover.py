"""Handing a reminder over: a letter in the agent's inbox, or a message in the person's outbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nudge.instants import Instant
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message
from nudge.reminders.reminder import Reminder
from nudge.reminders.store import ReminderStore

SENDER = "nudge-reminder"
MESSAGE_KIND = "reminder"

Post = Callable[[Message], Awaitable[int]]
OnLetter = Callable[[str, Priority, Instant], Awaitable[None]]
"""Told, inside the transaction, that an agent got a letter of that priority: whoever runs it may set a timer."""


class Handover:
    def __init__(self, store: ReminderStore, post: Post, on_letter: OnLetter | None = None) -> None:
        self._store = store
        self._post = post
        self._on_letter = on_letter

    async def __call__(self, reminder: Reminder, text: str, slot_at: Instant, now: Instant) -> dict[str, int]:
        """Part of the caller's transaction. The number of the row that was written, by its kind."""
        if reminder.to_person:
            return {"message": await self._post(_message(reminder, text, slot_at, now))}
        number = await self._store.letters.put(_letter(reminder, text, slot_at, now))
        if self._on_letter is not None:
            await self._on_letter(reminder.agent, reminder.priority, now)
        return {"letter": number}


def buttons(reminder_id: str) -> tuple[tuple[str, str], ...]:
    return (
        ("Done", f"done:{reminder_id}"),
        ("Snooze 30 min", f"snooze:{reminder_id}:30m"),
        ("Skip", f"skip:{reminder_id}"),
    )


def _message(reminder: Reminder, text: str, slot_at: Instant, now: Instant) -> Message:
    return Message(
        reminder.agent,
        text,
        MESSAGE_KIND,
        now,
        asked=True,
        buttons=buttons(reminder.id),
        reminder_id=reminder.id,
        key=reminder.key,
        slot_at=slot_at,
    )


def _letter(reminder: Reminder, text: str, slot_at: Instant, now: Instant) -> Letter:
    """The topic is the reminder: while it is unread, the next one refreshes it instead of lying beside it."""
    detail = {
        "reminder": reminder.id,
        "name": reminder.name,
        "source": reminder.source.value,
        "ref": reminder.ref or reminder.id,
        "slot_at": slot_at,
        "allow_ping": reminder.allow_ping,
        "reserve": reminder.reserve,
        "critical": reminder.critical,
    }
    return Letter(reminder.agent, SENDER, text, reminder.priority, now, topic=reminder.id, detail=detail)
