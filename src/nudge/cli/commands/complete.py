"""What the shell asks while somebody presses Tab: the words so far, the last one unfinished."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from nudge.cli.context import Context
from nudge.cli.main import parser_of, take_home
from nudge.cli.render import out_raw
from nudge.cli.table import COMMANDS, Command, Group
from nudge.errors import NudgeError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*")


def run(args: argparse.Namespace) -> int:
    *before, last = args.words or [""]
    if before == ["--home"]:
        return 0  # a path: the shell knows better
    args.home, before = take_home(before)
    if before[:1] == ["help"]:
        before = before[1:]
    for word, meaning in candidates(before, args):
        if word.startswith(last):
            out_raw(f"{word}\t{meaning}")
    return 0


def candidates(before: list[str], args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    if not before:
        yield from ((name, entry.summary) for name, entry in COMMANDS.items())
        return
    entry: Command | Group | None = COMMANDS.get(before[0])
    rest = before[1:]
    name = f"nudge {before[0]}"
    if isinstance(entry, Group):
        if not rest:
            yield from ((one, command.summary) for one, command in entry.commands.items())
            return
        name, entry, rest = f"{name} {rest[0]}", entry.commands.get(rest[0]), rest[1:]
    if entry is None:
        return
    yield from _of_parser(parser_of(name, entry), rest, args)


def _of_parser(
    parser: argparse.ArgumentParser, before: list[str], args: argparse.Namespace
) -> Iterator[tuple[str, str]]:
    positional = [action for action in parser._actions if not action.option_strings]
    options = {option: action for action in parser._actions for option in action.option_strings}
    waiting = options.get(before[-1]) if before else None
    if waiting is not None and waiting.nargs != 0:
        yield from _values(waiting, args)
        return
    given = len([word for word in before if not word.startswith("-")])
    for action in positional[given : given + 1]:
        yield from _values(action, args)
    for option, action in options.items():
        if option.startswith("--") and option not in before:
            yield option, (action.help or "").replace("%%", "%")


def _values(action: argparse.Action, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    if action.choices:
        yield from ((str(choice), "") for choice in action.choices)
        return
    try:
        if action.dest in ("agent", "name") and (action.metavar in ("NAME", "AGENT", None)):
            for agent in Context(args).with_store(lambda store: store.agents.all()):
                yield agent.name, agent.role
        elif action.dest == "reminder":
            for one in Context(args).with_store(lambda store: store.reminders.listed(limit=200)):
                yield one.id, " ".join((one.name or one.message).split())[:60]
        elif action.dest == "role":
            for file in sorted(Context(args).home.roles.glob("*.yaml")):
                yield file.stem, ""
    except NudgeError:
        return
