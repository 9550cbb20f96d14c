"""Add money to this window. A sleeping agent wakes at once.

nudge budget top-up 5.00
"""

from __future__ import annotations

import argparse

from nudge.cli import budget_context
from nudge.cli.context import Context
from nudge.spending.budgets import Budgets
from nudge.spending.money import parse_money


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("amount", metavar="AMOUNT", help="dollars, such as 5.00")
    budget_context.arguments(parser)


def run(args: argparse.Namespace) -> int:
    amount = parse_money(args.amount)
    context = Context(args)

    async def top_up(budgets: Budgets) -> None:
        await budgets.top_up(args.agent, amount, context.now)

    budget_context.show(args, context, change=top_up)
    return 0
