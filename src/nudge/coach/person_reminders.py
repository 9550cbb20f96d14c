"""The reminders that the coach sets for its person, and what the buttons under them do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import time

from nudge.attention.preferences import stem
from nudge.attention.reception import pressed
from nudge.attention.welcome import Reception
from nudge.coach.actions import LONGEST_SNOOZE, UpdateGoals
from nudge.coach.facts import PRESSED
from nudge.coach.goals import TODAY, Goal, Goals
from nudge.coach.store import CoachStore, Saying
from nudge.durations import format_duration, parse_duration
from nudge.errors import NotFoundError, UsageError
from nudge.instants import MINUTE, Instant
from nudge.phrases import Understood
from nudge.queue.channel import Inbound
from nudge.queue.outbox import MAY_HAVE_ARRIVED, Message
from nudge.queue.timers import Timer
from nudge.reminders.reminder import Reminder, Source, Status
from nudge.reminders.service import Reminders, Timed
from nudge.reminders.tables import ListedReminder
from nudge.reminders.timing import schedule_from
from nudge.schedules import AnySchedule, Rrule
from nudge.text import short


class PersonReminders:
    """Everything here is part of the caller's transaction, and about one agent: it does not see another's reminders."""

    def __init__(self, reminders: Reminders) -> None:
        self._reminders = reminders

    async def remind(self, agent: str, text: str, when: Understood, now: Instant, source: Source = Source.CHAT) -> str:
        """Set a reminder to the person; its id. A chat has no way to give it a condition."""
        schedule = schedule_from(when, now, self._reminders.zone(agent))
        definition = {"message": text, "schedule": schedule, "to_person": True, "follows": when.by_wall_clock}
        return (await self._reminders.add(agent, definition, now, source)).reminder.id

    async def move(self, agent: str, reminder_id: str, when: Understood, now: Instant) -> str:
        """Another time from now on; what it was."""
        await self._mine(agent, reminder_id)
        schedule = schedule_from(when, now, self._reminders.zone(agent))
        return _words((await self._reminders.move(reminder_id, schedule, now, follows=when.by_wall_clock)).reminder)

    async def relocate(self, agent: str, before: str, after: str, now: Instant) -> Sequence[Timed]:
        """The person has moved to another zone, and what they set by the wall clock moves with them."""
        return await self._reminders.relocate(agent, before, after, now)

    async def as_it_is(self, agent: str, reminder_id: str) -> Timed:
        """The reminder with its next time, for whoever may have to bring it back."""
        reminder = await self._mine(agent, reminder_id)
        timer = await self._reminders.timer(reminder)
        return Timed(reminder, None if timer is None else timer.due_at)

    async def restore(self, agent: str, earlier: Timed, now: Instant) -> Timed:
        await self._mine(agent, earlier.reminder.id)
        return await self._reminders.bring_back(earlier, now)

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

    async def retime(self, agent: str, reminder_id: str, schedule: AnySchedule, now: Instant) -> Timed:
        """Another schedule from now on."""
        await self._mine(agent, reminder_id)
        return await self._reminders.move(reminder_id, schedule, now)

    async def at_another_time(self, agent: str, reminder_id: str, at: time, now: Instant) -> AnySchedule | None:
        """Its rule with another time of day; None if it has none, or more than one."""
        rule = (await self._mine(agent, reminder_id)).schedule
        text = rule.at_time(at) if isinstance(rule, Rrule) else None
        return None if text is None or not isinstance(rule, Rrule) else Rrule(text, rule.tz, now)

    async def rename(self, agent: str, reminder_id: str, message: str, now: Instant) -> None:
        await self._mine(agent, reminder_id)
        await self._reminders.edit(reminder_id, {"message": message}, now)

    async def active(self, agent: str, limit: int) -> Sequence[ListedReminder]:
        """What is still ahead, the next one first."""
        listed = await self._reminders.list(agent, limit=limit)
        return [one for one in listed if one.status == Status.ACTIVE]

    async def _mine(self, agent: str, reminder_id: str) -> Reminder:
        with suppress(NotFoundError):
            reminder = await self._reminders.get(reminder_id)
            if reminder.agent == agent:
                return reminder
        raise NotFoundError(f"There is no reminder {reminder_id!r}.", next_step="/status lists them.")


def _words(reminder: Reminder) -> str:
    return " ".join((reminder.name or reminder.message).split())


NUDGE = "nudge"
BUTTONS = (("Done", f"done:{NUDGE}"), ("Snooze 30 min", f"snooze:{NUDGE}:30m"), ("Skip", f"skip:{NUDGE}"))
"""Under what the coach says by itself and somebody may be done with. A briefing and a notice ask for nothing."""
SAY_AGAIN = "say-again"


def say_again_timer(message: Message, at: Instant) -> Timer:
    """The same words once more, at the time the person chose. Snoozed twice, it moves."""
    return Timer.at(message.agent, f"{SAY_AGAIN}:{message.id}", SAY_AGAIN, at, payload={"text": message.text})


def is_nudge(message: Message) -> bool:
    return BUTTONS[0] in tuple(message.buttons)


SNOOZE = 30 * MINUTE
OLD = "This button is too old; I don't know what it was for."
_LOOK_BACK = 50

_WHAT = r"(r-[0-9a-z]{6}|nudge)"
_PRESSED = re.compile(rf"(done|skip):{_WHAT}|(snooze):{_WHAT}:([0-9]{{1,4}}[mhd])")
_RECEPTIONS = {"done": Reception.DONE, "snooze": Reception.SNOOZED, "skip": Reception.SKIPPED}
_ID = re.compile(r"r-[0-9a-z]{6}")


_ANSWER = re.compile(r"answer:(.{1,48}):(yes|no)")

Answers = Callable[[str, str], Awaitable[str]]
"""Answers a question of somebody who works for the person: which one, and yes or no. What became of it, in words."""


def goal_named(goals: Sequence[Goal], text: str) -> Goal | None:
    """The one goal that a message speaks of: every word of it that says something is in the message. None where no
    goal is, or two are: a wrong tick is worse than none.

    >>> goal_named((Goal("Call the bank"), Goal("Write the draft")), "Still open: the draft. Write a page now?")
    Goal(text='Write the draft', done=False)
    """
    said = _content_words(text)
    found = [goal for goal in goals if (words := _content_words(goal.text)) and words <= said]
    return found[0] if len(found) == 1 else None


def _content_words(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold())} - _SMALL


_SMALL = frozenset(("a", "an", "the", "to", "of", "in", "on", "at", "by", "for", "and", "or", "my", "with", "from"))


class Buttons:
    """What pressing a button does. `goals` reads the person's goals, `changes` carries out what follows for them, so
    that /undo knows of it. `answers` is set by whoever asks the person something on behalf of others."""

    def __init__(
        self,
        store: CoachStore,
        reminders: PersonReminders,
        goals: Callable[[str], Goals],
        changes: Callable[[str, Sequence[UpdateGoals], Instant], Awaitable[object]],
    ) -> None:
        self.answers: Answers | None = None
        self._store = store
        self._reminders = reminders
        self._goals = goals
        self._changes = changes

    async def press(self, agent: str, update: Inbound, now: Instant) -> str:
        """What a pressed button did, in a few words; part of the caller's transaction.

        Only what was offered under that very message is done: data that somebody made up does nothing.
        """
        answer = _ANSWER.fullmatch(update.button or "")
        if answer and self.answers is not None and await self.offered(agent, update):
            return await self.answers(answer[1], answer[2])
        match = _PRESSED.fullmatch(update.button or "")
        message = await self._offering(agent, update.message_id, update.button) if match else None
        if match is None or message is None:
            return OLD
        verb, what = match[1] or match[3], match[2] or match[4]
        try:
            length = parse_duration(match[5]) if match[5] else SNOOZE
            if what == NUDGE:
                said = await self._do_nudge(message, verb, length, now)
            else:
                said = await self.do(agent, verb, what, length, now)
        except (NotFoundError, UsageError):
            raise OldButtonError from None
        await self._note(message, match[0], now)
        return said

    async def offered(self, agent: str, update: Inbound) -> bool:
        """Whether the pressed button stands under that message of ours."""
        return await self._offering(agent, update.message_id, update.button) is not None

    async def _offering(self, agent: str, message_id: str | None, data: str | None) -> Message | None:
        """The message that the channel knows by this id, if the button stands under it. A message may be pressed before
        its sending was confirmed, or although that never came: until then its id is nobody's."""
        message = await self._store.outbox.by_receipt(agent, message_id) if message_id else None
        recent = await self._store.outbox.recent(agent, limit=_LOOK_BACK) if message_id and message is None else ()
        candidates = [message] if message else [one for one in recent if one.state in MAY_HAVE_ARRIVED]
        return next((one for one in candidates if data in {offered for _, offered in one.buttons}), None)

    async def _do_nudge(self, message: Message, verb: str, length: int, now: Instant) -> str:
        """Under something the coach said by itself: note that it is done, or hear it once more, or let it go."""
        agent = message.agent
        await pressed(self._store, agent, _RECEPTIONS[verb], message.created_at, now)
        if verb == "snooze":
            await self._store.timers.set(say_again_timer(message, Instant(now + length)))
            return f"Again in {format_duration(length)}."
        if verb == "done":
            goal = goal_named(self._goals(agent).open_today, message.text)
            if goal is None:
                return "Done ✓"
            today = [Goal(one.text, one.done or one == goal).line() for one in self._goals(agent).today]
            await self._changes(agent, [UpdateGoals(TODAY, tuple(today))], now)
            return f"Done ✓ {goal.text}"
        return "Skipped."

    async def _note(self, message: Message, data: str, now: Instant) -> None:
        """What was pressed is part of the conversation: nobody asks again about what is done."""
        label = next((label for label, offered in message.buttons if offered == data), data)
        saying = Saying(message.agent, now, "user", f"{label}: {short(message.text)}", PRESSED)
        await self._store.conversations.add(saying)

    async def say(self, verb: str, agent: str, text: str, now: Instant) -> str:
        """The same by a command: with an id, or for the reminder that was delivered last."""
        words = text.split(maxsplit=1)
        last = await self.last_with_buttons(agent)
        if last is not None and is_nudge(last) and not (words and _ID.fullmatch(words[0])):
            said = await self._do_nudge(last, verb, parse_duration(words[0]) if words else SNOOZE, now)
            await self._note(last, next((data for _, data in BUTTONS if data.startswith(verb)), verb), now)
            return said
        reminder_id = words.pop(0) if words and _ID.fullmatch(words[0]) else await self.last(agent)
        if reminder_id is None:
            return "Which one? There was no reminder lately. /status lists them with their ids."
        length = parse_duration(words[0]) if words else SNOOZE
        return await self.do(agent, verb, reminder_id, length, now)

    async def do(self, agent: str, verb: str, reminder_id: str, length: int, now: Instant) -> str:
        if verb == "done":
            return f"Done ✓ {await self._reminders.done(agent, reminder_id, now)}"
        if verb == "skip":
            return f"Skipped: {await self._reminders.skip(agent, reminder_id, now)}"
        if not 0 < length <= LONGEST_SNOOZE:
            raise UsageError("That is too long to snooze.", next_step="A week at most; say it like 30m, 2h or 1d.")
        what = await self._reminders.snooze(agent, reminder_id, length, now)
        return f"Again in {format_duration(length)}: {what}"

    async def last_with_buttons(self, agent: str) -> Message | None:
        recent = await self._store.outbox.recent(agent, limit=_LOOK_BACK)
        return next((message for message in recent if message.buttons), None)

    async def last(self, agent: str) -> str | None:
        for message in await self._store.outbox.recent(agent, limit=_LOOK_BACK):
            if message.reminder_id:
                return message.reminder_id
        return None


class OldButtonError(UsageError):
    """That reminder is over; there is nothing left to do."""
