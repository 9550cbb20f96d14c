"""Whether a message that could not go out at once is still welcome.

The gate was asked when the message was written. If the channel or the daemon was away since then, the night may have
begun, or the person may have asked for quiet: what they did not choose that time for waits, or is dropped.
"""

from __future__ import annotations

from nudge.attention.quiet import PersonOf
from nudge.attention.rules import Attention, Candidate, Defer, Kind, Refuse, decide
from nudge.instants import Instant
from nudge.queue.outbox import Drop, Message, Wait
from nudge.reminders.firing import candidate_of
from nudge.reminders.store import ReminderStore

_IDEAS = ("heartbeat",)
_TONIGHT = "briefing:bedtime"


class SecondLook:
    """The gate once more, as far as it is about the hour and the person's own word; the price was paid before."""

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
                return None

    async def _candidate(self, message: Message) -> Candidate:
        """As which it was written. A bedtime message is of no use in the morning, and an idea of the coach's is none
        the next day either."""
        if message.kind == "reply":
            return Candidate(Kind.REPLY)
        reminder = await self._store.reminders.get(message.reminder_id) if message.reminder_id else None
        if reminder is not None:
            return candidate_of(reminder, message.text, message.created_at)
        waits = message.kind not in _IDEAS and message.key != _TONIGHT
        return Candidate(Kind.NOTICE, asked_by_person=waits, set_for_time=message.asked)
