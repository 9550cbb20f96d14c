"""The model's own words as they stream in: prose on one side, code, lists and tables on the other.

Repetition is normal in code, lists and tables, so they are not read for it. They are not skipped either: a whole block
counts as one unit, so that sections which begin alike and go on with different code are different sections, and a
paragraph that comes again with its list is the same paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any
from zlib import crc32

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
