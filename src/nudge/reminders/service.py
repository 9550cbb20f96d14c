"""The use cases around reminders: what the CLI, the chat and the buttons do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from nudge.attention.forward_schedule import AHEAD, BACK, BEYOND, UpcomingTask
from nudge.attention.quiet import PersonOf
from nudge.defaults import MOST_A_DAY_BY_MODEL, MOST_BY_MODEL
from nudge.errors import InvalidScheduleError, NotFoundError, StoreError, UsageError
from nudge.instants import DAY, Instant, local_date, rfc3339, start_of_day
from nudge.queue.agents import Agents
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.timers import Timer
from nudge.reminders.changes import (
    Step,
    answering,
    change,
    completing,
    editing,
    moving,
    on_free_slot,
    pausing,
    relocating,
    removing,
    restoring,
    resuming,
    returning,
    schedule_over,
    snoozing,
    timer_at,
    unknown,
)
from nudge.reminders.conditions import NOT_JUDGED, Reply, read_reply
from nudge.reminders.definition import Definition, make_reminder, reminder_to_json
from nudge.reminders.handover import Handover
from nudge.reminders.reminder import ID, KIND, Mode, Reminder, Source, Status
from nudge.reminders.slots import due, first_slot
from nudge.reminders.store import ReminderStore
from nudge.reminders.tables import ComingReminder, ListedReminder
from nudge.reminders.text import delivered_text, schedule_words
from nudge.schedules import AnySchedule, occurrences

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_TRIES = 20
_MOST = 200
_TIMES = 100


def random_id() -> str:
    import secrets

    return "r-" + "".join(secrets.choice(_ALPHABET) for _ in range(6))


@dataclass(frozen=True, slots=True)
class Timed:
    """A reminder and when it is next."""

    reminder: Reminder
    next_at: Instant | None

    def public(self, zone: tzinfo) -> dict[str, Any]:
        """As JSON: everything that was set, its state, and when it is next."""
        next_at = None if self.next_at is None else rfc3339(self.next_at, zone)
        words = schedule_words(self.reminder)
        return {**reminder_to_json(self.reminder), "schedule_words": words, "next_at": next_at}


@dataclass(frozen=True, slots=True)
class OpenReminder:
    """A reminder to the person that a rule of restraint has put off, or that they have not answered."""

    reminder: Reminder
    due_at: Instant


class Reminders:
    def __init__(self, store: ReminderStore, person_of: PersonOf, *, new_id: Callable[[], str] = random_id) -> None:
        self._store = store
        self._person_of = person_of
        self._new_id = new_id

    async def add(self, agent: str, definition: Definition, now: Instant, source: Source = Source.CLI) -> Timed:
        """Add it and set its timer. A usage error leaves nothing behind."""
        agents = Agents(self._store)
        await agents.ensure_default(now)
        await agents.get(agent)
        zone = self._person_of(agent).zone.key
        made = make_reminder(definition, agent=agent, now=now, zone=zone, source=source)
        first = first_slot(made, now)
        if first is not None and due(made, first, now).too_late:
            raise InvalidScheduleError(
                "That time has already passed.", next_step="Choose a later time, or leave --late out."
            )
        return await self.put(made, now)

    def zone(self, agent: str) -> ZoneInfo:
        """The zone of the agent's person."""
        return self._person_of(agent).zone

    async def put(self, reminder: Reminder, now: Instant) -> Timed:
        """Store a reminder under a new id. Part of the caller's transaction, if there is one."""
        first = first_slot(reminder, now)
        if first is None:
            raise schedule_over()
        async with self._store.transaction():
            await self._refuse_taken_name(reminder.agent, reminder.name)
            if reminder.source is Source.MODEL:
                await self._refuse_too_many(reminder.agent, now)
            for _ in range(_TRIES):
                added = replace(reminder, id=self._new_id())
                if await self._store.reminders.add(added):
                    await self._store.timers.set(timer_at(added, first))
                    return Timed(added, first)
        raise StoreError("Could not find a free id for the reminder.", next_step="Try again.")

    async def get(self, id_or_name: str) -> Reminder:
        """By id or by name. One that can still fire goes before one that has ended."""
        if ID.fullmatch(id_or_name):
            found = await self._store.reminders.get(id_or_name)
            if found is None:
                raise unknown(id_or_name)
            return found
        named = await self._store.reminders.named(id_or_name) or await self._store.reminders.named_ended(id_or_name)
        if len(named) > 1:
            ids = ", ".join(f"{one.id} ({one.agent}, {one.status.value})" for one in named)
            raise UsageError(f"There are {len(named)} reminders called {id_or_name!r}.", next_step=f"Use an id: {ids}.")
        if not named:
            raise unknown(id_or_name)
        return named[0]

    async def timer(self, reminder: Reminder) -> Timer | None:
        return await self._store.timers.get(reminder.agent, reminder.key)

    async def list(self, agent: str | None = None, *, ended: bool = False, limit: int = 50) -> Sequence[ListedReminder]:
        return await self._store.reminders.listed(agent, ended=ended, limit=limit)

    async def edit(self, id_or_name: str, changes: Definition, now: Instant) -> Timed:
        """Change some settings, keep how far it has come."""
        reminder = await self.get(id_or_name)
        name = str(changes.get("name", "")).strip()
        if name and name != reminder.name:
            await self._refuse_taken_name(reminder.agent, name)
        return await self._changed(reminder.id, now, editing(changes, now))

    async def pause(self, id_or_name: str, now: Instant) -> Timed:
        return await self._changed(id_or_name, now, pausing)

    async def resume(self, id_or_name: str, now: Instant) -> Timed:
        return await self._changed(id_or_name, now, resuming(now))

    async def remove(self, id_or_name: str, now: Instant) -> Timed:
        """Cancel it. Its history stays. One that a role asks for comes back only when the role changes it."""
        return await self._changed(id_or_name, now, removing)

    async def restore(self, id_or_name: str, now: Instant) -> Timed:
        """Take back a removal, a completion, a pause or a snooze."""
        return await self._changed(id_or_name, now, restoring(now))

    async def complete(self, id_or_name: str, now: Instant, reason: str = "Marked as done.") -> Timed:
        """It is no longer needed."""
        return await self._changed(id_or_name, now, completing(reason))

    async def done(self, id_or_name: str, now: Instant) -> Timed:
        """The person did it."""
        return await self._changed(id_or_name, now, answering("Done", "The person marked it as done.", now))

    async def skip(self, id_or_name: str, now: Instant) -> Timed:
        """The person leaves it out this time: the same as done, under another name."""
        return await self._changed(id_or_name, now, answering("Skipped", "The person skipped it.", now))

    async def snooze(self, id_or_name: str, duration_us: int, now: Instant) -> Timed:
        return await self._changed(id_or_name, now, snoozing(Instant(now + duration_us), now))

    async def move(self, id_or_name: str, schedule: AnySchedule, now: Instant, *, follows: bool | None = None) -> Timed:
        """Give it another schedule."""
        return await self._changed(id_or_name, now, moving(schedule, now, follows=follows))

    async def relocate(self, agent: str, before: str, after: str, now: Instant) -> Sequence[Timed]:
        """The person has moved from one zone to another. What was set by the wall clock keeps its time of day; the next
        one first. Part of the caller's transaction."""
        following = await self._store.reminders.following(agent, before)
        moved = [await self._changed(one.id, now, relocating(after, now)) for one in following]
        return sorted((one for one in moved if one.next_at is not None), key=lambda one: one.next_at or now)

    async def bring_back(self, earlier: Timed, now: Instant) -> Timed:
        """Bring it back to what it was, with its next time then."""
        return await self._changed(earlier.reminder.id, now, returning(earlier.reminder, earlier.next_at, now))

    async def run_now(self, id_or_name: str, now: Instant, handover: Handover) -> Reminder:
        """One extra delivery, whatever its condition says; its schedule and its chain stay as they are.

        Somebody asked for it just now, so no rule of restraint applies, as with any other answer.
        """
        reminder = await self.get(id_or_name)
        if reminder.status is Status.CANCELLED:
            raise UsageError(f"{reminder.id} was removed.", next_step="Add a new one with 'nudge reminder add'.")
        async with self._store.transaction():
            before = await self._store.reminders.lock(reminder.id)
            assert before is not None
            slot_at = (await on_free_slot(self._store, timer_at(before, now))).slot_at
            row = await handover(before, delivered_text(before, now, now, extra=True), slot_at, now)
            after = replace(before, fire_count=before.fire_count + 1, last_fired_at=now)
            await self._store.reminders.save_state(after)
            detail = {"extra": True, "fire_count": after.fire_count, **row}
            reason = "Fired by hand, in addition to its schedule."
            await self._store.outcomes.record(
                Outcome(before.agent, before.key, KIND, slot_at, now, Result.FIRED, reason, detail)
            )
        return after

    async def agent_replied(self, about: int | str, text: str, now: Instant, *, judged: bool = True) -> Reply:
        """What an agent answered to a condition in words. `about` is the letter's number, or the reminder's id.

        `[condition-met]` completes a reminder of mode until or once; `[skip]` corrects the outcome: it fired, and the
        agent found nothing to do. `judged` is False where no model read the condition: then the answer says nothing
        about it, and the outcome says so.
        """
        slot_at: Instant | None = None
        reminder_id = about
        if isinstance(about, int):
            letter = await self._store.letters.get(about)
            if letter is None:
                raise NotFoundError(f"There is no letter {about}.", next_step="See 'nudge agent show'.")
            reminder_id, slot_at = letter.topic, letter.detail.get("slot_at")
        reminder = await self._store.reminders.get(str(reminder_id))
        if reminder is None or reminder.condition is None or reminder.condition.prompt is None:
            return Reply.NONE
        reply, mode = read_reply(text) if judged else Reply.NONE, reminder.condition.mode
        reason = "" if judged else NOT_JUDGED
        if reply is (Reply.MET if mode is Mode.UNTIL else Reply.SKIP):
            reason = f"The agent found the condition {'met' if mode is Mode.UNTIL else 'not met'}."
        async with self._store.transaction():
            if reply is Reply.MET and mode is not Mode.EACH:
                await self.complete(reminder.id, now, "The agent found its condition met.")
            if slot_at is not None and reason:
                await self._store.outcomes.amend(reminder.agent, reminder.key, slot_at, Result.SKIPPED, reason)
        return reply

    async def upcoming(self, agent: str, now: Instant) -> Sequence[UpcomingTask]:
        """What the forward schedule shows of this agent's reminders and routines."""
        horizon = Instant(now + AHEAD + BEYOND)
        coming = await self._store.reminders.coming(agent, horizon, _MOST)
        tasks = [task for one in coming if not one.reminder.idle for task in _tasks(one, now, horizon)]
        since = Instant(now - BACK)
        for row in await self._store.outcomes.recent(agent=agent, kind=KIND, since=since, limit=_MOST):
            if row.result in (Result.FIRED, Result.FIRED_LATE) and since <= row.slot_at <= now:
                reminder = await self._store.reminders.get(row.key.removeprefix("reminder:"))
                if reminder is not None:
                    number, of = row.detail.get("link") or (0, 0)
                    tasks.append(_task(reminder, [row.slot_at], (number, of) if number else None))
        return tasks

    async def claims(self, agent: str, now: Instant) -> tuple[Instant, ...]:
        """When reminders and routines with a reserve will want a ping within a day. One that is due wants it now, and
        so does one that waits unread in the agent's inbox."""
        reserved = await self._store.reminders.reserved(agent)
        if not reserved:
            return ()
        unread = {letter.topic for letter in await self._store.letters.unread(agent, limit=1000)}
        end = Instant(now + DAY)
        claims: list[Instant] = []
        for one in reserved:
            first = Instant(max(one.due_at, now))
            if first <= end:
                claims.append(first)
            if one.reminder.id in unread and one.due_at > now:
                claims.append(now)
            if not one.reminder.idle:
                claims += occurrences(one.reminder.schedule, first, end, _TIMES, one.reminder.zone)
        return tuple(sorted(claims))

    async def open_for_person(self, agent: str, now: Instant) -> Sequence[OpenReminder]:
        """What waits to reach the person, and what reached them within a day and has no answer yet.

        One that is due at this very moment is on its way by itself: whoever mentioned it too would say it twice.
        """
        found = [
            OpenReminder(one.reminder, one.slot_at)
            for one in await self._store.reminders.coming(agent, Instant(now + DAY), _MOST)
            if one.reminder.to_person and one.slot_at <= now < one.due_at
        ]
        waiting = {one.reminder.id for one in found}
        for reminder in await self._store.reminders.fired_since(agent, Instant(now - DAY), _MOST):
            fired, answered = reminder.last_fired_at, reminder.acknowledged_at
            unanswered = fired is not None and (answered is None or answered < fired)
            if fired is not None and unanswered and reminder.to_person and reminder.id not in waiting:
                found.append(OpenReminder(reminder, fired))
        return found

    async def _changed(self, id_or_name: str, now: Instant, step: Step) -> Timed:
        after = await change(self._store, (await self.get(id_or_name)).id, now, step)
        timer = await self.timer(after)
        return Timed(after, None if timer is None else timer.due_at)

    async def _refuse_too_many(self, agent: str, now: Instant) -> None:
        """What a model schedules is its own idea of what the person wants, so there is only so much of it."""
        zone = self.zone(agent)
        active, today = await self._store.reminders.by_model(agent, start_of_day(local_date(now, zone), zone))
        if active >= MOST_BY_MODEL:
            raise UsageError(
                f"I have set {active} reminders for you that are still active, and that is my limit.",
                next_step="Cancel one with /cancel, or set this one yourself with /remind.",
            )
        if today >= MOST_A_DAY_BY_MODEL:
            raise UsageError(
                f"I have set {today} reminders for you today, and that is my limit for a day.",
                next_step="Set this one yourself with /remind.",
            )

    async def _refuse_taken_name(self, agent: str, name: str) -> None:
        for other in await self._store.reminders.named(name, agent) if name else ():
            raise UsageError(
                f"{agent} already has a reminder called {name!r}: {other.id} (from {other.source.value}).",
                next_step=f"Choose another name, or change that one with 'nudge reminder edit {other.id}'.",
            )


def _tasks(coming: ComingReminder, now: Instant, horizon: Instant) -> Iterator[UpcomingTask]:
    reminder, first = coming.reminder, coming.due_at
    later = occurrences(reminder.schedule, Instant(max(first, now)), horizon, _TIMES, reminder.zone)
    if reminder.chain is None:
        yield _task(reminder, [first, *later])
        return
    end = later[0] if later else horizon
    for number in range(reminder.asked + 1, reminder.chain + 1):
        link = Instant(first + (number - reminder.asked - 1) * reminder.asks_every)
        if link > end:
            break
        yield _task(reminder, [link], (number, reminder.chain))
    if later:
        yield _task(reminder, later, (1, reminder.chain))


def _task(reminder: Reminder, times: list[Instant], chain: tuple[int, int] | None = None) -> UpcomingTask:
    return UpcomingTask(
        reminder.name or "Reminder",
        reminder.ref or reminder.id,
        times,
        reminder.description or None,
        reminder.message,
        reminder.allow_ping,
        chain,
    )
