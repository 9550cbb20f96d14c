"""Commands that move reminders between homes: export and import."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.reminders_text import how_many_reminders, poke
from nudge.cli.render import note, out, out_json
from nudge.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from nudge.stores.store import SqlStore


def export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="only this agent's")
    parser.add_argument("--all", action="store_true", help="include completed and removed ones")
    parser.add_argument("--json", action="store_true", help="no effect: the output is always JSON")


def export(args: argparse.Namespace) -> int:
    """Export reminders as JSON, with their history. 'nudge reminder import' reads it.

    Reminders from a role or a routine are always included, even removed ones: they stay removed after the import.

    nudge reminder export > reminders.json
    """
    from nudge.queue.agents import Agents
    from nudge.reminders.exchange import Exchange

    context = Context(args)

    async def read(store: SqlStore) -> dict[str, Any]:
        await Agents(store).require_known(args.agent)
        return await Exchange(store).export(args.agent, ended=args.all)

    document = context.with_store(read)
    out_json(document)
    note(f"Exported {how_many_reminders(len(document['reminders']))}.")
    return 0


def import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file, or '-' for standard input")
    parser.add_argument("--agent", metavar="NAME", help="give them all to this agent")
    parser.add_argument("--json", action="store_true", help="print JSON")


def import_(args: argparse.Namespace) -> int:
    """Import reminders from what 'nudge reminder export' wrote: all of them, or none if one is wrong.

    nudge reminder import reminders.json
    nudge reminder import - --agent coach < reminders.json
    """
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
    note(f"Imported {how_many_reminders(len(done.added))}; already here: {len(done.already_here)}.")
    if done.completed:
        note(f"  {done.completed} of them have no time left and are marked as done.")
    followers = [one.title for one in done.added if one.source.follows_a_file]
    if followers:
        note(f"  From a role or a routine: {_some(followers)}. They follow that file when the daemon starts next.")
    commands = [one.id for one in done.added if one.condition is not None and one.condition.command is not None]
    if commands:
        note(f"  These run a command from the file on this machine: {_some(commands)}. Check them first.")
    poke(context)
    return 0


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {name!r}.", next_step="Check its name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read {name}: {error}.", next_step="Check the file.") from None
