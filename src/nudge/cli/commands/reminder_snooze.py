"""Again after a while. What falls into the while is left out; the schedule goes on behind it.

nudge reminder snooze r-a1b2c3 30m
nudge reminder snooze r-a1b2c3 until 5pm
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, say_state


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")
    parser.add_argument("duration", nargs="*", default=["30m"], metavar="DURATION", help="how long (default: 30m)")


def run(args: argparse.Namespace) -> int:
    from nudge.reminders.timing import read_duration

    context = Context(args)
    length = read_duration(" ".join(args.duration), context.now, context.zone)
    timed = context.with_store(lambda store: reminders_of(context, store).snooze(args.reminder, length, context.now))
    say_state(timed, context)
    poke(context)
    return 0
