"""Reminders for tests, in few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nudge.instants import Instant
from nudge.reminders.reminder import Reminder, Source
from nudge.reminders.spec import ReminderSpec, make_reminder
from tests.times import NOON


def reminder(message: str = "Stretch.", *, now: Instant = NOON, source: Source = Source.CLI, **fields: Any) -> Reminder:
    """Fields of the spec; those of the state at run time are set afterwards."""
    state = {name: fields.pop(name) for name in list(fields) if name in _STATE}
    spec = ReminderSpec(message, **fields)
    made = make_reminder(spec, reminder_id="r-a1b2c3", agent="coach", now=now, zone="America/Toronto", source=source)
    return replace(made, **state)


_STATE = ("status", "ended_reason", "asked", "fire_count", "last_fired_at", "acknowledged_at")
