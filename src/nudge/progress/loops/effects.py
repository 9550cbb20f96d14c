"""What a call does besides answering: it may change the world, or only let time pass.

Told from the name of the tool and, where it runs commands, from the command. Not knowing is the normal case: a command
that is not recognised here changes nothing and waits for nothing.
"""

from __future__ import annotations

import re

LOOKING = frozenset({"view", "read", "open", "list", "show", "search", "find", "get"})
"""What a tool that can also edit may be told instead of a command line: it shows something."""

NO_WAIT = -1.0
_NUMBERS = (int, float)
_LONGEST_COMMAND = 2_000

_QUOTED = re.compile(r"'[^']*'")
_REDIRECTED = re.compile(r"(?<![<>=\-0-9&])(?:>{1,2}|\d>>?)\s*(?!/dev/|&)[\w./~$\"{]")
_CHANGING = re.compile(
    r"(?:^|[;&|(\n])[ \t]*(?:sudo\s+)?(?:"
    r"sed\s+(?:-\S+\s+)*-\w*i|perl\s+(?:-\S+\s+)*-\w*i|tee\b|patch\b|mv\b|cp\b|rm\b|mkdir\b|touch\b|ln\b|chmod\b"
    r"|git\s+(?:-C\s+\S+\s+)?(?:apply|am|checkout|switch|restore|stash|reset|revert|merge|rebase|cherry-pick|mv|rm"
    r"|commit|pull)\b"
    r"|(?:npm|pnpm|yarn|pip3?|uv|poetry|cargo|go|apt|apt-get|brew|gem|bundle|composer|conda)\s+"
    r"(?:pip\s+)?(?:install|i|ci|add|remove|uninstall|update|upgrade|get|sync)\b"
    r")"
)
_SLEEP = re.compile(r"\s*sleep\s+(\d+(?:\.\d+)?)([smh]?)\s*;?\s*")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600}
_MILLISECONDS = re.compile(r"(?:ms|millis|milliseconds)$")
_PLACE = frozenset({"x", "y", "index", "amount", "count", "times"})


def command_of(args: object) -> str:
    """The command line that a call runs; empty where it runs none, or one too long to be looked at."""
    if type(args) is not dict:
        return ""
    command = args.get("command") or args.get("cmd")
    if command is None:
        return ""
    if type(command) is list and command:
        command = command[-1]  # ["bash", "-lc", "make"]
    return command if isinstance(command, str) and len(command) <= _LONGEST_COMMAND else ""


def command_changes(command: str) -> bool:
    """Whether a command line is known to write something: files, the working copy of a repository, packages."""
    if _CHANGING.search(command):
        return True
    return ">" in command and _REDIRECTED.search(_QUOTED.sub("''", command)) is not None


def wait_of_command(command: str) -> float:
    """For how many seconds a command does nothing but sleep; below 0 where it does something."""
    slept = _SLEEP.fullmatch(command) if "sleep" in command else None
    return float(slept[1]) * _SECONDS[slept[2]] if slept else NO_WAIT


def wait_of_tool(args: object) -> float:
    """For how many seconds a tool that only lets time pass does so; 0 where its arguments do not say. Where a click
    goes is no time."""
    if type(args) is dict:
        for key, value in args.items():
            if type(value) in _NUMBERS and value >= 0 and key not in _PLACE:
                return value / 1_000 if _MILLISECONDS.search(str(key).lower()) else float(value)
    return 0.0
