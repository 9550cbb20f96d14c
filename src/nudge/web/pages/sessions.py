"""Sessions: what workers do. Each has its transcript with tools, nudges and costs, and its phases over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from nudge.durations import span
from nudge.instants import SECOND
from nudge.spending.allowance import Colour
from nudge.web.layout import (
    View,
    button,
    card,
    choose_agent,
    document,
    empty,
    facts,
    form,
    legend,
    meter,
    state_badge,
    table,
)
from nudge.web.markup import Html, el, together
from nudge.web.pages import Ask, Query
from nudge.web.words import dollars

_WIDTH = 1000
_MARKS = {"call": "→ ", "error": "✗ ", "ok": "✓ ", "heard": "> ", "nudge": "! "}


async def sessions_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent", "")
    found = await ask("read/sessions", {"agent": agent, "limit": 50})
    rows = [
        [
            el("a", one["task"] or one["id"], href=f"/sessions/{one['id']}"),
            one["agent"],
            state_badge(one["status"]),
            one["phase"] or "–",
            f"{one['tokens']:,}",
            _cost(one),
            view.times.at(one["updated_at"]),
        ]
        for one in found["sessions"]
    ]
    workers = [one["name"] for one in view.agents if one["works"]]
    no_worker = "Add a worker with 'nudge agent add builder --role worker', then give it a task here."
    return document(
        view,
        "Sessions",
        choose_agent(view, agent, path="/sessions", all_=True),
        card("New task", _give(view, workers), live=False) if workers else None,
        card(
            "",
            table(["Task", "Agent", "Status", "Phase", "Tokens", "Cost", "Last step"], rows, caption="Sessions")
            if rows
            else empty("No sessions yet.", "Write a task above and press Start." if workers else no_worker),
            id_="sessions",
        ),
    )


def _give(view: View, workers: Sequence[str]) -> Html:
    choice = together(
        el("label", "Worker", for_="worker"),
        el("select", *(el("option", name, value=name) for name in workers), name="agent", id="worker"),
    )
    return form(
        view,
        "work",
        {"agent": workers[0]} if len(workers) == 1 else {},
        choice if len(workers) > 1 else None,
        el("label", "What should be done?", for_="task"),
        el("input", name="task", id="task", required=True, autocomplete="off", placeholder="fix the failing tests"),
        el("div", button("Start", class_="primary"), class_="actions"),
        class_="stack",
    )


def _cost(one: Mapping[str, Any]) -> str:
    return dollars(round(one["cost"] * 1_000_000))


async def session_page(view: View, ask: Ask, query: Query, number: str) -> str:
    one = await ask("read/session", {"id": number})
    is_open, most = one["status"] in ("working", "waiting"), one["max_tokens"]
    share = one["tokens"] * 100 // most if most else 0
    act = (
        form(view, "cancel_session", {"id": one["id"]}, button("Cancel", id_="cancel"))
        if is_open
        else form(view, "resume_session", {"id": one["id"]}, button("Resume", id_="resume"))
    )
    message = form(
        view,
        "message",
        {"agent": one["agent"]},
        el("label", f"Message to {one['agent']}", for_="text"),
        el(
            "div",
            el("input", name="text", id="text", required=True, autocomplete="off"),
            button("Send", class_="primary"),
            class_="words",
        ),
        class_="stack",
        data_reset=True,
    )
    return document(
        view,
        one["task"] or one["id"],
        card(
            "",
            facts(
                ("Agent", one["agent"]),
                ("Status", together(state_badge(one["status"]), f" {one['doing']}" if is_open else "")),
                ("Tokens", f"{one['tokens']:,}" + (f" of {most:,}" if most else "")),
                ("Cost", _cost(one)),
                ("Started", view.times.at(one["started_at"])),
                *((("Why", one["reason"]),) if one["reason"] else ()),
            ),
            meter(share, _colour(share), f"{share}% of the run's tokens used") if most else None,
            _phases(one["phases"]),
            el("div", act, class_="actions"),
            id_="session",
        ),
        card("Report", el("pre", one["report"]), id_="report") if one["report"] else None,
        card("", message, live=False) if is_open else None,
        card("What was said and done", _transcript(view, one["lines"]), id_="said"),
        card("Subagents", _subagents(one["subagents"]), id_="subagents") if one["subagents"] else None,
    )


def _colour(share: int) -> str:
    return Colour.RED if share >= 90 else Colour.YELLOW if share >= 70 else Colour.GREEN


def _transcript(view: View, lines: Sequence[Mapping[str, Any]]) -> Html:
    """A line for each thing said and done. What a call cost stands below what it said."""
    items, before = [], ""
    for at, line in enumerate(lines):
        local = f"{view.times.local(line['at']):%H:%M:%S}"
        words = line["text"].strip()
        if line["kind"] == "cost":
            words = f"{words} · {dollars(line['cost'])}"
        mark = _MARKS.get(line["kind"], "")
        items.append(
            el(
                "li",
                el("time", "" if local == before else local, datetime=line["at"]),
                el("span", words if words.startswith(mark) else f"{mark}{words}"),
                class_=line["kind"],
                id=f"line-{line['number']}-{at}",
            )
        )
        before = local
    return el("ol", *items, id="transcript", class_="transcript")


def _phases(phases: Sequence[Mapping[str, Any]]) -> Html | None:
    """The phases as a band over the time of the session."""
    if not phases:
        return None
    times = [(datetime.fromisoformat(one["since"]), datetime.fromisoformat(one["until"])) for one in phases]
    first, length = times[0][0], max(1.0, (times[-1][1] - times[0][0]).total_seconds())
    spent: dict[str, float] = {}
    parts = []
    for one, (since, until) in zip(phases, times, strict=True):
        seconds = (until - since).total_seconds()
        spent[one["phase"]] = spent.get(one["phase"], 0) + seconds
        parts.append(
            el(
                "rect",
                el("title", f"{one['phase']}: {span(int(seconds * SECOND))}"),
                x=round((since - first).total_seconds() / length * _WIDTH, 1),
                y=0,
                width=max(2.0, round(seconds / length * _WIDTH, 1)),
                height=10,
                class_=f"phase-{one['phase']}",
            )
        )
    words = [f"{phase} {span(int(seconds * SECOND))}" for phase, seconds in spent.items()]
    return together(
        el("h3", "Phases"),
        el(
            "svg",
            *parts,
            viewBox=f"0 0 {_WIDTH} 10",
            preserveAspectRatio="none",
            class_="band",
            role="img",
            aria_label=", then ".join(one["phase"] for one in phases),
        ),
        legend(*((f"phase-{phase}", text) for phase, text in zip(spent, words, strict=True))),
    )


def _subagents(subagents: Sequence[Mapping[str, Any]]) -> Html:
    items = [
        el("li", el("a", one["task"] or one["id"], href=f"/sessions/{one['id']}"), " ", state_badge(one["status"]))
        for one in subagents
    ]
    return el("ul", *items, class_="plain")
