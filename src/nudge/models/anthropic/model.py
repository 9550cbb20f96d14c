"""The Model port on Anthropic's SDK.

The SDK costs more than a second to import and is therefore imported when a model is made. Its own retries are off: they
sleep for as long as a server says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Self

from nudge.backoff import RetryClock, SetbackError
from nudge.errors import NotConfiguredError
from nudge.model import ModelReply, ModelRequest, StreamEvent
from nudge.models.anthropic.messages import PROVIDER, MessageStream, read_reply, to_body
from nudge.models.failures import (
    Failure,
    Help,
    RefusedError,
    cut_off,
    failure_of_refusal,
    no_answer,
    not_reached,
    unreadable,
)
from nudge.models.remote import RemoteModel
from nudge.models.wire import UnreadableReplyError, event_data

PUBLIC_API = "https://api.anthropic.com"
TIMEOUT_SECONDS = 120.0
CONNECT_SECONDS = 10.0
_HELP = Help(
    "Anthropic",
    "Put a valid key into .env as ANTHROPIC_API_KEY, or remove it to use the offline rules.",
    "Check the model's name in nudge.toml, and ANTHROPIC_BASE_URL if it is set.",
)


class AnthropicModel(RemoteModel):
    """Asks a model over the Messages API: Anthropic's, or that of a compatible service.

    No error holds the key, nor leads to one that does.

    >>> AnthropicModel("sk-ant-x", clock=None)
    AnthropicModel('https://api.anthropic.com')
    """

    name = PROVIDER

    def __init__(
        self,
        api_key: str,
        *,
        clock: RetryClock,
        base_url: str = PUBLIC_API,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        super().__init__(clock=clock)
        if not re.fullmatch(r"[!-~]+", api_key):
            raise NotConfiguredError("The Anthropic key is empty or has invalid characters.", next_step=_HELP.key)
        import anthropic
        import httpx2

        from nudge.tls import tls_context

        self._sdk = anthropic
        self._http = httpx2
        self._key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._help = _HELP if base_url == PUBLIC_API else replace(_HELP, service=base_url)
        patience = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=patience,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=tls_context(), timeout=patience),
            open_telemetry=False,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], *, clock: RetryClock) -> Self:
        """From ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL (the public service, if it is not set)."""
        key, base_url = (settings.get(name, "").strip() for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"))
        return cls(key, clock=clock, base_url=base_url or PUBLIC_API)

    def __repr__(self) -> str:
        return f"AnthropicModel({self._base_url!r})"

    async def check(self) -> str:
        failure: Failure | None = None
        try:
            async with asyncio.timeout(self._timeout):
                await self._client.models.list(limit=1)
        except (self._sdk.APIError, TimeoutError, ValueError) as cause:
            failure = self._failure(cause, None)
        if failure is not None:
            raise failure.error if isinstance(failure, SetbackError) else failure
        return "Anthropic accepts the key" if self._base_url == PUBLIC_API else f"{self._base_url} answers"

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, request: ModelRequest) -> ModelReply:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.messages.with_raw_response.create(**to_body(request))
                raw = await response.read()
            reply = read_reply(raw, request)
            return replace(reply, details={**reply.details, "request_id": response.headers.get("request-id", "")})
        except (self._sdk.APIError, TimeoutError, UnreadableReplyError) as cause:
            failure = self._failure(cause, request)
        raise failure

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        pieces = MessageStream(request)
        try:
            calls = self._client.messages.with_streaming_response
            async with (
                calls.create(**to_body(request), stream=True) as response,
                aclosing(event_data(response.http_response)) as events,
            ):
                async for data in events:
                    for found in pieces.feed(data):
                        yield found
            if pieces.done:
                return
            failure: Failure = unreadable(self._help.service)
        except (self._sdk.APIError, self._http.RequestError, RefusedError, UnreadableReplyError) as cause:
            failure = self._failure(cause, request)
        raise failure

    def _failure(self, cause: Exception, request: ModelRequest | None) -> Failure:
        begun = isinstance(cause, RefusedError)  # in the middle of a stream
        if isinstance(cause, self._sdk.APIStatusError):
            said = cause.api_message if isinstance(cause.api_message, str) else ""
            own = isinstance(cause.body, dict) and "error" in cause.body
            response = cause.response
            cause = RefusedError(response.status_code, said, response.headers.get("retry-after"), own=own)
        if isinstance(cause, RefusedError):
            now = self._clock.now()
            return failure_of_refusal(cause, request, self._help, now=now, key=self._key, begun=begun)
        if isinstance(cause.__cause__ or cause, (self._http.ConnectError, self._http.ConnectTimeout)):
            return not_reached(self._help.service)
        if isinstance(cause, (TimeoutError, self._sdk.APITimeoutError, self._http.TimeoutException)):
            return no_answer(self._help.service, self._timeout)
        if isinstance(cause, UnreadableReplyError) or type(cause) is self._http.SSEError:
            return unreadable(self._help.service)
        if isinstance(cause, (self._sdk.APIConnectionError, self._http.RequestError)):
            return cut_off(self._help.service)
        return unreadable(self._help.service)
