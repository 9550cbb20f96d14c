"""Where the blocks of a Markdown text begin and end, as markdown-it-py reads them.

A person's document is edited by splicing lines, so the one thing that must be right is which line is what: a `## Today`
inside a code fence, an HTML comment or a list item is not a section. Only block structure is read (no emphasis, no
links), for the top level of the document, and no character is changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from nudge.errors import UsageError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 128 * 1024
MOST_LINES = 4_000
"""A longer text is refused before it is parsed: parsing it would block the daemon."""

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_DEEPEST = 50
"""How deep lists and quotations may be nested. Anything deeper counts as part of the outermost one."""


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
