"""One call to the Bot API: a deadline around it, its result, or an error that says what to do and no secret."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import httpx2

from nudge.channels.telegram.failures import StalledError, failure_of
from nudge.channels.telegram.transport import CONNECT_SECONDS, TokenTransport
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError

PUBLIC_API = "https://api.telegram.org"
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
_NEVER_LEFT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


class TelegramClient:
    """Calls methods of one bot. Nothing it raises or logs holds the token: errors are raised outside of the handler
    that caught the cause, so not even their context leads there.

    >>> TelegramClient("1:x")
    TelegramClient('https://api.telegram.org')
    """

    def __init__(self, token: str, *, api_base: str = PUBLIC_API) -> None:
        if not _TOKEN.fullmatch(token):
            raise NotConfiguredError(
                "The bot token does not look like one (digits, a colon, letters).",
                next_step="Get a token from @BotFather and put it into .env as TELEGRAM_BOT_TOKEN.",
            )
        if not api_base.startswith(("https://", "http://")):
            raise NotConfiguredError(
                f"{api_base!r} is no address of a Bot API.",
                next_step="Set TELEGRAM_API_BASE to a URL, or leave it out.",
            )
        self._token = token
        self._api_base = api_base.rstrip("/")
        self._http: httpx2.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"TelegramClient({self._api_base!r})"

    async def call(self, method: str, params: Mapping[str, Any], *, deadline: float) -> Any:
        """The method's `result`. Past the deadline, in seconds of the event loop, the call is cut: what hangs is a
        socket, and a socket knows no virtual time."""
        error: NudgeError
        http = self._client()
        try:
            async with asyncio.timeout(deadline):
                response = await http.post(f"{self._api_base}/{method}", json=params)
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
        """Forget all connections; the next call makes new ones."""
        await self.close()

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

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
            raise ChannelUnavailableError("Telegram's answer is not readable.", maybe_sent=True)
        return body.get("result")
