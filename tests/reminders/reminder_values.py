"""Reminders for tests, in few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nudge.instants import Instant
from nudge.reminders.definition import make_reminder
from nudge.reminders.reminder import CONDITION_FIELDS, STATE, Reminder, Source
from nudge.reminders.timing import WHEN
from tests.times import NOON

_WHEN = {field.name for field in WHEN}
_CONDITION = {field.name for field in CONDITION_FIELDS}
_STATE = {field.name for field in STATE}


def asked(message: str | None = None, **fields: Any) -> dict[str, Any]:
    """A definition with the parts of its schedule and condition as keywords: `asked("Stretch.", every="30m")`."""
    definition: dict[str, Any] = {} if message is None else {"message": message}
    for keyword, value in fields.items():
        name = keyword.rstrip("_")
        if value is None and name not in ("chain", "late", "condition"):
            continue
        if name in _WHEN:
            definition.setdefault("schedule", {})[name] = value
        elif name in _CONDITION:
            definition.setdefault("condition", {})[name] = value
        else:
            definition[name] = value
    return definition


def reminder(message: str = "Stretch.", *, now: Instant = NOON, source: Source = Source.CLI, **fields: Any) -> Reminder:
    """The keywords of `asked`; those of the state at run time are set afterwards."""
    state = {name: fields.pop(name) for name in list(fields) if name in _STATE}
    ref = fields.pop("ref", "")
    made = make_reminder(
        asked(message, **fields),
        agent="coach",
        now=now,
        zone="America/Toronto",
        source=source,
        ref=ref,
        reminder_id="r-a1b2c3",
    )
    return replace(made, **state)
