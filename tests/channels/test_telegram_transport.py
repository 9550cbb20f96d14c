"""The token joins the URL late, and proxies are honoured although the client cannot see to it."""

from __future__ import annotations

import httpx2
import pytest

from nudge.channels.telegram.client import TelegramClient
from nudge.channels.telegram.transport import TokenTransport, _proxy_of

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
