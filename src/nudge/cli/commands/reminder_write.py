"""Commands that write a reminder: add, edit, and one sentence for yourself."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, say_understood, warn_unjudged
from nudge.cli.render import note, out, out_json
from nudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nudge.reminders.service import Reminders, Timed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from nudge.cli.reminder_flags import add_flags

    parser.add_argument("agent", nargs="?", default="coach", metavar="AGENT", help="the agent (default: coach)")
    add_flags(parser, editing=False)
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def add(args: argparse.Namespace) -> int:
    """Add a reminder.

    nudge reminder add coach -m "Check if the deploy finished" --in 2h
    nudge reminder add coach -m "Call mum" --at "friday 5pm" --to-person
    nudge reminder add coach -m "Review open PRs" --every 1h \\
        --condition "gh pr list --state open --json number | jq -e 'length > 0'"
    nudge reminder add coach -m "Started on the report?" --chain 4 --every 30m --to-person
    """
    from nudge.cli.reminder_flags import given

    context = Context(args)
    definition = given(args, context.home, editing=False)
    if not definition.get("message", "").strip():
        raise UsageError("`--message` is empty.", next_step="Add -m 'TEXT', or --template FILE.")
    timed = _written(context, lambda reminders: reminders.add(args.agent, definition, context.now))
    return _say_added(timed, context, as_json=args.json)


def edit_arguments(parser: argparse.ArgumentParser) -> None:
    from nudge.cli.reminder_flags import add_flags

    parser.add_argument("reminder", metavar="ID", help="its id or name")
    add_flags(parser, editing=True)
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def edit(args: argparse.Namespace) -> int:
    """Change a reminder; its history stays. It takes every flag of 'add'.

    nudge reminder edit r-a1b2c3 --every 1h
    nudge reminder edit r-a1b2c3 --condition ""        remove the condition
    nudge reminder edit r-a1b2c3 --chain 0             ask once instead of in a chain
    nudge reminder edit r-a1b2c3 --late default        the limit of its kind of schedule
    """
    from nudge.cli.reminder_flags import given

    context = Context(args)
    changes = given(args, context.home, editing=True)
    if not changes:
        raise UsageError("There is nothing to change.", next_step="Name a field, such as --every 1h.")
    timed = _written(context, lambda reminders: reminders.edit(args.reminder, changes, context.now))
    if args.json:
        out_json(timed.public(context.zone))
    say_understood("Changed", timed, context)
    reminder = timed.reminder
    if reminder.source.follows_a_file:
        where = reminder.ref or "its role"
        note(f"  {reminder.title} comes from {where}. When it changes there, that version replaces all your edits.")
    warn_unjudged(reminder, context)
    poke(context)
    return 0


def say_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORDS", help="what to be reminded of, and when")
    parser.add_argument("--agent", default="coach", metavar="NAME", help="the agent (default: coach)")
    parser.add_argument("--tz", metavar="ZONE", help="the time zone (default: yours)")
    parser.add_argument("--json", action="store_true", help="print the reminder as JSON")


def say(args: argparse.Namespace) -> int:
    """Set a reminder for yourself in one sentence.

    nudge reminder "call mum friday 5pm"
    nudge reminder "in 20 minutes take the pizza out"
    nudge reminder "stretch every weekday at 9"
    """
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
    from nudge.reminders.text import literal
    from nudge.reminders.timing import schedule_from

    context = Context(args)
    zone = zone_of(args.tz or context.config.timezone)
    message, understood = split_reminder(sentence, context.now, zone)
    schedule = schedule_from(understood, context.now, zone)
    definition = {"message": literal(message), "schedule": schedule, "to_person": True}
    timed = _written(context, lambda reminders: reminders.add(args.agent, definition, context.now))
    code = _say_added(timed, context, as_json=args.json)
    if understood.taken:
        note(f"  {understood.taken}")
    return code


def _written(context: Context, work: Callable[[Reminders], Awaitable[Timed]]) -> Timed:
    """Do it in the store. A mistake in a field is reported under the name of its flag."""
    from nudge.cli.reminder_flags import by_flag
    from nudge.reminders.fields import FieldError

    async def run(store: Any) -> Timed:
        return await work(reminders_of(context, store))

    try:
        return context.with_store(run)
    except FieldError as error:
        raise by_flag(error) from None


def _say_added(timed: Timed, context: Context, *, as_json: bool) -> int:
    if as_json:
        out_json(timed.public(context.zone))
    else:
        out(timed.reminder.id)
    say_understood("Added", timed, context)
    warn_unjudged(timed.reminder, context)
    poke(context)
    return 0


def _refuse_slip(sentence: str, commands: list[str]) -> None:
    """One word is not a sentence: more likely a command with a typo."""
    if " " not in sentence.strip():
        from difflib import get_close_matches

        close = get_close_matches(sentence, commands, 1)
        meant = f" Did you mean '{close[0]}'?" if close else ""
        raise UsageError(
            f"There is no command 'nudge reminder {sentence}', and one word is not a reminder.{meant}",
            next_step="See 'nudge reminder --help', or write 'nudge reminder \"call mum friday 5pm\"'.",
        )
