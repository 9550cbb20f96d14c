"""The small Markdown that models and templates write, as plain text with entities.

Telegram takes formatting as entities beside the text, so nothing has to be escaped and no text can turn into markup.
It reads fenced code, `code`, **bold**, *italic* and _italic_, ~~strike~~, [links](https://…) and # headings (as bold).
Everything else, and every marker without its partner, stays as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Any


class Style(StrEnum):
    """The entity types of the Bot API that are used."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strikethrough"
    CODE = "code"
    PRE = "pre"
    LINK = "text_link"


_LITERAL = frozenset({Style.CODE, Style.PRE})


@dataclass(frozen=True, slots=True)
class Entity:
    """A style on `text[start:end]`. `value` is the URL of a link or the language of a code block."""

    style: Style
    start: int
    end: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class RichText:
    """A text and the styles on it. Entities are nested or apart, and code shares its characters with none.

    >>> parse_markdown("**Bed** by `01:00`")
    RichText(text='Bed by 01:00', entities=(Entity(style=<Style.BOLD: 'bold'>, start=0, end=3, value=''), \
Entity(style=<Style.CODE: 'code'>, start=7, end=12, value='')))
    """

    text: str
    entities: tuple[Entity, ...] = ()

    def part(self, start: int, end: int) -> RichText:
        """That stretch of the text; an entity that crosses an edge continues inside it."""
        kept = tuple(
            replace(entity, start=max(entity.start, start) - start, end=min(entity.end, end) - start)
            for entity in self.entities
            if entity.start < end and entity.end > start
        )
        return RichText(self.text[start:end], kept)

    def after(self, words: str) -> RichText:
        """The same with plain words before it."""
        shifted = (replace(e, start=e.start + len(words), end=e.end + len(words)) for e in self.entities)
        return RichText(words + self.text, tuple(shifted))

    def payload(self) -> dict[str, Any]:
        """`text` and `entities` as sendMessage takes them: offsets in UTF-16 code units."""
        before = utf16_before(self.text)
        entities = [
            {
                "type": entity.style.value,
                "offset": before[entity.start],
                "length": before[entity.end] - before[entity.start],
                **({"url": entity.value} if entity.style is Style.LINK else {}),
                **({"language": entity.value} if entity.style is Style.PRE and entity.value else {}),
            }
            for entity in self.entities
        ]
        return {"text": self.text, **({"entities": entities} if entities else {})}


def utf16_before(text: str) -> list[int]:
    """How many UTF-16 code units come before each character, followed by the whole length."""
    if text.isascii():
        return list(range(len(text) + 1))
    return list(accumulate((2 if ord(character) > 0xFFFF else 1 for character in text), initial=0))


_FENCE = re.compile(r"^ {0,3}```[ \t]*([\w+#.-]*)[ \t]*$")
_FENCE_END = re.compile(r"^ {0,3}```[ \t]*$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(((?:https?://|tg://|mailto:)[^\s()<>]+)\)")
_ESCAPE = re.compile(r"\\([\\`*_~\[\]])")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BARE_URL = re.compile(r"https?://[^\s*<>()\[\]`]+")
_MARKERS = (("**", Style.BOLD), ("__", Style.BOLD), ("~~", Style.STRIKE), ("*", Style.ITALIC), ("_", Style.ITALIC))


def parse_markdown(source: str) -> RichText:
    """The text that a person sees and the styles on it."""
    builder = _Builder()
    lines = source.split("\n")
    index = 0
    while index < len(lines):
        if index:
            builder.write("\n")
        fence = _FENCE.match(lines[index])
        if fence:
            end = next((at for at in range(index + 1, len(lines)) if _FENCE_END.match(lines[at])), len(lines))
            builder.styled(Style.PRE, "\n".join(lines[index + 1 : end]), fence.group(1))
            index = end + 1
            continue
        heading = _HEADING.match(lines[index])
        if heading:
            start = builder.length
            _inline(builder, heading.group(1), frozenset({Style.BOLD}))
            builder.mark(Style.BOLD, start)
            index += 1
            continue
        end = index + 1
        while end < len(lines) and not _FENCE.match(lines[end]) and not _HEADING.match(lines[end]):
            end += 1
        _inline(builder, "\n".join(lines[index:end]), frozenset())
        index = end
    return builder.done()


class _Builder:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._entities: list[Entity] = []
        self.length = 0

    def write(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)

    def mark(self, style: Style, start: int, value: str = "") -> None:
        if self.length > start:
            self._entities.append(Entity(style, start, self.length, value))

    def styled(self, style: Style, text: str, value: str = "") -> None:
        start = self.length
        self.write(text)
        self.mark(style, start, value)

    def done(self) -> RichText:
        """Styles are cut around code: Telegram allows no other style on it."""
        code = sorted((entity for entity in self._entities if entity.style in _LITERAL), key=lambda e: e.start)
        entities = list(code)
        for entity in self._entities:
            if entity.style not in _LITERAL:
                entities.extend(_around(entity, code))
        entities.sort(key=lambda entity: (entity.start, -entity.end))
        return RichText("".join(self._pieces), tuple(entities))


def _around(entity: Entity, holes: list[Entity]) -> list[Entity]:
    pieces, start = [], entity.start
    for index in range(bisect_right(holes, start, key=lambda hole: hole.end), len(holes)):
        hole = holes[index]
        if hole.start >= entity.end:
            break
        if hole.start > start:
            pieces.append(replace(entity, start=start, end=hole.start))
        start = hole.end
    if start < entity.end:
        pieces.append(replace(entity, start=start))
    return pieces


def _inline(builder: _Builder, text: str, active: frozenset[Style]) -> None:
    """Read the markers of one stretch. A style does not open inside itself, which bounds the depth."""
    literal = _literal_stretches(text)
    hopeless: dict[str, int] = {}
    position = plain = 0

    def flush(end: int) -> None:
        if end > plain:
            builder.write(text[plain:end])

    while position < len(text):
        character = text[position]
        code = literal.get(position)
        if code is not None:
            flush(position)
            end, words = code
            if words is None:
                builder.write(text[position:end])
            else:
                builder.styled(Style.CODE, words)
            position = plain = end
            continue
        escape = _ESCAPE.match(text, position) if character == "\\" else None
        if escape:
            flush(position)
            builder.write(escape.group(1))
            position = plain = escape.end()
            continue
        link = _LINK.match(text, position) if character == "[" and Style.LINK not in active else None
        if link:
            flush(position)
            start = builder.length
            _inline(builder, link.group(1), active | {Style.LINK})
            builder.mark(Style.LINK, start, link.group(2))
            position = plain = link.end()
            continue
        opened = _opened(text, position, active, hopeless, literal) if character in "*_~" else None
        if opened:
            marker, style, closer = opened
            flush(position)
            start = builder.length
            _inline(builder, text[position + len(marker) : closer], active | {style})
            builder.mark(style, start)
            position = plain = closer + len(marker)
            continue
        position += 1
    flush(len(text))


_Literal = dict[int, tuple[int, str | None]]


def _literal_stretches(text: str) -> _Literal:
    """Where code spans and bare URLs begin: their end, and the words inside a code span."""
    found: _Literal = {}
    taken = 0
    spans = sorted([*_CODE.finditer(text), *_BARE_URL.finditer(text)], key=lambda match: match.start())
    for match in spans:
        escaped = match.start() > 0 and text[match.start() - 1] == "\\"
        if match.start() < taken or escaped or text[max(0, match.start() - 2) : match.start()] == "](":
            continue
        found[match.start()] = (match.end(), match.group(2) if match.re is _CODE else None)
        taken = match.end()
    return found


def _opened(
    text: str, position: int, active: frozenset[Style], hopeless: dict[str, int], literal: _Literal
) -> tuple[str, Style, int] | None:
    """The marker that opens here and where its partner is, if it has one in this paragraph. `hopeless` remembers how
    far each marker was searched without success, so that many lone ones cost no more than one."""
    for marker, style in _MARKERS:
        inner = position + len(marker)
        if not text.startswith(marker, position) or style in active or position < hopeless.get(marker, 0):
            continue
        if inner >= len(text) or text[inner].isspace():
            continue
        single = len(marker) == 1
        if (single or marker == "__") and position and (text[position - 1].isalnum() or text[position - 1] == marker):
            continue
        paragraph_end = text.find("\n\n", inner)
        end = len(text) if paragraph_end < 0 else paragraph_end
        closer = _closer(text, inner, end, marker, literal)
        if closer is None:
            hopeless[marker] = end
        else:
            return marker, style, closer
    return None


def _closer(text: str, start: int, end: int, marker: str, literal: _Literal) -> int | None:
    position = start
    while position < end:
        if position in literal:
            position = literal[position][0]
            continue
        if text.startswith(marker, position) and position > start and not text[position - 1].isspace():
            after = text[position + len(marker) : position + len(marker) + 1]
            intraword = (len(marker) == 1 or marker == "__") and after.isalnum()
            doubled = len(marker) == 1 and marker in (after, text[position - 1])
            if not intraword and not doubled:
                return position
        position += 1
    return None
