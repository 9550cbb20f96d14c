"""Check nudge.toml, .env, prices and all roles: would 'nudge run' start? All mistakes are named with their lines.

Exits with 4 if there are errors.
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.report import report
from nudge.errors import ConfigError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.checks import examine
    from nudge.daemon.config_checks import CONFIG_CHECKS
    from nudge.daemon.findings import Subject

    context = Context(args)
    findings = examine(Subject(context.home, context.now), CONFIG_CHECKS)
    return 0 if report(findings, json=args.json, colour=context.colour) else ConfigError.exit_code
