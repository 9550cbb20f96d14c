"""How much of each day's budget was used, a bar for each day."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nudge.cli import budget_context
from nudge.cli.budget_text import day_meter, every_day, history_line
from nudge.cli.context import Context
from nudge.cli.render import out, out_json
from nudge.errors import UsageError
from nudge.home.spending_plan import turn_of
from nudge.spending.store import DaySpent
from nudge.stores.store import SqlStore

MOST_DAYS = 3660


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=30, metavar="N", help="how many days back (default: 30)")
    parser.add_argument("--detail", action="store_true", help="dollars as well")
    budget_context.arguments(parser)


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.days <= MOST_DAYS:
        raise UsageError(f"--days takes 1 to {MOST_DAYS}.", next_step="See 'nudge budget history --help'.")
    context = Context(args)

    async def work(store: SqlStore) -> Sequence[DaySpent]:
        budgets = await budget_context.budgets_of(store, context, args.agent)
        return await budgets.history(args.agent, args.days, context.now)

    days = every_day(context.with_store(work), turn_of(context.settings).day_of(context.now))
    if args.json:
        out_json([_json(day, args.detail) for day in days])
        return 0
    for day in days:
        out(history_line(day, args.detail, context.colour))
    return 0


def _json(day: DaySpent, detail: bool) -> dict[str, object]:
    meter = day_meter(day)
    shown: dict[str, object] = {
        "day": day.day.isoformat(),
        "percent": meter.percent,
        "colour": meter.colour.value,
    }
    return {**shown, "unit": "micro-dollars", "limit": day.limit, "spent": day.spent} if detail else shown
