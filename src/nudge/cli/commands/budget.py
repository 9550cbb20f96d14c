"""Show how much of today's budget is used, and whether the agent is awake.

nudge budget              the meter, the state, and when it refreshes
nudge budget --detail     with dollars, tokens and models
"""

from __future__ import annotations

import argparse

from nudge.cli import budget_context
from nudge.cli.context import Context


def arguments(parser: argparse.ArgumentParser) -> None:
    budget_context.arguments(parser)
    parser.add_argument("--detail", action="store_true", help="also show dollars, tokens and models")


def run(args: argparse.Namespace) -> int:
    budget_context.show(args, Context(args), detail=args.detail)
    return 0
