"""Simulate: a week of this home with a simulated person, and what one changed setting makes of it."""

from __future__ import annotations

from collections.abc import Mapping

from nudge.errors import UsageError
from nudge.home.folder import Home
from nudge.web.layout import View, button, card, document, empty, select, table
from nudge.web.markup import Html, el, together
from nudge.web.pages import Query

_DAYS = 7
PEOPLE = {
    "night-owl": "a night owl",
    "early-bird": "an early bird",
    "busy-week": "someone with a busy week",
    "silent": "someone who never answers",
}
SETTINGS = {
    "": "nothing",
    "capacity=3": "a smaller ping budget (3)",
    "capacity=8": "a larger ping budget (8)",
    "ping_budget=off": "no ping budget",
    "heartbeat=30m": "a heartbeat every 30 minutes",
    "heartbeat=2h": "a heartbeat every 2 hours",
    "reserve=off": "no reserve for routines",
}


def simulate_page(view: View, query: Query, shown: Html | None = None, problem: str = "") -> str:
    run = el(
        "form",
        select("person", "Simulate with", list(PEOPLE.items()), query.get("person", "")),
        select("change", "and change", list(SETTINGS.items()), query.get("change", "")),
        el("input", type="hidden", name="run", value="1"),
        button("Run a week", class_="primary", id_="run"),
        method="get",
        action="/simulate",
        class_="search",
    )
    return document(
        view,
        "Simulate",
        card(
            "",
            el(
                "p",
                "Runs the real daemon for a week on a copy of your home, with a simulated person and no model. Takes a "
                "few seconds. Nothing is sent, and your home is not changed.",
            ),
            run,
            live=False,
        ),
        el("p", problem, class_="flash bad", role="alert") if problem else None,
        shown or (None if problem else empty("No simulation yet.", "Choose a person and press “Run a week”.")),
    )


def simulate(home: Home, query: Mapping[str, str]) -> Html:
    """Run the week, and the same week with the setting changed. It takes a few seconds."""
    from nudge.simulation.chart import day_chart, legend
    from nudge.simulation.compare import compare, variants
    from nudge.simulation.request import Request, simulations
    from nudge.simulation.summary import summarise
    from nudge.simulation.text import heading, summary_lines

    person, change = query.get("person", ""), query.get("change", "")
    if (person and person not in PEOPLE) or change not in SETTINGS:
        raise UsageError("That is not one of the choices.")
    parts, columns = [], {}
    with simulations(Request(home, _DAYS, person=person or next(iter(PEOPLE)))) as lives:
        for title, changes in variants([change]) if change else [("as configured", {})]:
            timeline = lives.run(changes)
            columns[title] = summarise(timeline)
            budget = any(sample.limit for sample in timeline.samples)
            parts.append(
                card(
                    title.capitalize(),
                    el(
                        "div",
                        Html(day_chart(timeline)),
                        class_="sideways",
                        tabindex="0",
                        role="group",
                        aria_label=title,
                    ),
                    Html(legend(budget)),
                    el("details", el("summary", "In numbers"), el("pre", "\n".join(summary_lines(timeline, 80)))),
                    note=heading(timeline.plan),
                    live=False,
                )
            )
    if len(columns) > 1:
        rows = [
            [row.name, *(row.cell(at) for at in range(len(columns))), row.difference(1)]
            for row in compare(columns)
            if row.differs
        ]
        words = empty("Nothing differs.", "Try another setting, or someone busier.")
        shown = table(["What", *columns, "Difference"], rows, caption="What changes") if rows else words
        parts.insert(0, card("The difference", shown, live=False))
    return together(*parts)
