"""The entry point: find the command, import only its module, run it, turn errors into words and exit codes."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

from nudge.cli.table import COMMANDS, SECTIONS, Command, Group
from nudge.columns import DEFAULT, width_of, wrap
from nudge.errors import NudgeError, UsageError
from nudge.palette import Tone, painted


class Formatter(argparse.RawDescriptionHelpFormatter):
    """argparse's own, which is made for every argument and asks shutil for the width each time; we ask the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=(width_of(sys.stdout) or DEFAULT) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Paragraphs as wide as the terminal, and examples a line each: what one does goes on below itself."""
        lines: list[str] = []
        prose = ""
        for line in [*text.splitlines(), ""]:
            if line and not line.startswith(("nudge ", " ")):
                prose = f"{prose} {line}".strip()
                continue
            lines += [*wrap(prose, width)] if prose else []
            prose = ""
            meaning = line.partition("  ")[2].lstrip()
            lines += wrap(line, width, hang=len(line) - len(meaning) if meaning else 2)
        return "\n".join(lines).rstrip()


class Parser(argparse.ArgumentParser):
    """argparse, whose errors are ours: a sentence and the next step."""

    def error(self, message: str) -> NoReturn:
        step = "Put --home before the command." if " --home" in message else f"See '{self.prog} --help'."
        raise UsageError(message[0].upper() + message[1:] + ".", next_step=step)


def main(argv: list[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    _open_what_is_closed()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no such sign shows another
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except NudgeError as error:
        _say_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as error:
        _say_error(_of_the_system(error))
        if error.filename is None:
            _drop_output()
        return 1
    except Exception:
        _say_unexpected(words)
        return 1


def _open_what_is_closed() -> None:
    """A supervisor may start us without standard streams. In their order they get the lowest descriptors, their own."""
    from os import devnull

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (until the process ends)


def _dispatch(words: list[str]) -> int:
    home, words = take_home(words)
    if not words:
        return _run("nudge", Command("welcome", ""), [], home)
    first, rest = words[0], words[1:]
    if first in ("-h", "--help", "help"):
        return _help(rest)
    if first == "--version":
        first = "version"
    if first == "__complete":
        return _run("nudge __complete", Command("complete", ""), ["--", *rest], home)
    entry = COMMANDS.get(first)
    if entry is None:
        raise UsageError(f"There is no command {first!r}.{_meant(first, COMMANDS)}", next_step="See 'nudge --help'.")
    if isinstance(entry, Command):
        return _run(f"nudge {first}", entry, rest, home)
    if rest and rest[0] in entry.commands:
        return _run(f"nudge {first} {rest[0]}", entry.commands[rest[0]], rest[1:], home)
    if (rest and rest[0] in ("-h", "--help")) or (not rest and entry.bare is None):
        sys.stdout.write(group_help(first, entry))
        return 0 if rest else 2
    if entry.bare is not None:
        return _run(f"nudge {first}", entry.bare, rest, home)
    raise UsageError(
        f"There is no command 'nudge {first} {rest[0]}'.{_meant(rest[0], entry.commands)}",
        next_step=f"See 'nudge {first} --help'.",
    )


def parser_of(name: str, command: Command) -> argparse.ArgumentParser:
    module = import_module(f"nudge.cli.commands.{command.module}")
    run = getattr(module, command.function or "run")
    arguments = f"{command.function.rstrip('_')}_arguments" if command.function else "arguments"
    parser = Parser(
        prog=name,
        description=_help_of(run if command.function else module),
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    getattr(module, arguments)(parser)
    return parser


def _help_of(documented: object) -> str:
    """Its docstring, without the indentation that one of a function has."""
    first, _, rest = (documented.__doc__ or "").strip().partition("\n")
    return "\n".join([first, *(line.removeprefix("    ") for line in rest.splitlines())]).strip()


def _run(name: str, command: Command, words: list[str], home: str | None) -> int:
    parser = parser_of(name, command)
    try:
        args = parser.parse_args(words)
    except SystemExit as stop:  # --help printed itself
        return int(stop.code or 0)
    args.home = home
    return int(args.run(args) or 0)


def take_home(words: list[str]) -> tuple[str | None, list[str]]:
    """`--home PATH` may stand before the command."""
    if words and words[0] == "--home":
        if len(words) < 2:
            raise UsageError("--home needs a path.", next_step="See 'nudge --help'.")
        return words[1], words[2:]
    if words and words[0].startswith("--home="):
        return words[0].removeprefix("--home="), words[1:]
    return None, words


def _help(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        return _dispatch([*words, "--help"])
    if words:
        raise UsageError(
            f"There is no command {words[0]!r}.{_meant(words[0], COMMANDS)}", next_step="See 'nudge --help'."
        )
    sys.stdout.write(help_text())
    return 0


def help_text() -> str:
    lines = ["An agent that acts on time, knows when not to interrupt, never overspends, and can prove it.", ""]
    lines += ["  nudge [--home PATH] COMMAND …", ""]
    width = max(len(name) for name in COMMANDS) + 2
    for section, commands in SECTIONS.items():
        lines.append(f"{section}:")
        lines += [f"  {name:<{width}}{entry.summary}" for name, entry in commands.items()]
        lines.append("")
    lines.append("'nudge COMMAND --help' shows more. The home is --home, NUDGE_HOME or ~/.nudge, in that order.")
    return _fitted(lines, width + 2)


def group_help(name: str, group: Group) -> str:
    width = max(len(one) for one in group.commands) + 2
    lines = [f"nudge {name}: {group.summary}", ""]
    lines += [f"  {one:<{width}}{command.summary}" for one, command in group.commands.items()]
    if group.bare:
        options = parser_of(f"nudge {name}", group.bare).format_help().partition("\noptions:\n")[2].splitlines()[1:]
        lines += ["", f"  nudge {name} …  {group.bare.summary}", *(f"  {line}" for line in options)]
    return _fitted([*lines, "", f"'nudge {name} COMMAND --help' shows more."], width + 2)


def _fitted(lines: list[str], hang: int) -> str:
    """The lines, wrapped where they are too long; what is indented goes on below its second column."""
    width = width_of(sys.stdout) or DEFAULT
    return "".join(
        f"{part}\n" for line in lines for part in wrap(line, width, hang=hang if line.startswith("  ") else 0)
    )


def _meant(word: str, known: dict[str, Command] | dict[str, Command | Group]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), 1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _say_error(error: NudgeError) -> None:
    import os

    from nudge.redaction import redact
    from nudge.text import plain

    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    label = painted("error:", Tone.BAD, colour)
    lines = [f"{label} {line}" for line in plain(redact(error.message)).splitlines()]  # there can be several mistakes
    if error.next_step:
        lines.append(f"  next: {plain(redact(error.next_step))}")
    width = width_of(sys.stderr)
    for line in lines:
        sys.stderr.write("\n".join([line] if width is None else wrap(line, width, hang=8)) + "\n")


def _of_the_system(error: OSError) -> NudgeError:
    why = error.strerror or str(error)
    if error.filename is None:
        return NudgeError(f"The system refused: {why}.", next_step="Check that there is space left on the disk.")
    return NudgeError(f"{error.filename} cannot be used: {why}.", next_step="Check that it exists and that you own it.")


def _drop_output() -> None:
    """Nobody reads, or nothing can be written: what Python still wants to flush at its end has nowhere to go."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_unexpected(words: list[str]) -> None:
    """A bug in nudge: where it happened, without the secrets that an exception may quote."""
    import traceback
    from contextlib import suppress

    from nudge.home.folder import Home
    from nudge.home.read_config import known_secrets
    from nudge.redaction import redact
    from nudge.text import plain

    secrets: tuple[str, ...] = ()
    with suppress(Exception):
        secrets = known_secrets(Home.find(given=take_home(words)[0]))
    sys.stderr.write(plain(redact(traceback.format_exc(), secrets)))
    _say_error(NudgeError("This is a bug in nudge.", next_step="Please report it."))


if __name__ == "__main__":
    sys.exit(main())
