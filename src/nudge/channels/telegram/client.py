"""One call to the Bot API: a deadline around it, its result, or an error that says what to do and no secret.

The Bot API wants the token in the path. httpx2 logs the URL of every request and hangs the request on its exceptions,
so the token joins the URL below the HTTP client: neither can tell what the client never knew. Descriptions of the
service are shown with the token cut out of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2

from nudge.backoff import seconds_asked
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.queue.channel import ChannelRefusedError
from nudge.tls import tls_context

PUBLIC_API = "https://api.telegram.org"
CONNECT_SECONDS = 10.0
TOKEN_STEP = "Get a token from @BotFather and put it into .env as TELEGRAM_BOT_TOKEN."  # noqa: S105
_TOKEN = re.compile(r"[0-9]{1,19}:[A-Za-z0-9_-]+")
_NEVER_LEFT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class BadRequestError(NudgeError):
    """Telegram does not accept this call."""

    def __init__(self, description: str) -> None:
        super().__init__(f"Telegram rejected this call: {description}")
        self.description = description


class ConflictError(NudgeError):
    """Telegram ended this poll because of another one."""

    def __init__(self, description: str) -> None:
        super().__init__(f"Telegram ended the poll: {description}")
        self.webhook = "webhook" in description.lower()


class StalledError(ChannelUnavailableError):
    """Telegram did not answer in time."""


class TelegramClient:
    """Calls methods of one bot. Nothing it raises or logs holds the token: errors are raised outside of the handler
    that caught the cause, so not even their context leads there.

    >>> TelegramClient("1:x")
    TelegramClient('https://api.telegram.org')
    """

    def __init__(self, token: str, *, api_base: str = PUBLIC_API) -> None:
        if not _TOKEN.fullmatch(token):
            raise NotConfiguredError(
                "The bot token does not look like one (digits, a colon, letters).", next_step=TOKEN_STEP
            )
        if not api_base.startswith(("https://", "http://")):
            raise NotConfiguredError(
                f"{api_base!r} is not a Bot API URL.",
                next_step="Set TELEGRAM_API_BASE to an https:// URL, or remove it.",
            )
        self._token = token
        self._api_base = api_base.rstrip("/")
        self._http: httpx2.AsyncClient | None = None
        self._urls: dict[str, httpx2.URL] = {}  # by method: reading a URL takes as long as the rest of a call

    def __repr__(self) -> str:
        return f"TelegramClient({self._api_base!r})"

    async def call(self, method: str, params: Mapping[str, Any], *, deadline: float) -> Any:
        """The method's `result`. The deadline is in seconds of the event loop: what hangs is a socket, and a socket
        knows no virtual time."""
        error: NudgeError
        http = self._client()
        try:
            async with asyncio.timeout(deadline):
                response = await http.post(self._url(method), json=params)
            return self._result(response)
        except TimeoutError:
            error = StalledError(f"Telegram did not answer {method} within {deadline:g} s.", maybe_sent=True)
        except _NEVER_LEFT as cause:
            error = ChannelUnavailableError(f"Telegram cannot be reached ({type(cause).__name__}).")
        except (httpx2.HTTPError, httpx2.InvalidURL) as cause:
            words = f"The connection to Telegram broke off ({type(cause).__name__})."
            error = ChannelUnavailableError(words, maybe_sent=True)
        except NudgeError as cause:
            error = cause
        raise error

    async def reconnect(self) -> None:
        """Drop all connections; the next call makes new ones."""
        await self.close()

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    def _url(self, method: str) -> httpx2.URL:
        if method not in self._urls:
            self._urls[method] = httpx2.URL(f"{self._api_base}/{method}")
        return self._urls[method]

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            self._http = httpx2.AsyncClient(
                transport=TokenTransport(self._token, self._api_base),
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            )
        return self._http

    def _result(self, response: httpx2.Response) -> Any:
        try:
            body = json.loads(response.content)
        except (ValueError, RecursionError):
            body = None
        if response.status_code != 200:
            raise failure_of(response.status_code, body, self._token)
        if not isinstance(body, dict) or body.get("ok") is not True:
            raise ChannelUnavailableError("Telegram's answer is unreadable.", maybe_sent=True)
        return body.get("result")


class TokenTransport(httpx2.AsyncBaseTransport):
    """Sends the client's `/METHOD` as `/bot<token>/METHOD`. It reads proxies from the environment itself: the client
    does so only for a transport of its own."""

    def __init__(self, token: str, api_base: str) -> None:
        self._prefix = f"/bot{token}"
        self._wire = httpx2.AsyncHTTPTransport(verify=tls_context(), proxy=_proxy_of(httpx2.URL(api_base)))
        self._urls: dict[str, httpx2.URL] = {}  # by path

    def __repr__(self) -> str:
        return "TokenTransport(<token>)"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if path not in self._urls:
            base, _, method = path.rpartition("/")
            self._urls[path] = request.url.copy_with(path=f"{base}{self._prefix}/{method}")
        return await self._wire.handle_async_request(
            httpx2.Request(
                request.method,
                self._urls[path],
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


def failure_of(status: int, body: Any, token: str) -> NudgeError:
    """The error of an answer that is not ok."""
    told: Mapping[str, Any] = body if isinstance(body, dict) else {}
    said = str(told.get("description") or "").replace(token, "<token>")[:300]
    description = said or f"status {status}"
    if status in (401, 404):
        return NotConfiguredError(
            f"Telegram does not know this bot ({description}).",
            next_step=TOKEN_STEP,
        )
    if status == 429:
        return ChannelUnavailableError(
            f"Telegram asks nudge to slow down ({description}).", retry_after=_asked(told.get("parameters"))
        )
    if status >= 500 or not said:
        # A gateway that gave up waiting, a server that failed behind the sending, or something in between that is not
        # Telegram: the message may have arrived.
        words = f" ({said})" if said else ""
        return ChannelUnavailableError(f"Telegram answered {status}{words}.", maybe_sent=True)
    if status == 403:
        return ChannelRefusedError(
            f"Telegram does not deliver to this person ({description}).",
            next_step="Open the chat with the bot in Telegram, unblock it and press Start.",
        )
    if status == 409:
        return ConflictError(description)
    if status == 400 and "chat not found" in description.lower():
        return NotConfiguredError(
            "This bot has no chat with the person.",
            next_step="Open the bot in Telegram and press Start; check the person's id in nudge.toml.",
        )
    return BadRequestError(description)


def _asked(parameters: Any) -> float | None:
    return seconds_asked(parameters.get("retry_after")) if isinstance(parameters, dict) else None
