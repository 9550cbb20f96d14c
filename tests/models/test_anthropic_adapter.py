"""The Anthropic adapter against the fake service, over real sockets and in virtual time."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from email.utils import format_datetime
from typing import Any

import pytest

from nudge.errors import ModelUnavailableError, NotConfiguredError, NudgeError
from nudge.instants import SECOND, Instant, to_datetime
from nudge.model import ModelRequest, Purpose, Turn, Usage
from nudge.models.anthropic import AnthropicModel
from nudge.testing.anthropic_replies import Reply
from nudge.testing.anthropic_server import FakeAnthropic
from nudge.testing.faults import Fault, FaultKind
from tests.coach.outside import HastyClock, everything_said

KEY = "sk-ant-SECRET-of-this-test"
SCHEMA = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}


def question(**changes: Any) -> ModelRequest:
    plain = {
        "purpose": Purpose.HEARTBEAT,
        "model": "claude-haiku",
        "system": "You are a coach.",
        "turns": (Turn("user", "It is late."),),
        "max_tokens": 200,
    }
    return ModelRequest(**{**plain, **changes})


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(KEY, shortest_cached=4) as fake:
        yield fake


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


@pytest.fixture
async def model(service: FakeAnthropic, clock: HastyClock) -> AsyncIterator[AnthropicModel]:
    adapter = AnthropicModel(KEY, clock=clock, base_url=service.url, timeout=10)
    yield adapter
    await adapter.close()


async def test_words_and_usage_come_back(service: FakeAnthropic, model: AnthropicModel) -> None:
    service.reply("Bed by one?")
    reply = await model.complete(question(system=""))
    assert (reply.text, reply.model, reply.stop_reason, reply.data) == ("Bed by one?", "claude-haiku", "end_turn", None)
    assert reply.usage == Usage(input=len(json.dumps({"text": "It is late.", "type": "text"})) // 4 + 1, output=3)
    assert reply.details == {"attempts": 1, "request_id": "req_000001"}


async def test_the_stable_part_is_marked_for_the_cache_and_the_volatile_part_comes_last(
    service: FakeAnthropic, model: AnthropicModel
) -> None:
    turns = (Turn("user", "hi"), Turn("assistant", "hello"), Turn("user", "It is 00:40."))
    await model.complete(question(turns=turns))
    [body] = service.requests
    assert body["system"] == [
        {"type": "text", "text": "You are a coach.", "cache_control": {"type": "ephemeral"}},
    ]
    assert body["messages"] == [{"role": turn.role, "content": turn.text} for turn in turns]
    assert body["max_tokens"] == 200
    assert "tools" not in body


async def test_the_cache_is_written_once_and_read_afterwards(model: AnthropicModel) -> None:
    first = await model.complete(question())
    second = await model.complete(question(turns=(Turn("user", "It is later."),)))
    assert (first.usage.cache_write, first.usage.cache_read) == (4, 0)
    assert (second.usage.cache_write, second.usage.cache_read) == (0, 4)


async def test_turns_that_the_service_would_refuse_are_left_out(service: FakeAnthropic, model: AnthropicModel) -> None:
    turns = (Turn("assistant", "the rest of a cut conversation"), Turn("user", "  "), Turn("user", "a\ud83d"))
    await model.complete(question(system=" ", turns=turns))
    [body] = service.requests
    assert body["messages"] == [{"role": "user", "content": "a?"}]
    assert "system" not in body


async def test_a_schema_is_asked_for_as_the_one_tool(service: FakeAnthropic, model: AnthropicModel) -> None:
    service.reply({"action": "heartbeat_ok"})
    reply = await model.complete(question(schema=SCHEMA))
    [body] = service.requests
    assert body["tool_choice"] == {"type": "tool", "name": "answer"}
    assert [tool["input_schema"] for tool in body["tools"]] == [SCHEMA]
    assert (reply.data, reply.stop_reason) == ({"action": "heartbeat_ok"}, "tool_use")


DATA = {
    "an object in text, of a service without tools": (Reply('{"action": "message"}'), {"action": "message"}),
    "prose": (Reply("I think so."), None),
    "an object with words after it": (Reply('{"action": "message"} ok?'), None),
    "a list": (Reply("[1]"), None),
    "a number that is none": (Reply('{"a": NaN}'), None),
    "an object cut at the token limit": (Reply(data={"action": "mess"}, stop_reason="max_tokens"), None),
}


@pytest.mark.parametrize("answer, data", DATA.values(), ids=DATA.keys())
async def test_data_is_one_well_formed_object_or_nothing(
    service: FakeAnthropic, model: AnthropicModel, answer: Reply, data: dict[str, Any] | None
) -> None:
    service.reply(answer)
    assert (await model.complete(question(schema=SCHEMA))).data == data


async def test_without_a_schema_an_object_in_text_is_just_text(service: FakeAnthropic, model: AnthropicModel) -> None:
    service.reply('{"action": "message"}')
    assert (await model.complete(question())).data is None


RETRIES: dict[str, tuple[list[Fault], list[float]]] = {
    "one 500": ([Fault.status_of(500)], [5]),
    "a 500, a 529 and a 503": ([Fault.status_of(500), Fault.status_of(529), Fault.status_of(503)], [5, 15, 45]),
    "a 500 that names a time keeps to the table": ([Fault.status_of(500, retry_after=1)], [5]),
    "a 429 with seconds": ([Fault.status_of(429, retry_after=7)], [7]),
    "a 429 with exactly the longest wait": ([Fault.status_of(429, retry_after=60)], [60]),
    "a 429 that says now waits a second": ([Fault.status_of(429, retry_after=0)], [1]),
    "a 429 without a time": ([Fault.status_of(429)], [5]),
    "a 429 with nonsense": ([Fault.status_of(429, retry_after="soon")], [5]),
    "a 408": ([Fault.status_of(408)], [10]),
    "a dropped connection": ([Fault(FaultKind.DROP)], [10]),
    "an answer cut in the middle": ([Fault(FaultKind.TRUNCATE)], [10]),
    "broken JSON": ([Fault(FaultKind.BROKEN_JSON)], [10]),
    "each kind has a row of its own": (
        [Fault.status_of(500), Fault(FaultKind.DROP), Fault.status_of(429, retry_after=3), Fault.status_of(502)],
        [5, 10, 3, 15],
    ),
}


@pytest.mark.parametrize("faults, waits", RETRIES.values(), ids=RETRIES.keys())
async def test_it_waits_as_the_table_says_and_then_succeeds(
    service: FakeAnthropic, model: AnthropicModel, clock: HastyClock, faults: list[Fault], waits: list[float]
) -> None:
    for fault in faults:
        service.fail(fault)
    service.reply("there")
    reply = await model.complete(question())
    assert (reply.text, clock.slept, reply.details["attempts"]) == ("there", waits, len(faults) + 1)


SURRENDERS: dict[str, tuple[Fault, int, list[float], float | None]] = {
    "5xx after three retries": (Fault.status_of(500), 4, [5, 15, 45], None),
    "overloaded after three retries": (Fault.status_of(529), 4, [5, 15, 45], None),
    "429 after three retries": (Fault.status_of(429, retry_after=2), 4, [2, 2, 2], 2),
    "429 beyond the longest wait, at once": (Fault.status_of(429, retry_after=61), 1, [], 61),
    "429 for two hours, at once": (Fault.status_of(429, retry_after=7200), 1, [], 7200),
    "a connection that drops twice": (Fault(FaultKind.DROP), 2, [10], None),
    "broken JSON twice": (Fault(FaultKind.BROKEN_JSON), 2, [10], None),
}


@pytest.mark.parametrize("fault, calls, waits, retry_after", SURRENDERS.values(), ids=SURRENDERS.keys())
async def test_then_it_gives_up(
    service: FakeAnthropic,
    model: AnthropicModel,
    clock: HastyClock,
    fault: Fault,
    calls: int,
    waits: list[float],
    retry_after: float | None,
) -> None:
    service.fail(fault, times=10)
    with pytest.raises(ModelUnavailableError) as caught:
        await model.complete(question())
    assert (len(service.requests), clock.slept, caught.value.retry_after) == (calls, waits, retry_after)
    assert KEY not in everything_said(caught.value)


async def test_an_http_date_is_understood(service: FakeAnthropic, model: AnthropicModel, clock: HastyClock) -> None:
    later = to_datetime(Instant(clock.now() + 30 * SECOND))
    service.fail(Fault.status_of(429, retry_after=format_datetime(later, usegmt=True)))
    await model.complete(question())
    assert clock.slept == [30]


async def test_a_service_that_hangs_is_asked_once_more(service: FakeAnthropic, clock: HastyClock) -> None:
    service.fail(Fault(FaultKind.HANG), times=10)
    model = AnthropicModel(KEY, clock=clock, base_url=service.url, timeout=0.3)
    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await model.complete(question())
    assert (len(service.requests), clock.slept) == (2, [10])
    await model.close()


async def test_nobody_at_the_other_end(clock: HastyClock) -> None:
    with FakeAnthropic() as gone:
        url = gone.url
    model = AnthropicModel(KEY, clock=clock, base_url=url)
    with pytest.raises(ModelUnavailableError, match="connection"):
        await model.complete(question())
    assert clock.slept == [10]
    await model.close()


REFUSALS: dict[str, tuple[Fault, type[NudgeError], str]] = {
    "401": (Fault.status_of(401), NotConfiguredError, "ANTHROPIC_API_KEY"),
    "403": (Fault.status_of(403), NotConfiguredError, "ANTHROPIC_API_KEY"),
    "404": (Fault.status_of(404, message="model: claude-x"), NotConfiguredError, "claude-x"),
    "400": (Fault.status_of(400, message="prompt is too long"), NudgeError, "prompt is too long"),
    "413": (Fault.status_of(413), NudgeError, "does not accept"),
}


@pytest.mark.parametrize("fault, kind, words", REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_will_not_get_better_is_not_tried_again(
    service: FakeAnthropic, model: AnthropicModel, clock: HastyClock, fault: Fault, kind: type[NudgeError], words: str
) -> None:
    service.fail(fault)
    with pytest.raises(NudgeError, match=words) as caught:
        await model.complete(question())
    assert type(caught.value) is kind
    assert clock.slept == []


async def test_a_message_of_the_service_that_quotes_the_key_does_not_pass_it_on(
    service: FakeAnthropic, model: AnthropicModel
) -> None:
    service.fail(Fault.status_of(400, message=f"the key {KEY} is odd"))
    with pytest.raises(NudgeError) as caught:
        await model.complete(question())
    assert KEY not in everything_said(caught.value)


async def test_the_key_is_in_no_log_at_any_level(
    service: FakeAnthropic, model: AnthropicModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.fail(Fault(FaultKind.DROP))
    await model.complete(question())
    assert "HTTP Request: POST" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(model)


@pytest.mark.parametrize("key", ["", "sk ant", "sk-ant\n", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(NotConfiguredError, match="ANTHROPIC_API_KEY") as caught:
        AnthropicModel(key, clock=HastyClock())
    assert not key or key not in str(caught.value)


async def test_the_key_can_be_checked_without_a_question(service: FakeAnthropic, model: AnthropicModel) -> None:
    await model.check_key()
    assert service.requests == []
    stranger = AnthropicModel("sk-ant-other", clock=HastyClock(), base_url=service.url)
    with pytest.raises(NotConfiguredError, match="invalid x-api-key"):
        await stranger.check_key()
    await stranger.close()
    service.fail(Fault.status_of(500, on="models"))
    with pytest.raises(ModelUnavailableError):
        await model.check_key()


async def test_settings_choose_key_and_service(service: FakeAnthropic, clock: HastyClock) -> None:
    settings = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": service.url}
    model = AnthropicModel.from_settings(settings, clock=clock)
    assert (await model.complete(question())).text == "HEARTBEAT_OK"
    assert (model.name, repr(model)) == ("anthropic", f"AnthropicModel({service.url!r})")
    await model.close()


def test_importing_the_adapter_does_not_import_the_sdk() -> None:
    code = "import sys, nudge.models.anthropic; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
