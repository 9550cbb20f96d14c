"""The text that is delivered: the message with its variables, its place in a chain, and how late it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

from nudge.attention.forward_schedule import clock
from nudge.durations import distance, format_duration
from nudge.errors import UsageError
from nudge.instants import HOUR, MINUTE, SECOND, Instant, to_datetime
from nudge.phrases.result import absolute
from nudge.queue.timers import late_by
from nudge.reminders.conditions import MET, SKIP
from nudge.reminders.reminder import TOLERANCE, Mode, Reminder

VARIABLES: Final = ("fire_count", "name", "due", "late_by", "condition_output")

_PLACE: Final = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}", re.ASCII)
"""`{{word}}` is the word in braces. Braces around anything else, as in JSON, are left alone."""


def check_template(message: str) -> None:
    """Raise for the first variable that does not exist."""
    for match in _PLACE.finditer(message):
        if match[2] and match[2] not in VARIABLES:
            known = ", ".join(f"{{{name}}}" for name in VARIABLES)
            raise UsageError(
                f"There is no variable {{{match[2]}}}.",
                next_step=f"Use {known}. To write the word in braces, use {{{{{match[2]}}}}}.",
            )


def fill(message: str, values: Mapping[str, str]) -> str:
    """The message with its variables filled in, once: a value may contain braces.

    >>> fill("try {fire_count}, not {{fire_count}}", {"fire_count": "3"})
    'try 3, not {fire_count}'
    """

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return f"{{{match[1]}}}"
        return values.get(match[2], match[0])

    return _PLACE.sub(value, message)


def literal(text: str) -> str:
    """A message that says the text as it stands, for people who type a sentence and know of no variables.

    >>> fill(literal("fix {name} and {{ name }} and {{name}}"), {"name": "x"})
    'fix {name} and {{ name }} and {{name}}'
    """
    return _PLACE.sub(lambda match: f"{{{match[0]}}}", text)


def delivered_text(reminder: Reminder, slot_at: Instant, now: Instant, *, output: str = "", extra: bool = False) -> str:
    """What is delivered for the slot. `extra` is one outside the schedule: it has no place in the chain."""
    late = late_by(slot_at, now)
    values = {
        "fire_count": str(reminder.fire_count + 1),
        "name": reminder.title,
        "due": time_in_words(slot_at, now, reminder.zone),
        "late_by": format_duration(late // MINUTE * MINUTE) if late >= TOLERANCE else "0m",
        "condition_output": output.strip(),
    }
    text = fill(reminder.message, values)
    if reminder.chain is not None and not extra:
        text = f"{text} ({min(reminder.asked + 1, reminder.chain)}/{reminder.chain})"
    if late >= TOLERANCE:
        text = f"{late_label(slot_at, now, reminder.zone)}{chr(10) if chr(10) in text else ' '}{text}"
    return with_condition(reminder, text)


def late_label(due_at: Instant, now: Instant, zone: tzinfo) -> str:
    """`[late: was due 3:00 PM]`, with the day if it was not today."""
    return f"[late: was due {time_in_words(due_at, now, zone)}]"


def late_in_words(due_at: Instant, now: Instant, zone: tzinfo) -> str:
    """For an outcome: when it was due, and how much later it came."""
    late = late_by(due_at, now)
    length = (
        format_duration(late // SECOND * SECOND if late < HOUR else late // MINUTE * MINUTE) if late >= SECOND else ""
    )
    return f"It was due {time_in_words(due_at, now, zone)} and came {length or 'a moment'} later."


def time_in_words(instant: Instant, now: Instant, zone: tzinfo) -> str:
    """`3:00 PM` today, `Mon 3:00 PM` within six days, else with the date."""
    day, today = to_datetime(instant, zone).date(), to_datetime(now, zone).date()
    if day == today:
        return clock(instant, zone)
    if abs((day - today).days) < 7:
        return f"{day:%a} {clock(instant, zone)}"
    return f"{day.isoformat()} {clock(instant, zone)}"


def with_condition(reminder: Reminder, task: str) -> str:
    """The task with the condition that the agent judges first, or the task alone."""
    condition = reminder.condition
    if condition is None or condition.prompt is None:
        return task
    skip = f'If the condition is NOT met, reply with "{SKIP}" and do nothing else.'
    proceed = "If the condition IS met, proceed with the following task:"
    if condition.mode is Mode.UNTIL:
        skip = f'If the condition IS met, reply with "{MET}" and do nothing else.'
        proceed = "If the condition is NOT met, proceed with the following task:"
    lines = [
        f"[Reminder: {reminder.title}]",
        f'Before proceeding, evaluate this condition: "{condition.prompt}"',
        skip,
        proceed,
        "---",
        task,
    ]
    if condition.mode is Mode.ONCE:
        lines += ["---", f'If the condition is met, start your reply with "{MET}": this reminder then ends.']
    return "\n".join(lines)


def counted(text: str, count: int) -> str:
    """A text that was delivered several times before anybody read it ends with `(×3)`."""
    return f"{text} (×{count})" if count > 1 else text


def schedule_words(reminder: Reminder) -> str:
    """For the column of a list. A single time is `once`: the list shows the time beside it."""
    words = "once" if reminder.one_shot else reminder.schedule.describe()
    if reminder.chain is not None:
        words += f", {reminder.chain}× every {format_duration(reminder.asks_every)}"
    elif reminder.waits_for_condition:
        words += f", checked every {format_duration(reminder.asks_every)}"
    return words


def rhythm(words: str) -> str:
    """The words of a schedule without the name of its kind: whoever says "every weekday" knows no RRULE.

    >>> rhythm("RRULE(weekdays at 15:00), 3× every 5m")
    'weekdays at 15:00, 3× every 5m'
    """
    return re.sub(r"\ARRULE\((.*)\)", r"\1", words)


def echo(reminder: Reminder, first: Instant | None, now: Instant) -> str:
    """What was understood: the time with its zone and distance, and what repeats.

    This is the only place where a person can see a misunderstanding before it happens.
    """
    if reminder.idle:
        return f"{schedule_words(reminder)}: when {reminder.agent} has had nothing to do for that long"
    if first is None:
        return f"{schedule_words(reminder)}: it has ended"
    shown = Instant(first - first % SECOND)
    when = f"{absolute(shown, reminder.zone)} {reminder.tz} ({_ahead(first, now)})"
    words = rhythm(schedule_words(reminder))
    if words == "once":
        return when
    return f"{words}, {'next' if reminder.fire_count else 'first'} {when}"


def _ahead(first: Instant, now: Instant) -> str:
    return distance(first - now) if first > now else "already passed, so it fires now"
