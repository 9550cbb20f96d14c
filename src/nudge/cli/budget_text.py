"""An agent's budget in words. People see percentages; dollars come with --detail."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from datetime import tzinfo

from nudge.cli.context import Context
from nudge.cli.render import clock_time, note, out, out_json, table
from nudge.durations import distance
from nudge.instants import Instant
from nudge.palette import Tone, painted, state_words, tone_of
from nudge.queue.agents import Agents
from nudge.spending.allowance import Meter
from nudge.spending.budgets import Budgets, SpendingStatus, budget_json, day_meter
from nudge.spending.burn import Forecast
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import format_money
from nudge.spending.plan_windows import PlanWindow, current, plan_of
from nudge.spending.store import DaySpent, UsageTotal
from nudge.stores.store import SqlStore

BAR_WIDTH = 20


def bar(meter: Meter, colour: bool) -> str:
    filled = meter.filled(BAR_WIDTH)
    return painted("█" * filled, tone_of(meter.colour), colour and filled > 0) + "░" * (BAR_WIDTH - filled)


def budget_lines(
    status: SpendingStatus, zone: tzinfo, now: Instant, colour: bool, forecast: Forecast | None = None
) -> list[str]:
    lines = []
    if status.banner:
        lines.append(painted(status.banner, Tone.BAD, colour))
    text = painted(status.text, tone_of(status.meter.colour), colour)
    lines.append(f"{text}  {bar(status.meter, colour)}  {state_words(status.state)}")
    if status.used_up and status.state is SpendingState.ASLEEP:
        lines.append("Today's remaining budget does not cover another call.")
    again = "Its plan resets" if status.by_plan else "Refreshes"
    lines.append(f"{again} {clock_time(status.refresh_at, zone, now)}, {distance(status.refresh_at - now)}.")
    ends = (("Today", forecast.day), ("This window", forecast.window)) if forecast else ()
    for what, at in ends:
        if at is not None:
            lines.append(f"{what} is used up {clock_time(at, zone, now)} at this rate, {distance(at - now)}.")
    return lines


def detail_lines(status: SpendingStatus, totals: Sequence[UsageTotal], zone: tzinfo, now: Instant) -> list[str]:
    window = status.window
    held = f", {format_money(status.held)} held for running calls" if status.held else ""
    added = f", {format_money(status.topped_up)} of it topped up" if status.topped_up else ""
    lines = [
        "",
        f"today   {format_money(status.meter.spent)} of {format_money(status.meter.limit)}{held}",
        f"window  {format_money(window.committed)} of {format_money(window.limit)}{added}, "
        f"renews {clock_time(status.window_ends, zone, now)}",
    ]
    if status.overrun:
        lines.append(f"overrun {format_money(status.overrun)} more than was held for the calls")
    if totals:
        lines += ["", "This window by purpose and model:"]
    return lines


def totals_table(totals: Sequence[UsageTotal]) -> None:
    """Print what a window was spent on."""
    rows = []
    for total in totals:
        unknown = "" if total.known_price else ", at the highest known price"
        assumed = f", {total.assumed} at the maximum possible cost" if total.assumed else ""
        numbers = [f"{number:,}" for number in (total.calls, total.use.prompt, total.use.output)]
        rows.append([total.purpose, total.model, *numbers, f"{format_money(total.cost)}{unknown}{assumed}"])
    table(["PURPOSE", "MODEL", "CALLS", "IN", "OUT", "COST"], rows)


def history_line(day: DaySpent, detail: bool, colour: bool) -> str:
    meter = day_meter(day)
    line = f"{day.day.isoformat()}  {bar(meter, colour)}  {meter.percent:>3}%"
    return f"{line}  {format_money(day.spent)} of {format_money(day.limit)}" if detail else line


Change = Callable[[Budgets], Awaitable[object]]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", default="coach", help="the agent (default: coach)")
    parser.add_argument("--json", action="store_true", help="print JSON")


async def budgets_of(store: SqlStore, context: Context, agent: str) -> Budgets:
    await Agents(store).ensure_default(context.now)
    await Agents(store).get(agent)
    return Budgets(store, context.config.spending.plan, context.config.spending.turn)


def show(
    args: argparse.Namespace,
    context: Context,
    *,
    detail: bool = False,
    change: Change | None = None,
    money: bool = True,
) -> bool:
    """Change something if there is something to change, then say its state. Whether the agent is awake. `money`
    says that the change is one of the window's money."""

    windows: tuple[PlanWindow, ...] = ()

    async def work(store: SqlStore) -> tuple[SpendingStatus, Forecast, Sequence[UsageTotal], str]:
        nonlocal windows
        budgets = await budgets_of(store, context, args.agent)
        if change:
            await change(budgets)
        status = await budgets.status(args.agent, context.now)
        windows = current((await plan_of(store, args.agent)).windows, context.now)
        totals = await store.usage.totals(args.agent, status.window_starts, status.window_ends) if detail else ()
        return status, await budgets.forecast(status, context.now), totals, budgets.plan.tier

    status, forecast, totals, tier = context.with_store(work)
    awake = status.state.may_go_on
    if change:
        context.poke()
    if change and money:
        until = clock_time(status.window_ends, context.zone, context.now)
        note(f"The window has {format_money(status.window.limit)} now, until {until}.")
    if args.json:
        told = budget_json(status, tier, totals if detail else None, context.zone, forecast)
        out_json({**told, "plan_windows": [one.public(context.zone, context.now) for one in windows]})
        return awake
    for line in budget_lines(status, context.zone, context.now, context.colour, forecast):
        out(line)
    for window in windows:
        out(_window_line(window, context))
    if detail:
        for line in detail_lines(status, totals, context.zone, context.now):
            out(line)
        if totals:
            totals_table(totals)
    return awake


def _window_line(window: PlanWindow, context: Context) -> str:
    resets = f"resets {clock_time(window.resets_at, context.zone, context.now)}"
    line = f"Plan, {window.title}: {window.percent}% used, {resets}."
    spare = window.spare(context.now)
    if window.used_up:
        return f"{line} Asleep until then."
    return line if spare is None else f"{line} {max(0, spare)}% to spare."
