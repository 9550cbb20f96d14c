"""Remove reminders. Their history stays: 'nudge reminder list --all' shows them."""

from __future__ import annotations

import argparse

from nudge.cli.reminder_changes import change_each, ids

arguments = ids


def run(args: argparse.Namespace) -> int:
    return change_each(args, lambda reminders, one, now: reminders.remove(one, now))
