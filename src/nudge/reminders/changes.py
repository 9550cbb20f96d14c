"""What can be done to a reminder, and doing it together with its timer, safely beside whoever is firing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from nudge.errors import InvalidScheduleError, NotFoundError, StoreError, UsageError
from nudge.instants import Instant
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.timers import Timer
from nudge.reminders.definition import Definition, edited
from nudge.reminders.reminder import KIND, Reminder, Status
from nudge.reminders.slots import due, first_slot
from nudge.reminders.store import ReminderStore
from nudge.reminders.text import time_in_words
from nudge.schedules import AnySchedule

_TRIES = 10
SNOOZED = "snoozed"
"""In a timer's payload: the person chose this very time when they were reminded before."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a reminder and its timer. `said` goes into the feed; it is also the reason for an occurrence that
    was due or put off and now never comes."""

    reminder: Reminder
    timer: Timer | None
    said: str = ""
    kind: str = "reminder"


Step = Callable[[Reminder, Timer | None], Change]


def editing(changes: Definition, now: Instant) -> Step:
    """Change some settings. A new schedule counts from now, and brings back one that was completed."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        _refuse_removed(before)
        after = edited(before, changes, now)
        if after.schedule == before.schedule and after.rhythm == before.rhythm:
            return Change(after, kept(timer, after))
        return _retimed(after, now)

    return step


def moving(schedule: AnySchedule, now: Instant, *, follows: bool | None = None) -> Step:
    """Another schedule from now on, and nothing else. `follows`: whether it moves with the person, if that changes."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        _refuse_removed(before)
        moved = before.follows if follows is None else follows
        return _retimed(replace(before, schedule=schedule, follows=moved, asked=0), now)

    return step


def relocating(tz: str, now: Instant) -> Step:
    """The same times on the clock of another zone. One that is under way, put off or snoozed keeps its next time; so
    does one whose time would be past there."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        after = replace(before, tz=tz, schedule=before.schedule.moved_to(tz))
        first = first_slot(after, now) if timer is not None else None
        put_off = timer is not None and (timer.due_at != timer.slot_at or SNOOZED in timer.payload)
        if before.one_shot and (first is None or first <= now or put_off):
            after = replace(before, tz=tz, schedule=before.schedule.in_zone(tz))
            return Change(after, kept(timer, after))
        if timer is None or first is None or before.asked or put_off:
            return Change(after, kept(timer, after))
        return Change(after, timer_at(after, first))

    return step


def _retimed(after: Reminder, now: Instant) -> Change:
    """The reminder at the first time of its new schedule."""
    if after.status is Status.COMPLETED:
        after = replace(after, status=Status.ACTIVE, ended_reason="")
    first = first_slot(replace(after, last_fired_at=None), now)  # a new time has not been used yet
    if first is None:
        raise schedule_over()
    return Change(after, timer_at(after, first) if after.status is Status.ACTIVE else None)


def pausing(before: Reminder, timer: Timer | None) -> Change:
    _refuse_ended(before)
    return Change(replace(before, status=Status.PAUSED), None, f"Paused: {before.title}.", "paused")


def resuming(now: Instant) -> Step:
    """Go on with the next time of its schedule; the times in between were paused, not missed."""

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

    return step


def restoring(now: Instant) -> Step:
    """Active again, with the next time of its schedule, whatever ended it or put it off."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        after = replace(before, status=Status.ACTIVE, ended_reason="")
        first = first_slot(after, now)
        if first is None or (before.one_shot and due(after, first, now).too_late):
            raise schedule_over()
        return Change(after, timer_at(after, first), f"Restored: {before.title}.", "restored")

    return step


def removing(before: Reminder, timer: Timer | None) -> Change:
    if before.status is Status.CANCELLED:
        return Change(before, None)
    after = replace(before, status=Status.CANCELLED, ended_reason="It was removed.", asked=0)
    return Change(after, None, f"Removed: {before.title}.", "removed")


def completing(reason: str) -> Step:
    """What has ended stays as it is."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        if before.status.ended:
            return Change(before, None)
        after = replace(before, status=Status.COMPLETED, ended_reason=reason, asked=0)
        return Change(after, None, f"Completed: {before.title}. {reason}", "completed")

    return step


def answering(word: str, reason: str, now: Instant) -> Step:
    """Done or skipped: a chain ends, a one-time reminder is completed, a recurring one goes on with its next time."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        after = replace(before, acknowledged_at=now)
        said = f"{word}: {before.title}."
        goes_on = not before.asked and not before.one_shot and not _answered_last(before)
        if before.status is not Status.ACTIVE or goes_on or before.idle:
            return Change(after, kept(timer, after), said, "answered")
        after = replace(after, asked=0)
        following = None if before.one_shot else first_slot(after, now)
        if following is None:
            return Change(replace(after, status=Status.COMPLETED, ended_reason=reason), None, said, "answered")
        return Change(after, timer_at(after, following), said, "answered")

    return step


def snoozing(until: Instant, now: Instant) -> Step:
    """Again at `until`; occurrences in the meantime are skipped, and the schedule goes on afterwards.

    In a chain the next question comes then, and the others follow it. One that has ended comes back one more time.
    """

    def step(before: Reminder, timer: Timer | None) -> Change:
        _refuse_removed(before)
        if before.status is Status.PAUSED:
            raise UsageError(f"{before.id} is paused.", next_step=f"Run 'nudge reminder resume {before.id}' first.")
        asked = before.asked
        if before.chain is not None and asked == 0 and before.last_fired_at is not None:
            asked = before.chain - 1  # its chain is over: the last question once more
        after = replace(before, status=Status.ACTIVE, ended_reason="", asked=asked, acknowledged_at=now)
        timer = replace(timer_at(after, until), payload={SNOOZED: True})
        said = f"Snoozed until {time_in_words(until, now, before.zone)}: {before.title}."
        return Change(after, timer, said, "snoozed")

    return step


def returning(earlier: Reminder, due_at: Instant | None, now: Instant) -> Step:
    """As it was before a change that is taken back. A next time that has passed since then is now."""

    def step(before: Reminder, timer: Timer | None) -> Change:
        after = replace(
            before,
            status=earlier.status,
            ended_reason=earlier.ended_reason,
            message=earlier.message,
            schedule=earlier.schedule,
            rhythm=earlier.rhythm,
            asked=earlier.asked,
            acknowledged_at=earlier.acknowledged_at,
        )
        active = after.status is Status.ACTIVE and due_at is not None
        following = timer_at(after, Instant(max(due_at, now))) if active and due_at is not None else None
        return Change(after, following, f"Restored: {before.title}.", "restored")

    return step


async def change(store: ReminderStore, reminder_id: str, now: Instant, step: Step) -> Reminder:
    """Let `step` decide on the reminder as it is, and write what it says in one transaction.

    The timer is taken first, then the reminder is locked: whoever fires it does so in this order too. If the timer was
    moved between looking and taking, somebody fired it just now, and we look again.
    """
    for _ in range(_TRIES):
        async with store.transaction():
            seen = await store.reminders.get(reminder_id)
            if seen is None:
                raise unknown(reminder_id)
            timer = await store.timers.get(seen.agent, seen.key)
            if timer is None or await store.timers.take(timer):
                before = await store.reminders.lock(reminder_id)
                assert before is not None
                decided = step(before, timer)
                await _write(store, before, timer, decided, now)
                return decided.reminder
    raise StoreError(f"{reminder_id} keeps firing, so it cannot be changed.", next_step="Try again in a moment.")


async def _write(store: ReminderStore, before: Reminder, timer: Timer | None, decided: Change, now: Instant) -> None:
    if timer is not None and (decided.timer is None or decided.timer.slot_at != timer.slot_at):
        await _end_occurrence(store, timer, now, decided.said or "The reminder was changed before it was delivered.")
    if decided.reminder != before:
        await store.reminders.save(decided.reminder)
    if decided.timer is not None:
        moved = timer is None or decided.timer.slot_at != timer.slot_at
        await store.timers.set(await on_free_slot(store, decided.timer) if moved else decided.timer)
    if decided.said:
        await store.feed.add(FeedLine(now, before.agent, decided.kind, decided.said))


async def _end_occurrence(store: ReminderStore, timer: Timer, now: Instant, reason: str) -> None:
    """An occurrence that was due or put off has its row or must get one; one that lies ahead never happened."""
    row = await store.outcomes.get(timer.agent, timer.key, timer.slot_at)
    if row is None and timer.slot_at > now:
        return
    if row is None or not row.final:
        await store.outcomes.record(
            Outcome(timer.agent, timer.key, KIND, timer.slot_at, now, Result.SUPPRESSED, reason)
        )


async def on_free_slot(store: ReminderStore, timer: Timer) -> Timer:
    """The timer, a microsecond later where its slot already has its outcome (a single time set again to what it was):
    the new occurrence needs a row of its own."""
    slot_at = timer.slot_at
    while (row := await store.outcomes.get(timer.agent, timer.key, slot_at)) is not None and row.final:
        slot_at = Instant(slot_at + 1)
    return replace(timer, slot_at=slot_at)


def timer_at(reminder: Reminder, due_at: Instant) -> Timer:
    return Timer.at(reminder.agent, reminder.key, KIND, due_at, lane=reminder.lane)


def kept(timer: Timer | None, reminder: Reminder) -> Timer | None:
    """The same timer, in the lane that the reminder has now."""
    return None if timer is None else replace(timer, lane=reminder.lane)


def unknown(what: str) -> NotFoundError:
    return NotFoundError(f"There is no reminder {what!r}.", next_step="See 'nudge reminder list --all'.")


def schedule_over() -> InvalidScheduleError:
    return InvalidScheduleError("That schedule has already ended.", next_step="Choose a later one.")


def _answered_last(reminder: Reminder) -> bool:
    """Whether the last thing that happened to it was an answer: then its timer may be that of a snooze."""
    answered, fired = reminder.acknowledged_at, reminder.last_fired_at
    return answered is not None and (fired is None or answered > fired)


def _refuse_removed(reminder: Reminder) -> None:
    if reminder.status is Status.CANCELLED:
        raise UsageError(f"{reminder.id} was removed.", next_step="Add a new one with 'nudge reminder add'.")


def _refuse_ended(reminder: Reminder) -> None:
    _refuse_removed(reminder)
    if reminder.status is Status.COMPLETED:
        raise UsageError(f"{reminder.id} is completed.", next_step="Add a new one with 'nudge reminder add'.")
