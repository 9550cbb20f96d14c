"""Score how well a model does its job here."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.render import note, out, out_json, table
from nudge.errors import NotConfiguredError

if TYPE_CHECKING:
    from nudge.simulation.evaluation import Score, Scores
    from nudge.spending.routing import Routes

RULES = "offline rules"
PURPOSES = ("heartbeat", "conversation", "briefing", "review", "summary", "work")


def coach_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="NAME",
        nargs="?",
        const="",
        help="score a model too: this one, or without a NAME those of nudge.toml; it costs money",
    )
    parser.add_argument("--group", metavar="NAME", help="only the situations of one group")
    parser.add_argument("--detail", action="store_true", help="show what was said where it went wrong")
    parser.add_argument("--json", action="store_true", help="print JSON")


def coach(args: argparse.Namespace) -> int:
    """Try 60 situations on the coach and score what it does, by rules. The first column is the offline rules.

    nudge eval coach
    nudge eval coach --model                       the models in nudge.toml
    nudge eval coach --model claude-sonnet-5-5 --detail
    """
    from nudge.coach.prompts import VERSION
    from nudge.daemon.world import model_of, options_of
    from nudge.home.prices import load_prices, prices_of
    from nudge.simulation.evaluation import evaluate, groups
    from nudge.simulation.situations import SITUATIONS

    if args.group and args.group not in groups():
        raise NotConfiguredError(f"There is no group {args.group!r}.", next_step=f"There are: {', '.join(groups())}.")
    chosen = [one for one in SITUATIONS if args.group in (None, one.group)]
    rows = [evaluate(RULES, load_prices(), situations=chosen)]
    if args.model is not None:
        context = Context(args)
        config = context.config
        if not config.provider:
            raise NotConfiguredError("No model is configured.", next_step="Set one up: docs/models.md.")
        routes = _routes(args.model) if args.model else options_of(config, "evaluation").routes
        rows.append(
            evaluate(
                args.model or config.provider,
                prices_of(config),
                model=lambda clock: _asked(model_of(config, clock)),
                routes=routes,
                situations=chosen,
                on_each=_progress,
            )
        )
    if args.json:
        out_json({"prompts": VERSION, "rows": [_json(row, groups()) for row in rows]})
        return 0
    _table(rows, [name for name in groups() if args.group in (None, name)], VERSION)
    if args.detail:
        _details(rows)
    return 0


def _asked(model: Any) -> Any:
    assert model is not None
    return model


def _routes(model: str) -> Routes:
    from nudge.spending.routing import Routes

    return Routes.of({"*": dict.fromkeys(PURPOSES, model)})


def _progress(score: Score) -> None:
    if sys.stderr.isatty():
        note(f"{'ok  ' if score.handled else 'not '} {score.situation.group}: {score.situation.name}")


def _table(rows: list[Scores], names: list[str], version: int) -> None:
    lines = [[name or "all", *("{} of {}".format(*row.of_group(name)) for row in rows)] for name in [*names, ""]]
    lines.append(["wrong effects", *(str(row.wrong) for row in rows)])
    if any(row.cost for row in rows):
        lines.append(["cost", *(f"${row.cost / 1e6:.2f}" for row in rows)])
    table(["SITUATIONS", *(row.who for row in rows)], lines)
    note(f"Prompts version {version}. --detail shows where it went wrong.")


def _details(rows: list[Scores]) -> None:
    for row in rows:
        for score in row.scores:
            if not score.handled:
                out()
                out(f"{row.who}: {score.situation.group}: {score.situation.name}")
                for words in score.missing:
                    out(f"  missing: {words}")
                for words in score.wrong:
                    out(f"  wrong:   {words}")
                out(f"  said:    {' '.join(score.seen.said.split()) or '(nothing)'}")


def _json(row: Scores, names: list[str]) -> dict[str, Any]:
    return {
        "who": row.who,
        "handled": row.of_group("")[0],
        "situations": len(row.scores),
        "wrong": row.wrong,
        "cost_micros": row.cost,
        "groups": [
            {"name": name, "handled": handled, "situations": every}
            for name in names
            for handled, every in [row.of_group(name)]
            if every
        ],
        "failed": [
            {
                "group": one.situation.group,
                "name": one.situation.name,
                "missing": list(one.missing),
                "wrong": list(one.wrong),
                "said": one.seen.said,
            }
            for one in row.scores
            if not one.handled
        ],
    }
