"""What is Anthropic's own: the shape of a body, marks of the prompt cache, thinking that goes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from nudge.model import Opaque, ToolResult, ToolUse, assistant, cached, user
from nudge.models.anthropic import AnthropicModel
from nudge.models.anthropic.messages import to_body
from nudge.testing import FakeAnthropic, Reply
from nudge.tokens import TokenUse
from tests.coach.outside import HastyClock
from tests.models.providers import KEY, READ, SCHEMA, events_of, question


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(KEY, shortest_cached=4) as fake:
        yield fake


@pytest.fixture
async def model(service: FakeAnthropic) -> AsyncIterator[AnthropicModel]:
    adapter = AnthropicModel(KEY, clock=HastyClock(), base_url=service.url, timeout=10)
    yield adapter
    await adapter.close()


def test_plain_words_are_sent_as_plain_words() -> None:
    turns = (user("hi"), assistant("hello"), user("It is 00:40."))
    body = to_body(question(turns=turns, system=(cached("You are a coach."),)))
    assert body == {
        "model": "claude-haiku",
        "max_tokens": 200,
        "system": [{"type": "text", "text": "You are a coach.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "user", "content": "It is 00:40."},
        ],
    }


def test_tools_and_their_results_are_blocks() -> None:
    turns = (
        user("Look."),
        assistant("Yes.", ToolUse("t1", "read_file", {"path": "a"})),
        user(ToolResult("t1", "gone", is_error=True, cache=True)),
    )
    body = to_body(question(turns=turns, tools=(READ,), system=()))
    assert body["tools"] == [
        {"name": "read_file", "description": "Reads a file.", "input_schema": dict(READ.schema)},
    ]
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Yes."},
                {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": "gone",
                    "is_error": True,
                    "cache_control": {"type": "ephemeral"},
                }
            ],
        },
    ]
    assert "system" not in body


def test_a_schema_is_the_one_tool_that_must_be_used() -> None:
    body = to_body(question(schema=SCHEMA))
    assert body["tool_choice"] == {"type": "tool", "name": "answer"}
    assert [tool["input_schema"] for tool in body["tools"]] == [SCHEMA]


def test_of_too_many_marks_the_last_ones_stay() -> None:
    body = to_body(question(system=(cached("a"), cached("b")), turns=tuple(user(cached(str(n))) for n in range(4))))
    blocks = [*body["system"], *(block for message in body["messages"] for block in message["content"])]
    assert [block["text"] for block in blocks if "cache_control" in block] == ["0", "1", "2", "3"]


def test_a_block_of_another_provider_is_left_out() -> None:
    turns = (user(Opaque({"type": "image_url"}, "openai"), "What is it?"),)
    assert to_body(question(turns=turns))["messages"] == [{"role": "user", "content": "What is it?"}]


async def test_a_growing_conversation_pays_for_what_is_new(model: AnthropicModel) -> None:
    system = (cached("You are a coach. " * 20),)
    turns = (user(cached("First.")),)
    first = (await model.complete(question(system=system, turns=turns))).usage
    turns = (user("First."), assistant("Yes?"), user(cached("Second.")))
    second = (await model.complete(question(system=system, turns=turns))).usage
    assert first.input == second.input == 0
    assert second.cache_read == first.cache_write
    assert 0 < second.cache_write < first.cache_write


async def test_thinking_is_kept_and_goes_back_as_it_came(service: FakeAnthropic, model: AnthropicModel) -> None:
    request = question(tools=(READ,))
    service.reply(Reply("Hm.", tools=[("read_file", {})], thinking="It is late, I think."), times=2)
    whole = await model.complete(request)
    streamed = (await events_of(model, request))[-1]
    for reply in (whole, streamed):
        assert not isinstance(reply, TokenUse)
        thought, *_ = reply.content
        assert isinstance(thought, Opaque)
        assert (thought.type, thought.data["thinking"]) == ("thinking", "It is late, I think.")
        assert thought.data["signature"].startswith("signed")
        assert reply.text == "Hm."
        turns = (*request.turns, reply.turn, user(ToolResult(reply.tool_uses[0].id, "x")))
        await model.complete(question(tools=(READ,), turns=turns))
        assert service.requests[-1]["messages"][1]["content"][0] == dict(thought.data)


async def test_a_service_that_streams_an_input_at_once_is_understood() -> None:
    from nudge.models.anthropic.messages import MessageStream

    stream = MessageStream(question(tools=(READ,)))
    given = '{"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}'
    events = [
        event
        for data in (
            '{"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}}',
            f'{{"type": "content_block_start", "index": 0, "content_block": {given}}}',
            '{"type": "content_block_stop", "index": 0}',
            '{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}',
            '{"type": "message_stop"}',
        )
        for event in stream.feed(data)
    ]
    assert events[:3] == [TokenUse(3, 1), TokenUse(3, 9), ToolUse("t", "read_file", {"path": "a"})]
