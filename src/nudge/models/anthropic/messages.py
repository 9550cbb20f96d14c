"""A question as a body of the Messages API, and its answer read without trust in its shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from nudge.model import ModelReply, ModelRequest, Usage

ANSWER_TOOL = "answer"
_BYTES_PER_TOKEN = 3  # on the safe side where the service did not count


class UnreadableReplyError(Exception):
    """The service's answer is not a message."""


def to_body(request: ModelRequest) -> dict[str, Any]:
    """The parameters of one call.

    The prompt cache holds a prefix (tools, then the system block, which carries the mark), so what changes comes after
    it, in the turns. The API refuses empty texts and a conversation that the assistant opens: such turns are left out.
    """
    turns = [(turn.role, _clean(turn.text)) for turn in request.turns if turn.text.strip()]
    while turns and turns[0][0] == "assistant":
        turns.pop(0)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": role, "content": text} for role, text in turns],
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": _clean(request.system), "cache_control": {"type": "ephemeral"}}]
    if request.schema is not None:
        body["tools"] = [
            {
                "name": ANSWER_TOOL,
                "description": "Give the answer in this form.",
                "input_schema": dict(request.schema),
            }
        ]
        body["tool_choice"] = {"type": "tool", "name": ANSWER_TOOL}
    return body


def read_reply(raw: bytes, request: ModelRequest) -> ModelReply:
    """The reply in the body of a 200."""
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableReplyError from None
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise UnreadableReplyError
    blocks = [block for block in message["content"] if isinstance(block, dict)]
    text = "".join(block["text"] for block in blocks if block.get("type") == "text" and _is_text(block.get("text")))
    stop_reason = str(message.get("stop_reason") or "end_turn")
    usage, counted = _usage(message.get("usage"), request, raw)
    return ModelReply(
        text=_clean(text),
        model=str(message.get("model") or request.model),
        usage=usage,
        data=_data(blocks, text, stop_reason) if request.schema is not None else None,
        stop_reason=stop_reason,
        details={} if counted else {"usage_estimated": True},
    )


def _data(blocks: list[dict[str, Any]], text: str, stop_reason: str) -> Mapping[str, Any] | None:
    """The one object that was asked for. An answer cut at `max_tokens` has lost some of it, and is none.

    A compatible service that knows no tools may write the object as text.
    """
    if stop_reason == "max_tokens":
        return None
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    if calls:
        answer = calls[0].get("input") if len(calls) == 1 and calls[0].get("name") == ANSWER_TOOL else None
    else:
        try:
            answer = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return None
    return answer if isinstance(answer, dict) else None


def _usage(told: object, request: ModelRequest, raw: bytes) -> tuple[Usage, bool]:
    """What the call used, and whether the service counted it. A call is never free because nobody counted."""
    counts = told if isinstance(told, dict) else {}
    read, written = counts.get("input_tokens"), counts.get("output_tokens")
    asked = request.system + "".join(turn.text for turn in request.turns)
    answered = raw.decode("utf-8", "replace")
    usage = Usage(
        input=read if _is_count(read) else _tokens(asked),
        output=written if _is_count(written) else min(request.max_tokens, _tokens(answered)),
        cache_read=_count(counts.get("cache_read_input_tokens")),
        cache_write=_count(counts.get("cache_creation_input_tokens")),
    )
    return usage, _is_count(read) and _is_count(written)


def _tokens(text: str) -> int:
    return len(_clean(text).encode()) // _BYTES_PER_TOKEN + 1


def _count(value: Any) -> int:
    return value if _is_count(value) else 0


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no JSON encoder sends and no database takes."""
    return text.encode("utf-8", "replace").decode()
