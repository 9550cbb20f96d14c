"""Reminders at work: adding and changing them, firing them, and keeping them in line with roles and routines."""

from __future__ import annotations

from nudge.app.reminders.exchange import Exchange
from nudge.app.reminders.firing import ReminderFiring
from nudge.app.reminders.handover import Handover
from nudge.app.reminders.seeding import ROUTINES, Seeding
from nudge.app.reminders.service import Reminders

__all__ = ["ROUTINES", "Exchange", "Handover", "ReminderFiring", "Reminders", "Seeding"]
