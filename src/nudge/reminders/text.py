"""The text that is delivered: the message with its variables, its place in a chain, and how late it is."""

from __future__ import annotations

from nudge.durations import format_duration
from nudge.instants import MINUTE, Instant
from nudge.queue.timers import late_by
from nudge.reminders.condition_replies import MET, SKIP
from nudge.reminders.late import TOLERANCE, late_label, time_in_words
from nudge.reminders.reminder import Mode, Reminder
from nudge.reminders.templates import fill


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


def with_condition(reminder: Reminder, task: str) -> str:
    """The task with the condition that the agent judges first; the task alone where there is none to judge."""
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
    """A text that was delivered several times before anybody read it: `… (×3)`."""
    return f"{text} (×{count})" if count > 1 else text
