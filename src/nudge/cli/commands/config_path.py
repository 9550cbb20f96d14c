"""Show where the home and its files are."""

from __future__ import annotations

import argparse

from nudge.cli.render import out, out_json
from nudge.home.folder import Home


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home)
    paths = {
        "home": home.path,
        "config": home.config,
        "secrets": home.env_file,
        "roles": home.roles,
        "database": home.database,
        "logs": home.logs,
        "socket": home.socket,
    }
    if args.json:
        out_json({name: {"path": str(path), "exists": path.exists()} for name, path in paths.items()})
    else:
        for name, path in paths.items():
            out(f"{name:<10}{path}{'' if path.exists() else '  (not there)'}")
    return 0
