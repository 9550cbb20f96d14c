"""Set a reminder for yourself in one sentence.

nudge reminder "call mum friday 5pm"
nudge reminder "in 20 minutes take the pizza out"
nudge reminder "stretch every weekday at 9"
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, say_understood, timed_json
from nudge.cli.render import out, out_json
from nudge.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORDS", help="what to be reminded of, and when")
    parser.add_argument("--agent", default="coach", metavar="NAME", help="who reminds you (default: coach)")
    parser.add_argument("--tz", metavar="ZONE", help="the time zone (default: yours)")
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.cli.table import COMMANDS, Group

    group = COMMANDS["reminder"]
    assert isinstance(group, Group)
    if not args.words:
        from nudge.cli.main import group_help

        out(group_help("reminder", group).rstrip())
        return 2
    sentence = " ".join(args.words)
    _refuse_slip(sentence, list(group.commands))

    from nudge.instants import zone_of
    from nudge.phrases import split_reminder
    from nudge.reminders.spec import ReminderSpec
    from nudge.reminders.text import literal

    context = Context(args)
    zone = zone_of(args.tz or context.config.timezone)
    message, understood = split_reminder(sentence, context.now, zone)
    spec = ReminderSpec(literal(message), tz=zone.key, to_person=True)
    timed = context.with_store(
        lambda store: reminders_of(context, store).add(args.agent, spec, context.now, understood=understood)
    )
    if args.json:
        out_json(timed_json(timed, context.zone))
    else:
        out(timed.reminder.id)
    say_understood("Added", timed, context)
    poke(context)
    return 0


def _refuse_slip(sentence: str, commands: list[str]) -> None:
    """One word is no sentence: a command with a slip of the finger, more likely."""
    if " " not in sentence.strip():
        from difflib import get_close_matches

        close = get_close_matches(sentence, commands, 1)
        meant = f" Did you mean '{close[0]}'?" if close else ""
        raise UsageError(
            f"There is no command 'nudge reminder {sentence}', and one word is no reminder.{meant}",
            next_step="See 'nudge reminder --help', or write 'nudge reminder \"call mum friday 5pm\"'.",
        )
