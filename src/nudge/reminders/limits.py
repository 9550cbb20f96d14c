"""How much a reminder may ask of a person: one table, for what they set themselves and for what a model sets for them.

What the person set for a time comes at that time, whatever the hour, so it needs a shortest interval and nothing else.
What a model schedules is its own idea of what the person wants: it passes the gate like any other ping, comes less
often, and there is only so much of it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from nudge.durations import format_duration
from nudge.errors import UsageError
from nudge.instants import MINUTE, Instant
from nudge.reminders.reminder import Mode, Reminder, Source
from nudge.schedules import Every

SHORTEST_TO_PERSON: Final = MINUTE
SHORTEST_BY_MODEL: Final = 15 * MINUTE
MOST_BY_MODEL: Final = 20
"""So many reminders that a model set can be active at a time."""
MOST_A_DAY_BY_MODEL: Final = 10
"""So many can a model set in one of the person's days."""

_LOOKED_AT: Final = 32
"""So many coming times of a rule are compared. One that is slow for so long and fast afterwards is not worth more."""


def check_pace(reminder: Reminder) -> None:
    """Refuse what would reach the person too often. What has ended reaches nobody."""
    if not reminder.to_person or reminder.status.ended:
        return
    by_model = reminder.source is Source.MODEL
    shortest = SHORTEST_BY_MODEL if by_model else SHORTEST_TO_PERSON
    gap = shortest_gap(reminder)
    if gap is not None and gap < shortest:
        most = format_duration(shortest)
        who = "A reminder that a model sets" if by_model else "A reminder to you"
        raise UsageError(
            f"{who} can come every {most} at most, and this one would come every {format_duration(gap)}.",
            next_step=f"Choose {most} or more.",
        )


def shortest_gap(reminder: Reminder) -> int | None:
    """The shortest time between two of its messages, in microseconds; None if it comes once, or waits to be idle."""
    gaps = [reminder.rhythm] if reminder.chain is not None and reminder.chain > 1 and reminder.rhythm else []
    waits = reminder.condition is not None and reminder.condition.mode is Mode.ONCE
    if not (reminder.one_shot or reminder.idle or waits):
        gaps += [reminder.schedule.interval_us] if isinstance(reminder.schedule, Every) else _gaps(reminder)
    return min(gaps, default=None)


def check_count(active: int, today: int) -> None:
    """Refuse one more from a model that has set enough."""
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


def _gaps(reminder: Reminder) -> list[int]:
    times: list[Instant] = []
    following = reminder.schedule.next_after(reminder.created_at, reminder.zone)
    while following is not None and len(times) < _LOOKED_AT:
        times.append(following)
        following = reminder.schedule.next_after(following, reminder.zone)
    return [later - earlier for earlier, later in pairwise(times)]
