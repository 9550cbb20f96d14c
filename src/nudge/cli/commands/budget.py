"""Commands about money: the meter, its history, a top-up, another budget."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import date

from nudge.cli import budget_text
from nudge.cli.budget_text import history_line
from nudge.cli.context import Context
from nudge.cli.render import out, out_json, watch_argument, watched
from nudge.errors import BudgetExhaustedError, UsageError
from nudge.spending.budgets import Budgets, day_meter, every_day
from nudge.spending.money import parse_money
from nudge.spending.store import DaySpent
from nudge.stores.store import SqlStore


def meter_arguments(parser: argparse.ArgumentParser) -> None:
    budget_text.arguments(parser)
    parser.add_argument("--detail", action="store_true", help="also show dollars, tokens and models")
    watch_argument(parser)


def meter(args: argparse.Namespace) -> int:
    """Show how much of today's budget is used, and whether the agent is awake.

    nudge budget              the meter, the state, and when it refreshes
    nudge budget --detail     with dollars, tokens and models
    nudge budget --watch      as it changes

    The exit code is 6 while the agent is asleep or stopped.
    """

    def draw() -> int:
        awake = budget_text.show(args, Context(args), detail=args.detail)
        return 0 if awake else BudgetExhaustedError.exit_code

    return watched(draw, args.watch)


MOST_DAYS = 3660


def history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, default=30, metavar="N", help="how many days back (default: 30)")
    parser.add_argument("--detail", action="store_true", help="also show dollars")
    budget_text.arguments(parser)


def history(args: argparse.Namespace) -> int:
    """Show how much of each day's budget was used, a bar for each day."""
    if not 1 <= args.days <= MOST_DAYS:
        raise UsageError(f"--days must be from 1 to {MOST_DAYS}.", next_step="See 'nudge budget history --help'.")
    context = Context(args)

    async def work(store: SqlStore) -> Sequence[DaySpent]:
        budgets = await budget_text.budgets_of(store, context, args.agent)
        return await budgets.history(args.agent, args.days, context.now)

    days = every_day(context.with_store(work), context.config.spending.turn.day_of(context.now))
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


def top_up_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("amount", metavar="AMOUNT", help="dollars, such as 5.00")
    budget_text.arguments(parser)


def top_up(args: argparse.Namespace) -> int:
    """Add money to this window. A sleeping agent wakes at once.

    nudge budget top-up 5.00
    """
    amount = parse_money(args.amount)
    context = Context(args)

    async def top_up(budgets: Budgets) -> None:
        await budgets.top_up(args.agent, amount, context.now)

    budget_text.show(args, context, change=top_up)
    return 0


def wake_arguments(parser: argparse.ArgumentParser) -> None:
    budget_text.arguments(parser)


def wake(args: argparse.Namespace) -> int:
    """Wake an agent that sleeps because a window of its plan is used up, for example after you bought more usage. Its
    next call shows whether the service lets it work.

    nudge budget wake --agent builder
    """
    context = Context(args)

    async def forget(budgets: Budgets) -> None:
        await budgets.forget_plan(args.agent, context.now)

    awake = budget_text.show(args, context, change=forget, money=False)
    return 0 if awake else BudgetExhaustedError.exit_code


def set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--window", metavar="DOLLARS", help="this window's budget, without top-ups")
    parser.add_argument("--renews", metavar="DATE", help="the day the next window begins")
    budget_text.arguments(parser)


def set_(args: argparse.Namespace) -> int:
    """Change the budget or the renewal date of this window. What was spent still counts; today's share is recomputed.

    nudge budget set --window 100 --renews 2026-12-01
    nudge budget set                                    go back to nudge.toml
    """
    budget = None if args.window is None else parse_money(args.window)
    renews = None if args.renews is None else _day(args.renews)
    context = Context(args)

    async def change(budgets: Budgets) -> None:
        if budget is None and renews is None:
            await budgets.as_configured(args.agent, context.now)
        else:
            await budgets.set_window(args.agent, context.now, budget=budget, renews=renews)

    budget_text.show(args, context, change=change)
    return 0


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date.", next_step="Write it like 2026-12-01.") from None
