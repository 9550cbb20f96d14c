"""Handing a reminder over: a letter in the agent's inbox, or a message in the person's outbox.

Before a message is written, the gate decides on its candidate. One that could not go out at once gets a second look.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nudge.attention.quiet import PersonOf
from nudge.attention.repeats import signature
from nudge.attention.rules import Attention, Candidate, Defer, Kind, Refuse, decide
from nudge.instants import Instant
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Drop, Message, Wait
from nudge.queue.timers import late_by
from nudge.reminders.reminder import Mode, Reminder, Source
from nudge.reminders.slots import limit_of
from nudge.reminders.store import ReminderStore

SENDER = "nudge-reminder"
MESSAGE_KIND = "reminder"
_IDEAS = ("heartbeat",)
_TONIGHT = "briefing:bedtime"

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
    """The topic is the reminder: while the letter is unread, the next one refreshes it."""
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


def candidate_of(reminder: Reminder, text: str, slot_at: Instant, *, snoozed: bool = False) -> Candidate:
    """How the gate sees it. A time that the person chose is kept, also if they snoozed what a role or a routine asked
    for. A time that a condition or idleness chose is not such a time."""
    waits = reminder.condition is not None and reminder.condition.mode is Mode.ONCE
    chosen = reminder.source in (Source.CLI, Source.CHAT) and not waits and not reminder.idle
    return Candidate(
        Kind.ROUTINE if reminder.source is Source.FILE else Kind.REMINDER,
        asked_by_person=True,
        set_for_time=chosen or snoozed,
        allow_ping=reminder.allow_ping,
        critical=reminder.critical,
        has_claim=reminder.reserve,
        topic=reminder.id,
        signature=signature(text),
        chain=reminder.chain is not None and reminder.asked > 0,
        due_at=slot_at,
        about=text if reminder.source is Source.MODEL else "",
    )


class SecondLook:
    """Whether a message that could not go out at once may still go out.

    The gate decided when the message was written. If the channel or the daemon was away since then, the night may have
    begun, or the person may have asked for quiet: a message whose time they did not choose waits, or is dropped. Only
    the hour and the person's own word count here; the price was paid before.
    """

    def __init__(self, store: ReminderStore, person_of: PersonOf) -> None:
        self._store = store
        self._person_of = person_of

    async def __call__(self, message: Message, now: Instant) -> Wait | Drop | None:
        row = await self._store.attention.get(message.agent)
        state = Attention(
            quiet_hours=self._person_of(message.agent).quiet_hours,
            quiet_until=row.requests.quiet_until if row else None,
            left_alone=row.requests.left_alone if row else False,
        )
        match decide(state, await self._candidate(message), now):
            case Defer(until):
                return Wait(until)
            case Refuse(rule):
                return Drop(rule.sentence)
            case _:
                return Drop(missed=True) if await self._is_too_late(message, now) else None

    async def _is_too_late(self, message: Message, now: Instant) -> bool:
        """By the reminder's own policy. What the person chose to wait for does not count."""
        reminder = await self._store.reminders.get(message.reminder_id) if message.reminder_id else None
        if reminder is None:
            return False
        limit = limit_of(reminder, message.slot_at or message.created_at)
        return limit.too_late(late_by(message.waiting_since, now))

    async def _candidate(self, message: Message) -> Candidate:
        """What it was written as. A bedtime message is useless in the morning, and so is an idea of the coach's on the
        next day."""
        if message.kind == "reply":
            return Candidate(Kind.REPLY)
        reminder = await self._store.reminders.get(message.reminder_id) if message.reminder_id else None
        if reminder is not None:
            return candidate_of(reminder, message.text, message.created_at)
        waits = message.kind not in _IDEAS and message.key != _TONIGHT
        return Candidate(Kind.NOTICE, asked_by_person=waits, set_for_time=message.asked)
