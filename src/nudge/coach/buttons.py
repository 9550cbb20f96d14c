"""Done, Snooze and Skip: pressed under a reminder or a nudge, or typed where there is nothing to press."""

from __future__ import annotations

import re

from nudge.coach.commands import Asked
from nudge.coach.nudges import NUDGE, is_nudge, say_again_timer, short
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.store import CoachStore, Saying
from nudge.durations import format_duration, parse_duration
from nudge.errors import NotFoundError, UsageError
from nudge.instants import DAY, MINUTE, Instant
from nudge.queue.channel import Inbound
from nudge.queue.outbox import Message, Sending

SNOOZE = 30 * MINUTE
LONGEST_SNOOZE = 7 * DAY
OLD = "This button is from another time; I don't know it any more."
_LOOK_BACK = 50

_WHAT = r"(r-[0-9a-z]{6}|nudge)"
_PRESSED = re.compile(rf"(done|skip):{_WHAT}|(snooze):{_WHAT}:([0-9]{{1,4}}[mhd])")
_ID = re.compile(r"r-[0-9a-z]{6}")
_UNCONFIRMED = (Sending.SENDING, Sending.UNKNOWN)


class Buttons:
    def __init__(self, store: CoachStore, reminders: PersonReminders) -> None:
        self._store = store
        self._reminders = reminders

    async def press(self, agent: str, update: Inbound, now: Instant) -> str:
        """What a pressed button did, in a few words; part of the caller's transaction.

        Only what was offered under that very message is done: data that somebody made up does nothing.
        """
        match = _PRESSED.fullmatch(update.button or "")
        message = await self._offering(agent, update.message_id, update.button) if match else None
        if match is None or message is None:
            return OLD
        verb, what = match[1] or match[3], match[2] or match[4]
        try:
            length = parse_duration(match[5]) if match[5] else SNOOZE
            if what == NUDGE:
                return await self._do_nudge(message, verb, length, now)
            return await self.do(agent, verb, what, length, now)
        except (NotFoundError, UsageError):
            raise OldButtonError from None

    async def _offering(self, agent: str, message_id: str | None, data: str | None) -> Message | None:
        """The message that the channel knows by this id, if the button stands under it. A message may be pressed before
        its sending was confirmed, or although that never came: until then its id is nobody's."""
        message = await self._store.outbox.by_receipt(agent, message_id) if message_id else None
        recent = await self._store.outbox.recent(agent, limit=_LOOK_BACK) if message_id and message is None else ()
        candidates = [message] if message else [one for one in recent if one.state in _UNCONFIRMED]
        return next((one for one in candidates if data in {offered for _, offered in one.buttons}), None)

    async def _do_nudge(self, message: Message, verb: str, length: int, now: Instant) -> str:
        """Under something the coach said by itself: note that it is done, or hear it once more, or let it go."""
        agent, what = message.agent, short(message.text)
        if verb == "snooze":
            await self._store.timers.set(say_again_timer(message, Instant(now + length)))
            return f"Again in {format_duration(length)}."
        if verb == "done":
            await self._store.conversations.add(Saying(agent, now, "user", f"Done: {what}", "button"))
            return "Done ✓"
        return "Skipped."

    async def say(self, verb: str, asked: Asked) -> str:
        """The same by a command: with an id, or for the reminder that was delivered last."""
        words = asked.words.split(maxsplit=1)
        last = await self._last_with_buttons(asked.agent)
        if last is not None and is_nudge(last) and not (words and _ID.fullmatch(words[0])):
            return await self._do_nudge(last, verb, parse_duration(words[0]) if words else SNOOZE, asked.now)
        reminder_id = words.pop(0) if words and _ID.fullmatch(words[0]) else await self._last(asked.agent)
        if reminder_id is None:
            return "Which one? There was no reminder lately. /status lists them with their ids."
        length = parse_duration(words[0]) if words else SNOOZE
        return await self.do(asked.agent, verb, reminder_id, length, asked.now)

    async def do(self, agent: str, verb: str, reminder_id: str, length: int, now: Instant) -> str:
        if verb == "done":
            return f"Done ✓ {await self._reminders.done(agent, reminder_id, now)}"
        if verb == "skip":
            return f"Skipped: {await self._reminders.skip(agent, reminder_id, now)}"
        if not 0 < length <= LONGEST_SNOOZE:
            raise UsageError("That is too long to snooze.", next_step="A week at most; say it like 30m, 2h or 1d.")
        what = await self._reminders.snooze(agent, reminder_id, length, now)
        return f"Again in {format_duration(length)}: {what}"

    async def _last_with_buttons(self, agent: str) -> Message | None:
        recent = await self._store.outbox.recent(agent, limit=_LOOK_BACK)
        return next((message for message in recent if message.buttons), None)

    async def _last(self, agent: str) -> str | None:
        for message in await self._store.outbox.recent(agent, limit=_LOOK_BACK):
            if message.reminder_id:
                return message.reminder_id
        return None


class OldButtonError(UsageError):
    """That reminder is over; there is nothing left to do."""
