"""Show what the daemon is doing, and what is wrong. Exits with 5 if no daemon runs."""

from __future__ import annotations

import argparse
import os
import sys

from nudge.cli.render import out, out_json
from nudge.daemon.control_client import call
from nudge.home.folder import Home


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home).require()
    status = call(home.socket, "GET", "/status")
    if args.json:
        out_json(status)
        return 0
    from nudge.cli.status_text import status_text

    out(status_text(status, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ), hang=8)
    return 0
