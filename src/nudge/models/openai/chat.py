"""A question as a body of chat completions, and its answer, whole or in pieces, read without trust in its shape.

The services that speak this protocol differ. What is sent here is what all of them take: one tool that must be used is
the only tool offered (LM Studio knows no choice by name), and nothing is said where the default is meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nudge.model import (
    Block,
    ModelReply,
    ModelRequest,
    OneTool,
    Opaque,
    Role,
    StopReason,
    StreamEvent,
    Text,
    TextDelta,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
)
from nudge.models.failures import RefusedError
from nudge.models.wire import ANSWER, UnreadableReplyError, clean, parse, reply_of, sendable, tool_use, usage_so_far
from nudge.numbers import is_whole

PROVIDER = "openai"
DONE = "[DONE]"

_STOPS = {
    "stop": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "content_filter": StopReason.REFUSAL,
}
_OPEN, _CLOSE = "<think>", "</think>"


def to_body(request: ModelRequest, limit: str = "max_tokens") -> dict[str, Any]:
    """The parameters of one call. `limit` is the service's name for `max_tokens`: some have a new one."""
    messages = [message for turn in sendable(request.turns) for message in _messages(turn)]
    system = clean(request.system_text).strip()
    if system:
        messages.insert(0, {"role": "system", "content": system})
    body: dict[str, Any] = {"model": request.model, limit: request.max_tokens, "messages": messages}
    if request.schema is not None:
        form = {"name": ANSWER, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif request.tools:
        chosen = request.tool_choice
        offered = [tool for tool in request.tools if not isinstance(chosen, OneTool) or tool.name == chosen.name]
        body["tools"] = [_tool(tool) for tool in offered]
        if chosen is ToolChoice.NONE:
            body["tool_choice"] = "none"
        elif chosen is not ToolChoice.AUTO:
            body["tool_choice"] = "required"
    return body


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
    return {"type": "function", "function": function}


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    """A turn as messages: results of tools are messages of their own here, and come before the words of their turn."""
    blocks = [block for block in turn.content if not isinstance(block, Opaque) or block.provider == PROVIDER]
    for block in blocks:
        if isinstance(block, ToolResult):
            said = f"Error: {block.content}" if block.is_error else block.content
            yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": said}
    uses = [_call(block) for block in blocks if isinstance(block, ToolUse)]
    content = _content(blocks)
    if turn.role is Role.ASSISTANT and uses:
        yield {"role": "assistant", "content": content or None, "tool_calls": uses}
    elif content:
        yield {"role": turn.role.value, "content": content}


def _call(use: ToolUse) -> dict[str, Any]:
    arguments = use.malformed or json.dumps(dict(use.input), ensure_ascii=False)
    return {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


def _content(blocks: list[Block]) -> str | list[dict[str, Any]]:
    """Plain words as plain words; with parts that are none, a list of parts."""
    if not any(isinstance(block, Opaque) for block in blocks):
        return "".join(block.text for block in blocks if isinstance(block, Text))
    return [
        dict(block.data) if isinstance(block, Opaque) else {"type": "text", "text": block.text}
        for block in blocks
        if isinstance(block, Opaque | Text)
    ]


def read_reply(raw: bytes, request: ModelRequest) -> ModelReply:
    """The reply in the body of a 200."""
    body = parse(raw)
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        raise UnreadableReplyError
    calls = message.get("tool_calls")
    answer = _Answer(words=_string(message.get("content")), refusal=_string(message.get("refusal")))
    answer.calls = [_Call.of(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return answer.reply(request, _string(choice.get("finish_reason")), body)


@dataclass
class _Call:
    """A tool use as it is written."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    @classmethod
    def of(cls, call: Mapping[str, Any]) -> _Call:
        found = cls(_string(call.get("id")))
        found.add(call.get("function"))
        return found

    def add(self, function: object) -> None:
        if isinstance(function, dict):
            self.name = self.name or _string(function.get("name"))
            given = function.get("arguments")
            self.arguments += json.dumps(given) if isinstance(given, dict) else _string(given)

    def use(self, request: ModelRequest, number: int) -> ToolUse:
        """The tool use. A service that gives it no id gets one that no other turn has."""
        return tool_use(self.id or f"call_{len(request.turns)}_{number}", self.name, self.arguments)


@dataclass
class _Answer:
    """What a model has said so far."""

    words: str = ""
    refusal: str = ""
    calls: list[_Call] = field(default_factory=list)

    def reply(self, request: ModelRequest, finish: str, body: Mapping[str, Any]) -> ModelReply:
        """The model's name is the one that was asked for, and priced: what a service calls it may be a file's path."""
        words = without_thoughts(self.words) or self.refusal
        uses = [call.use(request, number) for number, call in enumerate(self.calls, 1)]
        content: tuple[Block, ...] = (*([Text(words)] if words else []), *uses)
        stop = StopReason.REFUSAL if self.refusal and not self.words else _STOPS.get(finish or "stop", StopReason.OTHER)
        return reply_of(request, content, stop, model=request.model, stop_text=finish, told=body.get("usage"))


def without_thoughts(text: str) -> str:
    """Without what some local models think aloud before they answer.

    >>> without_thoughts("<think>Is it late? Yes.</think>\\n\\nBed by one?")
    'Bed by one?'
    """
    return text.partition(_CLOSE)[2].lstrip() if text.lstrip().startswith(_OPEN) else text


class ChatStream:
    """The chunks of one streamed completion, put together piece by piece."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._answer = _Answer()
        self._slots: dict[int, _Call] = {}
        self._given = 0
        self._shown = 0
        self._usage: object = None
        self._finish = ""

    @property
    def complete(self) -> bool:
        """Whether the model has finished. Some services end the stream without saying so a second time."""
        return bool(self._finish)

    def feed(self, data: str) -> Iterator[StreamEvent]:
        """What one chunk adds."""
        chunk = parse(data)
        if chunk.get("error") is not None:
            raise _failed(chunk["error"])
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
            yield from usage_so_far(self._usage)
        choice = _first_choice(chunk)
        if choice is None:
            return
        delta = choice.get("delta")
        if isinstance(delta, dict):
            yield from self._add(delta)
        self._finish = _string(choice.get("finish_reason")) or self._finish

    def end(self) -> Iterator[StreamEvent]:
        """What is left, and the reply."""
        reply = self._answer.reply(self._request, self._finish, {"usage": self._usage})
        if self._request.schema is None:
            yield from reply.tool_uses[self._given :]
        yield reply

    def _add(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        self._answer.refusal += _string(delta.get("refusal"))
        self._answer.words += _string(delta.get("content"))
        words = _speakable(self._answer.words)
        if len(words) > self._shown and self._request.schema is None:
            yield TextDelta(clean(words[self._shown :]))
            self._shown = len(words)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield from self._call(call)

    def _call(self, call: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """A piece of a tool use. Another index begins another one, and so does another id: some services give all of
        them the same index. The one before is complete then."""
        index = call.get("index")
        index = index if isinstance(index, int) else 0
        there = self._slots.get(index)
        named = _string(call.get("id"))
        if there is not None and (not named or not there.id or named == there.id):
            there.id = there.id or named
            there.add(call.get("function"))
            return
        if self._request.schema is None:
            for number, before in enumerate(self._answer.calls[self._given :], self._given + 1):
                yield before.use(self._request, number)
            self._given = len(self._answer.calls)
        self._slots[index] = _Call.of(call)
        self._answer.calls.append(self._slots[index])


def _speakable(words: str) -> str:
    """What of the words so far can be shown: nothing while the model thinks aloud, or might be about to."""
    start = words.lstrip()
    if not start or (len(start) < len(_OPEN) and _OPEN.startswith(start)):
        return ""
    return without_thoughts(words)


def _failed(error: object) -> RefusedError:
    told = error if isinstance(error, dict) else {"message": error}
    status = told.get("code")
    return RefusedError(status if is_whole(status) and 400 <= status < 600 else 500, _string(told.get("message")))


def _first_choice(body: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = body.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
