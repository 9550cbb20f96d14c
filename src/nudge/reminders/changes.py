"""Changing a reminder together with its timer, safely beside whoever is firing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from nudge.errors import NotFoundError, StoreError
from nudge.instants import Instant
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.timers import Timer
from nudge.reminders.reminder import KIND, Reminder
from nudge.reminders.store import ReminderStore

_TRIES = 10
SNOOZED = "snoozed"
"""In a timer's payload: the person chose this very time when they were reminded before."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a reminder and its timer; `said` goes into the feed, and says how an occurrence ends that was
    due or put off and will not come any more."""

    reminder: Reminder
    timer: Timer | None
    said: str = ""
    kind: str = "reminder"


Step = Callable[[Reminder, Timer | None], Change]


async def change(store: ReminderStore, reminder_id: str, now: Instant, step: Step) -> Reminder:
    """Let `step` decide on the reminder as it is, and write what it says in one transaction.

    The timer is taken first, then the reminder is locked: who fires it does so in this order too. If the timer was
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
    raise StoreError(f"{reminder_id} is being fired again and again.", next_step="Try again in a moment.")


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
    """The timer, a microsecond on where its slot has its outcome already (a single time set anew to what it was): the
    new occurrence needs a row of its own."""
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
