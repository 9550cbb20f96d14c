"""Agents by command, as values: how a command line is filled in, and what the end of a program means.

An argument is never read by a shell, so nothing in a letter can become a command or another argument.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nudge.durations import format_duration
from nudge.errors import UsageError
from nudge.instants import HOUR
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Micros
from nudge.worker.sandbox import Ending, Ran

TRY_LATER = 75
"""The exit code of a program that wants to be started again later (EX_TEMPFAIL in sysexits.h)."""
TIME_LIMIT = HOUR
OUTPUT_BYTES = 64 * 1024
LAST_LINES = 10
_LAST_CHARACTERS = 1_500
LONGEST_ARGUMENT = 100_000
"""Bytes. Linux starts no program with an argument of 128 KiB or more."""
_CUT = "\n[… cut here; the whole text is in the inbox …]"
_PLACES = re.compile(r"\{(message|session|agent|letter)\}")
_SESSION = "{session}"
MESSAGE = "{message}"


@dataclass(frozen=True, slots=True)
class Command:
    """The program that does an agent's work. `budget` is for one letter; with `own_key` its calls are paid with the
    keys of the home. The time limit is in microseconds."""

    argv: tuple[str, ...]
    time_limit: int = TIME_LIMIT
    budget: Micros | None = None
    own_key: bool = False

    @property
    def takes_message(self) -> bool:
        """Whether the text is an argument. Otherwise the program gets it on its standard input."""
        return any(MESSAGE in part for part in self.argv)

    @property
    def resumes(self) -> bool:
        """Whether the program can go on with an earlier session of its own."""
        return any(_SESSION in part for part in self.argv)


@dataclass(frozen=True, slots=True)
class CommandJob:
    """One start of an agent's program."""

    agent: str
    run: str
    argv: Sequence[str]
    stdin: str
    environment: Mapping[str, str]
    command: Command


@dataclass(frozen=True, slots=True)
class CommandRan:
    """What came of a start: how the program ended, the session it named in its calls, and how many of its calls were
    refused for lack of money."""

    ran: Ran
    session: str = ""
    refused: int = 0


class End(StrEnum):
    DONE = "done"
    LATER = "later"
    ASLEEP = "asleep"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the end of a program means for its letter."""

    end: End
    reason: str = ""
    last_lines: str = field(default="", repr=False)


def command_words(line: str) -> tuple[str, ...]:
    """The words of a command line as a shell would split them. Nothing else of a shell is in it.

    >>> command_words("claude -p --resume {session} {message}")
    ('claude', '-p', '--resume', '{session}', '{message}')
    """
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"The command {line!r} cannot be read: {error}.", next_step="Check its quotes.") from None
    if not words:
        raise UsageError("The command is empty.", next_step="Name a program, such as 'claude -p {message}'.")
    if _PLACES.search(words[0]):
        raise UsageError("The program itself cannot come from a letter.", next_step="Begin with the program's name.")
    return words


def filled(template: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The arguments with their places filled in. As long as no session is known, its argument is left out, and so is an
    option that stands alone before it. A text that would look like an option gets a space in front.

    >>> line = command_words("claude -p --resume {session} {message}")
    >>> filled(line, {"message": "fix it", "session": ""})
    ['claude', '-p', 'fix it']
    >>> filled(line, {"message": "--help", "session": "5f"})
    ['claude', '-p', '--resume', '5f', ' --help']
    """
    found: list[str] = []
    for part in template:
        if _SESSION in part and not values.get("session"):
            if part == _SESSION and len(found) > 1 and found[-1].startswith("-"):
                found.pop()
            continue
        text = _PLACES.sub(lambda match: values.get(match[1], ""), part)
        if part != text and part.startswith("{") and text.startswith("-"):
            text = f" {text}"
        found.append(fitting(text))
    return found


def fitting(text: str) -> str:
    """The text as an argument or a variable can have it: without NUL, and not too long for a program to start."""
    text = text.replace("\0", "")
    raw = text.encode("utf-8", "replace")
    if len(raw) <= LONGEST_ARGUMENT:
        return text
    return raw[:LONGEST_ARGUMENT].decode("utf-8", "ignore") + _CUT


def judged(result: CommandRan, state: SpendingState, time_limit: int, *, plan_used_up: bool = False) -> Judged:
    """What became of the letter. A program that failed because its agent fell asleep has not failed: it goes on when
    there is money, or when the window of its plan resets."""
    ran = result.ran
    lines = last_lines(ran.output)
    if ran.ending is Ending.TIMED_OUT:
        return Judged(End.FAILED, f"It ran for more than {format_duration(time_limit)} and was stopped.", lines)
    if ran.code == 0:
        return Judged(End.DONE, "", lines)
    if ran.code == TRY_LATER:
        return Judged(End.LATER, "It asked to be started again later (exit 75).", lines)
    if result.refused and not state.may_go_on:
        return Judged(End.ASLEEP, "The agent ran out of budget and went to sleep.", lines)
    if plan_used_up:
        return Judged(End.ASLEEP, "A window of the plan is used up.", lines)
    last = f": {lines.splitlines()[-1]}" if lines else "."
    return Judged(End.FAILED, f"{_how(ran.code)}{last}", lines)


def _how(code: int | None) -> str:
    if code is None:
        return "It was stopped"
    return f"exit {code}" if code >= 0 else f"ended by signal {-code}"


def last_lines(output: str) -> str:
    """The end of what a program said.

    >>> last_lines("one\\n\\n" + "two\\n" * 20).count("two")
    10
    """
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:])[-_LAST_CHARACTERS:]
