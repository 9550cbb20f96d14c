"""Write reminders as JSON, with all they have been through. 'nudge reminder import' reads it.

nudge reminder export > reminders.json
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.render import note, out_json

if TYPE_CHECKING:
    from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="only this agent's")
    parser.add_argument("--all", action="store_true", help="also what is completed or removed")
    parser.add_argument("--json", action="store_true", help="as JSON, which it always is")


def run(args: argparse.Namespace) -> int:
    from nudge.queue.agents import Agents
    from nudge.reminders.exchange import Exchange

    context = Context(args)

    async def read(store: SqlStore) -> dict[str, Any]:
        await Agents(store).require_known(args.agent)
        return await Exchange(store).export(args.agent, ended=args.all)

    document = context.with_store(read)
    out_json(document)
    count = len(document["reminders"])
    note(f"Exported {count} reminder{'' if count == 1 else 's'}.")
    return 0
