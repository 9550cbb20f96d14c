"""A reminder's schedule in few words, and what was understood said back as an absolute time."""

from __future__ import annotations

import re

from nudge.durations import format_duration
from nudge.instants import SECOND, Instant
from nudge.phrases.echo import absolute, distance, zone_name
from nudge.reminders.reminder import Reminder


def schedule_words(reminder: Reminder) -> str:
    """For the column of a list. A single time is `once`: the list shows when, beside it."""
    words = "once" if reminder.one_shot else reminder.schedule.describe()
    if reminder.chain is not None:
        words += f", {reminder.chain}× every {format_duration(reminder.rhythm)}"
    elif reminder.waits_for_condition:
        words += f", asked every {format_duration(reminder.rhythm)}"
    return words


def echo(reminder: Reminder, first: Instant | None, now: Instant) -> str:
    """What was understood: the time with its zone and distance, and what repeats.

    A misunderstanding can be seen here and nowhere else before it happens.
    """
    if reminder.idle:
        return f"{schedule_words(reminder)}: when {reminder.agent} has had nothing to do for that long"
    if first is None:
        return f"{schedule_words(reminder)}: it has no time left"
    shown = Instant(first - first % SECOND)
    when = f"{absolute(shown, reminder.zone)} {zone_name(reminder.zone)} ({_ahead(first, now)})"
    words = re.sub(r"\ARRULE\((.*)\)", r"\1", schedule_words(reminder))  # who says "every weekday" asks for no RRULE
    if words == "once":
        return when
    return f"{words}, {'next' if reminder.fire_count else 'first'} {when}"


def _ahead(first: Instant, now: Instant) -> str:
    return distance(first - now) if first > now else "past, so it is due now"
