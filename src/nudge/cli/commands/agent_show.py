"""One agent: its role, what it waits for, and what lies in its inbox."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import distance, full_time, out, out_json, table
from nudge.instants import rfc3339
from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.queue.agents import Agents

    context = Context(args)

    async def read(store: SqlStore) -> tuple[Any, Any, Any]:
        agent = await Agents(store).get(args.name)
        return agent, await store.timers.of_agent(agent.name, limit=20), await store.letters.unread(agent.name)

    agent, timers, letters = context.with_store(read)
    if args.json:
        out_json(
            {
                "name": agent.name,
                "role": agent.role,
                "created_at": rfc3339(agent.created_at, context.zone),
                "folder": str(context.home.agent(agent.name)),
                "timers": [
                    {"key": t.key, "kind": t.kind, "due_at": rfc3339(t.due_at, context.zone), "attempts": t.attempts}
                    for t in timers
                ],
                "inbox": [
                    {
                        "id": one.id,
                        "priority": one.priority.word,
                        "sender": one.sender,
                        "body": one.body,
                        "count": one.count,
                        "created_at": rfc3339(one.created_at, context.zone),
                    }
                    for one in letters
                ],
            }
        )
        return 0
    out(f"{agent.name}  (role {agent.role}, since {full_time(agent.created_at, context.zone)})")
    out(f"folder  {context.home.agent(agent.name)}\n")
    if timers:
        rows = [[t.key, t.kind, full_time(t.due_at, context.zone), distance(t.due_at, context.now)] for t in timers]
        table(["TIMER", "KIND", "NEXT", "LEFT"], rows)
    else:
        out("It waits for nothing.")
    out()
    if letters:
        rows = [[str(one.id), one.priority.word, one.sender, _body(one.body, one.count)] for one in letters]
        table(["LETTER", "PRIORITY", "FROM", "TEXT"], rows)
    else:
        out("Its inbox is empty.")
    return 0


def _body(text: str, count: int) -> str:
    first = text.splitlines()[0] if text else ""
    short = first if len(first) <= 60 else first[:57] + "..."
    return f"{short} (×{count})" if count > 1 else short
