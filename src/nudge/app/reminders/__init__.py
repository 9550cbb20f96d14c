"""Reminders at work: adding and changing them, firing them, and keeping them in line with roles and routines.

Names are loaded when they are first used: a command that adds a reminder needs nothing of the loop that fires it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nudge.app.reminders.exchange import Exchange
    from nudge.app.reminders.firing import ReminderFiring
    from nudge.app.reminders.handover import Handover
    from nudge.app.reminders.seeding import ROUTINES, Seeding
    from nudge.app.reminders.service import Reminders

__all__ = ["ROUTINES", "Exchange", "Handover", "ReminderFiring", "Reminders", "Seeding"]

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
