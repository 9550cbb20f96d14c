"""Remove an agent. Its timers go; its history, its files and its name stay."""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import note


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")


def run(args: argparse.Namespace) -> int:
    from nudge.queue.agents import Agents

    context = Context(args)
    context.with_store(lambda store: Agents(store).remove(args.name, context.now))
    context.poke()
    note(f"Removed {args.name}. Its files stay in {context.home.agent(args.name)}")
    return 0
