"""Remove reminders. Their history stays: 'nudge reminder list --all' shows them."""

from __future__ import annotations

import argparse

from nudge.adapters.sql.store import SqlStore
from nudge.app.reminders.service import Timed
from nudge.surfaces.cli.context import Context
from nudge.surfaces.cli.reminders_text import poke, reminders_of, say_state


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", nargs="+", metavar="ID", help="id or name")


def run(args: argparse.Namespace) -> int:
    context = Context(args)

    async def work(store: SqlStore) -> list[Timed]:
        reminders = reminders_of(context, store)
        async with store.transaction():
            return [await reminders.remove(one, context.now) for one in args.reminder]

    for timed in context.with_store(work):
        say_state(timed, context)
    poke(context)
    return 0
