"""What the agent says: its messages between actions, and its own words while they stream in."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Any
from zlib import crc32

from nudge.progress.loops.outcomes import result_digest, without_clock
from nudge.progress.phases import has_plan

_MOST = 64
_LONGEST = 400

_MEANT = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_FILLER_WORDS = """
a about again also am an and are be by for from going gonna i i'll i'm i've in into is it it's its just let let's me my
next now of on ok okay once onto our please right shall so that that's the then this to up us want we we'll we're will
with would
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_INTENTION = re.compile(
    r"\b(?:I(?:['’]ll| will| shall| need to| should| want to| plan to|['’]m (?:going|about) to| am (?:going|about) to)"
    r"|(?:now|next|first|so),? I\b|let(?:['’]s| me| us)(?! know)|(?:my|the|our) plan is)",
    re.IGNORECASE,
)


class MessageWatch:
    """Counts messages without an action between them: equal ones, and announcements in whatever words.

    Case, spaces, clock readings and random ids do not make a message a different one; numbers do. In a short message
    the words that carry nothing and the order of the others do not count either.
    """

    __slots__ = ("_announced", "_counts")

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._announced = 0

    def clear(self) -> None:
        if self._counts:
            self._counts.clear()
            self._announced = 0

    def add(self, text: str) -> tuple[int, int]:
        """How often this was said, and how often anything was announced, this time included."""
        key = result_digest(_gist(text))
        self._counts[key] += 1
        if len(self._counts) > _MOST:
            del self._counts[next(iter(self._counts))]
        announces = is_announcement(text)
        self._announced += announces
        return self._counts[key], self._announced if announces else 0

    def to_json(self) -> dict[str, Any]:
        return {"counts": dict(self._counts), "announced": self._announced}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MessageWatch:
        watch = cls()
        watch._counts.update(data["counts"])
        watch._announced = int(data["announced"])
        return watch


def is_announcement(text: str) -> bool:
    """Whether a message says what is going to be done: a plan, or a few words such as "I will"."""
    return has_plan(text) or (_INTENTION.search(text) is not None and len(text) <= _LONGEST)


def _gist(text: str) -> str:
    """What a message says, apart from how: of a short one the words that carry something, sorted."""
    plain = " ".join(text.lower().split())
    if len(plain) > _LONGEST:
        return plain
    plain = without_clock(plain)
    words = _MEANT.findall(plain.replace("’", "'"))
    return " ".join(sorted(set(words) - _FILLERS)) or plain


_LONGEST_WORD = 80
_WORD_ENDS = frozenset("，、；：。！？")  # of scripts that do not put spaces between words
_LIST_MARK = re.compile(r"[-*+•‣◦–]|\(?\d{1,4}[.)]|\(?[a-zA-Z][.)]")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


class Part(StrEnum):
    """A word of prose, the end of a sentence of it, or the end of a block of anything else."""

    WORD = "word"
    SENTENCE = "sentence"
    BLOCK = "block"


class Line(StrEnum):
    START = "start"
    PROSE = "prose"
    BLOCK = "block"


class StreamReader:
    """Cuts a stream into parts, whatever the pieces it arrives in. Keeps no more than one unfinished word."""

    __slots__ = ("_block", "_fence", "_indent", "_line", "_rest", "_sentence", "_sentence_letters", "_word")

    def __init__(self) -> None:
        self._word = ""
        self._rest = 0
        self._indent = 0
        self._line = Line.START
        self._fence = ""
        self._block: int | None = None
        self._sentence = 0
        self._sentence_letters = 0

    def feed(self, text: str) -> Iterator[tuple[Part, int, int]]:
        """The parts that these characters complete, each with its checksum and its number of letters."""
        for character in text:
            if character == "\n":
                yield from self._end_of_word()
                yield from self._end_of_line()
            elif character.isspace():
                if self._line is Line.START and not self._word:
                    self._indent += 4 if character == "\t" else 1
                yield from self._end_of_word()
            elif len(self._word) < _LONGEST_WORD:
                self._word += character
            else:
                self._rest = crc32(character.encode("utf-8", "surrogatepass"), self._rest)
            if character in _WORD_ENDS:
                yield from self._end_of_word()

    def _end_of_word(self) -> Iterator[tuple[Part, int, int]]:
        word, self._word = self._word, ""
        rest, self._rest = self._rest, 0
        if not word:
            return
        if self._line is Line.START:
            self._line = self._kind_of_line(word)
            if self._line is Line.PROSE and self._block is not None:
                yield Part.BLOCK, self._block, 0
                self._block = None
        checksum = crc32(word.lower().encode("utf-8", "surrogatepass"), rest)
        if self._line is Line.BLOCK:
            self._block = crc32(checksum.to_bytes(4, "big"), self._block or 0)
            return
        letters = 0 if rest else sum(map(str.isalpha, word))  # what is longer than a word is data
        self._sentence = crc32(checksum.to_bytes(4, "big"), self._sentence)
        self._sentence_letters += letters
        yield Part.WORD, checksum, letters
        if _SENTENCE_END.search(word):
            yield from self._end_of_sentence()

    def _end_of_sentence(self) -> Iterator[tuple[Part, int, int]]:
        if self._sentence:
            yield Part.SENTENCE, self._sentence, self._sentence_letters
        self._sentence = self._sentence_letters = 0

    def _end_of_line(self) -> Iterator[tuple[Part, int, int]]:
        if self._line is Line.PROSE:
            yield from self._end_of_sentence()
        self._line, self._indent = Line.START, 0

    def _kind_of_line(self, word: str) -> Line:
        mark = word[0] * (len(word) - len(word.lstrip(word[0])))
        if self._fence:
            if word == mark and mark.startswith(self._fence):
                self._fence = ""
            return Line.BLOCK
        if mark.startswith(("```", "~~~")):
            if mark not in word[len(mark) :]:
                self._fence = mark
            return Line.BLOCK
        if word[0] in "|>#" or _LIST_MARK.fullmatch(word) or not any(map(str.isalnum, word)):
            return Line.BLOCK
        if self._indent >= 4 or (self._indent >= 2 and self._block is not None):
            return Line.BLOCK
        return Line.PROSE

    def to_json(self) -> list[Any]:
        place = [self._line.value, self._indent, self._fence, self._block]
        return [self._word, self._rest, place, self._sentence, self._sentence_letters]

    @classmethod
    def from_json(cls, data: list[Any]) -> StreamReader:
        reader = cls()
        reader._word, reader._rest, place, reader._sentence, reader._sentence_letters = data
        line, reader._indent, reader._fence, reader._block = place
        reader._line = Line(line)
        return reader


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
