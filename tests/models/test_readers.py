"""Answers of any shape are read or refused, whole or in pieces, and no call is free."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.model import ModelReply, ModelRequest, Purpose, Text, TextDelta, ToolUse, user
from nudge.models.anthropic import messages
from nudge.models.failures import RefusedError
from nudge.models.openai import chat
from nudge.models.wire import UnreadableReplyError
from nudge.tokens import TokenUse

ASKED = ModelRequest(Purpose.HEARTBEAT, "m", (Text("s" * 90),), (user("u" * 30),), 50, schema={"type": "object"})
FREELY = ModelRequest(Purpose.HEARTBEAT, "m", (Text("s" * 90),), (user("u" * 30),), 50)
ESTIMATED = 31 + 11 + 7  # system, turn and form


def anthropic(**fields: Any) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": "hi"}], **fields}).encode()


def openai(**fields: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], **fields}).encode()


READERS: dict[str, tuple[Callable[..., bytes], Callable[[bytes, ModelRequest], ModelReply], str, str]] = {
    "anthropic": (anthropic, messages.read_reply, "input_tokens", "output_tokens"),
    "openai": (openai, chat.read_reply, "prompt_tokens", "completion_tokens"),
}
reader = pytest.mark.parametrize("body, read, asked, answered", READERS.values(), ids=READERS.keys())


@reader
@pytest.mark.parametrize(
    ("counts", "usage", "counted"),
    [
        pytest.param((7, 2), TokenUse(7, 2), True, id="counted"),
        pytest.param((0, 0), TokenUse(), True, id="a zero that was said"),
        pytest.param((None, 2), TokenUse(ESTIMATED, 2), False, id="input not counted"),
        pytest.param((-7, 2), TokenUse(ESTIMATED, 2), False, id="a negative count is none"),
        pytest.param((7, "2"), TokenUse(7, 2), False, id="a text is no count"),
        pytest.param((None, None), TokenUse(ESTIMATED, 2), False, id="not counted at all"),
    ],
)
def test_usage(
    body: Any, read: Any, asked: str, answered: str, counts: tuple[Any, Any], usage: TokenUse, counted: bool
) -> None:
    reply = read(body(usage=dict(zip((asked, answered), counts, strict=True))), ASKED)
    assert (reply.usage, "usage_estimated" not in reply.details) == (usage, counted)


def test_usage_with_the_cache() -> None:
    told = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}
    assert messages.read_reply(anthropic(usage=told), ASKED).usage == TokenUse(7, 2, 3, 4)
    told = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}
    assert chat.read_reply(openai(usage=told), ASKED).usage == TokenUse(4, 2, 3)


@reader
@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'"text"', b'{"content": "hi"}', b'{"choices": []}', b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_answer_is_refused(body: Any, read: Any, asked: str, answered: str, raw: bytes) -> None:
    with pytest.raises(UnreadableReplyError):
        read(raw, ASKED)


CALL = {"type": "tool_use", "id": "t", "name": "answer", "input": {"action": "x"}}


def test_a_call_of_another_tool_is_no_answer() -> None:
    assert messages.read_reply(anthropic(content=[{**CALL, "name": "rm"}]), ASKED).data is None


def test_two_calls_are_no_answer() -> None:
    assert messages.read_reply(anthropic(content=[CALL, CALL]), ASKED).data is None


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    content = [{"type": "text", "text": "a\ud83d"}, {**CALL, "input": {"k\ud83d": ["\ud83d"]}}]
    reply = messages.read_reply(anthropic(content=content), FREELY)
    assert (reply.text, reply.tool_uses[0].input) == ("a?", {"k?": ["?"]})


NAMES = [
    *("type", "content", "text", "usage", "input", "name", "id", "index", "message", "delta", "error", "code"),
    *("stop_reason", "input_tokens", "output_tokens", "content_block", "partial_json", "thinking"),
    *("choices", "finish_reason", "tool_calls", "function", "arguments", "prompt_tokens", "completion_tokens"),
]
KINDS = [
    *("text", "tool_use", "thinking", "error", "text_delta", "input_json_delta", "stop", "length"),
    *("message_start", "message_delta", "message_stop"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.sampled_from(KINDS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["anthropic", "openai"]), st.sampled_from([ASKED, FREELY]))
@settings(max_examples=300, deadline=None)
def test_no_shape_of_an_answer_raises_anything_else(shape: Any, name: str, request: ModelRequest) -> None:
    _, read, _, _ = READERS[name]
    try:
        reply = read(json.dumps(shape).encode(), request)
    except UnreadableReplyError:
        return
    assert reply.usage.input > 0 or isinstance(shape["usage"], dict)


@given(st.lists(JSON, max_size=6), st.sampled_from([messages.MessageStream, chat.ChatStream]))
@settings(max_examples=300, deadline=None)
def test_no_shape_of_a_stream_raises_anything_else(shapes: list[Any], stream: Any) -> None:
    pieces = stream(FREELY)
    try:
        for shape in shapes:
            for event in pieces.feed(json.dumps(shape)):
                assert isinstance(event, TextDelta | ToolUse | TokenUse | ModelReply)
    except (UnreadableReplyError, RefusedError):
        return
