"""Which slot is due, which is next, and what becomes of the reminder in between.

Missed slots collapse: the latest one stands for all before it. The next one is always in the future and on the
schedule's own grid, however late this one was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from nudge.instants import HOUR, Instant
from nudge.queue.timers import late_by
from nudge.reminders.reminder import Late, Mode, Reminder, Status
from nudge.schedules import Every, occurrences

_COUNTED: Final = 100
"""So many missed slots are counted one by one; nobody needs to know whether it was more."""
_COMPARED: Final = 32
"""So many coming times of a rule are compared. One that is slow for so long and fast afterwards is not worth more."""
LONGEST_DEFAULT: Final = 2 * HOUR

DUE_ONCE: Final = "It was a one-time reminder."
SCHEDULE_ENDED: Final = "Its schedule has ended."


@dataclass(frozen=True, slots=True)
class Due:
    """The slot to act on. It stands for `collapsed` earlier ones; `too_late` means that it is missed as well."""

    slot_at: Instant
    collapsed: int
    late_us: int
    too_late: bool
    starts_chain: bool = False


def due(reminder: Reminder, slot_at: Instant, now: Instant, *, moved_to: Instant | None = None) -> Due:
    """What is due at `now`, for a timer that was set for `slot_at`.

    `moved_to` is the time to which a rule of restraint has moved the occurrence: it keeps its slot, and it is late only
    after that time.
    """
    if moved_to is not None:
        late_us = late_by(moved_to, now)
        return Due(slot_at, 0, late_us, limit_of(reminder, slot_at).too_late(late_us))
    main = _latest_after(reminder, slot_at, now)
    latest, starts_chain = main or slot_at, main is not None
    if main is None and _is_between_asks(reminder) and now > slot_at:
        latest = Instant(slot_at + (now - slot_at) // reminder.asks_every * reminder.asks_every)
    late_us = late_by(latest, now)
    collapsed = 0 if latest == slot_at else _count(reminder, slot_at, latest, main is not None)
    return Due(latest, collapsed, late_us, limit_of(reminder, latest).too_late(late_us), starts_chain)


def after_firing(reminder: Reminder, slot_at: Instant, now: Instant, ends: str = "") -> tuple[Reminder, Instant | None]:
    """The reminder after it was delivered, and its next time; no next time means that it is completed."""
    fired = replace(reminder, fire_count=reminder.fire_count + 1, last_fired_at=now)
    return _after(fired, slot_at, now, ends, again=reminder.waits_for_condition and reminder.asks_agent)


def after_passing(
    reminder: Reminder, slot_at: Instant, now: Instant, ends: str = ""
) -> tuple[Reminder, Instant | None]:
    """The same after an occurrence that was not delivered: skipped, suppressed or missed. A chain moves on too."""
    return _after(reminder, slot_at, now, ends, again=reminder.waits_for_condition)


def first_slot(reminder: Reminder, now: Instant) -> Instant | None:
    """When an added, resumed or edited reminder is due; None if its schedule has ended.

    A single time in the past is due at once. An idle check counts from now. In the middle of a chain the next question
    comes one rhythm from now.
    """
    if reminder.asked:
        return Instant(now + reminder.asks_every)
    following = reminder.schedule.next_after(now, reminder.zone)
    if following is None and reminder.one_shot and reminder.last_fired_at is None:
        return reminder.schedule.next_after(Instant(-(2**62)), reminder.zone)
    return following


def _after(
    reminder: Reminder, slot_at: Instant, now: Instant, ends: str, *, again: bool
) -> tuple[Reminder, Instant | None]:
    if ends:
        return _completed(reminder, ends), None
    after = Instant(max(slot_at, now))
    main = reminder.schedule.next_after(after, reminder.zone)
    if reminder.chain is not None and reminder.asked + 1 < reminder.chain:
        link = _step(slot_at, reminder.asks_every, after)
        if main is None or link < main:
            return replace(reminder, asked=reminder.asked + 1), link
    elif again:
        return reminder, _step(slot_at, reminder.asks_every, after)
    if main is not None:
        return replace(reminder, asked=0), main
    if reminder.chain is not None:
        return _completed(reminder, f"It asked {reminder.chain} times."), None
    return _completed(reminder, DUE_ONCE if reminder.one_shot else SCHEDULE_ENDED), None


def _completed(reminder: Reminder, reason: str) -> Reminder:
    return replace(reminder, status=Status.COMPLETED, ended_reason=reason, asked=0)


def _step(slot_at: Instant, rhythm: int, after: Instant) -> Instant:
    """The first point of the rhythm from `slot_at` that is strictly after `after`."""
    return Instant(slot_at + ((after - slot_at) // rhythm + 1) * rhythm)


def _is_between_asks(reminder: Reminder) -> bool:
    return reminder.asked > 0 or reminder.waits_for_condition


def _latest_after(reminder: Reminder, slot_at: Instant, now: Instant) -> Instant | None:
    """The latest time of the schedule in (slot_at, now].

    `next_after` never goes back as its argument grows, so the latest time is the smallest instant from which the next
    time lies beyond now: a search by halves, however many times were missed.
    """
    if reminder.one_shot or reminder.idle or now <= slot_at:
        return None
    schedule, zone = reminder.schedule, reminder.zone
    if isinstance(schedule, Every) and schedule.count is None and schedule.until is None:
        latest = schedule.anchor + (now - schedule.anchor) // schedule.interval_us * schedule.interval_us
        return Instant(latest) if latest > max(slot_at, schedule.anchor) else None

    def beyond(instant: int) -> bool:
        following = schedule.next_after(Instant(instant), zone)
        return following is None or following > now

    if beyond(slot_at):
        return None
    low, high = int(slot_at), int(now)
    while high - low > 1:
        middle = (low + high) // 2
        if beyond(middle):
            high = middle
        else:
            low = middle
    return Instant(high)


def _count(reminder: Reminder, slot_at: Instant, latest: Instant, by_schedule: bool) -> int:
    """How many slots `latest` stands for besides itself; the timer's own is one."""
    if not by_schedule:
        return (latest - slot_at) // reminder.asks_every
    return len(occurrences(reminder.schedule, slot_at, latest, _COUNTED, reminder.zone))


def shortest_gap(reminder: Reminder) -> int | None:
    """The shortest time between two of its messages, in microseconds; None if it comes once, or waits to be idle."""
    gaps = [reminder.rhythm] if reminder.chain is not None and reminder.chain > 1 and reminder.rhythm else []
    waits = reminder.condition is not None and reminder.condition.mode is Mode.ONCE
    if isinstance(reminder.schedule, Every) and not waits:
        gaps.append(reminder.schedule.interval_us)
    elif not (reminder.one_shot or reminder.idle or waits):
        times: list[Instant] = []
        following = reminder.schedule.next_after(reminder.created_at, reminder.zone)
        while following is not None and len(times) < _COMPARED:
            times.append(following)
            following = reminder.schedule.next_after(following, reminder.zone)
        gaps += [later - earlier for earlier, later in pairwise(times)]
    return min(gaps, default=None)


def default_limit(gap_us: int | None) -> Late:
    """The limit of a recurring reminder: half the gap to its next time, at most two hours.

    In the second half of the gap the next time is nearer, and says the same.
    """
    return Late(LONGEST_DEFAULT if gap_us is None else min(gap_us // 2, LONGEST_DEFAULT))


def limit_of(reminder: Reminder, slot_at: Instant) -> Late:
    """How late the occurrence may be delivered."""
    if reminder.late is not None:
        return reminder.late
    if reminder.one_shot or reminder.idle:
        return Late(None)
    if reminder.asked:
        return default_limit(reminder.asks_every)
    following = reminder.schedule.next_after(slot_at, reminder.zone)
    return default_limit(None if following is None else following - slot_at)
