"""The fake Bot API behaves like the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from nudge.testing.faults import Fault, FaultKind
from nudge.testing.loopback import running
from nudge.testing.telegram_rules import BadRequestError, check_entities, parse_html, read_commands
from nudge.testing.telegram_server import PERSON, TOKEN, FakeTelegram
from nudge.tls import tls_context


@pytest.fixture
def service() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def http(service: FakeTelegram) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=f"{service.url}/bot{TOKEN}/", verify=tls_context()) as client:
        yield client


async def call(http: httpx2.AsyncClient, method: str, **params: Any) -> Any:
    return (await http.post(method, json=params)).json()


async def ids(http: httpx2.AsyncClient, **params: Any) -> list[int]:
    return [update["update_id"] for update in (await call(http, "getUpdates", **params))["result"]]


async def test_offsets_confirm_limit_and_rewind(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    first, *_ = [service.say(str(n)) for n in range(5)]
    assert await ids(http) == [first + n for n in range(5)]
    assert await ids(http, limit=2) == [first, first + 1]
    assert await ids(http, offset=first + 2) == [first + 2, first + 3, first + 4]
    assert await ids(http, offset=0) == [first + 2, first + 3, first + 4]
    assert await ids(http, offset=-1) == [first + 4]
    assert service.pending == [first + 4]


async def test_an_offset_far_ahead_is_ignored(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    number = service.say("hello")
    assert await ids(http, offset=number + 12) == [number]
    assert await ids(http, offset=number + 11) == []


async def test_a_subscription_holds_until_the_next_one_and_for_new_updates_only(
    service: FakeTelegram, http: httpx2.AsyncClient
) -> None:
    before = service.edit("before")
    await ids(http, allowed_updates=["message"])
    service.edit("after")
    said = service.say("after")
    assert await ids(http) == [before, said]
    await ids(http, allowed_updates=[])
    edited = service.edit("again")
    assert (await ids(http))[-1] == edited


async def test_the_later_of_two_waiting_polls_stays(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    first = asyncio.create_task(call(http, "getUpdates", timeout=50))
    await asyncio.to_thread(service.wait_for_poll)
    second = asyncio.create_task(call(http, "getUpdates", timeout=50))
    conflict = await first
    assert (conflict["error_code"], "terminated by other getUpdates" in conflict["description"]) == (409, True)
    number = service.say("hello")
    assert (await second)["result"][0]["update_id"] == number


async def test_a_poll_that_need_not_wait_displaces_nobody(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    waiting = asyncio.create_task(call(http, "getUpdates", timeout=50))
    await asyncio.to_thread(service.wait_for_poll)
    assert await ids(http, timeout=0) == []
    service.say("hello")
    assert len((await waiting)["result"]) == 1


async def test_parameters_come_as_query_form_or_json(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    keyboard = '{"inline_keyboard": [[{"text": "Done", "callback_data": "d"}]]}'
    params = {"chat_id": str(PERSON), "text": "hi", "reply_markup": keyboard}
    await http.get("sendMessage", params=params)
    await http.post("sendmessage", data=params)
    assert [message.buttons for message in service.sent] == [((("Done", "d"),),)] * 2


REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a text of 4,097 units": ("sendMessage", {"chat_id": 1, "text": "x" * 4097}, "message is too long"),
    "2,049 emoji are 4,098 units": ("sendMessage", {"chat_id": 1, "text": "😴" * 2049}, "message is too long"),
    "an empty text": ("sendMessage", {"chat_id": 1, "text": " "}, "message text is empty"),
    "no chat": ("sendMessage", {"text": "x"}, "chat not found"),
    "a chat that is no number": ("sendMessage", {"chat_id": "me", "text": "x"}, "invalid chat_id"),
    "HTML that is none": ("sendMessage", {"chat_id": 1, "text": "a < b", "parse_mode": "HTML"}, "can't parse entities"),
    "another parse mode": (
        "sendMessage",
        {"chat_id": 1, "text": "*a*", "parse_mode": "MarkdownV2"},
        "HTML and entities",
    ),
    "a keyboard that is none": ("sendMessage", {"chat_id": 1, "text": "x", "reply_markup": [1]}, "reply markup"),
    "65 bytes in a button": (
        "sendMessage",
        {
            "chat_id": 1,
            "text": "x",
            "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "d" * 65}]]},
        },
        "BUTTON_DATA_INVALID",
    ),
    "an unknown press": ("answerCallbackQuery", {"callback_query_id": "1"}, "query is too old"),
    "a command with a hyphen": (
        "setMyCommands",
        {"commands": [{"command": "ping-budget", "description": "x"}]},
        "BOT_COMMAND_INVALID",
    ),
}


@pytest.mark.parametrize("method, params, words", REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_the_service_refuses(
    service: FakeTelegram, http: httpx2.AsyncClient, method: str, params: dict[str, Any], words: str
) -> None:
    refusal = await call(http, method, **params)
    assert (refusal["ok"], refusal["error_code"]) == (False, 400)
    assert words in refusal["description"]
    assert service.sent == []


async def test_html_is_read(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    await call(http, "sendMessage", chat_id=1, text='<b>a &lt; b</b> <a href="https://x.org">c</a>', parse_mode="HTML")
    [message] = service.sent
    assert message.text == "a < b c"
    assert message.entities == (
        {"type": "bold", "offset": 0, "length": 5},
        {"type": "text_link", "offset": 6, "length": 1, "url": "https://x.org"},
    )


@pytest.mark.parametrize("source", ["<b>a", "</b>", "<b><i>a</b></i>", "<blink>a</blink>", "a <", "<3"])
def test_html_that_is_not_closed_or_not_known_is_refused(source: str) -> None:
    with pytest.raises(BadRequestError, match="can't parse entities"):
        parse_html(source)


BOLD = {"type": "bold", "offset": 0, "length": 2}
ENTITIES: dict[str, list[Any]] = {
    "an unknown type": [{**BOLD, "type": "blink"}],
    "a negative offset": [{**BOLD, "offset": -1}],
    "no length": [{**BOLD, "length": 0}],
    "beyond the end": [{**BOLD, "length": 9}],
    "half an emoji": [{**BOLD, "length": 1}],
    "crossing": [{**BOLD, "length": 3}, {"type": "italic", "offset": 2, "length": 2}],
    "code inside bold": [{**BOLD, "length": 4}, {"type": "code", "offset": 2, "length": 1}],
    "a link without an address": [{**BOLD, "type": "text_link"}],
    "no object": ["bold"],
}


@pytest.mark.parametrize("entities", ENTITIES.values(), ids=ENTITIES.keys())
def test_entities_that_are_wrong_are_refused(entities: list[Any]) -> None:
    with pytest.raises(BadRequestError, match="can't parse entities"):
        check_entities("😴abc", entities)


def test_entities_that_are_nested_or_apart_are_fine() -> None:
    entities = [{**BOLD, "length": 4}, {"type": "italic", "offset": 2, "length": 1}, {**BOLD, "offset": 4, "length": 1}]
    assert check_entities("😴abc", entities) == entities


def test_a_command_needs_a_description() -> None:
    with pytest.raises(BadRequestError, match="DESCRIPTION"):
        read_commands([{"command": "status", "description": ""}])


@pytest.mark.parametrize("token, status", [("999:other", 401), ("nonsense", 404)])
async def test_tokens_of_others(service: FakeTelegram, token: str, status: int) -> None:
    async with httpx2.AsyncClient(verify=tls_context()) as client:
        response = await client.get(f"{service.url}/bot{token}/getMe")
    assert (response.status_code, response.json()["error_code"]) == (status, status)


async def test_an_unknown_method_is_not_found(http: httpx2.AsyncClient) -> None:
    assert (await call(http, "sendHologram"))["error_code"] == 404


async def test_commands_can_be_read_back(http: httpx2.AsyncClient) -> None:
    commands = [{"command": "status", "description": "How things stand"}]
    assert (await call(http, "setMyCommands", commands=commands))["result"] is True
    assert (await call(http, "getMyCommands"))["result"] == commands


async def test_a_webhook_stands_in_the_way_until_it_is_deleted(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    service.set_webhook()
    assert (await call(http, "getUpdates"))["error_code"] == 409
    await call(http, "deleteWebhook")
    assert (await call(http, "getUpdates"))["ok"] is True


async def test_a_fault_for_one_method_leaves_the_others_alone(service: FakeTelegram, http: httpx2.AsyncClient) -> None:
    service.fail(Fault.status_of(429, retry_after=3, on="sendMessage"))
    assert (await call(http, "getMe"))["ok"] is True
    refusal = await call(http, "sendMessage", chat_id=1, text="x")
    assert (refusal["error_code"], refusal["parameters"]) == (429, {"retry_after": 3})
    assert (await call(http, "sendMessage", chat_id=1, text="x"))["ok"] is True


async def test_waiting_for_what_does_not_come_ends(service: FakeTelegram) -> None:
    with pytest.raises(TimeoutError, match="0 of 1"):
        service.wait_for_sent(1, timeout=0)
    with pytest.raises(TimeoutError, match="Nobody polled"):
        service.wait_for_poll(timeout=0)


async def test_stopping_ends_polls_and_hanging_requests(http: httpx2.AsyncClient, service: FakeTelegram) -> None:
    service.fail(Fault(FaultKind.HANG, on="getMe"))
    hanging = asyncio.create_task(call(http, "getMe"))
    await asyncio.to_thread(service.wait_for_poll)
    polling = asyncio.create_task(call(http, "getUpdates", timeout=50))
    await asyncio.to_thread(service.bell.wait_for, lambda: service.polls == 1, 10)
    service.stop()
    for task in (hanging, polling):
        with pytest.raises(httpx2.TransportError):
            await task


@pytest.mark.process
def test_a_process_of_its_own_is_driven_over_http() -> None:
    with (
        running("nudge.testing.telegram_server", "--person", "7") as url,
        httpx2.Client(base_url=url, timeout=30) as http,
    ):
        number = http.post("/control/push", json={"kind": "say", "text": "hello"}).json()["update_id"]
        http.post("/control/push", json={"kind": "press", "data": "done:1"})
        http.post("/control/push", json={"kind": "raw", "update": {"my_chat_member": {}}})
        assert http.post("/control/push", json={"kind": "sing"}).status_code == 400
        updates = http.get(f"/bot{TOKEN}/getUpdates").json()["result"]
        assert updates[0]["message"]["from"]["id"] == 7
        assert http.get("/control/state").json()["pending"] == [number, number + 1, number + 2]
        http.post("/control/fault", json={"kind": "status", "status": 500, "on": "sendMessage"})
        assert http.post(f"/bot{TOKEN}/sendMessage", json={"chat_id": 7, "text": "x"}).status_code == 500
        http.post(f"/bot{TOKEN}/sendMessage", json={"chat_id": 7, "text": "hi"})
        sent = http.get("/control/sent", params={"at_least": 1}).json()["sent"]
        assert [(message["chat_id"], message["text"]) for message in sent] == [(7, "hi")]
        http.post("/control/rival", json={"active": True})
        assert http.get(f"/bot{TOKEN}/getUpdates").status_code == 409
        http.post("/control/reset")
        assert http.get("/control/sent").json() == {"sent": []}
