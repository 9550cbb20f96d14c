"""Add a reminder.

nudge reminder add coach -m "Check if the deploy finished" --in 2h
nudge reminder add coach -m "Call mum" --at "friday 5pm" --to-person
nudge reminder add coach -m "Review open PRs" --every 1h \\
    --condition "gh pr list --state open --json number | jq -e 'length > 0'"
nudge reminder add coach -m "Started on the report?" --chain 4 --every 30m --to-person
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.reminder_flags import add_flags, given
from nudge.cli.reminders_text import poke, reminders_of, say_understood, timed_json
from nudge.cli.render import out, out_json
from nudge.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", default="coach", metavar="AGENT", help="whose it is (default: coach)")
    add_flags(parser, editing=False)
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.reminders.spec import ReminderSpec

    context = Context(args)
    fields = given(args, context.home)
    if "message" not in fields:
        raise UsageError("There is nothing to say.", next_step="Add -m 'TEXT', or --template FILE.")
    spec = ReminderSpec(**fields)
    timed = context.with_store(lambda store: reminders_of(context, store).add(args.agent, spec, context.now))
    if args.json:
        out_json(timed_json(timed, context.zone))
    else:
        out(timed.reminder.id)
    say_understood("Added", timed, context)
    poke(context)
    return 0
