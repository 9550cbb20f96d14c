"""One call: each answer that is not ok becomes one error with a next step, and nothing shows the token."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from nudge.channels.telegram.client import (
    BadRequestError,
    ConflictError,
    TelegramClient,
    TokenTransport,
    _proxy_of,
    failure_of,
)
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.queue.channel import ChannelRefusedError

TOKEN = "123:SECRET"

CASES = {
    "401 is a revoked token": (401, {"description": "Unauthorized"}, NotConfiguredError),
    "404 is no token at all": (404, {"description": "Not Found"}, NotConfiguredError),
    "a chat that was never opened": (400, {"description": "Bad Request: chat not found"}, NotConfiguredError),
    "403 is for good": (403, {"description": "Forbidden: bot was blocked by the user"}, ChannelRefusedError),
    "409 is another poller": (409, {"description": "Conflict: terminated by other"}, ConflictError),
    "400 is our mistake": (400, {"description": "Bad Request: BUTTON_DATA_INVALID"}, BadRequestError),
    "413 is our mistake": (413, {"description": "Request Entity Too Large"}, BadRequestError),
    "403 by something in between is no refusal": (403, None, ChannelUnavailableError),
    "400 by something in between is no refusal": (400, {}, ChannelUnavailableError),
    "429 passes": (429, {"parameters": {"retry_after": 7}}, ChannelUnavailableError),
    "500 passes": (500, {"description": "Internal Server Error"}, ChannelUnavailableError),
    "503 without a body passes": (503, None, ChannelUnavailableError),
    "502 passes": (502, None, ChannelUnavailableError),
    "a redirect is no answer": (302, None, ChannelUnavailableError),
}


@pytest.mark.parametrize("status, body, kind", CASES.values(), ids=CASES.keys())
def test_a_status_becomes_an_error(status: int, body: Any, kind: type[NudgeError]) -> None:
    assert type(failure_of(status, body, TOKEN)) is kind


@pytest.mark.parametrize(
    "status, maybe_sent",
    [(429, False), (500, True), (503, True), (502, True), (504, True), (302, True), (400, True)],
    ids=["429 came too late", "500", "503", "502", "504", "a redirect", "400 by something in between"],
)
def test_an_answer_that_is_no_word_of_telegrams_leaves_it_open_whether_the_message_passed(
    status: int, maybe_sent: bool
) -> None:
    error = failure_of(status, None, TOKEN)
    assert isinstance(error, ChannelUnavailableError)
    assert error.maybe_sent is maybe_sent


@pytest.mark.parametrize(
    "parameters, seconds",
    [
        ({"retry_after": 7}, 7.0),
        ({"retry_after": 10**400}, 86_400.0),
        ({"retry_after": "7"}, None),
        ({"retry_after": -1}, None),
        ({}, None),
        (None, None),
    ],
    ids=["a number", "an absurd number", "a text", "a negative number", "nothing said", "no parameters"],
)
def test_retry_after_is_taken_only_where_it_is_a_time(parameters: Any, seconds: float | None) -> None:
    error = failure_of(429, {"parameters": parameters}, TOKEN)
    assert isinstance(error, ChannelUnavailableError)
    assert error.retry_after == seconds


def test_a_description_that_quotes_the_token_does_not_pass_it_on() -> None:
    assert "SECRET" not in str(failure_of(400, {"description": f"bad path /bot{TOKEN}/x"}, TOKEN))


@pytest.mark.parametrize("token", ["", "abc", "123:abc def", "123:abc\n", "1/2:x"])
def test_what_does_not_look_like_a_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(NotConfiguredError) as caught:
        TelegramClient(token)
    assert not token or token not in str(caught.value)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(NotConfiguredError, match="TELEGRAM_API_BASE"):
        TelegramClient(TOKEN, api_base="localhost:8081")


PROXY = "http://proxy.example:3128"
PROXIES = {
    "none": ({}, "https://api.telegram.org", None),
    "one for https": ({"https_proxy": PROXY}, "https://api.telegram.org", PROXY),
    "one for everything": ({"all_proxy": PROXY}, "https://api.telegram.org", PROXY),
    "one for another scheme": ({"https_proxy": PROXY}, "http://127.0.0.1:8081", None),
    "an exception": ({"https_proxy": PROXY, "no_proxy": "api.telegram.org"}, "https://api.telegram.org", None),
}


@pytest.mark.parametrize("environment, url, proxy", PROXIES.values(), ids=PROXIES.keys())
def test_the_proxy_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert _proxy_of(httpx2.URL(url)) == proxy


def test_neither_the_transport_nor_the_client_shows_the_token() -> None:
    assert "SECRET" not in repr(TokenTransport("1:SECRET", "https://api.telegram.org"))
    assert "SECRET" not in repr(TelegramClient("1:SECRET"))
