"""What the fake Messages API answers: the shape of a message, of a stream and of an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ERROR_WORDS = {429: "Number of requests has exceeded your rate limit", 500: "Internal server error", 529: "Overloaded"}


class BadRequestError(Exception):
    """The service would answer 400 with this message."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: words, or a call of the tool that was asked for. The stop reason follows from it unless given."""

    text: str = ""
    data: Mapping[str, Any] | None = None
    stop_reason: str | None = None


def as_reply(answer: str | Mapping[str, Any] | Reply, stop_reason: str | None = None) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return Reply(answer, None, stop_reason) if isinstance(answer, str) else Reply("", answer, stop_reason)


def tokens_of(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // 4)


def check(body: dict[str, Any]) -> None:
    """The rules a client most easily breaks."""
    for name, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if not isinstance(body.get(name), kind):
            raise BadRequestError(f"{name}: Field required")
    if body["max_tokens"] < 1:
        raise BadRequestError("max_tokens: Input should be greater than or equal to 1")
    if not body["messages"]:
        raise BadRequestError("messages: at least one message is required")
    for index, message in enumerate(body["messages"]):
        if message.get("role") not in ("user", "assistant"):
            raise BadRequestError(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        if not _text_of(message.get("content")).strip():
            raise BadRequestError(f"messages.{index}: text content blocks must be non-empty")
    if body["messages"][0]["role"] != "user":
        raise BadRequestError('messages: first message must use the "user" role')
    choice = body.get("tool_choice") or {}
    tools = {tool.get("name") for tool in body.get("tools") or ()}
    if choice.get("type") == "tool" and choice.get("name") not in tools:
        raise BadRequestError(f"tool_choice: tool '{choice.get('name')}' is not in the list of tools")


def prefix_of(body: dict[str, Any]) -> tuple[str, str]:
    """The text up to the last mark of the prompt cache, in the order of the cache (tools, system, messages), and the
    rest. Without a mark everything is rest."""
    tools = [(json.dumps(tool, sort_keys=True), tool) for tool in body.get("tools") or ()]
    system = [(str(block.get("text", "")), block) for block in _blocks(body.get("system"))]
    turns = [
        (json.dumps(block, sort_keys=True), block)
        for message in body["messages"]
        for block in _blocks(message.get("content"))
    ]
    pieces = [*tools, *system, *turns]
    marked = max((index for index, (_, block) in enumerate(pieces) if "cache_control" in block), default=-1)
    texts = [text for text, _ in pieces]
    return "".join(texts[: marked + 1]), "".join(texts[marked + 1 :])


def message_of(reply: Reply, body: dict[str, Any], usage: Mapping[str, int]) -> dict[str, Any]:
    """The message. Words beyond `max_tokens` are cut, as the service does."""
    tool = (body.get("tool_choice") or {}).get("name") or next((t["name"] for t in body.get("tools") or ()), "tool")
    text, stop = reply.text, "tool_use" if reply.data is not None else "end_turn"
    if tokens_of(text) > body["max_tokens"]:
        text, stop = text.encode()[: body["max_tokens"] * 4].decode("utf-8", "ignore"), "max_tokens"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text or reply.data is None else []
    if reply.data is not None:
        content.append({"type": "tool_use", "id": "toolu_fake", "name": tool, "input": dict(reply.data)})
    written = tokens_of(text) + (tokens_of(json.dumps(reply.data)) if reply.data is not None else 0)
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reply.stop_reason or stop,
        "stop_sequence": None,
        "usage": {
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            **usage,
            "output_tokens": max(1, written),
        },
    }


def stream_of(message: dict[str, Any]) -> Iterator[str]:
    """The same message as server-sent events, in pieces of a few characters."""
    usage = message["usage"]
    opening = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event({"type": "message_start", "message": opening})
    yield _event({"type": "ping"})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, words, delta, key = {**block, "text": ""}, block["text"], "text_delta", "text"
        else:
            empty, words = {**block, "input": {}}, json.dumps(block["input"])
            delta, key = "input_json_delta", "partial_json"
        yield _event({"type": "content_block_start", "index": index, "content_block": empty})
        for start in range(0, len(words), 8):
            piece = {"type": delta, key: words[start : start + 8]}
            yield _event({"type": "content_block_delta", "index": index, "delta": piece})
        yield _event({"type": "content_block_stop", "index": index})
    closing = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": closing, "usage": {"output_tokens": usage["output_tokens"]}})
    yield _event({"type": "message_stop"})


def error_body(status: int, message: str) -> dict[str, Any]:
    words = message or _ERROR_WORDS.get(status, "Error")
    return {
        "type": "error",
        "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": words},
        "request_id": "req_fake",
    }


def _event(data: dict[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text_of(content: Any) -> str:
    return "".join(str(block.get("text", "x")) for block in _blocks(content))
