"""The Model port over chat completions: OpenAI's, or those of a service that speaks the same protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from nudge.backoff import RetryClock, SetbackError
from nudge.errors import NotConfiguredError
from nudge.model import ModelReply, ModelRequest, StreamEvent
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
from nudge.models.openai.chat import DONE, PROVIDER, ChatStream, read_reply, to_body
from nudge.models.remote import RemoteModel
from nudge.models.wire import UnreadableReplyError, event_data

if TYPE_CHECKING:
    import httpx2

PUBLIC_API = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 300.0
"""Longer than for a service with a thousand machines: a model on a laptop may need minutes to read a long prompt."""
CONNECT_SECONDS = 10.0
OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
_HELP = Help(
    "OpenAI",
    "Put a valid key into .env as OPENAI_API_KEY.",
    "Check the model's name under [spending.models] in nudge.toml, and OPENAI_BASE_URL if it is set.",
)


class OpenAIModel(RemoteModel):
    """Asks a model over the chat completions API.

    The key is only needed where the service wants one. No error holds it, nor leads to one that does.

    >>> OpenAIModel("", clock=None, base_url="http://localhost:11434/v1")
    OpenAIModel('http://localhost:11434/v1')
    """

    name = PROVIDER

    def __init__(
        self,
        api_key: str = "",
        *,
        clock: RetryClock,
        base_url: str = PUBLIC_API,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        super().__init__(clock=clock)
        base_url = base_url.rstrip("/")
        public = base_url == PUBLIC_API
        if not re.fullmatch(r"[!-~]+" if public else r"[!-~]*", api_key):
            raise NotConfiguredError("The OpenAI key is empty or has invalid characters.", next_step=_HELP.key)
        import httpx2

        from nudge.tls import tls_context

        self._http = httpx2
        self._key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._help = _HELP if public else replace(_HELP, service=base_url)
        self._limit = NEW_LIMIT if public else OLD_LIMIT
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            verify=tls_context(),
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], *, clock: RetryClock) -> Self:
        """From OPENAI_API_KEY and OPENAI_BASE_URL (the public service, if it is not set)."""
        key, base_url = (settings.get(name, "").strip() for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"))
        return cls(key, clock=clock, base_url=base_url or PUBLIC_API)

    def __repr__(self) -> str:
        return f"OpenAIModel({self._base_url!r})"

    async def check(self) -> str:
        failure: Failure | None = None
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.get(f"{self._base_url}/models")
            if response.status_code != 200:
                raise _refused(response, _said(response.content))
        except (self._http.RequestError, TimeoutError, RefusedError) as cause:
            failure = self._failure(cause, None)
        if failure is not None:
            raise failure.error if isinstance(failure, SetbackError) else failure
        return "OpenAI accepts the key" if self._base_url == PUBLIC_API else f"{self._base_url} answers"

    async def close(self) -> None:
        await self._client.aclose()

    async def _ask(self, request: ModelRequest) -> ModelReply:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._post(request)
            reply = read_reply(response.content, request)
            return replace(reply, details={**reply.details, "request_id": response.headers.get("x-request-id", "")})
        except (self._http.RequestError, TimeoutError, UnreadableReplyError, RefusedError) as cause:
            failure = self._failure(cause, request)
        raise failure

    async def _post(self, request: ModelRequest) -> httpx2.Response:
        """The answer to a question, which is asked again where the service wants the limit under its other name."""
        for limit in self._limits():
            response = await self._client.post(self._url, json=to_body(request, limit))
            if response.status_code == 200:
                self._limit = limit
                return response
            said = _said(response.content)
            if not _wants_other_limit(response.status_code, said):
                break
        raise _refused(response, said)

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        begun = False
        try:
            for limit in self._limits():
                body = to_body(request, limit) | {"stream": True, "stream_options": {"include_usage": True}}
                async with self._client.stream("POST", self._url, json=body) as response:
                    if response.status_code == 200:
                        self._limit, begun = limit, True
                        async for found in self._read(response, ChatStream(request)):
                            yield found
                        return
                    said = _said(await response.aread())
                    if not _wants_other_limit(response.status_code, said):
                        break
            raise _refused(response, said)
        except (self._http.RequestError, UnreadableReplyError, RefusedError) as cause:
            failure = self._failure(cause, request, begun=begun)
        raise failure

    async def _read(self, response: httpx2.Response, pieces: ChatStream) -> AsyncIterator[StreamEvent]:
        async with aclosing(event_data(response)) as events:
            async for data in events:
                if data == DONE:
                    break
                for found in pieces.feed(data):
                    yield found
        if not pieces.complete:
            raise UnreadableReplyError
        for found in pieces.end():
            yield found

    @property
    def _url(self) -> str:
        return f"{self._base_url}/chat/completions"

    def _limits(self) -> tuple[str, str]:
        return (OLD_LIMIT, NEW_LIMIT) if self._limit == OLD_LIMIT else (NEW_LIMIT, OLD_LIMIT)

    def _failure(self, cause: Exception, request: ModelRequest | None, *, begun: bool = False) -> Failure:
        if isinstance(cause, RefusedError):
            now = self._clock.now()
            return failure_of_refusal(cause, request, self._help, now=now, key=self._key, begun=begun)
        if isinstance(cause, (self._http.ConnectError, self._http.ConnectTimeout)):
            return not_reached(self._help.service)
        if isinstance(cause, (TimeoutError, self._http.TimeoutException)):
            return no_answer(self._help.service, self._timeout)
        if isinstance(cause, (UnreadableReplyError, self._http.SSEError)):
            return unreadable(self._help.service)
        return cut_off(self._help.service)


def _refused(response: httpx2.Response, said: str | None) -> RefusedError:
    return RefusedError(response.status_code, said or "", response.headers.get("retry-after"), own=said is not None)


def _wants_other_limit(status: int, said: str | None) -> bool:
    """OpenAI's newer models refuse `max_tokens`, and older services do not know `max_completion_tokens`."""
    return (
        status in (400, 422)
        and said is not None
        and (OLD_LIMIT in said or NEW_LIMIT in said)
        and "support" in said.lower()
    )


def _said(raw: bytes) -> str | None:
    """The message of an error; None for what is no error of such a service. OpenAI and Ollama nest it, vLLM does not,
    and LM Studio has nothing but a text."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    error = body.get("error", body) if isinstance(body, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else None
