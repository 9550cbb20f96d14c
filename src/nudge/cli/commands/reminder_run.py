"""Deliver a reminder now, one time more. Its schedule, its chain and its condition are left alone."""

from __future__ import annotations

import argparse
from typing import NoReturn

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, short
from nudge.cli.render import note
from nudge.reminders.reminder import Reminder
from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")


def run(args: argparse.Namespace) -> int:
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


def _no_channel(agent: str) -> NoReturn:
    raise AssertionError("the daemon sends, not the command")
