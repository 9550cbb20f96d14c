"""Add an agent from a role: a file in the folder roles/ of the home. Copy roles/coach.yaml to begin with.

nudge agent add monitor --role monitor     from roles/monitor.yaml
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import note


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what to call it: small letters, digits, '-' and '_'")
    parser.add_argument("--role", required=True, metavar="ROLE", help="a file of roles/, without its .yaml")


def run(args: argparse.Namespace) -> int:
    from nudge.home.private_files import make_folder
    from nudge.home.roles import load_role, role_path
    from nudge.queue.agents import Agents

    context = Context(args)
    load_role(role_path(context.home, args.role))
    context.with_store(lambda store: Agents(store).add(args.name, args.role, context.now))
    make_folder(context.home.workspace(args.name))
    context.poke()
    note(f"Added {args.name}. Its folder: {context.home.agent(args.name)}")
    return 0
