"""What the daemon is doing. Exits with 5 if none runs."""

from __future__ import annotations

import argparse
import json
import os
import sys

from nudge.adapters.home import Home
from nudge.surfaces.control_client import call


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home).require()
    status = call(home.socket, "GET", "/status")
    if args.json:
        print(json.dumps(status, ensure_ascii=False, indent=2))  # noqa: T201
        return 0
    from nudge.surfaces.cli.status_text import status_text

    print(status_text(status, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ))  # noqa: T201
    return 0
