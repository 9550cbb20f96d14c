"""What the Bot API accepts in a message: lengths in UTF-16 code units, entities, HTML, keyboards, commands.

Stricter than the service where it would silently repair: an entity that crosses another or lies inside code is refused
here, so that a formatter's mistake shows in a test.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

MESSAGE_UNITS = 4096
CALLBACK_DATA_BYTES = 64
CALLBACK_ANSWER_UNITS = 200
ENTITY_TYPES = frozenset(
    {
        *("mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"),
        *("bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote"),
        *("code", "pre", "text_link", "text_mention", "custom_emoji"),
    }
)
_LITERAL = frozenset({"code", "pre"})
_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-spoiler": "spoiler",
}
_TAG = re.compile(r"<(/?)([a-zA-Z-]+)((?:\s+[a-zA-Z-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?)*)\s*>")
_HREF = re.compile(r"href=(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")


class BadRequestError(Exception):
    """The service would answer 400 with this description."""


def units(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def read_text(params: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The text of a sendMessage and its entities, or the refusal."""
    text = params.get("text")
    if not isinstance(text, str):
        raise BadRequestError("Bad Request: message text is empty")
    mode = str(params.get("parse_mode") or "").lower()
    if mode == "html":
        text, entities = parse_html(text)
    elif mode:
        raise BadRequestError(f"Bad Request: this fake reads HTML and entities only, not {mode}")
    else:
        entities = check_entities(text, params.get("entities") or [])
    if not text.strip():
        raise BadRequestError("Bad Request: message text is empty")
    if units(text) > MESSAGE_UNITS:
        raise BadRequestError("Bad Request: message is too long")
    return text, entities


def check_entities(text: str, entities: Any) -> list[dict[str, Any]]:
    """The entities as given, if each is known, in bounds, on character borders, and nested or apart."""
    if not isinstance(entities, list):
        raise _unparsable("the list of entities is no list")
    raw = text.encode("utf-16-le", "surrogatepass")
    spans: list[tuple[int, int, str]] = []
    for entity in entities:
        if not isinstance(entity, dict) or entity.get("type") not in ENTITY_TYPES:
            raise _unparsable(f"unknown entity {entity!r}")
        start, length = entity.get("offset"), entity.get("length")
        if not isinstance(start, int) or not isinstance(length, int) or start < 0 or length <= 0:
            raise _unparsable(f"wrong offset or length of {entity!r}")
        if start + length > len(raw) // 2:
            raise _unparsable(f"entity beginning at UTF-16 offset {start} ends after the end of the text")
        for edge in (start, start + length):
            if _in_surrogate_pair(raw, edge):
                raise _unparsable(f"entity beginning at UTF-16 offset {start} cuts a UTF-16 symbol")
        if entity["type"] == "text_link" and not str(entity.get("url", "")):
            raise _unparsable("a text_link without an URL")
        spans.append((start, start + length, entity["type"]))
    _check_nesting(spans)
    return entities


def _check_nesting(spans: list[tuple[int, int, str]]) -> None:
    for index, (start, end, kind) in enumerate(spans):
        for other_start, other_end, other in spans[index + 1 :]:
            if end <= other_start or other_end <= start:
                continue
            if _LITERAL & {kind, other}:
                raise _unparsable(f"{kind} and {other} share characters")
            inside = start <= other_start and other_end <= end
            around = other_start <= start and end <= other_end
            if not (inside or around):
                raise _unparsable(f"{kind} and {other} cross")


def _in_surrogate_pair(raw: bytes, unit: int) -> bool:
    if unit <= 0 or unit * 2 >= len(raw):
        return False
    return 0xDC <= raw[unit * 2 + 1] <= 0xDF and 0xD8 <= raw[unit * 2 - 1] <= 0xDB


def parse_html(source: str) -> tuple[str, list[dict[str, Any]]]:
    """The text and entities of HTML as the Bot API reads it: known tags, properly nested; every bare < is an error."""
    text: list[str] = []
    length, position = 0, 0
    stack: list[tuple[str, int, str]] = []
    entities: list[dict[str, Any]] = []
    while position < len(source):
        if source[position] != "<":
            end = source.find("<", position)
            piece = html.unescape(source[position : end if end >= 0 else len(source)])
            position = end if end >= 0 else len(source)
            text.append(piece)
            length += units(piece)
            continue
        tag = _TAG.match(source, position)
        name = tag.group(2).lower() if tag else ""
        if tag is None or name not in _TAGS:
            raise _unparsable(f'Unsupported start tag "{name}" at byte offset {len(source[:position].encode())}')
        position = tag.end()
        if not tag.group(1):
            href = _HREF.search(tag.group(3))
            stack.append((name, length, html.unescape(next(filter(None, href.groups()), "")) if href else ""))
            continue
        if not stack or stack[-1][0] != name:
            raise _unparsable(f'Unmatched end tag "{name}"')
        _, start, url = stack.pop()
        if length > start:
            entity = {"type": _TAGS[name], "offset": start, "length": length - start}
            entities.append({**entity, "url": url} if name == "a" else entity)
    if stack:
        raise _unparsable(f'Can\'t find end tag corresponding to start tag "{stack[-1][0]}"')
    return "".join(text), sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def read_buttons(markup: Any) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The rows of an inline keyboard as (label, data)."""
    if markup is None:
        return ()
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list):
        raise BadRequestError("Bad Request: object expected as reply markup")
    return tuple(tuple(_button(button) for button in row) for row in rows)


def _button(button: Any) -> tuple[str, str]:
    label, data = button.get("text"), button.get("callback_data")
    if not isinstance(label, str) or not label:
        raise BadRequestError("Bad Request: text buttons are not allowed to be empty")
    if not isinstance(data, str) or not 1 <= len(data.encode()) <= CALLBACK_DATA_BYTES:
        raise BadRequestError("Bad Request: BUTTON_DATA_INVALID")
    return label, data


def read_commands(commands: Any) -> tuple[tuple[str, str], ...]:
    """The (command, description) pairs of setMyCommands."""
    if not isinstance(commands, list) or len(commands) > 100:
        raise BadRequestError("Bad Request: can't parse commands")
    pairs = []
    for entry in commands:
        name, description = str(entry.get("command", "")), str(entry.get("description", ""))
        if not re.fullmatch(r"[a-z0-9_]{1,32}", name):
            raise BadRequestError("Bad Request: BOT_COMMAND_INVALID")
        if not 1 <= units(description) <= 256:
            raise BadRequestError("Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        pairs.append((name, description))
    return tuple(pairs)


def _unparsable(why: str) -> BadRequestError:
    return BadRequestError(f"Bad Request: can't parse entities: {why}")
