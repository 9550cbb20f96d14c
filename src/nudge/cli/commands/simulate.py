"""Preview a week in seconds: the real daemon on a copy of your home, with a simulated person and a virtual clock.

nudge simulate                                    a week from today, by the offline rules
nudge simulate --days 30 --person early-bird --model scripted
nudge simulate --from 2026-11-01 --html week.html
nudge simulate --compare ping_budget=off          what that setting is worth
nudge simulate --compare heartbeat=30m/45m/90m

Your home is only read. Costs of a model are estimated from the length of the prompts unless --model is real.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.cli.render import note, out, out_json, out_raw
from nudge.columns import width_of
from nudge.errors import NudgeError, UsageError
from nudge.home.folder import Home

if TYPE_CHECKING:
    from nudge.simulation.request import Simulations
    from nudge.simulation.timeline import Timeline

LONGEST = 3660
_PATIENCE_DAYS = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=_days, default=7, metavar="N", help="how many days (default: 7)")
    parser.add_argument("--from", dest="first", type=_date, metavar="DATE", help="the first day (default: today)")
    parser.add_argument("--agent", metavar="NAME", default="coach", help="the agent (default: coach)")
    parser.add_argument(
        "--person",
        metavar="NAME",
        default="night-owl",
        help="busy-week, early-bird, new-parent, night-owl, night-worker, silent, student, traveller, or a YAML file "
        "(default: night-owl)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same seed gives the same life (default: 1)"
    )
    parser.add_argument(
        "--model",
        choices=("offline", "scripted", "real"),
        default="offline",
        help="who answers: the offline rules; the rules, charged like a model; a real model, which needs a key and "
        "costs money (default: offline)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page with charts as well")
    parser.add_argument(
        "--compare", metavar="KEY=VALUE", nargs="+", help="run another configuration too, and print the differences"
    )


def run(args: argparse.Namespace) -> int:
    from nudge.simulation.request import Request, simulations

    home = Home.find(given=args.home)
    if args.html and args.compare:
        raise UsageError("--html shows one run, --compare several.", next_step="Use one of them.")
    if not home.exists:
        note(f"No home at {home.path}: using the coach of 'nudge init'.")
    request = Request(home, args.days, args.first, args.agent, args.person, args.seed, args.model)
    with simulations(request) as lives:
        if args.compare:
            return _compare(lives, args)
        timeline = lives.run(on_day=_progress(args.days))
    _clear_progress(args.days)
    if args.html:
        _write_page(Path(args.html), timeline)
    if args.json:
        out_json(_json(timeline))
        return 0
    from nudge.simulation.text import WIDTH, summary_lines, timeline_lines

    width = _width(WIDTH)
    for line in timeline_lines(timeline, width):
        out_raw(line)
    out()
    for line in summary_lines(timeline, width):
        out_raw(line)
    return 0


def _compare(lives: Simulations, args: argparse.Namespace) -> int:
    from nudge.simulation.compare import compare, variants
    from nudge.simulation.summary import summarise, summary_json
    from nudge.simulation.text import comparison_lines, heading

    columns = {}
    plan = None
    for title, changes in variants(args.compare):
        timeline = lives.run(changes, _progress(args.days, title))
        plan = plan or timeline.plan
        columns[title] = summarise(timeline)
    _clear_progress(args.days)
    rows = compare(columns)
    if args.json:
        out_json(
            {
                "columns": [{"title": title, "summary": summary_json(one)} for title, one in columns.items()],
                "differences": {row.name: list(row.values) for row in rows if row.differs},
            }
        )
        return 0
    from dataclasses import replace

    assert plan is not None
    out(heading(replace(plan, changes={})))
    out()
    for line in comparison_lines(list(columns), rows, width_of(sys.stdout)):
        out_raw(line)
    return 0


def _json(timeline: Timeline) -> dict[str, Any]:
    from nudge.instants import rfc3339
    from nudge.simulation.summary import summarise, summary_json
    from nudge.simulation.timeline import event_json

    plan = timeline.plan
    return {
        "agent": plan.agent,
        "person": plan.person,
        "seed": plan.seed,
        "model": plan.model,
        "timezone": plan.timezone,
        "from": rfc3339(plan.start, plan.zone),
        "until": rfc3339(plan.end, plan.zone),
        "costs_are_estimates": plan.model != "real",
        "events": [event_json(event, plan.zone) for event in timeline.events],
        "samples": [
            {
                "at": rfc3339(one.at, plan.zone),
                "pings": None if one.level is None else one.level / 1_000_000,
                "budget_percent": one.percent,
                "asleep": one.asleep,
            }
            for one in timeline.samples
        ],
        "summary": summary_json(summarise(timeline)),
        "notes": list(timeline.notes),
    }


def _write_page(path: Path, timeline: Timeline) -> None:
    from nudge.home.private_files import replace_file
    from nudge.simulation.html import page

    try:
        replace_file(path, page(timeline).encode())
    except OSError as error:
        raise NudgeError(f"{path} cannot be written: {error.strerror}.", next_step="Give another path.") from error
    note(f"Written: {path}")


def _progress(days: int, title: str = "") -> Callable[[int], None]:
    """On a terminal a line that changes; else a line every thirty days, for whoever waits for a long run."""
    told = 0
    name = f"{title}: " if title else ""

    def on_day(over: int) -> None:
        nonlocal told
        if over == told:
            return
        told = over
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{name}day {over} of {days}")
            sys.stderr.flush()
        elif over % _PATIENCE_DAYS == 0:
            note(f"{name}day {over} of {days}")

    return on_day


def _clear_progress(days: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def _width(otherwise: int) -> int:
    """The terminal's; the same for everybody where the output goes into a file."""
    return max(60, width_of(sys.stdout) or otherwise)


def _days(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days from 1 to {LONGEST}")
    return int(text)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2026-11-16") from None
