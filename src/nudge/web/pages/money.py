"""Money: today and the window, plan windows, 30 days, what it was spent on, and the last calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from nudge.durations import span
from nudge.instants import SECOND
from nudge.spending.allowance import Colour, Meter
from nudge.web.layout import View, button, card, choose_agent, document, empty, form, meter, state_badge, table
from nudge.web.markup import Html, el, together
from nudge.web.pages import Ask, Query
from nudge.web.words import dollars, plural, state_of

_DAYS = 30
_HEIGHT, _STEP, _WIDE = 100, 20, 16


async def money_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent") or view.speaker
    data = await ask("read/money", {"agent": agent, "days": _DAYS})
    return document(
        view,
        "Money",
        choose_agent(view, agent, path="/money"),
        el("div", _today(view, agent, data), _window(view, agent, data), class_="halves"),
        _plan_windows(view, data["plan_windows"]) if data["plan_windows"] else None,
        card("The last 30 days", _bars(data["days"][-_DAYS:]), note=_sum(data["days"][-_DAYS:]), id_="days"),
        card("What it was spent on", _usage(data["detail"]["usage"]), id_="usage"),
        card("The last calls", _calls(view, data["calls"]), id_="calls"),
    )


def _today(view: View, agent: str, data: Mapping[str, Any]) -> Html:
    mine = next((one for one in view.agents if one["name"] == agent), None)
    day = data["detail"]["day"]
    if mine is None:
        return card("Today", id_="today")
    spending = mine["spending"]
    held = f", {dollars(day['held'])} held for running calls" if day["held"] else ""
    return card(
        "Today",
        el("p", el("b", f"{spending['percent']}%"), " of today's budget used", class_="big"),
        meter(spending["percent"], spending["colour"], f"{agent}: {spending['text']}"),
        el("p", f"{dollars(day['spent'])} of {dollars(day['limit'])}{held}. ", _state(view, mine)),
        el("p", "Refreshes ", view.times.at(spending["refresh_at"]), ".", class_="soft"),
        id_="today",
    )


def _state(view: View, agent: Mapping[str, Any]) -> Html:
    return state_badge(agent["spending"]["state"], state_of(agent, view.times))


def _window(view: View, agent: str, data: Mapping[str, Any]) -> Html:
    window, forecast = data["detail"]["window"], data["forecast"]
    share = window["spent"] * 100 // window["limit"] if window["limit"] else 0
    pace = f"At the pace of the last week, {dollars(forecast['a_day'])} a day,"
    lasts = (
        f"{pace} it lasts to the end, with {dollars(forecast['left_at_end'])} left."
        if forecast["lasts"]
        else f"{pace} it is used up in {plural(forecast['lasts_days'], 'day')}."
    )
    return card(
        "This window",
        el("p", el("b", f"{share}%"), " of the window used", class_="big"),
        meter(share, Colour.GREEN if forecast["lasts"] else Colour.YELLOW, f"{agent}: {share}% of the window used"),
        el(
            "p",
            f"{dollars(window['spent'])} of {dollars(window['limit'])}, until ",
            view.times.at(data["window_ends_at"]),
            ".",
        ),
        el("p", lasts, class_="soft"),
        form(
            view,
            "top_up",
            {"agent": agent},
            el("label", "Top up, in dollars", for_="amount"),
            el("input", name="amount", id="amount", required=True, inputmode="decimal", placeholder="5.00", size="6"),
            button("Top up", class_="primary", id_="top-up"),
        ),
        id_="window",
    )


def _plan_windows(view: View, windows: Sequence[Mapping[str, Any]]) -> Html:
    """What the service of a subscription says about its own limits."""
    shown = [
        el(
            "div",
            el("p", el("b", f"{one['percent']}%"), f" of the {one['title']}", class_="big"),
            meter(one["percent"], _colour(one), f"Plan, {one['title']}: {one['percent']}% used"),
            el(
                "p",
                "Used up. Resets " if one["used_up"] else "Resets ",
                view.times.at(one["resets_at"]),
                f", {view.times.away(one['resets_at'])}.",
                class_="soft",
            ),
        )
        for one in windows
    ]
    note = "What the service reports about your subscription, in percent instead of dollars."
    return card("Plan windows", el("div", *shown, class_="halves"), note=note, id_="plan")


def _colour(window: Mapping[str, Any]) -> str:
    return Colour.RED if window["used_up"] else Meter(window["percent"], 100).colour


def _sum(days: Sequence[Mapping[str, Any]]) -> str:
    total, week = sum(one["spent"] for one in days), sum(one["spent"] for one in days[-7:])
    return f"{dollars(total)} in {plural(len(days), 'day')}; this week {dollars(week)}."


def _bars(days: Sequence[Mapping[str, Any]]) -> Html:
    """Today is the last bar. Days before the first one that is known are left empty."""
    most = max([1, *(one["spent"] for one in days), *(one["limit"] for one in days)])
    bars = []
    for at, one in enumerate(days, _DAYS - len(days)):
        height = max(1.0, one["spent"] / most * _HEIGHT) if one["spent"] else 0
        limit = one["limit"] / most * _HEIGHT
        words = f"{one['day']}: {dollars(one['spent'])} of {dollars(one['limit'])} ({one['percent']}%)"
        bars.append(
            el(
                "g",
                el("title", words),
                _bar(at, limit, "track"),
                _bar(at, height, one["colour"]),
            )
        )
    today = date.fromisoformat(days[-1]["day"]) if days else None
    ends = [el("span", f"{today - timedelta(days=back):%d %b}") for back in (_DAYS - 1, 0)] if today else []
    chart = el(
        "svg",
        *bars,
        viewBox=f"0 0 {_DAYS * _STEP} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_sum(days),
    )
    return together(el("div", chart, class_="chart"), el("div", *ends, class_="axis ends", aria_hidden="true"))


def _bar(at: int, height: float, class_: str) -> Html:
    return el("rect", x=at * _STEP, y=round(_HEIGHT - height, 1), width=_WIDE, height=round(height, 1), class_=class_)


def _usage(usage: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        [
            row["purpose"] or "–",
            row["model"],
            plural(row["calls"], "call"),
            f"{row['input'] + row['cache_read']:,}",
            f"{row['output']:,}",
            dollars(row["cost"]),
        ]
        for row in usage
    ]
    caption = "Cost of this window by purpose and model"
    if not rows:
        return empty(
            "Nothing was spent in this window.", "The offline rules cost nothing. Calls to a model appear here."
        )
    return table(["For", "Model", "Calls", "Tokens in", "Out", "Cost"], rows, caption=caption)


def _calls(view: View, calls: Sequence[Mapping[str, Any]]) -> Html:
    """Each with what was held for it, whether it was cut, and how long it waited for money."""
    rows = [
        [
            view.times.at(row["at"]),
            row["purpose"] or row["run"] or row["client"],
            row["model"],
            dollars(row["held"]),
            f"{row['granted']:,} of {row['asked']:,} tokens" if row["clamped"] else "–",
            span(row["waited_ms"] * SECOND // 1000) if row["waited_ms"] >= 1000 else "–",
            row["result"],
            dollars(row["cost"]),
        ]
        for row in calls
    ]
    if not rows:
        return empty("No calls yet.", "Set a key or point a client at the gateway: docs/models.md, docs/gateway.md.")
    return table(
        ["At", "For", "Model", "Held", "Clamped to", "Waited", "Ended", "Cost"], rows, caption="The last calls"
    )
