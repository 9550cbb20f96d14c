"""Read reminders from what 'nudge reminder export' wrote: all of them, or none if one of them is wrong.

nudge reminder import reminders.json
nudge reminder import - --agent coach < reminders.json
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nudge.cli.context import Context
from nudge.cli.reminders_text import poke
from nudge.cli.render import note, out, out_json
from nudge.errors import NotFoundError, UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file, or '-' for standard input")
    parser.add_argument("--agent", metavar="NAME", help="give them all to this agent")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    import json

    from nudge.reminders.exchange import Exchange

    context = Context(args)
    try:
        document = json.loads(_text(args.file))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{args.file} is not JSON: {error}.", next_step="Use what 'export' wrote.") from None
    done = context.with_store(lambda store: Exchange(store).import_(document, context.now, args.agent))
    if args.json:
        out_json({"added": [one.id for one in done.added], "already_here": [one.id for one in done.already_here]})
    else:
        for one in done.added:
            out(one.id)
    count = len(done.added)
    note(f"Imported {count} reminder{'' if count == 1 else 's'}; already here: {len(done.already_here)}.")
    if done.completed:
        note(f"  {done.completed} of them had no time left and are completed.")
    commands = [one.id for one in done.added if one.condition is not None and one.condition.command is not None]
    if commands:
        note(f"  {len(commands)} run a command of the file on this machine: look at {', '.join(commands[:5])} first.")
    poke(context)
    return 0


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {name!r}.", next_step="Check its name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read: {error}.", next_step="Check the file.") from None
