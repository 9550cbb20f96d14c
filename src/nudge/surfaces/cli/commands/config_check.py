"""Check nudge.toml, .env and all roles. The first mistake is named with its file, line and field."""

from __future__ import annotations

import argparse

from nudge.surfaces.cli.context import Context
from nudge.surfaces.cli.render import note, out, out_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.adapters.config import load_config
    from nudge.adapters.home_seeds import HomeSeeds
    from nudge.surfaces.spending_plan import plan_of

    context = Context(args)
    load_config(context.settings)
    plan_of(context.settings)
    _ = context.zone
    roles = HomeSeeds(context.home).check_roles(context.now, context.settings.timezone)
    named = context.settings.table.get("timezone") or context.settings.timezone
    if named != context.settings.timezone:
        note(f"nudge.toml says {named}, but {context.settings.timezone} in the coach's GOALS.md wins.")
    if args.json:
        out_json({"ok": True, "roles": roles})
    else:
        out(f"All good: nudge.toml, .env and {len(roles)} role{'s' if len(roles) != 1 else ''} ({', '.join(roles)}).")
    return 0
