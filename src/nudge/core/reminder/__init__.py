"""Reminders as values: what they are, when they are due, what they say, and what an answer changes.

Nothing here reads a clock, runs a command or writes a row.
"""

from __future__ import annotations

from nudge.core.reminder.jsonform import reminder_from_json, reminder_to_json
from nudge.core.reminder.judgment import Act, Judgment, judge
from nudge.core.reminder.late import Late, late_label
from nudge.core.reminder.model import KIND, Condition, Mode, Reminder, Source, Status, key_of
from nudge.core.reminder.replies import Reply, read_reply
from nudge.core.reminder.slots import Due, after_firing, after_passing, due, first_slot
from nudge.core.reminder.spec import ReminderSpec, make_reminder, respecified, same_schedule
from nudge.core.reminder.text import counted, delivered_text
from nudge.core.reminder.words import echo, schedule_words

__all__ = [
    "KIND",
    "Act",
    "Condition",
    "Due",
    "Judgment",
    "Late",
    "Mode",
    "Reminder",
    "ReminderSpec",
    "Reply",
    "Source",
    "Status",
    "after_firing",
    "after_passing",
    "counted",
    "delivered_text",
    "due",
    "echo",
    "first_slot",
    "judge",
    "key_of",
    "late_label",
    "make_reminder",
    "read_reply",
    "reminder_from_json",
    "reminder_to_json",
    "respecified",
    "same_schedule",
    "schedule_words",
]
