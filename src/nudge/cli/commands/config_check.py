"""Check nudge.toml, .env and all roles: would 'nudge run' start? The first mistake is named with its place."""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import note, out, out_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.set_up import checked
    from nudge.home.seeds import HomeSeeds

    context = Context(args)
    checked(context.settings)
    roles = HomeSeeds(context.home).check_roles(context.now, context.settings.timezone)
    named = context.settings.table.get("timezone") or context.settings.timezone
    if named != context.settings.timezone:
        note(f"nudge.toml says {named}, but {context.settings.timezone} in the coach's GOALS.md wins.")
    if args.json:
        out_json({"ok": True, "roles": roles})
    else:
        out(f"All good: nudge.toml, .env and {len(roles)} role{'s' if len(roles) != 1 else ''} ({', '.join(roles)}).")
    return 0
