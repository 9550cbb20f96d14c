"""Complete reminders: they have served their purpose."""

from __future__ import annotations

import argparse

from nudge.cli.reminder_changes import change_each, ids

arguments = ids


def run(args: argparse.Namespace) -> int:
    return change_each(args, lambda reminders, one, now: reminders.complete(one, now))
