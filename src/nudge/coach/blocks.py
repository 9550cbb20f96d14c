"""Where the blocks of a Markdown text begin and end, by the rules of CommonMark.

A person's document is edited by splicing lines, so the one thing that must be right is which line is what: a `## Today`
inside a code fence, an HTML comment or a list item is not a section. This reads block structure only (no emphasis, no
links) and never changes a character. Answers are given for the top level of the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from nudge.coach.html import ANY_TAG, HTML
from nudge.coach.references import lines_of_definitions

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_ATX = re.compile(r"(#{1,6})(?: +|$)")
_ATX_CLOSING = re.compile(r"(?:^|(?<= ))#+$")
_SETEXT = re.compile(r"(=+|-+) *$")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_MARKER = re.compile(r"(?:[*+-]|(\d{1,9})[.)])(?= |$)")
_DEEPEST = 100
"""So many lists and quotes inside each other; what a hostile line begins beyond them is text."""


class Kind(Enum):
    """What stands at the top level of a document."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "list item"
    QUOTE = "quotation"
    FENCE = "fenced code"
    CODE = "indented code"
    HTML = "HTML"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start` to `end` (exclusive, trailing blank lines not counted). `open` is true for code
    or HTML that only the end of the text ended: whatever is appended becomes part of it."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""
    open: bool = False


def split_lines(text: str) -> tuple[str, ...]:
    """Lines with their own ends (LF, CRLF or CR). Unlike `splitlines`, a form feed does not end a line."""
    return tuple(_LINES.findall(text))


def find_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of the document's top level, in order. A byte order mark at the start is not part of the text.

    >>> [(b.kind.value, b.title) for b in find_blocks("# Real\\n```\\n# Decoy\\n```\\n")]
    [('heading', 'Real'), ('fenced code', '')]
    """
    reader = _Reader()
    for number, line in enumerate(split_lines(text)):
        if number == 0:
            line = line.removeprefix("\ufeff")
        reader.read(number, line.rstrip("\r\n").expandtabs(4))
    return reader.result()


@dataclass(slots=True)
class _Found:
    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""


@dataclass(slots=True)
class _Container:
    width: int  # columns a line must be indented to belong to a list item; 0 is a quotation
    empty: bool = True


@dataclass(slots=True)
class _Leaf:
    kind: Kind
    lines: list[str] = field(default_factory=list)
    fence: str = ""
    ends: re.Pattern[str] | None = None


class _Reader:
    """One pass over the lines, holding the open containers (quotations, list items) and the one open leaf."""

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._containers: list[_Container] = []
        self._leaf: _Leaf | None = None

    def result(self) -> tuple[Block, ...]:
        leaf = self._leaf
        endless = leaf is not None and not self._containers and (leaf.kind is Kind.FENCE or leaf.ends is not None)
        last = len(self._found) - 1
        return tuple(
            Block(found.kind, found.start, found.end, found.level, found.title, open=endless and number == last)
            for number, found in enumerate(self._found)
        )

    def read(self, number: int, line: str) -> None:
        position, matched = self._match_containers(line)
        everything = matched == len(self._containers)
        if everything and self._continue_code(number, line, position):
            return
        left = self._start_blocks(number, line, position, matched)
        if left is None:
            return
        position, opened = left
        paragraph = self._leaf if self._leaf is not None and self._leaf.kind is Kind.PARAGRAPH else None
        if position + _indent(line, position) >= len(line):
            if not opened:
                self._close_to(matched)
        elif paragraph is not None:  # its next line, or a lazy one that the containers do not claim
            paragraph.lines.append(line[position:].lstrip(" "))
            self._touch(number)
        else:
            self._close_to(len(self._containers) if opened else matched)
            self._open_leaf(_Leaf(Kind.PARAGRAPH, [line[position:].lstrip(" ")]), number)

    def _match_containers(self, line: str) -> tuple[int, int]:
        position = matched = 0
        for container in self._containers:
            indent = _indent(line, position)
            blank = position + indent >= len(line)
            if not container.width:
                if blank or indent > 3 or line[position + indent] != ">":
                    break
                position = _after_quote(line, position + indent)
            elif blank:
                if container.empty:
                    break
                position += indent
            elif indent >= container.width:
                position += container.width
            else:
                break
            matched += 1
        return position, matched

    def _continue_code(self, number: int, line: str, position: int) -> bool:
        """True where the line belongs to open code or HTML and needs no further look."""
        leaf = self._leaf
        if leaf is None or leaf.kind is Kind.PARAGRAPH:
            return False
        indent = _indent(line, position)
        blank = position + indent >= len(line)
        if leaf.kind is Kind.CODE:
            inside = blank or indent >= 4
        else:
            inside = leaf.kind is Kind.FENCE or leaf.ends is not None or not blank
        if inside and not blank:
            self._touch(number)
        if not inside or self._ends(leaf, line, position, indent):
            self._leaf = None
        return inside

    @staticmethod
    def _ends(leaf: _Leaf, line: str, position: int, indent: int) -> bool:
        if leaf.kind is Kind.FENCE:
            rest = line[position + indent :].rstrip(" ")
            return indent < 4 and len(rest) >= len(leaf.fence) and not rest.strip(leaf.fence[0])
        return leaf.ends is not None and leaf.ends.search(line, position) is not None

    def _start_blocks(self, number: int, line: str, position: int, matched: int) -> tuple[int, bool] | None:
        """Opens what starts on this line. None where the line is used up; else the position that is left to place, and
        whether anything was opened (then nothing of this line can be lazy)."""
        opened = False
        while True:
            indent = _indent(line, position)
            here = position + indent
            keep = len(self._containers) if opened else matched
            if here >= len(line) or keep >= _DEEPEST:
                return position, opened
            in_paragraph = self._leaf is not None and self._leaf.kind is Kind.PARAGRAPH
            if indent > 3:
                if in_paragraph:
                    return position, opened
                self._close_to(keep)
                self._open_leaf(_Leaf(Kind.CODE), number)
                return None
            rest = line[here:]
            interrupts = in_paragraph and keep == len(self._containers)
            if rest[0] == ">":
                self._close_to(keep)
                self._open_container(_Container(0), Kind.QUOTE, number)
                position, opened = _after_quote(line, here), True
            elif self._start_leaf(number, rest, keep, interrupts, in_paragraph):
                return None
            else:
                marker = _marker(rest, interrupts)
                if marker is None:
                    return position, opened
                spaces = _indent(rest, marker)
                padding = 1 if marker + spaces >= len(rest) or spaces > 4 else spaces
                self._close_to(keep)
                self._open_container(_Container(indent + marker + padding), Kind.ITEM, number)
                position, opened = min(here + marker + padding, len(line)), True

    def _start_leaf(self, number: int, rest: str, keep: int, interrupts: bool, in_paragraph: bool) -> bool:
        atx = _ATX.match(rest)
        if atx:
            self._close_to(keep)
            self._add(Kind.HEADING, number, len(atx[1]), _ATX_CLOSING.sub("", rest[atx.end() :].strip(" ")).strip(" "))
            return True
        fence = _FENCE.match(rest)
        if fence:
            self._close_to(keep)
            self._open_leaf(_Leaf(Kind.FENCE, fence=fence[1] or fence[3]), number)
            return True
        if rest[0] == "<":
            for kind, (starts, ends) in enumerate(HTML):
                if starts.match(rest) and not (kind == ANY_TAG and in_paragraph):
                    self._close_to(keep)
                    self._open_leaf(_Leaf(Kind.HTML, ends=ends), number)
                    if ends is not None and ends.search(rest):
                        self._leaf = None
                    return True
        if interrupts and _SETEXT.match(rest) and self._turn_into_heading(number, 1 if rest[0] == "=" else 2):
            return True
        bare = rest.replace(" ", "")
        if len(bare) >= 3 and bare[0] in "*-_" and not bare.strip(bare[0]):
            self._close_to(keep)
            self._add(Kind.RULE, number)
            return True
        return False

    def _turn_into_heading(self, number: int, level: int) -> bool:
        leaf = self._leaf
        assert leaf is not None
        definitions = 0
        if leaf.lines[0].startswith("["):
            definitions = lines_of_definitions("\n".join(leaf.lines))
        if definitions >= len(leaf.lines):
            return False
        self._leaf = None
        if not self._containers:
            start = self._found.pop().start
            if definitions:
                self._found.append(_Found(Kind.PARAGRAPH, start, start + definitions))
            title = " ".join(line.strip(" ") for line in leaf.lines[definitions:])
            self._found.append(_Found(Kind.HEADING, start + definitions, number + 1, level, title))
        else:
            self._touch(number)
        return True

    def _close_to(self, depth: int) -> None:
        del self._containers[depth:]
        self._leaf = None

    def _open_container(self, container: _Container, kind: Kind, number: int) -> None:
        self._add(kind, number)
        self._containers.append(container)

    def _open_leaf(self, leaf: _Leaf, number: int) -> None:
        self._add(leaf.kind, number)
        self._leaf = leaf

    def _add(self, kind: Kind, number: int, level: int = 0, title: str = "") -> None:
        """Notes a block: by itself at the top level, else as a further line of the container that holds it."""
        if self._containers:
            self._containers[-1].empty = False
            self._touch(number)
        else:
            self._found.append(_Found(kind, number, number + 1, level, title))

    def _touch(self, number: int) -> None:
        self._found[-1].end = number + 1


def _indent(line: str, position: int) -> int:
    end = position
    while end < len(line) and line[end] == " ":
        end += 1
    return end - position


def _after_quote(line: str, position: int) -> int:
    return position + (2 if line[position + 1 : position + 2] == " " else 1)


def _marker(rest: str, interrupts: bool) -> int | None:
    """The length of the list marker at the start. To interrupt a paragraph it needs text after it, and the number 1."""
    found = _MARKER.match(rest)
    if found is None:
        return None
    if interrupts and (not rest[found.end() :].strip(" ") or (found[1] is not None and int(found[1]) != 1)):
        return None
    return found.end()
