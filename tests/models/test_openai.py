"""What is the chat completions API's own, and how the services differ that speak it."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.errors import NotConfiguredError
from nudge.model import (
    ModelReply,
    Opaque,
    StopReason,
    StreamEvent,
    Text,
    TextDelta,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from nudge.models.openai import OpenAIModel
from nudge.models.openai.chat import ChatStream, to_body, without_thoughts
from nudge.testing import FakeOpenAI, Fault, Reply
from nudge.tokens import TokenUse
from tests.coach.outside import HastyClock
from tests.models.providers import READ, SCHEMA, events_of, question


def opened(service: FakeOpenAI, key: str = "") -> OpenAIModel:
    return OpenAIModel(key, clock=HastyClock(), base_url=service.base_url, timeout=10)


def test_a_conversation_with_tools_as_messages() -> None:
    turns = (
        user("Look."),
        assistant("Yes.", ToolUse("t1", "read_file", {"path": "ä"}), ToolUse("t2", "read_file", {}, "{")),
        user(ToolResult("t1", "print(1)"), ToolResult("t2", "no JSON", is_error=True), "Go on."),
    )
    body = to_body(question(turns=turns, tools=(READ,), system=(Text("You are a coach."), Text("Be kind."))))
    assert body["max_tokens"] == 200
    assert body["messages"] == [
        {"role": "system", "content": "You are a coach.\n\nBe kind."},
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": "Yes.",
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "ä"}'}},
                {"id": "t2", "type": "function", "function": {"name": "read_file", "arguments": "{"}},
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "print(1)"},
        {"role": "tool", "tool_call_id": "t2", "content": "Error: no JSON"},
        {"role": "user", "content": "Go on."},
    ]
    assert body["tools"][0]["function"]["parameters"] == dict(READ.schema)


def test_a_schema_is_a_response_format() -> None:
    assert to_body(question(schema=SCHEMA))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA},
    }


def test_an_image_of_its_own_shape_is_passed_on_and_thinking_of_another_provider_is_not() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    turns = (user("What is it?", Opaque(image, "openai")), assistant(Opaque({"type": "thinking"}), "A cat."))
    assert to_body(question(turns=turns, system=()))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]},
        {"role": "assistant", "content": "A cat."},
    ]


async def test_a_local_service_needs_no_key() -> None:
    with FakeOpenAI(api_key=None) as service:
        model = OpenAIModel.from_settings({"OPENAI_BASE_URL": f"{service.base_url}/"}, clock=HastyClock())
        assert (await model.complete(question())).text == "HEARTBEAT_OK"
        assert await model.check() == f"{service.base_url} answers"
        await model.close()


def test_the_public_service_needs_one() -> None:
    with pytest.raises(NotConfiguredError, match="OPENAI_API_KEY"):
        OpenAIModel.from_settings({}, clock=HastyClock())


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_the_limit_goes_by_the_name_that_the_service_knows(streamed: bool) -> None:
    with FakeOpenAI(api_key=None, limit="max_completion_tokens") as service:
        model = opened(service)
        for _ in range(2):
            await (events_of(model, question()) if streamed else model.complete(question()))
        await model.close()
    limits = [next(name for name in body if name.startswith("max")) for body in service.requests]
    assert limits == ["max_tokens", "max_completion_tokens", "max_completion_tokens"]


ERRORS: dict[str, tuple[str, str]] = {
    "vLLM, which does not nest it": (
        '{"object": "error", "message": "\\"auto\\" tool choice requires --enable-auto-tool-choice", "code": 400}',
        "auto",
    ),
    "LM Studio, which has nothing but a text": ('{"error": "Model does not support tools"}', "does not support"),
}


@pytest.mark.parametrize("body, words", ERRORS.values(), ids=ERRORS.keys())
async def test_the_words_of_an_error_are_found_in_every_shape(
    body: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    from starlette.responses import Response

    class Strange(FakeOpenAI):
        def _error(self, status: int, message: str, retry_after: float | str | None = None) -> Response:
            return Response(body, status_code=status, media_type="application/json")

    with Strange(api_key=None) as service:
        model = opened(service)
        service.fail(Fault.status_of(400))
        await model.complete(question(tools=(READ,)))
        await model.close()
    assert words in caplog.text
    assert ["tools" in request for request in service.requests] == [True, False]


THOUGHTS = {
    "<think>Late?\n</think>\n\nBed by one?": "Bed by one?",
    "\n<think></think>Bed?": "Bed?",
    "<think>It never ends": "",
    "No <think>thoughts</think> here": "No <think>thoughts</think> here",
    "<b>bold</b>": "<b>bold</b>",
}


@pytest.mark.parametrize("said, shown", THOUGHTS.items())
async def test_what_a_model_thinks_aloud_is_not_its_answer(said: str, shown: str) -> None:
    assert without_thoughts(said) == shown
    with FakeOpenAI(api_key=None) as service:
        service.reply(said)
        model = opened(service)
        events = await events_of(model, question())
        await model.close()
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == shown
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert reply.text == shown


async def test_reasoning_is_counted_and_not_shown() -> None:
    with FakeOpenAI(api_key=None) as service:
        service.reply(Reply("Bed?", thinking="It is late, I think."))
        model = opened(service)
        reply = await model.complete(question())
        await model.close()
    assert (reply.text, reply.usage.output, reply.usage.reasoning) == ("Bed?", 6, 5)


def fed(*chunks: dict[str, Any]) -> list[StreamEvent]:
    import json

    stream = ChatStream(question(tools=(READ,)))
    events = [event for chunk in chunks for event in stream.feed(json.dumps(chunk))]
    return [*events, *stream.end()]


def part(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(id_: str, path: str) -> dict[str, Any]:
    return {"index": 0, "id": id_, "function": {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}}


def test_calls_that_all_have_the_same_index_are_told_apart_by_their_ids() -> None:
    events = fed(part(tool_calls=[call("a", "1")]), part(tool_calls=[call("b", "2")]), part("tool_calls"))
    uses = [ToolUse("a", "read_file", {"path": "1"}), ToolUse("b", "read_file", {"path": "2"})]
    assert events[:2] == uses
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.tool_uses, reply.stop_reason) == (tuple(uses), StopReason.TOOL_USE)


def test_calls_without_ids_get_one_and_arguments_may_be_an_object() -> None:
    whole = {"index": 0, "function": {"name": "read_file", "arguments": {"path": "1"}}}
    events = fed(part(tool_calls=[whole]), part("stop"))
    assert events[0] == ToolUse("call_1_1", "read_file", {"path": "1"})
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert reply.stop_reason is StopReason.TOOL_USE


def test_a_refusal_is_one() -> None:
    reply = fed(part(refusal="I can't "), part(refusal="help."), part("stop"))[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.stop_reason) == ("I can't help.", StopReason.REFUSAL)


def test_a_stream_that_tells_no_usage_is_not_free() -> None:
    reply = fed(part(content="Bed by one?"), part("stop"))[-1]
    assert isinstance(reply, ModelReply)
    assert reply.usage.input > 10
    assert reply.usage.output >= 4
    assert reply.details["usage_estimated"]


def test_the_models_name_is_the_one_that_was_priced() -> None:
    told = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    reply = fed({**part("stop", content="x"), "model": "/models/file.gguf"}, told)[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.model, reply.usage) == ("claude-haiku", TokenUse(1, 1))
