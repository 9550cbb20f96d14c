"""Show what the daemon is doing, and what is wrong. If none is running, show what the database knows and exit with 5.

nudge status --watch     as it changes
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from nudge.cli.render import out, out_json, watch_argument, watched
from nudge.daemon.control_client import call
from nudge.errors import DaemonUnreachableError, NudgeError
from nudge.home.folder import Home


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    watch_argument(parser)


def run(args: argparse.Namespace) -> int:
    return watched(lambda: _show(args), args.watch)


def _show(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home).require()
    try:
        _print(call(home.socket, "GET", "/status"), args)
    except DaemonUnreachableError as unreachable:
        try:
            known = _stored(args)
        except NudgeError:
            known = None  # why there is no daemon may be the reason for that too
        if known is not None:
            _print(known, args)
        raise unreachable from None
    return 0


def _print(status: dict[str, Any], args: argparse.Namespace) -> None:
    if args.json:
        out_json(status)
        return
    from nudge.cli.status_text import status_text

    out(status_text(status, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ), hang=8)


def _stored(args: argparse.Namespace) -> dict[str, Any] | None:
    """The same from the database; None if there is none yet."""
    from nudge import __version__
    from nudge.cli.context import Context
    from nudge.spending.budgets import Budgets, stored_status
    from nudge.stores.open import sqlite_path
    from nudge.stores.store import SqlStore

    context = Context(args)
    config = context.config
    if config.database_url.startswith("sqlite:") and not os.path.exists(sqlite_path(config.database_url)):  # noqa: PTH110
        return None

    async def read(store: SqlStore) -> dict[str, Any]:
        budgets = Budgets(store, config.spending.plan, config.spending.turn)
        return await stored_status(store, budgets, context.now)

    alone = {"started_at": None, "busy_lanes": 0, "fired": 0}
    head: dict[str, Any] = {"pid": None, "version": __version__, "home": str(context.home.path), "problems": []}
    return {**head, **context.with_store(read), **alone}
