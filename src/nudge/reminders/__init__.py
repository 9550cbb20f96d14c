"""Reminders: what they are, when they are due, what they say, and the use cases that add, change and fire them.

The use cases are loaded when they are first used: a command that adds a reminder needs nothing of the loop that fires
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nudge.reminders.conditions import Act, Judgment, Reply, judge, read_reply
from nudge.reminders.json_form import reminder_from_json, reminder_to_json
from nudge.reminders.late import Late, late_label
from nudge.reminders.reminder import KIND, Condition, Mode, Reminder, Source, Status, key_of
from nudge.reminders.slots import Due, after_firing, after_passing, due, first_slot
from nudge.reminders.spec import ReminderSpec, make_reminder, respecified, same_schedule
from nudge.reminders.text import counted, delivered_text, echo, schedule_words

if TYPE_CHECKING:
    from nudge.reminders.exchange import Exchange
    from nudge.reminders.firing import ReminderFiring
    from nudge.reminders.handover import Handover
    from nudge.reminders.seeding import ROUTINES, Seeding
    from nudge.reminders.service import Reminders

__all__ = [
    "KIND",
    "ROUTINES",
    "Act",
    "Condition",
    "Due",
    "Exchange",
    "Handover",
    "Judgment",
    "Late",
    "Mode",
    "Reminder",
    "ReminderFiring",
    "ReminderSpec",
    "Reminders",
    "Reply",
    "Seeding",
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

_PLACES = {
    "ROUTINES": "seeding",
    "Exchange": "exchange",
    "Handover": "handover",
    "ReminderFiring": "firing",
    "Reminders": "service",
    "Seeding": "seeding",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
