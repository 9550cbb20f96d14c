"""Looking ahead: what comes next for an agent, what has a claim on the ping budget, and what waits for the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nudge.attention.forward_schedule import AHEAD, BACK, BEYOND, UpcomingTask
from nudge.instants import DAY, Instant
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import KIND, Reminder
from nudge.reminders.store import ComingReminder, ReminderStore
from nudge.schedules import occurrences

_MOST = 200
_TIMES = 100


@dataclass(frozen=True, slots=True)
class DueReminder:
    """A reminder to the person. `waiting` is one that a rule of restraint has put off; else it was delivered and nobody
    has said done."""

    reminder: Reminder
    due_at: Instant
    waiting: bool


async def upcoming_of(store: ReminderStore, agent: str, now: Instant) -> Sequence[UpcomingTask]:
    horizon = Instant(now + AHEAD + BEYOND)
    coming = await store.reminders.coming(agent, horizon, _MOST)
    tasks = [task for one in coming if not one.reminder.idle for task in _tasks(one, now, horizon)]
    since = Instant(now - BACK)
    for row in await store.outcomes.recent(agent=agent, kind=KIND, since=since, limit=_MOST):
        if row.result in (Result.FIRED, Result.FIRED_LATE) and since <= row.slot_at <= now:
            reminder = await store.reminders.get(row.key.removeprefix("reminder:"))
            if reminder is not None:
                tasks.append(_task(reminder, [row.slot_at]))
    return tasks


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


async def claims_of(store: ReminderStore, agent: str, now: Instant) -> tuple[Instant, ...]:
    """A routine that was handed to the agent and not read yet has not spoken either: its claim is now."""
    reserved = await store.reminders.reserved(agent)
    if not reserved:
        return ()
    unread = {letter.topic for letter in await store.letters.unread(agent, limit=1000)}
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


async def due_for_person(store: ReminderStore, agent: str, now: Instant) -> Sequence[DueReminder]:
    """One that is due at this very moment is on its way by itself: whoever mentioned it too would say it twice."""
    found = [
        DueReminder(one.reminder, one.slot_at, True)
        for one in await store.reminders.coming(agent, Instant(now + DAY), _MOST)
        if one.reminder.to_person and one.slot_at <= now < one.due_at
    ]
    waiting = {one.reminder.id for one in found}
    for reminder in await store.reminders.fired_since(agent, Instant(now - DAY), _MOST):
        fired, answered = reminder.last_fired_at, reminder.acknowledged_at
        open_still = fired is not None and (answered is None or answered < fired)
        if fired is not None and open_still and reminder.to_person and reminder.id not in waiting:
            found.append(DueReminder(reminder, fired, False))
    return found
