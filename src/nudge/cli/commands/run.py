"""Start the daemon in this terminal. Ctrl-C stops it gracefully, a second Ctrl-C at once. 'nudge stop' stops it too.

nudge run                talk on Telegram if there is a bot token, else with 'nudge chat'
nudge run --terminal     talk right here, with or without a token
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nudge.cli.context import Context
from nudge.cli.render import note
from nudge.errors import NudgeError

if TYPE_CHECKING:
    from nudge.clock import Clock
    from nudge.home.config import Config
    from nudge.spending.governor import Spending
    from nudge.stores.store import SqlStore
    from nudge.worker.commands import CommandRunner


_START_TRIES = 300


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--terminal",
        action="store_true",
        help="talk to the coach here, even with a bot token (creates a home if needed)",
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

    from nudge.channels import chosen
    from nudge.daemon.process import serve
    from nudge.daemon.terminal_chat import Leaving

    doors = []
    if config.gateway.enabled:
        from nudge.gateway.run import beside_daemon

        doors.append(beside_daemon)
    environment = dict(os.environ)
    leaving = Leaving(can_stay=args.terminal and chosen(config.channel.kind, config.environment) == "telegram")
    leaving.can_stay = leaving.can_stay and bool(config.telegram.allow)
    code = asyncio.run(serve(config, terminal=args.terminal, doors=doors, runner_of=_runner, leaving=leaving))
    if leaving.stays and code == 0:
        _stay(context, environment)
    return code


def _stay(context: Context, environment: Mapping[str, str]) -> None:
    """Go on without a terminal, with the environment of this start: the keys have left ours."""
    import subprocess
    import sys
    import time

    from nudge.daemon.lock import holder_of

    command = [sys.executable, "-m", "nudge.cli.main", "--home", str(context.home.path), "run"]
    with (context.home.logs / "background.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603  (this interpreter and our own module)
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )
    for _ in range(_START_TRIES):
        if process.poll() is not None or holder_of(context.home) is not None:
            break
        time.sleep(0.1)
    if process.poll() is not None:
        raise NudgeError("It did not start.", next_step=f"See {context.home.logs / 'background.log'}.")
    note(f"Running in the background, process {process.pid}. 'nudge chat' talks to it, 'nudge stop' ends it.")
