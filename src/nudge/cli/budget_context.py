"""What the budget commands share: whose money it is, and how it is shown."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence

from nudge.cli.budget_text import budget_json, budget_lines, detail_lines
from nudge.cli.context import Context
from nudge.cli.render import clock_time, note, out, out_json
from nudge.home.spending_plan import plan_of, turn_of
from nudge.queue.agents import Agents
from nudge.spending.budgets import Budgets, SpendingStatus
from nudge.spending.money import format_money
from nudge.spending.store import UsageTotal
from nudge.stores.store import SqlStore

Change = Callable[[Budgets], Awaitable[object]]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", default="coach", help="whose (default: coach)")
    parser.add_argument("--json", action="store_true", help="as JSON")


async def budgets_of(store: SqlStore, context: Context, agent: str) -> Budgets:
    await Agents(store).ensure_default(context.now)
    await Agents(store).get(agent)
    return Budgets(store, plan_of(context.settings), turn_of(context.settings))


def show(args: argparse.Namespace, context: Context, *, detail: bool = False, change: Change | None = None) -> None:
    """Change something if there is something to change, then say how it stands."""

    async def work(store: SqlStore) -> tuple[SpendingStatus, Sequence[UsageTotal], str]:
        budgets = await budgets_of(store, context, args.agent)
        if change:
            await change(budgets)
        status = await budgets.status(args.agent, context.now)
        totals = await store.usage.totals(args.agent, status.window_starts, status.window_ends) if detail else ()
        return status, totals, budgets.plan.tier

    status, totals, tier = context.with_store(work)
    if change:
        context.poke()
        until = clock_time(status.window_ends, context.zone, context.now)
        note(f"The window has {format_money(status.window.limit)} now, until {until}.")
    if args.json:
        out_json(budget_json(status, tier, totals if detail else None, context.zone))
        return
    for line in budget_lines(status, context.zone, context.now, context.colour):
        out(line)
    if detail:
        for line in detail_lines(status, totals, context.zone, context.now):
            out(line)
