"""A simulation as one page that refers to nothing outside itself: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nudge.palette import css
from nudge.simulation.chart import day_chart, hour_chart, legend, safe
from nudge.simulation.summary import Summary, summarise
from nudge.simulation.text import day_lines, dollars, heading, summary_lines
from nudge.simulation.timeline import Timeline, days_of

STYLE = (
    css()
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 26px; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 6px; }
h2 { font-size: 16px; margin: 0 0 2px; }
.lead { color: var(--soft); margin: 0 0 24px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 20px 22px;
  margin: 0 0 18px; }
.card > p { color: var(--soft); margin: 0 0 14px; font-size: 13.5px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 0 0 18px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 14px 16px 12px; }
.tile b { display: block; font-size: 25px; line-height: 1.25; font-weight: 650; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; display: block; }
.tile.good b { color: var(--green); } .tile.bad b { color: var(--red); }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
svg text.day { fill: var(--ink); font-size: 12px; } svg text.small { font-size: 10px; fill: var(--faint); }
.rule { stroke: var(--grid); stroke-width: 1; } .edge { stroke: var(--line); stroke-width: 1; }
.quiet { fill: var(--quiet); } .bucket { fill: var(--bucket); opacity: 0.38; }
.level { fill: none; stroke: var(--bucket-line); stroke-width: 1.3; stroke-linejoin: round; }
.dot { stroke: var(--card); stroke-width: 1.5; }
.briefing { fill: var(--briefing); } .heartbeat { fill: var(--heartbeat); } .reminder { fill: var(--reminder); }
.notice { fill: var(--notice); }
.reply { fill: var(--card); stroke: var(--said); stroke-width: 1.5; } .said { fill: var(--said); }
.track { fill: var(--grid); } .green { fill: var(--green); } .yellow { fill: var(--yellow); } .red { fill: var(--red); }
.asleep { fill: var(--red); opacity: 0.16; }
.bar { fill: var(--bucket-line); }
.legend { display: flex; flex-wrap: wrap; gap: 6px 18px; margin: 12px 0 0; padding: 0; list-style: none;
  color: var(--soft); font-size: 13px; }
.legend li { display: flex; align-items: center; gap: 6px; }
.legend svg { width: 14px; height: 14px; flex: none; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); gap: 18px; }
.two .card { margin: 0; } .two { margin: 0 0 18px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td { padding: 5px 0; border-top: 1px solid var(--grid); vertical-align: top; }
tr:first-child td { border-top: 0; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
details { border-top: 1px solid var(--grid); } details:first-of-type { border-top: 0; }
summary { cursor: pointer; padding: 8px 0; } summary span { color: var(--soft); font-size: 13px; margin-left: 8px; }
pre { margin: 0 0 12px; overflow-x: auto; font: 12.5px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  color: var(--ink); }
footer { color: var(--faint); font-size: 13px; }
@media print { body { background: none; } .card, .tile { break-inside: avoid; } }
"""
)


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
    if timeline.plan.works:
        yield _tile(f"{summary.tasks_finished} of {summary.said}", "tasks finished")
    else:
        yield from _message_tiles(summary)
    yield _tile(f"{sum(summary.calls.values()):,}", "model calls")
    if timeline.plan.model == "offline":
        yield _tile(f"≈ {dollars(summary.monthly_would_cost)}", "a month with a model (estimate); by rules nothing")
    elif timeline.plan.model == "scripted":
        yield _tile(f"≈ {dollars(summary.monthly_cost)}", "a month (estimate from prompt sizes)")
    else:
        yield _tile(dollars(summary.monthly_cost), "a month at this rate")


def _message_tiles(summary: Summary) -> Iterator[str]:
    yield _tile(f"{summary.messages_a_day:.1f}", "messages a day")
    bad = summary.quiet_violations > 0
    yield _tile(str(summary.quiet_violations), "quiet-hour violations", "bad" if bad else "good")
    if summary.quiet_asked:
        yield _tile(str(summary.quiet_asked), "set by you for the quiet hours")
    if summary.lowest_level is not None:
        yield _tile(f"{summary.lowest_level:.1f} of {summary.capacity}", "pings left at the lowest")
    if summary.reserved:
        broken = summary.reserve_kept < summary.reserved
        yield _tile(f"{summary.reserve_kept} of {summary.reserved}", "reserves kept", "bad" if broken else "good")


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
