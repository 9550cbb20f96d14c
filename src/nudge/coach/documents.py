"""A person's Markdown document: its blocks, its sections and their list items. Reading it changes no byte.

A document is edited by splicing lines, so the one thing that must be right is which line is what: a `## Today` inside a
code fence, an HTML comment or a list item is not a section. markdown-it-py says where the blocks of the top level begin
and end; emphasis and links are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from nudge.errors import UsageError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

GOALS, MEMORY, AGENTS, HEARTBEAT = "GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md"
NAMES = (GOALS, MEMORY, AGENTS, HEARTBEAT)

LONGEST = 128 * 1024
MOST_LINES = 4_000
"""A longer text is refused before it is parsed: parsing it would block the daemon."""

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_DEEPEST = 50
"""How deep lists and quotations may be nested. Anything deeper counts as part of the outermost one."""


@dataclass(frozen=True, slots=True)
class DocumentTexts:
    """The texts of the four documents, in the order of `NAMES`; empty where there is none."""

    goals: str = ""
    memory: str = ""
    agents: str = ""
    checklist: str = ""


class Kind(Enum):
    """What a block at the top level of a document is. The values are the names of markdown-it-py's tokens."""

    HEADING = "heading_open"
    PARAGRAPH = "paragraph_open"
    ITEM = "list_item_open"
    QUOTE = "blockquote_open"
    FENCE = "fence"
    CODE = "code_block"
    HTML = "html_block"
    RULE = "hr"
    DEFINITION = "definition"
    """A link reference definition: `[mary]: https://example.org`."""


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start` to `end` (exclusive), without trailing blank lines."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""


def split_lines(text: str) -> tuple[str, ...]:
    """Lines with their own ends (LF, CRLF or CR). Unlike `splitlines`, a form feed does not end a line."""
    return tuple(_LINES.findall(text))


def too_long(text: str) -> str | None:
    """Why this text is too long for a document, or None if it is not."""
    if len(text) > LONGEST:
        return f"it has {len(text):,} characters, and {LONGEST:,} is the limit"
    lines = text.count("\n") + text.count("\r") - text.count("\r\n")
    if lines > MOST_LINES:
        return f"it has {lines:,} lines, and {MOST_LINES:,} is the limit"
    return None


def find_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of the document's top level, in order. A byte order mark at the start is not part of the text.

    >>> [(block.kind.name, block.title) for block in find_blocks("# Real\\n```\\n# Decoy\\n```\\n")]
    [('HEADING', 'Real'), ('FENCE', '')]
    """
    reason = too_long(text)
    if reason is not None:
        raise UsageError(
            f"This text is too long for a document: {reason}.",
            next_step="Move what you no longer need to another file.",
        )
    text = text.removeprefix("\ufeff")
    lines = split_lines(text)
    tokens = _parser().parse(text)
    found = []
    for number, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.level != (kind is Kind.ITEM):  # items are inside their list
            continue
        start, end = token.map
        while end > start + 1 and not lines[end - 1].strip(" \t\r\n"):
            end -= 1
        heading = kind is Kind.HEADING
        found.append(
            Block(kind, start, end, int(token.tag[1]) if heading else 0, _title(tokens[number + 1]) if heading else "")
        )
    return tuple(found)


def _title(inline: Token) -> str:
    return " ".join(line.strip() for line in inline.content.split("\n"))


@cache
def _parser() -> MarkdownIt:
    """Loaded when the first document is parsed: most commands parse none."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"inline_definitions": True, "maxNesting": _DEEPEST})
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


_ITEM = re.compile(
    r"(?P<indent> {0,3})(?P<marker>[*+-]|(?P<number>\d{1,9})(?P<mark>[.)]))(?P<gap>[ \t]+|$)(?P<text>.*)"
)
_NESTED = re.compile(r"\s*(?:[*+-]|\d{1,9}[.)])(?:\s|$)")
_REMARK = re.compile(r" ?\([^()]*\)$")
_KEPT = 32
"""How many parsed texts are kept: every heartbeat reads the same four documents."""

_BRACKETS = re.compile(r"\[[^\[\]]*\](?![(\[:])")
_UNDATED = re.compile(r" — Last updated: \[date\]")
_GAPS = re.compile(r"(?:\r?\n){3,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is under it. `body` is the first line after the heading, `own_end` the line of its first
    subheading (or the section's end), `end` the line where the next heading of its rank begins."""

    title: str
    level: int
    start: int
    body: int
    own_end: int
    end: int


@dataclass(frozen=True, slots=True)
class Item:
    """A list item, from line `start` to `end`. `text` is its first paragraph on one line, without comments."""

    text: str
    start: int
    end: int
    indent: str
    marker: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. `encode` returns the exact bytes that were decoded, even those that are not UTF-8.

    >>> document = Document.parse("## Today\\n1. Write\\n")
    >>> [item.text for item in document.items("today")]
    ['Write']
    """

    text: str
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]

    @classmethod
    def parse(cls, text: str) -> Document:
        return _parsed(text)

    @classmethod
    def decode(cls, data: bytes) -> Document:
        return cls.parse(data.decode("utf-8", "surrogateescape"))

    def encode(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    @property
    def digest(self) -> str:
        """Names this version of the text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def newline(self) -> str:
        """The line end of the first line, or LF."""
        first = self.lines[0] if self.lines else ""
        return first[len(first.rstrip("\r\n")) :] or "\n"

    def named(self, name: str) -> tuple[Section, ...]:
        """Every section with that name. Case, a remark in brackets at the end and a colon do not count."""
        wanted = section_key(name)
        return tuple(section for section in self.sections if section_key(section.title) == wanted)

    def section(self, name: str) -> Section | None:
        """The first section with that name."""
        return next(iter(self.named(name)), None)

    def items(self, name: str) -> tuple[Item, ...]:
        section = self.section(name)
        return self.items_of(section) if section else ()

    def items_of(self, section: Section) -> tuple[Item, ...]:
        """The list items of the section's own text, not those of its subsections."""
        return tuple(self._item(block) for block in self.own_blocks(section) if block.kind is Kind.ITEM)

    def own_blocks(self, section: Section) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if section.body <= block.start < section.own_end)

    @property
    def outline(self) -> list[tuple[int, str]]:
        """The headings, in order. An edit must not change them."""
        return [(section.level, section.title) for section in self.sections]

    def prose(self, name: str) -> str:
        """The paragraphs of a section on one line, without comments."""
        section = self.section(name)
        if section is None:
            return ""
        words = [
            self.slice(block.start, block.end) for block in self.own_blocks(section) if block.kind is Kind.PARAGRAPH
        ]
        return readable(" ".join(_uncommented(" ".join(words)).split()))

    def slice(self, start: int, end: int) -> str:
        return "".join(self.lines[start:end])

    def _item(self, block: Block) -> Item:
        first = self.lines[block.start].removeprefix("\ufeff").rstrip("\r\n").expandtabs(4)
        match = _ITEM.match(first)
        assert match is not None, first
        words = [match["text"]]
        for line in self.lines[block.start + 1 : block.end]:
            if not line.strip() or _NESTED.match(line):
                break
            words.append(line)
        text = readable(" ".join(_uncommented(" ".join(words)).split()))
        return Item(text, block.start, block.end, match["indent"], match["marker"])


def _sections(blocks: Sequence[Block], lines: int) -> tuple[Section, ...]:
    headings = [block for block in blocks if block.kind is Kind.HEADING]
    sections = []
    for number, heading in enumerate(headings):
        later = headings[number + 1 :]
        own_end = later[0].start if later else lines
        end = next((other.start for other in later if other.level <= heading.level), lines)
        sections.append(Section(heading.title, heading.level, heading.start, heading.end, own_end, end))
    return tuple(sections)


@lru_cache(maxsize=_KEPT)
def _parsed(text: str) -> Document:
    lines = split_lines(text)
    blocks = find_blocks(text)
    return Document(text, lines, blocks, _sections(blocks, len(lines)))


def section_key(title: str) -> str:
    """What two spellings of a section's name have in common."""
    return " ".join(_REMARK.sub("", " ".join(title.split())).rstrip(":").casefold().split())


def one_line(text: str) -> str:
    """The text as one line: control characters and line ends become spaces."""
    return " ".join(_CONTROL.sub(" ", text).split())


@lru_cache(maxsize=_KEPT)
def without_comments(text: str) -> str:
    """The text without HTML comments, except those inside code. A comment that is never closed stays, because it may
    hide the person's own words. A text that is too long to parse stays as it is."""
    if too_long(text):
        return readable(text)
    document = Document.parse(text)
    parts: list[str] = []
    done = 0
    for block in document.blocks:
        parts.append(document.slice(done, block.start))
        whole = document.slice(block.start, block.end)
        shown = whole if block.kind in (Kind.FENCE, Kind.CODE) else _uncommented(whole)
        done = block.end
        if shown.strip() or shown == whole:
            parts.append(shown)
        elif not document.slice(done, done + 1).strip():
            done += 1
    parts.append(document.slice(done, len(document.lines)))
    return readable("".join(parts).strip("\r\n"))


@lru_cache(maxsize=_KEPT)
def filled_in(text: str, leave_out: tuple[str, ...] = ()) -> str:
    """The text as a model reads it: without comments, the template's blanks, headings with nothing under them, and the
    sections that are named. A text that is too long to parse stays as it is.

    >>> filled_in("# Goals — Last updated: [date]\\n\\n## Today\\n1. Write\\n2. [Second]\\n\\n## People\\n- [Name]\\n")
    '# Goals\\n\\n## Today\\n1. Write'
    """
    shown = without_comments(text)
    if too_long(shown):
        return shown
    document = Document.parse(shown)
    left_out = {section_key(name) for name in leave_out}
    gone: set[int] = set()
    for section in document.sections:
        if section_key(section.title) in left_out:
            gone.update(range(section.start, section.end))
    for block in document.blocks:
        words = document._item(block).text if block.kind is Kind.ITEM else document.slice(block.start, block.end)
        if block.kind in (Kind.ITEM, Kind.PARAGRAPH) and is_placeholder(words):
            gone.update(range(block.start, block.end))
    kept = "".join("" if n in gone else _UNDATED.sub("", line) for n, line in enumerate(document.lines))
    document = Document.parse(kept)
    empty = [one for one in document.sections if not document.slice(one.body, one.end).strip()]
    gone = {number for one in empty for number in range(one.start, one.end)}
    kept = "".join(line for number, line in enumerate(document.lines) if number not in gone)
    return _GAPS.sub("\n\n", kept).strip("\r\n")


def _uncommented(text: str) -> str:
    """Searches instead of using a pattern, which would scan to the end for every comment that is never closed."""
    parts = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[done:start])
        done = end + 3
    return "".join([*parts, text[done:]])


def is_placeholder(text: str) -> bool:
    """Whether the template put this text where the person's own words will stand: nothing but bracketed words and
    punctuation. "[Name] — [context]" is a placeholder; "[x] Call Mum" and "[draft](https://example.org)" are not.

    >>> is_placeholder("[Single most important task]"), is_placeholder("[ ] Call Mum")
    (True, False)
    """
    return "[" in text and not any(letter.isalnum() for letter in _BRACKETS.sub("", text))


def readable(text: str) -> str:
    """The text without bytes that are not UTF-8: a file may have them, a message or a prompt may not."""
    return text.encode("utf-8", "replace").decode()
