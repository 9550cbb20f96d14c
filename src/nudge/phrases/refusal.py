"""How a phrase is refused: with its own words, the reason, and three phrases that work."""

from __future__ import annotations

from typing import Final

from nudge.errors import InvalidPhraseError

Examples = tuple[str, str, str]

TIME_EXAMPLES: Final[Examples] = ("tomorrow 9am", "in 2 hours", "every weekday at 9")
RULE_EXAMPLES: Final[Examples] = ("every weekday at 9", "every other tuesday 10am", "on the 1st of each month at 9am")
DURATION_EXAMPLES: Final[Examples] = ("30 minutes", "an hour and a half", "until 5pm")
REMINDER_EXAMPLES: Final[Examples] = (
    "call mum friday 5pm",
    "in 20 minutes take the pizza out",
    "stretch every weekday at 9",
)

_SHOWN = 60


class Refused(Exception):  # noqa: N818 - a signal inside this package, never seen outside it
    """The words are all known, but they do not say a time."""

    def __init__(self, why: str, examples: Examples = TIME_EXAMPLES) -> None:
        super().__init__(why)
        self.why = why
        self.examples = examples


class Unread(Exception):  # noqa: N818 - a signal inside this package, never seen outside it
    """The grammar has no place for `word`."""

    def __init__(self, word: str, why: str) -> None:
        super().__init__(why)
        self.word = word
        self.why = why


def refusal(text: str, what: str, why: str, examples: Examples = TIME_EXAMPLES) -> InvalidPhraseError:
    """The error for a phrase; `what` is what it should have been, such as "a time"."""
    first, second, third = examples
    return InvalidPhraseError(
        f"I can't read {shown(text)} as {what}: {why}{'' if why.endswith('?') else '.'}",
        next_step=f'Try "{first}", "{second}" or "{third}".',
    )


def shown(text: str) -> str:
    """The phrase as a message may show it: on one line, printable, and not longer than a line."""
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"
