from __future__ import annotations

import json
from typing import Any

import pytest

from nudge.gateway.calls import Protocol, read_call
from nudge.gateway.usage import BodyReader, StreamReader, Used, used
from nudge.tokens import TokenUse

M, C, R = Protocol.MESSAGES, Protocol.CHAT, Protocol.RESPONSES
START = {
    "type": "message_start",
    "message": {
        "model": "m",
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 50,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
            "output_tokens": 1,
        },
    },
}
PIECE = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "four"}}
THOUGHT = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x" * 500}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
STOP = {"type": "message_stop"}
CHUNK = {"model": "m", "choices": [{"delta": {"content": "four"}, "finish_reason": None}]}
LAST = {"model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]}
COUNTED = {
    "model": "m",
    "choices": [],
    "usage": {
        "prompt_tokens": 110,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 4},
    },
}
DELTA = {"type": "response.output_text.delta", "delta": "four"}
COMPLETED = {
    "type": "response.completed",
    "response": {
        "id": "resp_1",
        "model": "m",
        "usage": {"input_tokens": 110, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 9},
    },
}


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)


def charged(protocol: Protocol, data: bytes, *, seconds: float = 0, step: int = 7, **fields: Any) -> Used:
    body = {"model": "m", "max_tokens": 1_000, "max_output_tokens": 1_000, "stream": True, "messages": [], **fields}
    call = read_call(protocol, json.dumps(body).encode())
    reader = StreamReader(protocol) if call.stream else BodyReader(protocol)
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
    reader.end()
    return used(reader.told, call, seconds, cut=not reader.told.finished)


@pytest.mark.parametrize(
    ("protocol", "events", "expected"),
    [
        pytest.param(M, [START, PIECE, END, STOP], Used(TokenUse(10, 7, 100, 20, 30)), id="Anthropic, to its end"),
        pytest.param(
            M,
            [START, PIECE, {**END, "usage": {"output_tokens": 0, "input_tokens": None}}, STOP],
            Used(TokenUse(10, 0, 100, 20, 30)),
            id="an explicit zero is zero, and what is not told again stays",
        ),
        pytest.param(
            M,
            [START, {**END, "usage": {"output_tokens": 7, "server_tool_use": {"web_search_requests": 2}}}, STOP],
            Used(TokenUse(10, 7, 100, 20, 30, searches=2)),
            id="searches by the service",
        ),
        pytest.param(M, [START, PIECE, PIECE], Used(TokenUse(10, 4, 100, 20, 30)), id="cut: input and what came"),
        pytest.param(M, [START, THOUGHT], Used(TokenUse(10, 1, 100, 20, 30)), id="a signature is not output"),
        pytest.param(M, [], Used(output=0), id="cut before the first word: the input at its bound"),
        pytest.param(C, [CHUNK, LAST, COUNTED], Used(TokenUse(10, 9, 100, reasoning=4)), id="chat with its usage"),
        pytest.param(C, [CHUNK, CHUNK, LAST], Used(output=4), id="chat without a usage: what came"),
        pytest.param(R, [DELTA, COMPLETED], Used(TokenUse(10, 9, 100)), id="responses"),
        pytest.param(R, [DELTA, DELTA], Used(output=4), id="responses, cut"),
        pytest.param(
            R,
            [DELTA, {**COMPLETED, "type": "response.incomplete"}],
            Used(TokenUse(10, 9, 100)),
            id="responses that reached their limit",
        ),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 100_000], ids=["byte by byte", "in pieces", "at once"])
def test_what_a_stream_is_charged(protocol: Protocol, events: list[dict[str, Any]], step: int, expected: Used) -> None:
    assert charged(protocol, sse(*events), step=step) == expected
    windows = sse(*events).replace(b"\n", b"\r\n")
    assert charged(protocol, windows, step=step) == expected


@pytest.mark.parametrize(
    ("thinking", "seconds", "output"),
    [
        pytest.param(None, 60, 2, id="nothing is hidden"),
        pytest.param({"type": "adaptive"}, 0.5, 252, id="as much as a model can think in that time"),
        pytest.param({"type": "enabled", "budget_tokens": 500}, 60, 1_000, id="at most the limit"),
    ],
)
def test_what_was_thought_unseen_is_bounded(thinking: Any, seconds: float, output: int) -> None:
    result = charged(M, sse(START, PIECE), seconds=seconds, **({"thinking": thinking} if thinking else {}))
    assert result.use is not None
    assert result.use.output == output


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"usage": {"input_tokens": 3, "output_tokens": 4}}, Used(TokenUse(3, 4)), id="a usage"),
        pytest.param({"usage": {"input_tokens": 0, "output_tokens": 0}}, Used(TokenUse()), id="explicit zeros"),
        pytest.param({"usage": None}, Used(), id="no usage: the worst case"),
        pytest.param({"usage": {"input_tokens": "many"}}, Used(), id="a usage that is none: the worst case"),
        pytest.param([], Used(output=2), id="no answer at all: what came"),
    ],
)
def test_what_a_whole_answer_is_charged(body: Any, expected: Used) -> None:
    assert charged(M, json.dumps(body).encode(), stream=False) == expected
