"""All agents."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, note, out_json, table
from nudge.instants import rfc3339
from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    context = Context(args)

    async def read(store: SqlStore) -> list[dict[str, Any]]:
        found = []
        for agent in await store.agents.all():
            timers = await store.timers.of_agent(agent.name, limit=1)
            unread = await store.letters.count_unread(agent.name)
            due = timers[0].due_at if timers else None
            found.append({"agent": agent, "next": due, "unread": unread})
        return found

    rows = context.with_store(read)
    if args.json:
        out_json(
            [
                {
                    "name": row["agent"].name,
                    "role": row["agent"].role,
                    "created_at": rfc3339(row["agent"].created_at, context.zone),
                    "next_due": rfc3339(row["next"], context.zone) if row["next"] else None,
                    "unread": row["unread"],
                }
                for row in rows
            ]
        )
        return 0
    if not rows:
        note("No agents. The first 'nudge run' makes the coach; 'nudge agent add NAME --role ROLE' adds others.")
        return 0
    table(
        ["NAME", "ROLE", "NEXT", "UNREAD", "SINCE"],
        [
            [
                row["agent"].name,
                row["agent"].role,
                clock_time(row["next"], context.zone, context.now) if row["next"] else "-",
                str(row["unread"]),
                clock_time(row["agent"].created_at, context.zone, context.now),
            ]
            for row in rows
        ],
    )
    return 0
