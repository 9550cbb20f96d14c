"""Start the daemon in this terminal. Ctrl-C stops it, a second Ctrl-C at once; so does 'nudge stop' elsewhere.

nudge run                talk on Telegram if there is a bot token, else with 'nudge chat'
nudge run --terminal     talk right here, with or without a token
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nudge.cli.context import Context

if TYPE_CHECKING:
    from nudge.clock import Clock
    from nudge.home.config import Config
    from nudge.spending.governor import Spending
    from nudge.stores.store import SqlStore
    from nudge.worker.commands import CommandRunner


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--terminal",
        action="store_true",
        help="talk to the coach here, also if there is a bot token (creates a home if needed)",
    )


def _runner(config: Config, store: SqlStore, spending: Spending, clock: Clock) -> CommandRunner:
    """Loaded when the first program is started: the gateway is large."""
    from nudge.gateway.run import GatewayCommands

    return GatewayCommands(config, store, spending, clock)


def run(args: argparse.Namespace) -> int:
    context = Context(args, require_home=False)
    if args.terminal and not context.home.exists:
        from nudge.home.create import make_home

        make_home(context.home)
    context.home.require()
    config = context.config
    import asyncio

    from nudge.daemon.process import serve

    doors = []
    if config.gateway.enabled:
        from nudge.gateway.run import beside_daemon

        doors.append(beside_daemon)
    return asyncio.run(serve(config, terminal=args.terminal, doors=doors, runner_of=_runner))
