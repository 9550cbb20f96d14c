"""What the commands have in common that do one thing to each of the reminders they are given."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke, reminders_of, say_state
from nudge.instants import Instant
from nudge.reminders.service import Reminders, Timed
from nudge.stores.store import SqlStore


def ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", nargs="+", metavar="ID", help="id or name")


def change_each(args: argparse.Namespace, change: Callable[[Reminders, str, Instant], Awaitable[Timed]]) -> int:
    """Change all of them, or none where one cannot be changed, and say how each stands now."""
    context = Context(args)

    async def work(store: SqlStore) -> list[Timed]:
        reminders = reminders_of(context, store)
        async with store.transaction():
            return [await change(reminders, one, context.now) for one in args.reminder]

    for timed in context.with_store(work):
        say_state(timed, context)
    poke(context)
    return 0
