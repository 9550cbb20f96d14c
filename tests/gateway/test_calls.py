from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.gateway.calls import LEAST_ANSWER, MOST_ANSWER, BadCallError, ModelCall, Protocol, read_call
from nudge.spending.prices import Caching

M, C, R = Protocol.MESSAGES, Protocol.CHAT, Protocol.RESPONSES


def call(protocol: Protocol = M, **fields: Any) -> ModelCall:
    body = {"model": "m", **({"max_tokens": 32_000} if protocol is M else {}), "messages": [], **fields}
    return read_call(protocol, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("protocol", "body", "limit", "sent"),
    [
        pytest.param(
            M,
            '{ "model":"m","max_tokens" : 32000 , "messages":[{"role":"user","content":"\\"max_tokens\\":9 \\u00e4"}]}',
            100,
            '{ "model":"m","max_tokens" : 100 , "messages":[{"role":"user","content":"\\"max_tokens\\":9 \\u00e4"}]}',
            id="only the number changes, whatever stands around it",
        ),
        pytest.param(
            M,
            '{"metadata": {"max_tokens": 5}, "model": "m", "max_tokens": 90, "messages": []}',
            70,
            '{"metadata": {"max_tokens": 5}, "model": "m", "max_tokens": 70, "messages": []}',
            id="a field of the same name inside another is left alone",
        ),
        pytest.param(
            C,
            '{"model": "m", "max_tokens": 50, "max_completion_tokens": 900, "messages": []}',
            100,
            '{"model": "m", "max_tokens": 50, "max_completion_tokens": 100, "messages": []}',
            id="of two limits the one that is too high",
        ),
        pytest.param(
            C,
            '{"model": "m", "n": 4, "max_tokens": 900, "messages": []}',
            1_000,
            '{"model": "m", "n": 4, "max_tokens": 250, "messages": []}',
            id="several choices share the limit",
        ),
        pytest.param(
            R,
            '{"model": "m", "input": "hi"}',
            100,
            '{"max_output_tokens": 100, "model": "m", "input": "hi"}',
            id="a limit is added where there is none",
        ),
        pytest.param(
            R,
            '{"model": "m", "input": "hi"}',
            MOST_ANSWER,
            '{"model": "m", "input": "hi"}',
            id="none is added if the longest answer fits",
        ),
        pytest.param(
            R,
            '{"model": "m", "max_output_tokens": null, "input": "hi"}',
            MOST_ANSWER,
            '{"model": "m", "max_output_tokens": null, "input": "hi"}',
            id="null is no limit",
        ),
    ],
)
def test_only_the_limit_is_edited(protocol: Protocol, body: str, limit: int, sent: str) -> None:
    assert read_call(protocol, body.encode()).limited(limit).decode() == sent


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text().filter(lambda name: name not in ("model", "max_tokens", "stream")), values))
def test_every_body_stays_as_it_is_but_for_the_limit(fields: dict[str, Any]) -> None:
    body = {**fields, "model": "m", "max_tokens": 5_000}
    text = json.dumps(body, ensure_ascii=True)
    read = read_call(M, text.encode())
    assert read.limited(5_000).decode() == text
    assert json.loads(read.limited(77)) == {**body, "max_tokens": 77}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"model": "m", "max_tokens": 9', id="a cut object"),
        pytest.param(b'{"model": "m", "max_tokens": 9} {}', id="two objects"),
        pytest.param(b'{"model": "m", "max_tokens": 9, "max_tokens": 99999}', id="a limit twice"),
        pytest.param(b'{"model": "m", "max_tokens": 9, "max_\\u0074okens": 99999}', id="a limit twice, once escaped"),
        pytest.param(b'{"model": "m", "max_tokens": "9"}', id="a limit in words"),
        pytest.param(b'{"model": "m", "max_tokens": 9.5}', id="half a token"),
        pytest.param(b'{"model": "m", "max_tokens": 0}', id="no tokens"),
        pytest.param(b'{"model": "m", "max_tokens": -1}', id="fewer than no tokens"),
        pytest.param(b'{"model": "m", "max_tokens": true}', id="yes"),
        pytest.param(b'{"model": "m"}', id="no limit where one is needed"),
        pytest.param(b'{"max_tokens": 9}', id="no model"),
        pytest.param(b'{"model": ["m"], "max_tokens": 9}', id="a list of models"),
        pytest.param(b'{"model": "m", "max_tokens": 9, "stream": "yes"}', id="a stream in words"),
        pytest.param(b'{"model": "m", "max_tokens": 9, "x": ' + b"[" * 100_000 + b"}", id="too deep"),
        pytest.param(b'{"model": "m", "max_tokens": ' + b"9" * 5_000 + b"}", id="a limit of 5,000 digits"),
        pytest.param('{"model": "m", "max_tokens": 9}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'\xef\xbb\xbf{"model": "m", "max_tokens": 9}', id="a byte order mark"),
        pytest.param(b'{"model": "m\xff", "max_tokens": 9}', id="broken UTF-8"),
    ],
)
def test_what_could_mean_two_things_is_refused(body: bytes) -> None:
    with pytest.raises(BadCallError):
        read_call(M, body)


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        pytest.param({}, LEAST_ANSWER, id="a useful answer"),
        pytest.param({"max_tokens": 300}, 300, id="a short one is not clamped at all"),
        pytest.param(
            {"thinking": {"type": "enabled", "budget_tokens": 10_000}}, 10_000 + LEAST_ANSWER, id="and thinking"
        ),
        pytest.param(
            {"thinking": {"type": "enabled", "budget_tokens": 31_999}}, 32_000, id="at most what was asked for"
        ),
    ],
)
def test_an_answer_is_never_clamped_below(fields: dict[str, Any], least: int) -> None:
    assert call(**fields).least_tokens == least


@pytest.mark.parametrize(
    ("protocol", "fields", "caching"),
    [
        pytest.param(M, {}, Caching.NONE, id="no mark, no writes"),
        pytest.param(M, {"system": [{"cache_control": {"type": "ephemeral"}}]}, Caching.SHORT, id="five minutes"),
        pytest.param(M, {"system": [{"cache_control": {"ttl": "1h"}}]}, Caching.LONG, id="an hour"),
        pytest.param(C, {}, Caching.SHORT, id="OpenAI writes by itself"),
    ],
)
def test_caching_is_read_from_the_marks(protocol: Protocol, fields: dict[str, Any], caching: Caching) -> None:
    assert call(protocol, **fields).caching is caching


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 900_000}}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}


@pytest.mark.parametrize(
    ("fields", "least", "most"),
    [
        pytest.param({"messages": [{"role": "user", "content": "word " * 1_000}]}, 1_000, 3_000, id="text"),
        pytest.param({"messages": [{"role": "user", "content": [IMAGE]}]}, 5_000, 5_200, id="an image by what it is"),
        pytest.param({"tools": [SEARCH]}, 30_000, 31_500, id="what searches bring"),
        pytest.param({"conversation": "conv_1"}, 400_000, 401_000, id="a conversation that the service keeps"),
    ],
)
def test_the_input_is_bounded(fields: dict[str, Any], least: int, most: int) -> None:
    assert least <= call(**fields).input_bound <= most


@pytest.mark.parametrize(
    ("protocol", "fields", "opens"),
    [
        pytest.param(M, {"messages": [{"role": "user", "content": "hi"}]}, True, id="a first question"),
        pytest.param(M, {"messages": [{"role": "user"}, {"role": "assistant"}]}, False, id="after an answer"),
        pytest.param(R, {"messages": None, "input": [{"type": "function_call_output"}]}, False, id="after a tool call"),
        pytest.param(R, {"previous_response_id": "resp_1"}, False, id="after a response that is kept"),
    ],
)
def test_a_conversation_opens_without_an_answer(protocol: Protocol, fields: dict[str, Any], opens: bool) -> None:
    body = {name: value for name, value in {"model": "m", "max_tokens": 9, **fields}.items() if value is not None}
    assert read_call(protocol, json.dumps(body).encode()).opens is opens
