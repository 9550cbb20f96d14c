"""Another budget or renewal for this window. What was spent stays spent, and today's share is computed anew.

nudge budget set --window 100 --renews 2026-12-01
nudge budget set                                    what nudge.toml says, in place of what was set by command
"""

from __future__ import annotations

import argparse
from datetime import date

from nudge.cli import budget_context
from nudge.cli.context import Context
from nudge.errors import UsageError
from nudge.spending.budgets import Budgets
from nudge.spending.money import parse_money


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--window", metavar="DOLLARS", help="the money for this window, top-ups not counted")
    parser.add_argument("--renews", metavar="DATE", help="the day on which the next window begins")
    budget_context.arguments(parser)


def run(args: argparse.Namespace) -> int:
    budget = None if args.window is None else parse_money(args.window)
    renews = None if args.renews is None else _day(args.renews)
    context = Context(args)

    async def change(budgets: Budgets) -> None:
        if budget is None and renews is None:
            await budgets.as_configured(args.agent, context.now)
        else:
            await budgets.set_window(args.agent, context.now, budget=budget, renews=renews)

    budget_context.show(args, context, change=change)
    return 0


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date.", next_step="Write it like 2026-12-01.") from None
