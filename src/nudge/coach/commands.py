"""The commands of a chat: what there is, how it is read, and who answers.

Most answer at once, in the transaction that accepts them. Those that wait for a file, a process or the turns before
them are answered in the conversation's lane, in order with it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nudge.instants import SECOND, Instant

_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:@\w+)?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """A command of the person's: `words` are what stands behind its name."""

    agent: str
    words: str
    now: Instant
    typed: bool = False


Answer = Callable[[Asked], Awaitable[str | None]]
"""What to say; None is silence."""


@dataclass(frozen=True, slots=True)
class Command:
    """`takes` shows what may stand behind the name. `in_lane` ones are answered in turn with the conversation; `slow`
    ones among them outside of any transaction."""

    name: str
    summary: str
    answer: Answer
    takes: str = ""
    in_lane: bool = False
    slow: bool = False


def read_command(text: str) -> tuple[str, str] | None:
    """The name and the words of a command, or None if the text is not one. Some channels allow no hyphen in a name.

    >>> read_command("/ping_budget 5 60"), read_command("/etc/passwd is a file")
    (('ping-budget', '5 60'), None)
    """
    match = _COMMAND.fullmatch(text.strip())
    return (match[1].lower().replace("_", "-"), (match[2] or "").strip()) if match else None


def whole_seconds(now: Instant) -> Instant:
    """The moment that "in 20 minutes" counts from: nobody wants to be told about microseconds."""
    return Instant(now // SECOND * SECOND)


def menu(commands: Mapping[str, Command]) -> list[tuple[str, str]]:
    """What a channel may offer."""
    return [(command.name, command.summary) for command in commands.values()]


def help_text(commands: Mapping[str, Command]) -> str:
    lines = [
        f"/{command.name}{f' {command.takes}' if command.takes else ''} — {command.summary}"
        for command in commands.values()
    ]
    return "\n".join(
        ["Just write to me. Commands:", *lines, "“busy”, “leave me alone” and “30 more min” work as they are."]
    )
