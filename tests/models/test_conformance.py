"""What every provider does, against its fake service, over real sockets and without waiting."""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from email.utils import format_datetime
from typing import Any

import pytest

from nudge.errors import ModelUnavailableError, NotConfiguredError, NudgeError, QuestionRefusedError
from nudge.instants import SECOND, Instant, to_datetime
from nudge.model import (
    ModelReply,
    OneTool,
    StopReason,
    TextDelta,
    ToolChoice,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from nudge.models import MODELS
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.model_server import Reply
from nudge.tokens import TokenUse
from tests.coach.outside import HastyClock, everything_said
from tests.models.providers import (
    KEY,
    PROVIDERS,
    READ,
    SCHEMA,
    WRITE,
    Provider,
    World,
    calls,
    events_of,
    question,
    replies_of,
    uses,
)


def test_every_provider_is_here() -> None:
    assert [provider.name for provider in PROVIDERS] == list(MODELS)


# Words


async def test_words_and_usage_come_back_in_both_ways(world: World) -> None:
    for reply in await replies_of(world, question(), "Bed by one?"):
        assert (reply.text, reply.model, reply.stop_reason, reply.data) == (
            "Bed by one?",
            "claude-haiku",
            StopReason.END_TURN,
            None,
        )
        assert reply.usage.output == 3
        assert reply.usage.prompt > 0
        assert (reply.details["attempts"], "usage_estimated" in reply.details) == (1, False)


async def test_a_stream_gives_words_as_they_come_then_the_usage_then_the_reply(world: World) -> None:
    world.service.reply("Bed by one? Or is it two?")
    events = await events_of(world.model, question())
    words = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(words) > 1
    assert "".join(words) == "Bed by one? Or is it two?"
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert [event for event in events if isinstance(event, TokenUse)][-1] == reply.usage


async def test_turns_that_the_service_would_refuse_are_left_out(world: World) -> None:
    turns = (assistant("the rest of a cut conversation"), user(ToolResult("t0", "of it")), user("  "), user("a\ud83d"))
    await world.model.complete(question(system=(), turns=turns))
    [body] = world.service.requests
    assert body["messages"] == [{"role": "user", "content": "a?"}]


async def test_a_long_answer_is_cut_at_max_tokens(world: World) -> None:
    for reply in await replies_of(world, question(max_tokens=5), "x" * 100):
        assert (reply.text, reply.stop_reason) == ("x" * 20, StopReason.MAX_TOKENS)


async def test_what_was_sent_before_is_read_from_the_cache(world: World) -> None:
    request = question(turns=(user("A long story."), assistant("Go on."), user("It ends.")))
    marked = replace(request, turns=(*request.turns[:2], user(replace(request.turns[2].content[0], cache=True))))
    first, second = await world.model.complete(marked), await world.model.complete(marked)
    assert first.usage.cache_read == 0
    assert second.usage.cache_read > 4
    assert first.usage.prompt == second.usage.prompt


async def test_a_reason_to_stop_that_nobody_knows_is_kept_as_text(world: World) -> None:
    for reply in await replies_of(world, question(), Reply("Hm.", stop_reason="bored")):
        assert (reply.stop_reason, reply.stop_text) == (StopReason.OTHER, "bored")


# Tools


async def test_a_tool_use_comes_back_and_its_result_goes_with_the_next_question(world: World) -> None:
    request = question(tools=(READ, WRITE))
    world.service.reply(Reply("Let me see.", tools=[("read_file", {"path": "a.py"})]))
    reply = await world.model.complete(request)
    assert (reply.text, reply.stop_reason) == ("Let me see.", StopReason.TOOL_USE)
    [use] = reply.tool_uses
    assert (use.name, use.input, use.malformed) == ("read_file", {"path": "a.py"}, "")
    turns = (*request.turns, reply.turn, user(ToolResult(use.id, "print(1)"), "Go on."))
    again = await world.model.complete(replace(request, turns=turns))
    assert again.text == "HEARTBEAT_OK"


async def test_several_tools_at_once_each_get_a_result(world: World) -> None:
    request = question(tools=(READ, WRITE))
    wanted = [("read_file", {"path": "a"}), ("read_file", {"path": "b"}), ("write_file", {"path": "é", "n": [1]})]
    for reply in await replies_of(world, request, Reply(tools=wanted)):
        assert calls(reply) == wanted
        assert len({use.id for use in reply.tool_uses}) == 3
        results = user(*(ToolResult(use.id, "no", is_error=True) for use in reply.tool_uses))
        await world.model.complete(replace(request, turns=(*request.turns, reply.turn, results)))


async def test_a_stream_gives_each_tool_use_once_it_is_complete(world: World) -> None:
    wanted = [("read_file", {"path": "a" * 50}), ("write_file", {})]
    world.service.reply(Reply("Two.", tools=wanted))
    events = await events_of(world.model, question(tools=(READ, WRITE)))
    assert [(use.name, use.input) for use in uses(events)] == wanted
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.tool_uses, reply.stop_reason, reply.text) == (tuple(uses(events)), StopReason.TOOL_USE, "Two.")


async def test_an_input_that_is_no_json_object_is_kept_as_it_was_written(world: World) -> None:
    world.service.reply(Reply(tools=[("read_file", '{"path": '), ("read_file", {"path": "b"})]))
    events = await events_of(world.model, question(tools=(READ,)))
    broken, whole = uses(events)
    assert (broken.input, broken.malformed) == ({}, '{"path": ')
    assert whole.input == {"path": "b"}
    # … and can be sent back with an error
    turns = (*question().turns, assistant(*uses(events)), user(*(ToolResult(use.id, "x") for use in uses(events))))
    await world.model.complete(question(tools=(READ,), turns=turns))


async def test_a_tool_use_that_was_cut_at_the_limit_is_left_out(world: World) -> None:
    cut = Reply(tools=[("read_file", {"path": "a"}), ("write_file", '{"text": "half of')], stop_reason="max_tokens")
    if world.provider.name == "openai":
        cut = replace(cut, stop_reason="length")
    world.service.reply(cut)
    events = await events_of(world.model, question(tools=(READ, WRITE)))
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert reply.stop_reason is StopReason.MAX_TOKENS
    assert calls(reply) == [("read_file", {"path": "a"})]
    assert tuple(uses(events)) == reply.tool_uses


CHOICES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "as it likes": (ToolChoice.AUTO, {}, {}),
    "any": (ToolChoice.ANY, {"tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
    "none": (ToolChoice.NONE, {"tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
    "one": (
        OneTool("write_file"),
        {"tool_choice": {"type": "tool", "name": "write_file"}},
        {"tool_choice": "required"},
    ),
}


@pytest.mark.parametrize("choice, anthropic, openai", CHOICES.values(), ids=CHOICES.keys())
async def test_the_choice_of_tools(
    world: World, choice: Any, anthropic: dict[str, Any], openai: dict[str, Any]
) -> None:
    await world.model.complete(question(tools=(READ, WRITE), tool_choice=choice))
    [body] = world.service.requests
    said = {name: value for name, value in body.items() if name == "tool_choice"}
    assert said == (anthropic if world.provider.name == "anthropic" else openai)


# A form


async def test_a_schema_gives_data(world: World) -> None:
    for reply in await replies_of(world, question(schema=SCHEMA), {"action": "heartbeat_ok"}):
        assert (reply.data, reply.stop_reason, reply.tool_uses) == (
            {"action": "heartbeat_ok"},
            StopReason.END_TURN,
            (),
        )


async def test_the_words_of_a_form_are_not_streamed(world: World) -> None:
    world.service.reply({"action": "heartbeat_ok"})
    events = await events_of(world.model, question(schema=SCHEMA))
    assert {type(event) for event in events} == {TokenUse, ModelReply}


DATA: dict[str, tuple[Reply, dict[str, Any] | None]] = {
    "an object in text": (Reply('{"action": "message"}'), {"action": "message"}),
    "prose": (Reply("I think so."), None),
    "an object with words after it": (Reply('{"action": "message"} ok?'), None),
    "a list": (Reply("[1]"), None),
    "a number that is none": (Reply('{"a": NaN}'), None),
    "nothing": (Reply(""), None),
}


@pytest.mark.parametrize("answer, data", DATA.values(), ids=DATA.keys())
async def test_data_is_one_well_formed_object_or_nothing(
    world: World, answer: Reply, data: dict[str, Any] | None
) -> None:
    for reply in await replies_of(world, question(schema=SCHEMA), answer):
        assert reply.data == data


async def test_an_object_cut_at_the_limit_is_none(world: World) -> None:
    stop = {"anthropic": "max_tokens", "openai": "length"}[world.provider.name]
    for reply in await replies_of(world, question(schema=SCHEMA), Reply(data={"action": "mess"}, stop_reason=stop)):
        assert (reply.data, reply.stop_reason) == (None, StopReason.MAX_TOKENS)


async def test_without_a_schema_an_object_in_text_is_just_text(world: World) -> None:
    for reply in await replies_of(world, question(), '{"action": "message"}'):
        assert (reply.data, reply.text) == (None, '{"action": "message"}')


# Models that cannot


@pytest.fixture
def limited(world: World) -> World:
    """A service whose model knows neither tools nor forms."""
    world.service.lacks = frozenset({"tools", "json"})
    return world


async def test_a_model_without_tools_is_asked_in_words(limited: World, caplog: pytest.LogCaptureFixture) -> None:
    call = '{"tool_calls": [{"name": "read_file", "input": {"path": "a.py"}}]}'
    request = question(tools=(READ,))
    for reply in await replies_of(limited, request, call):
        assert (calls(reply), reply.stop_reason, reply.text) == (
            [("read_file", {"path": "a.py"})],
            StopReason.TOOL_USE,
            "",
        )
    refused, *asked = limited.service.requests
    assert "tools" in refused
    assert len(asked) == 2  # the second time it is known
    assert all("tools" not in body for body in asked)
    assert "does not support tools" in caplog.text
    turns = (*request.turns, reply.turn, user(ToolResult(reply.tool_uses[0].id, "print(1)")))
    limited.service.reply("It prints 1.")
    assert (await limited.model.complete(replace(request, turns=turns))).text == "It prints 1."
    assert "Result of read_file:\nprint(1)" in str(limited.service.requests[-1]["messages"][-1]["content"])


async def test_words_of_a_model_without_tools_are_streamed_and_calls_are_not(limited: World) -> None:
    limited.service.reply("No tool needed here.")
    events = await events_of(limited.model, question(tools=(READ,)))
    assert len([event for event in events if isinstance(event, TextDelta)]) > 1
    limited.service.reply('{"tool_calls": [{"name": "read_file", "input": {}}]}')
    events = await events_of(limited.model, question(tools=(READ,)))
    assert [type(event) for event in events if not isinstance(event, TokenUse)] == [ToolUse, ModelReply]
    limited.service.reply('{"not": "a call"}')
    events = await events_of(limited.model, question(tools=(READ,)))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == '{"not": "a call"}'


async def test_a_model_without_forms_is_asked_for_json(limited: World) -> None:
    for reply in await replies_of(limited, question(schema=SCHEMA), '```json\n{"action": "ok"}\n```'):
        assert reply.data == {"action": "ok"}
    limited.service.reply("I would say ok.")
    assert (await limited.model.complete(question(schema=SCHEMA))).data is None
    assert "JSON schema" in str(limited.service.requests[-1])


async def test_what_one_model_cannot_another_may(limited: World) -> None:
    await limited.model.complete(question(tools=(READ,)))
    limited.service.lacks = frozenset()
    await limited.model.complete(question(tools=(READ,), model="another"))
    assert ["tools" in body for body in limited.service.requests] == [True, False, True]


# What goes wrong

RETRIES: dict[str, tuple[list[Fault], list[float]]] = {
    "one 500": ([Fault.status_of(500)], [5]),
    "a 500, a 529 and a 503": ([Fault.status_of(500), Fault.status_of(529), Fault.status_of(503)], [5, 15, 45]),
    "a 500 that names a time keeps to the table": ([Fault.status_of(500, retry_after=1)], [5]),
    "a 429 with seconds": ([Fault.status_of(429, retry_after=7)], [7]),
    "a 429 with exactly the longest wait": ([Fault.status_of(429, retry_after=60)], [60]),
    "a 429 that says now, and gets a second": ([Fault.status_of(429, retry_after=0)], [1]),
    "a 429 without a time": ([Fault.status_of(429)], [5]),
    "a 429 with nonsense": ([Fault.status_of(429, retry_after="soon")], [5]),
    "a 408": ([Fault.status_of(408)], [10]),
    "each kind has a row of its own": (
        [Fault.status_of(500), Fault.status_of(408), Fault.status_of(429, retry_after=3), Fault.status_of(502)],
        [5, 10, 3, 15],
    ),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("faults, waits", RETRIES.values(), ids=RETRIES.keys())
async def test_it_waits_as_the_table_says_and_then_succeeds(
    world: World, faults: list[Fault], waits: list[float], streamed: bool
) -> None:
    for fault in faults:
        world.service.fail(fault)
    world.service.reply("there")
    reply = (await events_of(world.model, question()))[-1] if streamed else await world.model.complete(question())
    assert isinstance(reply, ModelReply)
    assert (reply.text, world.clock.slept, reply.details["attempts"]) == ("there", waits, len(faults) + 1)


SURRENDERS: dict[str, tuple[Fault, int, list[float], float | None]] = {
    "5xx after three retries": (Fault.status_of(500), 4, [5, 15, 45], None),
    "overloaded after three retries": (Fault.status_of(529), 4, [5, 15, 45], None),
    "429 after three retries": (Fault.status_of(429, retry_after=2), 4, [2, 2, 2], 2),
    "429 beyond the longest wait, at once": (Fault.status_of(429, retry_after=61), 1, [], 61),
    "429 for two hours, at once": (Fault.status_of(429, retry_after=7200), 1, [], 7200),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault, asked, waits, retry_after", SURRENDERS.values(), ids=SURRENDERS.keys())
async def test_then_it_gives_up(
    world: World, fault: Fault, asked: int, waits: list[float], retry_after: float | None, streamed: bool
) -> None:
    world.service.fail(fault, times=10)
    with pytest.raises(ModelUnavailableError) as caught:
        await (events_of(world.model, question()) if streamed else world.model.complete(question()))
    assert (len(world.service.requests), world.clock.slept, caught.value.retry_after) == (asked, waits, retry_after)
    assert (caught.value.unbilled, world.service.bill) == (True, [])
    assert KEY not in everything_said(caught.value)


MAY_BE_BILLED = {
    "a dropped connection": Fault(FaultKind.DROP),
    "an answer cut in the middle": Fault(FaultKind.TRUNCATE),
    "broken JSON": Fault(FaultKind.BROKEN_JSON),
    "a time-out": Fault(FaultKind.HANG),
    "a 502 that is not the service's own": Fault(FaultKind.PAGE, status=502),
    "a 504 that is not the service's own": Fault(FaultKind.PAGE, status=504),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", MAY_BE_BILLED.values(), ids=MAY_BE_BILLED.keys())
async def test_what_may_have_been_billed_is_told_and_not_tried_again(
    world: World, fault: Fault, streamed: bool
) -> None:
    world.service.fail(fault, times=10)
    model = world.open(timeout=0.5)
    with pytest.raises(ModelUnavailableError) as caught:
        await (events_of(model, question()) if streamed else model.complete(question()))
    assert (caught.value.unbilled, len(world.service.bill), world.clock.slept) == (False, 1, [])
    assert KEY not in everything_said(caught.value)


@pytest.mark.parametrize("pieces", [0, 1])
@pytest.mark.parametrize("kind", [FaultKind.GIVE_UP, FaultKind.CUT])
async def test_a_stream_that_breaks_raises(world: World, kind: FaultKind, pieces: int) -> None:
    world.service.fail(Fault(kind, status=529, pieces=pieces))
    world.service.reply("Bed by one, I said.")
    seen = []
    with pytest.raises(ModelUnavailableError) as caught:
        async for event in world.model.stream(question()):
            seen.append(event)
    assert [event.text for event in seen if isinstance(event, TextDelta)] == ["Bed by o"][:pieces]
    assert (world.clock.slept, len(world.service.bill), caught.value.unbilled) == ([], 1, False)
    assert KEY not in everything_said(caught.value)


async def test_a_stream_can_be_left_early(world: World) -> None:
    world.service.reply("Bed by one, I said. " * 100)
    async with aclosing(world.model.stream(question(max_tokens=2_000))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert (await world.model.complete(question())).text == "HEARTBEAT_OK"


async def test_an_http_date_is_understood(world: World) -> None:
    later = to_datetime(Instant(world.clock.now() + 30 * SECOND))
    world.service.fail(Fault.status_of(429, retry_after=format_datetime(later, usegmt=True)))
    await world.model.complete(question())
    assert world.clock.slept == [30]


async def test_nobody_at_the_other_end(world: World) -> None:
    model = world.open()
    world.service.stop()
    with pytest.raises(ModelUnavailableError, match="connection") as caught:
        await model.complete(question())
    assert (world.clock.slept, caught.value.unbilled) == ([10], True)


REFUSALS: dict[str, tuple[Fault, type[NudgeError], str]] = {
    "401": (Fault.status_of(401), NotConfiguredError, "_API_KEY"),
    "403": (Fault.status_of(403), NotConfiguredError, "_API_KEY"),
    "404": (Fault.status_of(404, message="model: claude-x"), NotConfiguredError, "claude-x"),
    "400": (Fault.status_of(400, message="prompt is too long"), QuestionRefusedError, "prompt is too long"),
    "413": (Fault.status_of(413), QuestionRefusedError, "rejected this request"),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault, kind, words", REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_will_not_get_better_is_not_tried_again(
    world: World, fault: Fault, kind: type[NudgeError], words: str, streamed: bool
) -> None:
    world.service.fail(fault)
    with pytest.raises(NudgeError, match=words) as caught:
        await (events_of(world.model, question()) if streamed else world.model.complete(question()))
    assert type(caught.value) is kind
    assert world.clock.slept == []


# Keys


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_message_of_the_service_that_quotes_the_key_does_not_pass_it_on(world: World, streamed: bool) -> None:
    world.service.fail(Fault.status_of(400, message=f"the key {KEY} is odd"))
    with pytest.raises(NudgeError) as caught:
        await (events_of(world.model, question()) if streamed else world.model.complete(question()))
    assert KEY not in everything_said(caught.value)


async def test_the_key_is_in_no_log_at_any_level(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world.service.fail(Fault(FaultKind.DROP))
    with pytest.raises(ModelUnavailableError):
        await world.model.complete(question())
    await world.model.complete(question())
    await events_of(world.model, question())
    assert "HTTP Request: POST" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(world.model)


@pytest.mark.parametrize("key", ["", "sk ant", "sk-ant\n", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_being_shown(provider: Provider, key: str) -> None:
    with pytest.raises(NotConfiguredError, match=provider.key_name) as caught:
        provider.model(key, clock=HastyClock())
    assert not key or key not in str(caught.value)


async def test_the_service_can_be_checked_without_a_question(world: World) -> None:
    assert "answers" in await world.model.check()
    assert world.service.requests == []
    stranger = world.provider.model("sk-other", clock=HastyClock(), base_url=world.service.url + world.provider.path)
    with pytest.raises(NotConfiguredError, match=world.provider.key_name):
        await stranger.check()
    await stranger.close()
    world.service.fail(Fault.status_of(500, on="models"))
    with pytest.raises(ModelUnavailableError):
        await world.model.check()


async def test_settings_choose_key_and_service(world: World) -> None:
    url = world.service.url + world.provider.path
    settings = {world.provider.key_name: KEY, world.provider.base_url_name: url}
    model = world.provider.model.from_settings(settings, clock=world.clock)  # type: ignore[attr-defined]
    assert (await model.complete(question())).text == "HEARTBEAT_OK"
    assert (model.name, repr(model)) == (world.provider.name, f"{type(model).__name__}({url!r})")
    await model.close()


def test_importing_a_provider_imports_neither_its_sdk_nor_http(provider: Provider) -> None:
    code = f"import sys, nudge.models.{provider.name}; sys.exit(bool({{'anthropic', 'httpx2'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0
