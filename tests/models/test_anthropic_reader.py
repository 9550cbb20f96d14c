"""Answers of any shape are read or refused, and no call is free."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.model import ModelRequest, Purpose, Turn, Usage
from nudge.models.anthropic.messages import UnreadableReplyError, read_reply

ASKED = ModelRequest(Purpose.HEARTBEAT, "m", "s" * 90, (Turn("user", "u" * 30),), 50, schema={"type": "object"})


def body(**fields: Any) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": "hi"}], **fields}).encode()


USAGES = {
    "counted": ({"input_tokens": 7, "output_tokens": 2}, Usage(7, 2), True),
    "counted with the cache": (
        {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
        Usage(7, 2, 3, 4),
        True,
    ),
    "cache counts that are null": (
        {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": None},
        Usage(7, 2),
        True,
    ),
    "input not counted": ({"output_tokens": 2}, Usage(41, 2), False),
    "a negative count is none": ({"input_tokens": -7, "output_tokens": 2}, Usage(41, 2), False),
}


@pytest.mark.parametrize("told, usage, counted", USAGES.values(), ids=USAGES.keys())
def test_usage(told: dict[str, Any], usage: Usage, counted: bool) -> None:
    reply = read_reply(body(usage=told), ASKED)
    assert (reply.usage, "usage_estimated" not in reply.details) == (usage, counted)


def test_an_answer_that_nobody_counted_is_not_free() -> None:
    reply = read_reply(body(), ASKED)
    assert (reply.usage.input, reply.usage.output) == (41, 16)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"text"', b'{"content": "hi"}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_message_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableReplyError):
        read_reply(raw, ASKED)


def test_a_call_of_another_tool_is_no_answer() -> None:
    blocks = [{"type": "tool_use", "name": "rm", "input": {"action": "x"}}]
    assert read_reply(body(content=blocks), ASKED).data is None


def test_two_calls_are_no_answer() -> None:
    call = {"type": "tool_use", "name": "answer", "input": {"action": "x"}}
    assert read_reply(body(content=[call, call]), ASKED).data is None


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["content", "type", "text", "usage", "input", "name", "stop_reason", "input_tokens"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_no_shape_of_an_answer_raises_anything_else(shape: Any) -> None:
    try:
        reply = read_reply(json.dumps(shape).encode(), ASKED)
    except UnreadableReplyError:
        return
    assert reply.usage.input > 0 or isinstance(shape["usage"], dict)
