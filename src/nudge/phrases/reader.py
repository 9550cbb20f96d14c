"""A cursor over the tokens of a phrase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TypeVar

from nudge.phrases.refusal import Unread
from nudge.phrases.tokens import END, VOCABULARY, Kind, Token

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
        """Move past these words if they come in this order."""
        if any(self.word(ahead) != word for ahead, word in enumerate(words)):
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
        comma = self.take_mark(",", "&")
        return self.take("and") or comma

    def unread(self) -> Unread:
        """The error for the place where the phrase stops making sense."""
        if self.furthest >= len(self.tokens):
            last = self.tokens[-1].text
            return Unread(last, f'something is missing after "{last}"')
        token = self.tokens[self.furthest]
        if token.kind is not Kind.WORD or token.text in VOCABULARY:
            return Unread(token.text, f'"{token.text}" does not fit there')
        meant = get_close_matches(token.text, sorted(VOCABULARY), n=1, cutoff=0.75) if len(token.text) > 3 else []
        hint = f' (did you mean "{meant[0]}"?)' if meant else ""
        return Unread(token.text, f'"{token.text}" is not a word I know{hint}')
