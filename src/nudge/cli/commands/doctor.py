"""Check everything. --fix repairs what it can. Exits with 1 if something is wrong."""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.report import report


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed without asking")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.checks import CHECKS, examine
    from nudge.daemon.findings import Subject

    context = Context(args, require_home=False)
    findings = examine(Subject(context.home, context.now, fix=args.fix), CHECKS)
    return 0 if report(findings, json=args.json, colour=context.colour) else 1
