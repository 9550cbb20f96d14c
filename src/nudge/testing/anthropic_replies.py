"""What the fake Messages API answers: the shape of a message, of a stream and of an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from typing import Any

from nudge.testing.model_server import BadRequestError, Reply, pieces_of, tokens_of, written

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
MOST_MARKS = 4
_ERROR_WORDS = {429: "Number of requests has exceeded your rate limit", 500: "Internal server error", 529: "Overloaded"}


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
        if message.get("role") not in ("user", "assistant", *(["system"] if index else [])):
            raise BadRequestError(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        if not _text_of(message.get("content")).strip():
            raise BadRequestError(f"messages.{index}: text content blocks must be non-empty")
    if body["messages"][0]["role"] != "user":
        raise BadRequestError('messages: first message must use the "user" role')
    _check_tools(body)
    marks = sum("cache_control" in block for block, _ in _pieces(body))
    if marks > MOST_MARKS:
        raise BadRequestError(f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}.")


def _check_tools(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice") or {}
    tools = [tool.get("name") for tool in body.get("tools") or ()]
    if len(set(tools)) < len(tools):
        raise BadRequestError("tools: Tool names must be unique.")
    if choice and not tools:
        raise BadRequestError("tool_choice: tool_choice may only be specified while providing tools.")
    if choice.get("type") == "tool" and choice.get("name") not in tools:
        raise BadRequestError(f"tool_choice: tool '{choice.get('name')}' is not in the list of tools")
    wanted: list[str] = []
    for index, message in enumerate(body["messages"]):
        blocks = _blocks(message.get("content"))
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if unexpected := [one for one in results if one not in wanted]:
            raise BadRequestError(
                f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {unexpected[0]}"
            )
        if missing := [one for one in wanted if one not in results]:
            raise BadRequestError(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{missing[0]}"
            )
        wanted = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]


LOOK_BACK = 20
"""From each mark the service looks for a known prefix this many blocks back."""


def cache_counts(body: dict[str, Any], known: Set[str], shortest: int) -> tuple[dict[str, int], list[str]]:
    """What the input counts as, and the prefixes that are in the cache afterwards.

    The cache holds prefixes that end at a mark, in the order of the cache: tools, system, messages. The longest known
    one is read, what comes after it up to the last mark is written, and the rest is plain input. A prefix that is too
    short is not cached. From each mark the search goes twenty blocks back.
    """
    text, prefixes, marked, reached = "", list[str](), list[str](), set[int]()
    for block, words in _pieces(body):
        text += words
        prefixes.append(text)
        if "cache_control" in block and tokens_of(text) >= shortest:
            marked.append(text)
            reached.update(range(max(0, len(prefixes) - LOOK_BACK), len(prefixes)))
    last = marked[-1] if marked else ""
    read = next((prefixes[place] for place in sorted(reached, reverse=True) if prefixes[place] in known), "")
    counts = {
        "input_tokens": tokens_of(text[len(last) :]),
        "cache_read_input_tokens": tokens_of(read),
        "cache_creation_input_tokens": tokens_of(last) - tokens_of(read),
    }
    return counts, [*marked, *([read] if read else [])]


def message_of(reply: Reply, body: dict[str, Any], usage: Mapping[str, int], number: int) -> dict[str, Any]:
    """The message. Words beyond `max_tokens` are cut, as the service does."""
    asked = (body.get("tool_choice") or {}).get("name") or next((t["name"] for t in body.get("tools") or ()), "tool")
    calls = [*([(asked, reply.data)] if reply.data is not None else []), *reply.tools]
    text, stop = reply.text, "tool_use" if calls else "end_turn"
    if tokens_of(text) > body["max_tokens"]:
        text, stop = text.encode()[: body["max_tokens"] * 4].decode("utf-8", "ignore"), "max_tokens"
    content: list[dict[str, Any]] = []
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": f"signed{number:06d}"})
    if text or not calls:
        content.append({"type": "text", "text": text})
    for index, (name, given) in enumerate(calls):
        content.append({"type": "tool_use", "id": f"toolu_{number:06d}_{index}", "name": name, "input": given})
    output = sum(tokens_of(words) for words in (reply.thinking, text, *(written(given) for _, given in calls)))
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reply.stop_reason or stop,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": max(1, output)},
    }


def stream_of(message: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The same message as server-sent events, in pieces of a few characters; with each, whether it is such a piece."""
    usage = message["usage"]
    opening = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield event_of({"type": "message_start", "message": opening}), False
    yield event_of({"type": "ping"}), False
    for index, block in enumerate(message["content"]):
        empty, deltas = _in_pieces(block)
        yield event_of({"type": "content_block_start", "index": index, "content_block": empty}), False
        for delta in deltas:
            yield event_of({"type": "content_block_delta", "index": index, "delta": delta}), True
        yield event_of({"type": "content_block_stop", "index": index}), False
    closing = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    counted = {"output_tokens": usage["output_tokens"]}
    yield event_of({"type": "message_delta", "delta": closing, "usage": counted}), False
    yield event_of({"type": "message_stop"}), False


def _in_pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces_of(block["text"])]
            return {**block, "text": ""}, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces_of(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
        case _:  # the first piece of an input is always empty
            pieces = ["", *pieces_of(written(block["input"]) if block["input"] else "")]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return {**block, "input": {}}, deltas


def _pieces(body: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every block that can carry a mark of the prompt cache, with its words; the mark is none of them."""
    system = _blocks(body.get("system"))
    turns = [block for message in body["messages"] for block in _blocks(message.get("content"))]
    yield from ((tool, json.dumps(tool, sort_keys=True)) for tool in body.get("tools") or ())
    yield from ((block, str(block.get("text", ""))) for block in system)
    for block in turns:
        plain = {name: value for name, value in block.items() if name != "cache_control"}
        yield block, json.dumps(plain, sort_keys=True)


def error_body(status: int, message: str) -> dict[str, Any]:
    words = message or _ERROR_WORDS.get(status, "Error")
    return {
        "type": "error",
        "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": words},
        "request_id": "req_fake",
    }


def event_of(data: dict[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text_of(content: Any) -> str:
    return "".join(str(block.get("text", "x")) for block in _blocks(content))
