"""Repetition in the model's own words, found while they stream in."""

from __future__ import annotations

from collections import deque
from typing import Any

from nudge.progress.loops.stream import Part, StreamReader

_WORDS = 24
_SENTENCES = 8


class Periods:
    """For each period up to a limit, how many of the last units equal the one a period before them.

    That is all there is to know about repetition at the end of a sequence, and it takes one comparison per period for
    each new unit, however long the sequence gets.
    """

    __slots__ = ("_matches", "_units")

    def __init__(self, longest: int) -> None:
        self._units: deque[tuple[int, int]] = deque(maxlen=longest)  # checksum and letters, the newest first
        self._matches = [0] * longest

    def clear(self) -> None:
        self._units.clear()
        self._matches = [0] * len(self._matches)

    def add(self, checksum: int, letters: int, repeats: int, least_letters: int) -> tuple[int, int] | None:
        """The repetitions and the period, the shortest first, once the end repeats often enough and says something."""
        found = None
        matches = self._matches
        for index, (earlier, _) in enumerate(self._units):
            if earlier != checksum:
                matches[index] = 0
                continue
            matches[index] += 1
            period = index + 1
            rounds = matches[index] // period + 1
            if found is None and rounds >= repeats and self._letters(letters, period) * rounds >= least_letters:
                found = rounds, period
        self._units.appendleft((checksum, letters))
        return found

    def _letters(self, newest: int, period: int) -> int:
        return newest + sum(letters for index, (_, letters) in enumerate(self._units) if index < period - 1)

    def to_json(self) -> list[Any]:
        return [[list(unit) for unit in self._units], self._matches]

    @classmethod
    def from_json(cls, data: list[Any], longest: int) -> Periods:
        periods = cls(longest)
        units, matches = data
        periods._units.extend((unit[0], unit[1]) for unit in units)
        periods._matches[: len(matches)] = matches
        return periods


class OutputWatch:
    """Reads one answer of the model for chunks that come again and again, one right after the other.

    A chunk is anything from one word to a few sentences. Words are compared inside prose only; sentences are compared
    together with the blocks of code, lists and tables between them.
    """

    __slots__ = ("_reader", "_sentences", "_used", "_words")

    def __init__(self) -> None:
        self._reader = StreamReader()
        self._words = Periods(_WORDS)
        self._sentences = Periods(_SENTENCES)
        self._used = False

    def clear(self) -> None:
        if self._used:
            self.__init__()  # type: ignore[misc]

    def add(self, text: str, repeats: int, least_letters: int) -> tuple[int, int] | None:
        """The repetitions and the period of the loop these characters go on with, or None."""
        self._used = True
        found = None
        for part, checksum, letters in self._reader.feed(text):
            match part:
                case Part.WORD:
                    again = self._words.add(checksum, letters, repeats, least_letters)
                case Part.SENTENCE:
                    again = self._sentences.add(checksum, letters, repeats, least_letters)
                case Part.BLOCK:
                    self._words.clear()
                    again = self._sentences.add(checksum, letters, repeats, least_letters)
            found = again or found
        return found

    def to_json(self) -> list[Any] | None:
        return [self._reader.to_json(), self._words.to_json(), self._sentences.to_json()] if self._used else None

    @classmethod
    def from_json(cls, data: list[Any] | None) -> OutputWatch:
        watch = cls()
        if data is not None:
            reader, words, sentences = data
            watch._reader = StreamReader.from_json(reader)
            watch._words = Periods.from_json(words, _WORDS)
            watch._sentences = Periods.from_json(sentences, _SENTENCES)
            watch._used = True
        return watch
