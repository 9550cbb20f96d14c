"""Commands that do one thing to a reminder: pause, resume, remove, complete, snooze and run it."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, say_state, short
from nudge.cli.render import note

if TYPE_CHECKING:
    from nudge.reminders.reminder import Reminder
    from nudge.reminders.service import Reminders, Timed
    from nudge.stores.store import SqlStore


def _several(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", nargs="+", metavar="ID", help="id or name")


def _one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")


pause_arguments = resume_arguments = remove_arguments = complete_arguments = _several
run_arguments = _one


def pause(args: argparse.Namespace) -> int:
    """Pause reminders. They do not fire until 'nudge reminder resume'."""
    return _change_each(args, lambda reminders, context, one: reminders.pause(one, context.now))


def resume(args: argparse.Namespace) -> int:
    """Resume paused reminders with the next time of their schedules."""
    return _change_each(args, lambda reminders, context, one: reminders.resume(one, context.now))


def remove(args: argparse.Namespace) -> int:
    """Remove reminders. Their history is kept: 'nudge reminder list --all' shows them."""
    return _change_each(args, lambda reminders, context, one: reminders.remove(one, context.now))


def complete(args: argparse.Namespace) -> int:
    """Mark reminders as done. They do not fire again."""
    return _change_each(args, lambda reminders, context, one: reminders.complete(one, context.now))


def snooze_arguments(parser: argparse.ArgumentParser) -> None:
    _one(parser)
    parser.add_argument("duration", nargs="*", default=["30m"], metavar="DURATION", help="how long (default: 30m)")


def snooze(args: argparse.Namespace) -> int:
    """Snooze a reminder. Occurrences in the meantime are skipped, and then its schedule continues.

    nudge reminder snooze r-a1b2c3 30m
    nudge reminder snooze r-a1b2c3 until 5pm
    """
    from nudge.reminders.timing import read_duration

    context = Context(args)
    length = read_duration(" ".join(args.duration), context.now, context.zone)
    timed = context.with_store(lambda store: reminders_of(context, store).snooze(args.reminder, length, context.now))
    say_state(timed, context)
    poke(context)
    return 0


def run(args: argparse.Namespace) -> int:
    """Fire a reminder now, in addition to its schedule. Its condition is not checked; its chain stays where it is."""
    from nudge.queue.delivery import Delivery
    from nudge.reminders.handover import Handover

    context = Context(args)

    async def work(store: SqlStore) -> Reminder:
        handover = Handover(store, Delivery(store, _no_channel).post)
        return await reminders_of(context, store).run_now(args.reminder, context.now, handover)

    reminder = context.with_store(work)
    to = "you" if reminder.to_person else f"{reminder.agent}'s inbox"
    note(f"Delivered {reminder.id} ({short(reminder.name or reminder.message)}) to {to}.")
    poke(context)
    return 0


def _change_each(args: argparse.Namespace, change: Callable[[Reminders, Context, str], Awaitable[Timed]]) -> int:
    """Change all of them, or none if one cannot be changed, and say how each stands now."""
    context = Context(args)

    async def work(store: SqlStore) -> list[Timed]:
        reminders = reminders_of(context, store)
        async with store.transaction():
            return [await change(reminders, context, one) for one in args.reminder]

    for timed in context.with_store(work):
        say_state(timed, context)
    poke(context)
    return 0


def _no_channel(agent: str) -> NoReturn:
    raise AssertionError("the daemon sends, not the command")
