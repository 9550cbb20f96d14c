"""The use cases around reminders: what the CLI, the chat and the buttons do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nudge.attention.forward_schedule import UpcomingTask
from nudge.attention.quiet import PersonOf
from nudge.errors import InvalidScheduleError, NotFoundError, StoreError, UsageError
from nudge.instants import Instant
from nudge.phrases import Understood
from nudge.queue.agents import Agents
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.timers import Timer
from nudge.reminders.changes import SNOOZED, Change, Step, change, kept, on_free_slot, timer_at, unknown
from nudge.reminders.conditions import Reply, read_reply
from nudge.reminders.editing import edited
from nudge.reminders.handover import Handover
from nudge.reminders.late import time_in_words
from nudge.reminders.outlook import DueReminder, claims_of, due_for_person, upcoming_of
from nudge.reminders.reminder import ID, KIND, Mode, Reminder, Source, Status
from nudge.reminders.slots import due, first_slot
from nudge.reminders.spec import ReminderSpec, make_reminder
from nudge.reminders.store import ListedReminder, ReminderStore
from nudge.reminders.text import delivered_text

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_TRIES = 20


def random_id() -> str:
    import secrets

    return "r-" + "".join(secrets.choice(_ALPHABET) for _ in range(6))


@dataclass(frozen=True, slots=True)
class Timed:
    """A reminder and when it is next."""

    reminder: Reminder
    next_at: Instant | None


class Reminders:
    def __init__(self, store: ReminderStore, person_of: PersonOf, *, new_id: Callable[[], str] = random_id) -> None:
        self._store = store
        self._person_of = person_of
        self._new_id = new_id

    async def add(
        self,
        agent: str,
        spec: ReminderSpec,
        now: Instant,
        source: Source = Source.CLI,
        understood: Understood | None = None,
    ) -> Timed:
        """Add it and set its timer. A usage error leaves nothing behind. `understood` is a time that was read already,
        in place of the spec's."""
        agents = Agents(self._store)
        await agents.ensure_default(now)
        await agents.get(agent)
        made = make_reminder(
            spec,
            reminder_id="r-000000",
            agent=agent,
            now=now,
            zone=self._person_of(agent).zone.key,
            source=source,
            understood=understood,
        )
        first = first_slot(made, now)
        if first is not None and due(made, first, now).too_late:
            raise InvalidScheduleError(
                "This time is past, and by its limit too late.", next_step="Choose a later one, or leave --late out."
            )
        return await self.put(made, now)

    async def put(self, reminder: Reminder, now: Instant) -> Timed:
        """ReminderStore a reminder under a new id. Part of the caller's transaction, if there is one."""
        first = first_slot(reminder, now)
        if first is None:
            raise InvalidScheduleError("This schedule has no time left.", next_step="Choose a later one.")
        async with self._store.transaction():
            await self._refuse_taken_name(reminder.agent, reminder.name)
            for _ in range(_TRIES):
                added = replace(reminder, id=self._new_id())
                if await self._store.reminders.add(added):
                    await self._store.timers.set(timer_at(added, first))
                    return Timed(added, first)
        raise StoreError("No free id was found for the reminder.", next_step="Try again.")

    async def get(self, id_or_name: str) -> Reminder:
        """By id or by name. Of those with the name, what can still fire goes before what has ended."""
        if ID.fullmatch(id_or_name):
            found = await self._store.reminders.get(id_or_name)
            if found is None:
                raise unknown(id_or_name)
            return found
        named = await self._store.reminders.named(id_or_name) or await self._store.reminders.named_ended(id_or_name)
        if len(named) > 1:
            ids = ", ".join(f"{one.id} ({one.agent}, {one.status.value})" for one in named)
            raise UsageError(f"There are {len(named)} reminders called {id_or_name!r}.", next_step=f"Say which: {ids}.")
        if not named:
            raise unknown(id_or_name)
        return named[0]

    async def timer(self, reminder: Reminder) -> Timer | None:
        return await self._store.timers.get(reminder.agent, reminder.key)

    async def list(self, agent: str | None = None, *, ended: bool = False, limit: int = 50) -> Sequence[ListedReminder]:
        return await self._store.reminders.listed(agent, ended=ended, limit=limit)

    async def edit(self, id_or_name: str, changes: Mapping[str, Any], now: Instant) -> Timed:
        """Change some fields (those of a `ReminderSpec`), keep how far it has come.

        A new schedule counts from now, and brings back one that was completed.
        """
        reminder = await self.get(id_or_name)
        if changes.get("name") and changes["name"] != reminder.name:
            await self._refuse_taken_name(reminder.agent, changes["name"].strip())

        def step(before: Reminder, timer: Timer | None) -> Change:
            if before.status is Status.CANCELLED:
                raise UsageError(f"{before.id} was removed.", next_step="Add a new one with 'nudge reminder add'.")
            after = edited(before, changes, now)
            retimed = after.schedule != before.schedule or after.rhythm_us != before.rhythm_us
            if not retimed:
                return Change(after, kept(timer, after))
            if after.status is Status.COMPLETED:
                after = replace(after, status=Status.ACTIVE, ended_reason="")
            first = first_slot(replace(after, last_fired_at=None), now)  # a new time has not been used yet
            if first is None:
                raise InvalidScheduleError("This schedule has no time left.", next_step="Choose a later one.")
            return Change(after, timer_at(after, first) if after.status is Status.ACTIVE else None)

        return await self._changed(reminder.id, now, step)

    async def pause(self, id_or_name: str, now: Instant) -> Timed:
        def step(before: Reminder, timer: Timer | None) -> Change:
            _refuse_ended(before)
            return Change(replace(before, status=Status.PAUSED), None, f"Paused: {before.title}.", "paused")

        return await self._changed((await self.get(id_or_name)).id, now, step)

    async def resume(self, id_or_name: str, now: Instant) -> Timed:
        """Go on with the next time of its schedule; what it would have said meanwhile was not missed but paused."""

        def step(before: Reminder, timer: Timer | None) -> Change:
            _refuse_ended(before)
            if before.status is Status.ACTIVE:
                return Change(before, kept(timer, before))
            after = replace(before, status=Status.ACTIVE, ended_reason="")
            first = first_slot(after, now)
            if first is None and before.one_shot:
                first = now  # it had fired and was snoozed
            if first is None:
                ended = replace(after, status=Status.COMPLETED, ended_reason="Its schedule ended while it was paused.")
                return Change(ended, None, f"Completed: {before.title}. {ended.ended_reason}", "completed")
            return Change(after, timer_at(after, first), f"Resumed: {before.title}.", "resumed")

        return await self._changed((await self.get(id_or_name)).id, now, step)

    async def remove(self, id_or_name: str, now: Instant) -> Timed:
        """Cancel it. Its history stays; a role brings it back only with a changed spec."""

        def step(before: Reminder, timer: Timer | None) -> Change:
            if before.status is Status.CANCELLED:
                return Change(before, None)
            after = replace(before, status=Status.CANCELLED, ended_reason="It was removed.", asked=0)
            return Change(after, None, f"Removed: {before.title}.", "removed")

        return await self._changed((await self.get(id_or_name)).id, now, step)

    async def complete(self, id_or_name: str, now: Instant, reason: str = "It was completed by hand.") -> Timed:
        """It has served its purpose. What is completed already stays as it is."""

        def step(before: Reminder, timer: Timer | None) -> Change:
            if before.status.ended:
                return Change(before, None)
            after = replace(before, status=Status.COMPLETED, ended_reason=reason, asked=0)
            return Change(after, None, f"Completed: {before.title}. {reason}", "completed")

        return await self._changed((await self.get(id_or_name)).id, now, step)

    async def done(self, id_or_name: str, now: Instant) -> Timed:
        """The person did it: a chain ends, a single one is completed, a recurring one goes on with its next time."""
        return await self._answered(id_or_name, now, "Done", "The person said that it is done.")

    async def skip(self, id_or_name: str, now: Instant) -> Timed:
        """The person leaves it out this time: the same as done, under another name."""
        return await self._answered(id_or_name, now, "Skipped", "The person skipped it.")

    async def snooze(self, id_or_name: str, duration_us: int, now: Instant) -> Timed:
        """Again after a while. The schedule goes on behind that: what falls into the while is left out.

        In a chain the next link comes then, and the others follow it. One that has ended comes back for one more time.
        """
        until = Instant(now + duration_us)

        def step(before: Reminder, timer: Timer | None) -> Change:
            if before.status is Status.CANCELLED:
                raise UsageError(f"{before.id} was removed.", next_step="Add a new one with 'nudge reminder add'.")
            if before.status is Status.PAUSED:
                raise UsageError(f"{before.id} is paused.", next_step=f"Run 'nudge reminder resume {before.id}' first.")
            asked = before.asked
            if before.chain is not None and asked == 0 and before.last_fired_at is not None:
                asked = before.chain - 1  # its chain is over: one more of the last link
            after = replace(before, status=Status.ACTIVE, ended_reason="", asked=asked, acknowledged_at=now)
            when = time_in_words(until, now, before.zone)
            timer = replace(timer_at(after, until), payload={SNOOZED: True})
            return Change(after, timer, f"Snoozed until {when}: {before.title}.", "snoozed")

        return await self._changed((await self.get(id_or_name)).id, now, step)

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
            outcome = Outcome(before.agent, before.key, KIND, slot_at, now, Result.FIRED, "It was run by hand.", detail)
            await self._store.outcomes.record(outcome)
        return after

    async def agent_replied(self, about: int | str, text: str, now: Instant) -> Reply:
        """What an agent answered to a condition in words. `about` is the letter's number, or the reminder's id.

        `[condition-met]` completes a reminder of mode until or once; `[skip]` corrects the outcome: it fired, and the
        agent found nothing to do.
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
        reply, mode = read_reply(text), reminder.condition.mode
        async with self._store.transaction():
            if reply is Reply.MET and mode is not Mode.EACH:
                await self.complete(reminder.id, now, "The agent found its condition met.")
            if slot_at is not None and reply is (Reply.MET if mode is Mode.UNTIL else Reply.SKIP):
                found = "met" if mode is Mode.UNTIL else "not met"
                reason = f"The agent found the condition {found}."
                await self._store.outcomes.amend(reminder.agent, reminder.key, slot_at, Result.SKIPPED, reason)
        return reply

    async def upcoming(self, agent: str, now: Instant) -> Sequence[UpcomingTask]:
        """What the forward schedule shows of this agent's reminders and routines."""
        return await upcoming_of(self._store, agent, now)

    async def claims(self, agent: str, now: Instant) -> tuple[Instant, ...]:
        """When reminders and routines with a reserve will want a ping within a day; one that is due wants it now."""
        return await claims_of(self._store, agent, now)

    async def due_for_person(self, agent: str, now: Instant) -> Sequence[DueReminder]:
        """What waits to reach the person, and what reached them within a day and has no answer yet."""
        return await due_for_person(self._store, agent, now)

    async def _answered(self, id_or_name: str, now: Instant, word: str, reason: str) -> Timed:
        def step(before: Reminder, timer: Timer | None) -> Change:
            after = replace(before, acknowledged_at=now)
            said = f"{word}: {before.title}."
            goes_on = not before.asked and not before.one_shot and not _snoozed(before)
            if before.status is not Status.ACTIVE or goes_on or before.idle:
                return Change(after, kept(timer, after), said, "answered")
            following = None if before.one_shot else first_slot(replace(after, asked=0), now)
            if following is None:
                return Change(
                    replace(after, status=Status.COMPLETED, ended_reason=reason, asked=0), None, said, "answered"
                )
            after = replace(after, asked=0)
            return Change(after, timer_at(after, following), said, "answered")

        return await self._changed((await self.get(id_or_name)).id, now, step)

    async def _changed(self, reminder_id: str, now: Instant, step: Step) -> Timed:
        after = await change(self._store, reminder_id, now, step)
        timer = await self.timer(after)
        return Timed(after, None if timer is None else timer.due_at)

    async def _refuse_taken_name(self, agent: str, name: str) -> None:
        for other in await self._store.reminders.named(name, agent) if name else ():
            raise UsageError(
                f"{agent} has a reminder called {name!r} already: {other.id} (from {other.source.value}).",
                next_step=f"Choose another name, or change that one with 'nudge reminder edit {other.id}'.",
            )


def _snoozed(reminder: Reminder) -> bool:
    """Whether the last thing that happened to it was an answer: then its timer may be that of a snooze."""
    answered, fired = reminder.acknowledged_at, reminder.last_fired_at
    return answered is not None and (fired is None or answered > fired)


def _refuse_ended(reminder: Reminder) -> None:
    if reminder.status.ended:
        word = "was removed" if reminder.status is Status.CANCELLED else "is completed"
        raise UsageError(f"{reminder.id} {word}.", next_step="Add a new one with 'nudge reminder add'.")
