"""A simulation as one page that refers to nothing outside itself: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nudge.simulation.chart import day_chart, hour_chart, legend
from nudge.simulation.markup import safe
from nudge.simulation.style import STYLE
from nudge.simulation.summary import Summary, summarise
from nudge.simulation.text import day_lines, dollars, heading, summary_lines
from nudge.simulation.timeline import Timeline, days_of


def page(timeline: Timeline) -> str:
    """The whole page, as HTML that is well-formed XML too."""
    plan, summary = timeline.plan, summarise(timeline)
    budget = any(sample.limit for sample in timeline.samples)
    title = f"{plan.days} simulated day{'s' if plan.days != 1 else ''} of {plan.agent}"
    body = [
        f"<h1>{safe(title)}</h1>",
        f'<p class="lead">{safe(heading(plan))}</p>',
        f'<div class="tiles">{"".join(_tiles(summary, timeline))}</div>',
        '<section class="card"><h2>Day by hour</h2>',
        "<p>Each dot is a message that reached the person; the shape behind them is the ping budget. Point at a mark "
        "to read it.</p>",
        day_chart(timeline),
        legend(budget),
        "</section>",
        '<div class="two">',
        '<section class="card"><h2>Messages by hour</h2><p>All days together; replies not counted.</p>',
        hour_chart(summary.by_hour, plan),
        "</section>",
        '<section class="card"><h2>What was held back, and why</h2><p>Every occurrence has one outcome.</p>',
        _table({**summary.results, **{f"held back by {rule}": count for rule, count in summary.rules.items()}}),
        "</section>",
        "</div>",
        '<section class="card"><h2>Timeline</h2>',
        *_days(timeline),
        "</section>",
        '<section class="card"><h2>Summary</h2>',
        f"<pre>{safe(chr(10).join(list(summary_lines(timeline))[1:]))}</pre>",
        "</section>",
        "<footer>The real daemon on a virtual clock. The same seed gives the same page.</footer>",
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{safe(title)}</title><style>{STYLE}</style></head>",
            "<body><main>",
            *body,
            "</main></body>",
            "</html>",
            "",
        ]
    )


def _tiles(summary: Summary, timeline: Timeline) -> Iterator[str]:
    yield _tile(f"{summary.messages_a_day:.1f}", "messages a day")
    bad = summary.quiet_violations > 0
    yield _tile(str(summary.quiet_violations), "quiet-hour violations", "bad" if bad else "good")
    if summary.lowest_level is not None:
        yield _tile(f"{summary.lowest_level:.1f} of {summary.capacity}", "pings left at the lowest")
    if summary.reserved:
        broken = summary.reserve_kept < summary.reserved
        yield _tile(f"{summary.reserve_kept} of {summary.reserved}", "reserves kept", "bad" if broken else "good")
    yield _tile(f"{sum(summary.calls.values()):,}", "model calls")
    if timeline.plan.model == "offline":
        yield _tile(f"≈ {dollars(summary.monthly_would_cost)}", "a month with a model (estimate); by rules nothing")
    elif timeline.plan.model == "scripted":
        yield _tile(f"≈ {dollars(summary.monthly_cost)}", "a month (estimate from prompt sizes)")
    else:
        yield _tile(dollars(summary.monthly_cost), "a month at this rate")


def _tile(value: str, name: str, style: str = "") -> str:
    return f'<div class="tile {style}"><b>{safe(value)}</b><span>{safe(name)}</span></div>'


def _table(rows: Mapping[str, int]) -> str:
    cells = "".join(f"<tr><td>{safe(name)}</td><td>{count:,}</td></tr>" for name, count in rows.items())
    return f"<table>{cells or '<tr><td>Nothing happened.</td><td></td></tr>'}</table>"


def _days(timeline: Timeline) -> Iterator[str]:
    for day in days_of(timeline):
        messages = sum(not one.reply for one in day.sent())
        count = f"{messages} message{'' if messages == 1 else 's'}"
        text = "\n".join(day_lines(day, timeline.plan, 120))
        yield (
            f"<details><summary>{day.date:%A} {day.date.day} {day.date:%B}<span>{count}</span></summary>"
            f"<pre>{safe(text)}</pre></details>"
        )
