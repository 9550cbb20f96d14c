"""How the gateway reaches a service: through which proxy, with which headers."""

from __future__ import annotations

import httpx2
import pytest

from nudge.gateway.upstream import _proxy_of
from nudge.testing import FakeAnthropic
from tests.gateway.kit import HEADERS, ask, gateway_on

PROXIES = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "127.0.0.1,localhost,.inside.test"}


@pytest.mark.parametrize(
    ("address", "proxy"),
    [
        pytest.param("https://api.anthropic.com", "http://proxy:3128", id="a provider is behind the proxy"),
        pytest.param("http://127.0.0.1:9000", None, id="loopback is not"),
        pytest.param("https://models.inside.test/v1", None, id="nor is what NO_PROXY names"),
        pytest.param("http://elsewhere.test", None, id="another scheme has no proxy"),
    ],
)
def test_the_environment_names_the_proxy(address: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)
    assert _proxy_of(address) == proxy


@pytest.mark.parametrize(
    ("value", "status"),
    [
        pytest.param(b"caf\xc3\xa9", 200, id="UTF-8 goes through as it came"),
        pytest.param(b"caf\xe9", 400, id="what is no UTF-8 is refused, not changed"),
    ],
)
async def test_a_header_arrives_as_it_was_sent_or_not_at_all(value: bytes, status: int) -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url) as rig, httpx2.AsyncClient() as client:
            headers = [*((name.encode(), told.encode()) for name, told in HEADERS.items()), (b"x-place", value)]
            answer = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=headers)
            assert answer.status_code == status
            assert (await rig.held(), await rig.spent() > 0) == (0, status == 200)
            assert len(upstream.served) == (1 if status == 200 else 0)
