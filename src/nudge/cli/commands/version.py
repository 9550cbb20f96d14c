"""Print the version."""

from __future__ import annotations

import argparse
import platform

from nudge import __version__
from nudge.cli.render import out, out_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.json:
        out_json({"version": __version__, "python": platform.python_version()})
    else:
        out(f"nudge {__version__} (Python {platform.python_version()})")
    return 0
