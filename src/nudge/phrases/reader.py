"""A cursor over the tokens of a phrase, and how a phrase is refused: with its own words, the reason, and a way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final, TypeVar

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.phrases.tokens import END, VOCABULARY, Kind, Token

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


class Question(Refused):
    """The words are understood but for one thing, which a single word settles: "5 am or 5 pm?".

    `options` are the phrases to choose from; without them any phrase of the right kind is an answer.
    """

    def __init__(self, asks: str, *options: str, examples: Examples = TIME_EXAMPLES) -> None:
        super().__init__(asks, examples)
        self.options = options


def either(one: str, other: str) -> Question:
    """ "5 am or 5 pm?" """
    return Question(f"{one} or {other}?", one, other)


def half_day(said: str) -> Question:
    """Which half of the day a time is in that was said without it."""
    return either(f"{said} am", f"{said} pm")


class Unread(Exception):  # noqa: N818 - a signal inside this package, never seen outside it
    """The grammar has no place for `word`."""

    def __init__(self, word: str, why: str) -> None:
        super().__init__(why)
        self.word = word
        self.why = why


def unclear(text: str, what: str, question: Question, examples: Examples | None = None) -> UnclearPhraseError:
    """The error for a phrase that one word makes clear; where there are two ways to say it, it names both."""
    first, second, third = examples or question.examples
    ways = " or ".join(f'"{option}"' for option in question.options)
    return UnclearPhraseError(
        f"I can't read {shown(text)} as {what}: {question.why}",
        next_step=f"Say {ways}." if ways else f'Try "{first}", "{second}" or "{third}".',
        question=question.why,
        options=question.options,
    )


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


T = TypeVar("T")


class Reader:
    """A cursor that remembers how far anybody got, which is where a misunderstood phrase goes wrong.

    `free` means that the words come out of a free sentence, where "chapter 5" and "20 minutes" belong to the message:
    there a number is only a time if it says so.
    """

    __slots__ = ("at", "free", "furthest", "tokens")

    def __init__(self, tokens: tuple[Token, ...], *, free: bool = False) -> None:
        self.tokens = tokens
        self.free = free
        self.at = 0
        self.furthest = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def peek(self, ahead: int = 0) -> Token:
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else END

    def word(self, ahead: int = 0) -> str:
        """The next word, or "" where there is none."""
        token = self.peek(ahead)
        return token.text if token.kind is Kind.WORD else ""

    def advance(self, count: int = 1) -> None:
        self.at += count
        self.furthest = max(self.furthest, self.at)

    def take(self, *words: str) -> bool:
        """Move past the next word if it is one of these."""
        if self.word() not in words or not self.word():
            return False
        self.advance()
        return True

    def take_row(self, *words: str) -> bool:
        """Move past these words and marks if they come in this order."""
        if self.peek().text != words[0] or any(self.peek(ahead).text != word for ahead, word in enumerate(words)):
            return False
        self.advance(len(words))
        return True

    def take_from(self, table: Mapping[str, T]) -> T | None:
        """Move past the next word if the table knows it, and give what the table says."""
        found = table.get(self.word())
        if found is not None:
            self.advance()
        return found

    def take_kind(self, *kinds: Kind) -> Token | None:
        token = self.peek()
        if token.kind not in kinds:
            return None
        self.advance()
        return token

    def take_mark(self, *marks: str) -> bool:
        if self.peek().kind is not Kind.MARK or self.peek().text not in marks:
            return False
        self.advance()
        return True

    def attempt(self, read: Callable[[Reader], T]) -> T:
        """What `read` understands here; if it understands nothing, the cursor is where it was."""
        start = self.at
        found = read(self)
        if found is None:
            self.at = start
        return found

    def joined_by_and(self) -> bool:
        """Move past what joins the members of a list: a comma, "and", or both."""
        comma = self.take_mark(",", "&", "/")
        return self.take("and") or comma

    def unread(self) -> Unread:
        """The error for the place where the phrase stops making sense."""
        if self.furthest >= len(self.tokens):
            last = self.tokens[-1].text
            return Unread(last, f'something is missing after "{last}"')
        token = self.tokens[self.furthest]
        if token.kind is not Kind.WORD or token.text in VOCABULARY:
            return Unread(token.text, f'"{token.text}" does not fit there')
        if self.free:
            return Unread(token.text, f'"{token.text}" is not a word I know')  # it is a word of the message
        meant = get_close_matches(token.text, sorted(VOCABULARY), n=1, cutoff=0.75) if len(token.text) > 3 else []
        hint = f' (did you mean "{meant[0]}"?)' if meant else ""
        return Unread(token.text, f'"{token.text}" is not a word I know{hint}')
