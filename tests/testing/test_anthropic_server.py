"""The fake Messages API behaves like the service, seen through the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from nudge.testing.anthropic_server import API_KEY, FakeAnthropic
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.loopback import running
from nudge.testing.model_server import Reply
from nudge.tls import tls_context

TOOL = {"name": "decide", "input_schema": {"type": "object"}}
USER = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "t1", "name": "decide", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
ASK: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(shortest_cached=10) as fake:
        yield fake


@pytest.fixture
async def client(service: FakeAnthropic) -> AsyncIterator[anthropic.AsyncAnthropic]:
    http = httpx2.AsyncClient(verify=tls_context())
    async with anthropic.AsyncAnthropic(
        api_key=API_KEY, base_url=service.url, max_retries=0, http_client=http, open_telemetry=False
    ) as sdk:
        yield sdk


async def test_without_a_script_it_gives_its_default(client: anthropic.AsyncAnthropic) -> None:
    message = await client.messages.create(**ASK)
    assert [block.text for block in message.content if block.type == "text"] == ["HEARTBEAT_OK"]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 3)


async def test_a_function_can_answer() -> None:
    def answer(body: dict[str, Any]) -> str:
        return body["messages"][-1]["content"].upper()

    with FakeAnthropic(answer=answer) as service:
        async with anthropic.AsyncAnthropic(api_key=API_KEY, base_url=service.url) as client:
            message = await client.messages.create(**ASK)
    assert message.content[0].type == "text"
    assert message.content[0].text == "HI"


async def test_the_script_is_played_in_order(service: FakeAnthropic, client: anthropic.AsyncAnthropic) -> None:
    service.reply("one")
    service.reply("two", times=2)
    said = [(await client.messages.create(**ASK)).content[0].to_dict()["text"] for _ in range(4)]
    assert said == ["one", "two", "two", "HEARTBEAT_OK"]


async def test_text_is_streamed(service: FakeAnthropic, client: anthropic.AsyncAnthropic) -> None:
    service.reply("Time for bed, gently.")
    pieces = []
    async with client.messages.stream(**ASK) as stream:
        async for piece in stream.text_stream:
            pieces.append(piece)
        final = await stream.get_final_message()
    assert "".join(pieces) == "Time for bed, gently."
    assert len(pieces) == 3
    assert (final.stop_reason, final.usage.output_tokens) == ("end_turn", 6)


async def test_a_tool_call_is_streamed(service: FakeAnthropic, client: anthropic.AsyncAnthropic) -> None:
    service.reply({"action": "message", "message": "Bed?"})
    async with client.messages.stream(**ASK, tools=[TOOL]) as stream:
        final = await stream.get_final_message()
    assert final.stop_reason == "tool_use"
    assert final.content[0].type == "tool_use"
    assert (final.content[0].name, final.content[0].input) == ("decide", {"action": "message", "message": "Bed?"})


async def test_words_thoughts_and_several_tools_are_streamed_in_order(
    service: FakeAnthropic, client: anthropic.AsyncAnthropic
) -> None:
    wanted = [("decide", {"a": "b" * 20}), ("decide", {})]
    service.reply(Reply("Let me see.", tools=wanted, thinking="It is late."))
    kinds = []
    async with client.messages.stream(**ASK, tools=[TOOL]) as stream:
        async for event in stream:
            kinds.append(event.type)
        final = await stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [(block.name, block.input) for block in final.content if block.type == "tool_use"] == wanted
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]


async def test_a_tool_use_and_its_result_are_taken(client: anthropic.AsyncAnthropic) -> None:
    turns: Any = [USER, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT]}]
    message = await client.messages.create(**{**ASK, "messages": turns}, tools=[TOOL])
    assert message.stop_reason == "end_turn"


async def test_of_a_longer_conversation_the_old_part_is_read_and_the_new_part_written(
    client: anthropic.AsyncAnthropic,
) -> None:
    mark: Any = {"cache_control": {"type": "ephemeral"}}
    first: Any = [{"role": "user", "content": [{"type": "text", "text": "a" * 100, **mark}]}]
    second: Any = [
        {"role": "user", "content": "a" * 100},
        {"role": "assistant", "content": "b" * 20},
        {"role": "user", "content": [{"type": "text", "text": "c" * 20, **mark}]},
    ]
    one = (await client.messages.create(**{**ASK, "messages": first})).usage
    two = (await client.messages.create(**{**ASK, "messages": second})).usage
    assert (one.cache_read_input_tokens, one.cache_creation_input_tokens, one.input_tokens) == (0, 32, 0)
    assert two.cache_read_input_tokens == 32
    assert 0 < (two.cache_creation_input_tokens or 0) < 32
    assert two.input_tokens == 0


async def test_a_model_may_know_no_tools() -> None:
    with FakeAnthropic(lacks=["tools"]) as service:
        async with anthropic.AsyncAnthropic(api_key=API_KEY, base_url=service.url, max_retries=0) as client:
            with pytest.raises(anthropic.BadRequestError, match="does not support tools"):
                await client.messages.create(**ASK, tools=[TOOL])


async def test_a_long_answer_is_cut_at_max_tokens(service: FakeAnthropic, client: anthropic.AsyncAnthropic) -> None:
    service.reply("x" * 100)
    message = await client.messages.create(**{**ASK, "max_tokens": 5})
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 5)


async def test_what_is_too_short_is_not_cached(client: anthropic.AsyncAnthropic) -> None:
    short: Any = [{"type": "text", "text": "short", "cache_control": {"type": "ephemeral"}}]
    for _ in range(2):
        usage = (await client.messages.create(**ASK, system=short)).usage
        assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)


async def test_a_changed_prefix_is_written_anew(client: anthropic.AsyncAnthropic) -> None:
    counts = []
    for words in ("a" * 40, "a" * 40, "b" * 40):
        system: Any = [{"type": "text", "text": words, "cache_control": {"type": "ephemeral"}}]
        usage = (await client.messages.create(**ASK, system=system)).usage
        counts.append((usage.cache_creation_input_tokens, usage.cache_read_input_tokens))
    assert counts == [(10, 0), (0, 10), (10, 0)]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no messages": ({"messages": []}, "at least one message"),
    "an empty text": ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
    "an unknown role": ({"messages": [{"role": "system", "content": "x"}]}, "role"),
    "the assistant first": ({"messages": [{"role": "assistant", "content": "x"}]}, "user"),
    "no tokens": ({"max_tokens": 0}, "max_tokens"),
    "no model": ({"model": None}, "model"),
    "a tool that is not there": ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "x"}}, "not in the list"),
    "a choice of nothing": ({"tool_choice": {"type": "any"}}, "while providing tools"),
    "two tools of one name": ({"tools": [TOOL, TOOL]}, "unique"),
    "a result of nothing": ({"messages": [USER, {"role": "user", "content": [RESULT]}]}, "unexpected `tool_use_id`"),
    "a use without a result": (
        {"messages": [USER, {"role": "assistant", "content": [USE]}, USER]},
        "without `tool_res",
    ),
    "five marks": ({"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}, "of 4"),
}


@pytest.mark.parametrize("change, words", WRONG.values(), ids=WRONG.keys())
async def test_what_the_service_refuses(client: anthropic.AsyncAnthropic, change: dict[str, Any], words: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=words):
        await client.messages.create(**{**ASK, **change})


FAULTS = {
    "429": (Fault.status_of(429, retry_after=9), anthropic.RateLimitError),
    "500": (Fault.status_of(500), anthropic.InternalServerError),
    "529": (Fault.status_of(529), anthropic.InternalServerError),
    "dropped": (Fault(FaultKind.DROP), anthropic.APIConnectionError),
    "truncated": (Fault(FaultKind.TRUNCATE), anthropic.APIConnectionError),
}


@pytest.mark.parametrize("fault, kind", FAULTS.values(), ids=FAULTS.keys())
async def test_faults_look_like_the_real_ones(
    service: FakeAnthropic, client: anthropic.AsyncAnthropic, fault: Fault, kind: type[Exception]
) -> None:
    service.fail(fault)
    with pytest.raises(kind) as caught:
        await client.messages.create(**ASK)
    response = getattr(caught.value, "response", None)
    assert (response.headers.get("retry-after") if response is not None else None) == (
        "9" if fault.status == 429 else None
    )


async def test_a_key_and_a_version_are_asked_for(service: FakeAnthropic) -> None:
    async with httpx2.AsyncClient(base_url=service.url, verify=tls_context()) as http:
        assert (await http.post("/v1/messages", json=ASK)).status_code == 401
        missing = await http.post("/v1/messages", json=ASK, headers={"x-api-key": API_KEY})
        broken = await http.post("/v1/messages", content=b"{")
    assert (missing.status_code, broken.status_code) == (400, 400)
    assert len(service.wait_for_requests(2)) == 2


async def test_a_reply_can_carry_words_and_a_call(service: FakeAnthropic, client: anthropic.AsyncAnthropic) -> None:
    service.reply(Reply("Let me see.", {"a": 1}))
    message = await client.messages.create(**ASK, tools=[TOOL])
    assert [block.type for block in message.content] == ["text", "tool_use"]


@pytest.mark.process
def test_a_process_of_its_own_is_driven_over_http() -> None:
    with (
        running("nudge.testing.anthropic_server", "--default", "quiet") as url,
        httpx2.Client(base_url=url, timeout=30) as http,
    ):
        headers = {"x-api-key": API_KEY, "anthropic-version": "2023-06-01"}
        http.post("/control/reply", json={"text": "scripted"})
        http.post("/control/reply", json={"data": {"action": "x"}})
        http.post("/control/fault", json={"kind": "status", "status": 529, "after": 2})
        said = [http.post("/v1/messages", json=ASK, headers=headers) for _ in range(4)]
        assert [response.status_code for response in said] == [200, 200, 529, 200]
        assert [response.json()["content"][0].get("text") for response in (said[0], said[1], said[3])] == [
            "scripted",
            None,
            "quiet",
        ]
        assert len(http.get("/control/requests", params={"at_least": 4}).json()["requests"]) == 4
        http.post("/control/reset")
        assert http.get("/control/requests").json() == {"requests": []}
