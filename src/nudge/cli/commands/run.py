"""Start the daemon in this terminal. Stop it with Ctrl-C, twice to stop at once, or with 'nudge stop' elsewhere.

nudge run                on Telegram if there is a bot token; else it writes here, and 'nudge chat' talks to it
nudge run --terminal     talk to it right here, token or not
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--terminal",
        action="store_true",
        help="talk to the coach here, also if there is a bot token (makes a home if needed)",
    )
    parser.add_argument(
        "--empty-database",
        action="store_true",
        help="if the database is damaged, keep it aside and start with an empty one",
    )


def run(args: argparse.Namespace) -> int:
    context = Context(args, require_home=False)
    if args.terminal and not context.home.exists:
        from nudge.home.create import make_home

        make_home(context.home)
    context.home.require()
    config = context.config
    import asyncio

    from nudge.daemon.process import serve

    return asyncio.run(serve(config, terminal=args.terminal, empty_database=args.empty_database))
