"""The bot's token joins the URL below the HTTP client.

The Bot API wants the token in the path. httpx2 logs the URL of every request and hangs the request on its exceptions;
neither can say what the client never knew.
"""

from __future__ import annotations

from urllib.request import getproxies, proxy_bypass

import httpx2

from nudge.tls import tls_context

CONNECT_SECONDS = 10.0


class TokenTransport(httpx2.AsyncBaseTransport):
    """Sends `/METHOD` of the client as `/bot<token>/METHOD`. Proxies come from the environment, as everywhere else:
    the client itself looks for them only where it makes its own transport."""

    def __init__(self, token: str, api_base: str) -> None:
        self._prefix = f"/bot{token}"
        self._wire = httpx2.AsyncHTTPTransport(verify=tls_context(), proxy=_proxy_of(httpx2.URL(api_base)))

    def __repr__(self) -> str:
        return "TokenTransport(<token>)"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        base, _, method = request.url.path.rpartition("/")
        return await self._wire.handle_async_request(
            httpx2.Request(
                request.method,
                request.url.copy_with(path=f"{base}{self._prefix}/{method}"),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    async def aclose(self) -> None:
        await self._wire.aclose()


def _proxy_of(url: httpx2.URL) -> str | None:
    if proxy_bypass(url.host):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")
