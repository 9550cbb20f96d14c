"""Change a reminder; what it has been through stays. Every flag of 'add' can be given.

nudge reminder edit r-a1b2c3 --every 1h
nudge reminder edit r-a1b2c3 --condition ""        take the condition away
nudge reminder edit r-a1b2c3 --chain 0             one question instead of a chain
nudge reminder edit r-a1b2c3 --late default        the limit of its kind of schedule
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.reminder_flags import add_flags, given
from nudge.cli.reminders_text import poke, reminders_of, say_understood, timed_json
from nudge.cli.render import note, out_json
from nudge.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")
    add_flags(parser, editing=True)
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def run(args: argparse.Namespace) -> int:
    context = Context(args)
    changes = given(args, context.home)
    if not changes:
        raise UsageError("There is nothing to change.", next_step="Name a field, such as --every 1h.")
    timed = context.with_store(lambda store: reminders_of(context, store).edit(args.reminder, changes, context.now))
    if args.json:
        out_json(timed_json(timed, context.zone))
    say_understood("Changed", timed, context)
    if timed.reminder.source.value in ("role", "file"):
        note(f"  It comes from a {timed.reminder.source.value}: a new version there replaces this change.")
    poke(context)
    return 0
