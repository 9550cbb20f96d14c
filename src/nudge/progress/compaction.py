"""Compaction: which part of a long conversation goes to the model again.

The newest whole messages up to a token limit stay, and one summary message replaces the older ones. Messages are plain
mappings in the shape that Anthropic's API and a checkpoint have. Nothing is deleted here or in the store: this only
decides what is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from nudge.errors import UsageError
from nudge.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

Message: TypeAlias = Mapping[str, Any]
"""`{"role": …, "content": a text or a list of blocks}`."""

IMAGE_TOKENS = 1_600
SUMMARY_MOST = 1_000
SUMMARY_SHARE = 4
LINE_LENGTH = 160

_OPENING = "[Summary of earlier messages: "


@dataclass(frozen=True, slots=True)
class Compaction:
    """A conversation cut in two: a summary of at most `room` tokens replaces `older`, and `recent` stays."""

    older: tuple[Message, ...]
    recent: tuple[Message, ...]
    room: int

    def messages(self, summary: str | None = None) -> tuple[Message, ...]:
        """What to send: everything while nothing has to go, else one summary message and the recent ones.

        `summary` is one that a model wrote about `older`; without it, it is made of their first words. One that is
        longer than its room is cut. The line that says how many messages are missing is always there, even if a tiny
        limit has no room for more.
        """
        if not self.older:
            return self.recent
        opening = f"{_OPENING}{sum(map(_stands_for, self.older))}]\n"
        room = self.room - estimate_tokens(opening)
        text = extract(self.older, room) if summary is None else _cut(summary.strip(), room)
        return ({"role": "user", "content": opening + text}, *self.recent)


def compact(messages: Sequence[Message], limit: int, *, down_to: int | None = None) -> Compaction:
    """Cut a conversation that is longer than `limit` tokens so that it and its summary are no longer than `down_to`.
    The messages you pass are not changed.

    Without `down_to` as much stays as fits the limit. A session that compacts often sets it lower: then the cut moves
    rarely, and the provider's prompt cache keeps its prefix in between.

    A tool call and its result are never separated. The newest message (with its tool call) always stays, even if it is
    too long on its own. An earlier summary message is older text like any other and goes into the new one.

    >>> talk = [{"role": "user", "content": "word " * 40}, {"role": "assistant", "content": "Yes."}]
    >>> [message["content"] for message in compact(talk, limit=40).messages()][1:]
    ['Yes.']
    """
    aim = limit if down_to is None else min(limit, down_to)
    if aim < 1:
        raise UsageError(f"A history cannot be cut to {aim} tokens.", next_step="Use a limit of at least 1.")
    if message_tokens(messages) <= limit:
        return Compaction((), tuple(messages), 0)
    room = min(SUMMARY_MOST, aim // SUMMARY_SHARE)
    start = len(messages)
    left = aim - room
    for first, last in reversed(_units(messages)):
        left -= message_tokens(messages[first:last])
        if left < 0 and start < len(messages):
            break
        start = first
    return Compaction(tuple(messages[:start]), tuple(messages[start:]), room)


def begins_with(messages: Sequence[Message], before: Sequence[Message]) -> bool:
    """Whether a history is an earlier one, the same objects, with more at its end.

    >>> hello, again = {"role": "user", "content": "Hello."}, {"role": "user", "content": "Again."}
    >>> begins_with([hello, again], [hello]), begins_with([dict(hello), again], [hello])
    (True, False)
    """
    return len(before) <= len(messages) and all(one is other for one, other in zip(before, messages, strict=False))


def message_tokens(messages: Sequence[Message]) -> int:
    """An estimate for messages: their texts, tool calls and results, and a fixed amount for an image."""
    return sum(_tokens(message) for message in messages)


def extract(messages: Sequence[Message], room: int) -> str:
    """A summary from the messages' own first words, in at most `room` tokens.

    The earliest line stays, because it says what the conversation is about, and then the newest ones; a gap is marked.
    """
    lines = [line for message in messages for line in _lines(message)]
    if not lines:
        return ""
    characters = room * CHARACTERS_PER_TOKEN - len(lines[0]) - len("\n…")
    newest: list[str] = []
    for line in reversed(lines[1:]):
        characters -= len(line) + 1
        if characters < 0:
            break
        newest.append(line)
    gap = ["…"] if len(newest) < len(lines) - 1 else []
    return _cut("\n".join([lines[0], *gap, *reversed(newest)]), room)


def transcript(messages: Sequence[Message]) -> str:
    """Messages as one text, in full, for a summary to be written from."""
    said = [(str(message.get("role", "")), "\n".join(map(_text, _blocks(message))).strip()) for message in messages]
    return "\n\n".join(f"{role}: {text}" for role, text in said if text)


def _units(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Half-open ranges that must not be cut: a message, or one with tool calls and the messages with the results."""
    units, first = [], 0
    while first < len(messages):
        calls = {block.get("id") for block in _blocks(messages[first]) if block.get("type") == "tool_use"}
        last = first + 1
        while last < len(messages) and calls & _answers(messages[last]):
            last += 1
        units.append((first, last))
        first = last
    return units


def _answers(message: Message) -> set[Any]:
    return {block.get("tool_use_id") for block in _blocks(message) if block.get("type") == "tool_result"}


def _blocks(message: Message) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list | tuple) else []


def _tokens(message: Message) -> int:
    return _images(message) * IMAGE_TOKENS + estimate_tokens("".join(_text(block) for block in _blocks(message)))


def _images(holder: Mapping[str, Any]) -> int:
    return sum(1 if block.get("type") == "image" else _images(block) for block in _blocks(holder))


def _text(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "tool_use":
        return f"{block.get('name', '')} {json.dumps(block.get('input', {}), ensure_ascii=False, default=str)}"
    if kind == "tool_result":
        return "".join(_text(part) for part in _blocks(block))
    return "" if kind == "image" else json.dumps(dict(block), ensure_ascii=False, default=str)


def _lines(message: Message) -> list[str]:
    """One line for each thing a message says; an earlier summary keeps the lines it has."""
    if _is_summary(message):
        return [line for line in str(message["content"]).splitlines()[1:] if line and line != "…"]
    lines = []
    for block in _blocks(message):
        kind = block.get("type")
        who = {"tool_use": "tool call", "tool_result": "tool result"}.get(str(kind), str(message.get("role", "")))
        text = " ".join(_text(block).split())
        if text:
            lines.append(f"{who}: {text if len(text) <= LINE_LENGTH else text[: LINE_LENGTH - 1].rstrip() + '…'}")
    return lines


def _is_summary(message: Message) -> bool:
    return str(message.get("content", "")).startswith(_OPENING)


def _stands_for(message: Message) -> int:
    """How many messages of the conversation this one is: an earlier summary is as many as it replaced."""
    if not _is_summary(message):
        return 1
    count = str(message["content"]).removeprefix(_OPENING).partition("]")[0]
    return int(count) if count.isdecimal() and len(count) < 10 else 1


def _cut(text: str, tokens: int) -> str:
    characters = max(0, tokens) * CHARACTERS_PER_TOKEN
    return text if len(text) <= characters else text[: max(0, characters - 1)].rstrip() + "…" * (characters > 0)
