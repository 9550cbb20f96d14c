"""The fake chat completions API behaves like the services that have one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from nudge.testing import FakeOpenAI, Fault, Reply, running
from nudge.testing.openai_server import API_KEY

TOOL = {"type": "function", "function": {"name": "decide", "parameters": {"type": "object"}}}
HI = {"role": "user", "content": "hi"}
ASK: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [HI]}
CALLED = {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "decide"}}]}


@pytest.fixture
def service() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(shortest_cached=10) as fake:
        yield fake


def post(service: FakeOpenAI, **changes: Any) -> httpx2.Response:
    headers = {"authorization": f"Bearer {service.api_key}"}
    return httpx2.post(f"{service.base_url}/chat/completions", json={**ASK, **changes}, headers=headers)


def chunks(response: httpx2.Response) -> list[Any]:
    data = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    assert data[-1] == "[DONE]"
    return [json.loads(one) for one in data[:-1]]


def test_words(service: FakeOpenAI) -> None:
    service.reply("Bed?")
    said = post(service).json()
    assert said["choices"][0]["message"] == {"role": "assistant", "content": "Bed?"}
    assert said["choices"][0]["finish_reason"] == "stop"
    assert said["usage"]["total_tokens"] == said["usage"]["prompt_tokens"] + 1


def test_a_mapping_is_a_form_or_a_call_of_the_tool(service: FakeOpenAI) -> None:
    service.reply({"a": 1}, times=2)
    assert json.loads(post(service, response_format={"type": "json_schema"}).json()["choices"][0]["message"]["content"])
    message = post(service, tools=[TOOL]).json()["choices"][0]["message"]
    assert (message["content"], message["tool_calls"][0]["function"]) == (
        None,
        {"name": "decide", "arguments": '{"a": 1}'},
    )


def test_a_stream_is_the_same_in_pieces(service: FakeOpenAI) -> None:
    service.reply(Reply("Let me see then.", tools=[("decide", {"a": "b" * 10}), ("decide", {})]))
    parts = chunks(post(service, stream=True, tools=[TOOL], stream_options={"include_usage": True}))
    deltas = [part["choices"][0]["delta"] for part in parts if part["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content") or "" for delta in deltas) == "Let me see then."
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    first = "".join(call["function"]["arguments"] for call in calls if call["index"] == 0)
    assert json.loads(first) == {"a": "b" * 10}
    assert [call["id"] for call in calls if "id" in call] == ["call_000001_0", "call_000001_1"]
    assert parts[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert (parts[-1]["choices"], parts[-1]["usage"]["completion_tokens"]) == ([], 10)


def test_usage_is_streamed_only_where_it_is_asked_for(service: FakeOpenAI) -> None:
    assert not [part for part in chunks(post(service, stream=True)) if part.get("usage")]


def test_messages_that_were_sent_before_are_cached(service: FakeOpenAI) -> None:
    long = [{"role": "system", "content": "x" * 100}, HI]
    counts = [
        post(service, messages=messages).json()["usage"]["prompt_tokens_details"]["cached_tokens"]
        for messages in (long, [*long, {"role": "assistant", "content": "yes?"}, HI], [HI])
    ]
    assert counts[0] == 0
    assert counts[1] > 30
    assert counts[2] == 0


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no messages": ({"messages": []}, "at least one message"),
    "an unknown role": ({"messages": [{"role": "robot", "content": "x"}]}, "Invalid value: 'robot'"),
    "nothing said": ({"messages": [{"role": "user", "content": ""}]}, "must not be empty"),
    "a result of nothing": (
        {"messages": [HI, {"role": "tool", "tool_call_id": "a", "content": "x"}]},
        "must be a response to a preceeding message",
    ),
    "a call without a result": ({"messages": [HI, CALLED, HI]}, "did not have response messages: a"),
}


@pytest.mark.parametrize("change, words", WRONG.values(), ids=WRONG.keys())
def test_what_the_service_refuses(service: FakeOpenAI, change: dict[str, Any], words: str) -> None:
    response = post(service, **change)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


LACKS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "tools": ({"lacks": ["tools"]}, {"tools": [TOOL]}, "does not support tools"),
    "forms": ({"lacks": ["json"]}, {"response_format": {"type": "json_schema"}}, "response_format"),
    "the old limit": ({"limit": "max_completion_tokens"}, {}, "Use 'max_completion_tokens' instead"),
}


@pytest.mark.parametrize("options, change, words", LACKS.values(), ids=LACKS.keys())
def test_what_a_model_cannot_do(options: dict[str, Any], change: dict[str, Any], words: str) -> None:
    with FakeOpenAI(**options) as service:
        response = post(service, **change)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


def test_a_key_is_asked_for(service: FakeOpenAI) -> None:
    assert httpx2.post(f"{service.base_url}/chat/completions", json=ASK).status_code == 401
    assert httpx2.get(f"{service.base_url}/models").status_code == 401


def test_faults_look_like_the_real_ones(service: FakeOpenAI) -> None:
    service.fail(Fault.status_of(429, retry_after=9))
    response = post(service)
    assert (response.status_code, response.headers["retry-after"]) == (429, "9")


@pytest.mark.process
def test_a_process_of_its_own_is_driven_over_http() -> None:
    with running("nudge.testing.openai_server", "--default", "quiet") as url:
        httpx2.post(f"{url}/control/reply", json={"tools": [["decide", {"a": 1}]]})
        headers = {"authorization": f"Bearer {API_KEY}"}
        said = [httpx2.post(f"{url}/v1/chat/completions", json=ASK, headers=headers).json() for _ in range(2)]
    assert [one["choices"][0]["finish_reason"] for one in said] == ["tool_calls", "stop"]
