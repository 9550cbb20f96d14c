"""All reminders, the next one first. With --all also those that have ended."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nudge.cli.context import Context
from nudge.cli.reminders_text import listed_json, print_list
from nudge.cli.render import how_many, note, out_json
from nudge.errors import NotFoundError

if TYPE_CHECKING:
    from nudge.reminders.store import ListedReminder
    from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="only this agent's")
    parser.add_argument("--all", action="store_true", help="also what is completed or removed")
    parser.add_argument("--limit", type=how_many, default=50, metavar="N", help="how many (default: 50; 0 is all)")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    context = Context(args)
    limit = args.limit if args.limit > 0 else 2**31 - 2

    async def read(store: SqlStore) -> Sequence[ListedReminder]:
        if args.agent is not None and not await store.agents.known(args.agent):
            raise NotFoundError(f"There is no agent called {args.agent!r}.", next_step="See 'nudge agent list'.")
        return await store.reminders.listed(args.agent, ended=args.all, limit=limit + 1)

    rows = context.with_store(read)
    shown = rows[:limit]
    if args.json:
        out_json([listed_json(row, context.zone) for row in shown])
    elif shown:
        agents = {row.agent for row in shown}
        print_list(shown, context, with_agent=len(agents) > 1)
    else:
        note('No reminders. Add one: nudge reminder "call mum friday 5pm"')
    if len(rows) > limit:
        note(f"… and more: --limit {limit * 4} shows them.")
    return 0
