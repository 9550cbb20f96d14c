"""A question as a body of the Messages API, and its answer, whole or in pieces, read without trust in its shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nudge.model import (
    ModelReply,
    ModelRequest,
    OneTool,
    Opaque,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolChoice,
    ToolUse,
    Turn,
    block_to_json,
    blocks_from_json,
)
from nudge.models.failures import RefusedError
from nudge.models.wire import ANSWER, UnreadableReplyError, clean, parse, reply_of, sendable, tool_use, usage_so_far

PROVIDER = "anthropic"
MOST_MARKS = 4
"""The API takes this many marks of the prompt cache. The last ones count: they hold the longest prefixes."""


def to_body(request: ModelRequest) -> dict[str, Any]:
    """The parameters of one call. The prompt cache holds a prefix of tools, system and messages, in this order."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [_message(turn) for turn in sendable(_ours(request.turns))],
    }
    system = [block_to_json(block) | {"text": clean(block.text)} for block in request.system if block.text.strip()]
    if system:
        body["system"] = system
    if request.schema is not None:
        form = {"name": ANSWER, "description": "Give the answer in this form.", "input_schema": dict(request.schema)}
        body |= {"tools": [form], "tool_choice": {"type": "tool", "name": ANSWER}}
    elif request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in request.tools
        ]
        if isinstance(request.tool_choice, OneTool):
            body["tool_choice"] = {"type": "tool", "name": request.tool_choice.name}
        elif request.tool_choice is not ToolChoice.AUTO:
            body["tool_choice"] = {"type": request.tool_choice.value}
    _unmark(body)
    return body


def _ours(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Without the blocks of other providers."""
    return tuple(
        Turn(
            turn.role,
            tuple(block for block in turn.content if not isinstance(block, Opaque) or block.provider == PROVIDER),
        )
        for turn in turns
    )


def _message(turn: Turn) -> dict[str, Any]:
    """A turn of plain words is sent as plain words."""
    content = [block_to_json(block) for block in turn.content]
    if len(content) == 1 and content[0].keys() == {"type", "text"}:
        return {"role": turn.role.value, "content": content[0]["text"]}
    return {"role": turn.role.value, "content": content}


def _unmark(body: dict[str, Any]) -> None:
    blocks = [*body.get("system", ()), *(block for message in body["messages"] for block in _list(message["content"]))]
    for block in [block for block in blocks if "cache_control" in block][:-MOST_MARKS]:
        del block["cache_control"]


def _list(content: object) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else []


def read_reply(raw: bytes, request: ModelRequest) -> ModelReply:
    """The reply in the body of a 200."""
    return read_message(parse(raw), request)


def read_message(message: Mapping[str, Any], request: ModelRequest) -> ModelReply:
    if not isinstance(message.get("content"), list):
        raise UnreadableReplyError
    said = message.get("stop_reason")
    stop_text = said if isinstance(said, str) and said else StopReason.END_TURN.value
    return reply_of(
        request,
        blocks_from_json(message["content"]),
        StopReason(stop_text) if stop_text in set(StopReason) else StopReason.OTHER,
        model=str(message.get("model") or request.model),
        stop_text=stop_text,
        told=message.get("usage"),
    )


_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


_INPUT = "partial_json"
_PIECES = {
    "text_delta": "text",
    "input_json_delta": _INPUT,
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


class MessageStream:
    """The events of one streamed message, put together piece by piece."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._message: dict[str, Any] | None = None
        self._blocks: list[dict[str, Any]] = []
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._waiting: list[ToolUse] = []
        self._given: set[str] = set()
        self.done = False

    def feed(self, data: str) -> Iterator[StreamEvent]:
        """What one event of the service adds. Events of an unknown kind add nothing."""
        event = parse(data)
        kind = event.get("type")
        if kind == "error":
            raise _failed(event.get("error"))
        if kind == "message_start":
            yield from self._start(event.get("message"))
        elif kind == "message_stop":
            self.done = True
            for index in {index for index, _ in self._pieces}:
                self._end(index)
            reply = read_message({**self._begun(), "content": self._blocks}, self._request)
            yield from (use for use in reply.tool_uses if use.id not in self._given)
            yield reply
        elif kind == "message_delta":
            yield from self._change(event)
        elif kind == "content_block_start":
            block = event.get("content_block")
            if event.get("index") != len(self._blocks) or not isinstance(block, dict):
                raise UnreadableReplyError
            self._blocks.append(dict(block))
            yield from self._give()
        elif kind == "content_block_delta":
            yield from self._add(self._index(event), event.get("delta"))
        elif kind == "content_block_stop":
            self._end(self._index(event))

    def _start(self, message: object) -> Iterator[StreamEvent]:
        if not isinstance(message, dict):
            raise UnreadableReplyError
        self._message = dict(message)
        yield from usage_so_far(self._begun().get("usage"))

    def _change(self, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """The stop reason, and counts that replace those of the start: they are sums, not additions."""
        message, delta, usage = self._begun(), event.get("delta"), event.get("usage")
        if isinstance(delta, dict):
            message["stop_reason"] = delta.get("stop_reason")
        if isinstance(usage, dict):
            before = message.get("usage")
            counted = {name: count for name, count in usage.items() if count is not None}
            message["usage"] = {**(before if isinstance(before, dict) else {}), **counted}
        yield from usage_so_far(self._begun().get("usage"))

    def _add(self, index: int, delta: object) -> Iterator[StreamEvent]:
        kind = delta.get("type") if isinstance(delta, dict) else None
        name = _PIECES.get(kind) if isinstance(kind, str) else None
        piece = delta.get(name) if isinstance(delta, dict) and name else None
        if name and isinstance(piece, str) and piece:
            self._pieces.setdefault((index, name), []).append(piece)
            if name == "text" and self._request.schema is None:
                yield TextDelta(clean(piece))

    def _end(self, index: int) -> None:
        """Put the pieces of a block together."""
        block = self._blocks[index]
        for name in ("text", "thinking", "signature"):
            if (index, name) in self._pieces:
                block[name] = "".join([str(block.get(name) or ""), *self._pieces.pop((index, name))])
        written = "".join(self._pieces.pop((index, _INPUT), ()))
        if block.get("type") != "tool_use":
            return
        if written.strip() or not isinstance(block.get("input"), dict):
            use = tool_use("", "", written)
            block["input"] = use.malformed or dict(use.input)
        if self._request.schema is None:
            self._waiting.extend(use for use in blocks_from_json([block]) if isinstance(use, ToolUse))

    def _give(self) -> Iterator[ToolUse]:
        """The tool uses that are complete because another block begins. The last one may have been cut at the token
        limit: that is known only at the end."""
        waiting, self._waiting = self._waiting, []
        self._given.update(use.id for use in waiting)
        yield from waiting

    def _begun(self) -> dict[str, Any]:
        if self._message is None:
            raise UnreadableReplyError
        return self._message

    def _index(self, event: Mapping[str, Any]) -> int:
        index = event.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self._blocks):
            raise UnreadableReplyError
        return index


def _failed(error: object) -> RefusedError:
    told = error if isinstance(error, dict) else {}
    return RefusedError(_STATUS.get(str(told.get("type")), 500), str(told.get("message") or ""))
