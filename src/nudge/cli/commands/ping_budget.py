"""Show or set how many unasked messages may reach the person.

nudge ping-budget          show the level and today's totals
nudge ping-budget 5        set the capacity
nudge ping-budget 5 60     set the capacity, and the minutes until one ping comes back
"""

from __future__ import annotations

import argparse

from nudge.attention.bucket import PingBudget
from nudge.cli.context import Context
from nudge.cli.render import note, out, out_json
from nudge.instants import Instant
from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("capacity", nargs="?", type=int, metavar="CAPACITY", help="how many pings the bucket holds")
    parser.add_argument(
        "refill_minutes", nargs="?", type=int, metavar="MINUTES", help="minutes until one ping comes back"
    )
    parser.add_argument("--agent", metavar="NAME", default="coach", help="the agent (default: coach)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.attention.preamble import ping_status, ping_status_json
    from nudge.daemon.gate import gate_of
    from nudge.queue.agents import Agents

    context = Context(args)

    async def work(store: SqlStore) -> tuple[PingBudget | None, tuple[Instant, ...]]:
        await Agents(store).ensure_default(context.now)
        await Agents(store).get(args.agent)
        gate = await gate_of(store, context.config, args.agent)
        if args.capacity is not None:
            await gate.resize(args.agent, args.capacity, args.refill_minutes, context.now)
        state = await gate.state(args.agent, context.now)
        return state.budget, state.claims

    budget, claims = context.with_store(work)
    if args.json:
        out_json(ping_status_json(budget, claims, context.now))
        return 0
    if args.capacity is not None:
        note("Changed. The pings in the bucket stay, up to the new capacity.")
    out(ping_status(budget, claims, context.now))
    return 0
