"""The Model port on Anthropic's SDK.

The SDK costs more than a second to import and is therefore imported when a model is made, which happens only where
there is a key. Its own retries are off: they sleep for as long as a server says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nudge.backoff import Policy, RetryClock, SetbackError, parse_retry_after, persevere
from nudge.errors import ModelUnavailableError, NotConfiguredError, NudgeError
from nudge.model import ModelReply, ModelRequest
from nudge.models.anthropic.messages import UnreadableReplyError, read_reply, to_body

if TYPE_CHECKING:
    import anthropic

PUBLIC_API = "https://api.anthropic.com"
TIMEOUT_SECONDS = 120.0
CONNECT_SECONDS = 10.0
_KEY_STEP = "Put a valid key into .env as ANTHROPIC_API_KEY, or remove it to use the offline model."


class AnthropicModel:
    """Asks a model over the Messages API.

    It retries by the rows `model-…` of the back-off table, then raises ModelUnavailableError. No error holds the key,
    nor leads to one that does.

    >>> AnthropicModel("sk-ant-x", clock=None)
    AnthropicModel('https://api.anthropic.com')
    """

    def __init__(
        self,
        api_key: str,
        *,
        clock: RetryClock,
        base_url: str = PUBLIC_API,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", api_key):
            raise NotConfiguredError("The Anthropic key is empty or has characters no key has.", next_step=_KEY_STEP)
        import anthropic
        import httpx2

        from nudge.tls import tls_context

        self._sdk = anthropic
        self._key = api_key
        self._clock = clock
        self._base_url = base_url
        self._timeout = timeout
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
    def from_settings(cls, settings: Mapping[str, str], *, clock: RetryClock) -> AnthropicModel:
        """From ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL (the public service, if it is not set)."""
        return cls(
            settings.get("ANTHROPIC_API_KEY", "").strip(),
            clock=clock,
            base_url=settings.get("ANTHROPIC_BASE_URL", "").strip() or PUBLIC_API,
        )

    def __repr__(self) -> str:
        return f"AnthropicModel({self._base_url!r})"

    @property
    def name(self) -> str:
        return "anthropic"

    async def complete(self, request: ModelRequest) -> ModelReply:
        body = to_body(request)

        async def attempt() -> ModelReply:
            return await self._ask(body, request)

        reply, attempts = await persevere(attempt, self._clock)
        return replace(reply, details={**reply.details, "attempts": attempts})

    async def check_key(self) -> None:
        """Ask the service, once and for free, whether it takes the key."""
        error: NudgeError | None = None
        try:
            async with asyncio.timeout(self._timeout):
                await self._client.models.list(limit=1)
        except (self._sdk.APIError, TimeoutError, ValueError) as cause:
            failure = self._failure(cause)
            error = failure.error if isinstance(failure, SetbackError) else failure
        if error is not None:
            raise error

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, body: dict[str, Any], request: ModelRequest) -> ModelReply:
        failure: SetbackError | NudgeError
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.messages.with_raw_response.create(**body)
                raw = await response.read()
            reply = read_reply(raw, request)
            return replace(reply, details={**reply.details, "request_id": response.headers.get("request-id", "")})
        except (self._sdk.APIError, TimeoutError, UnreadableReplyError) as cause:
            failure = self._failure(cause)
        raise failure

    def _failure(self, cause: Exception) -> SetbackError | NudgeError:
        """What a failed attempt means, in words without secrets."""
        if isinstance(cause, self._sdk.APIStatusError):
            return self._failure_of_status(cause)
        if isinstance(cause, (TimeoutError, self._sdk.APITimeoutError)):
            words = f"The model did not answer within {self._timeout:g} s."
        elif isinstance(cause, self._sdk.APIConnectionError):
            words = "The connection to the model's service failed."
        else:
            words = "The answer of the model's service is not readable."
        return SetbackError(Policy.MODEL_NETWORK, ModelUnavailableError(words))

    def _failure_of_status(self, cause: anthropic.APIStatusError) -> SetbackError | NudgeError:
        status = cause.response.status_code
        said = cause.api_message
        words = said.replace(self._key, "<key>")[:300] if isinstance(said, str) and said else f"status {status}"
        if status in (401, 403):
            return NotConfiguredError(f"Anthropic does not accept the key ({words}).", next_step=_KEY_STEP)
        if status == 404:
            return NotConfiguredError(
                f"The model's service does not know what was asked for ({words}).",
                next_step="Check the model's name in nudge.toml, and ANTHROPIC_BASE_URL if it is set.",
            )
        wait = parse_retry_after(cause.response.headers.get("retry-after"), self._clock.now())
        if status == 429:
            error = ModelUnavailableError(f"The model's service asks for a pause ({words}).", retry_after=wait)
            return SetbackError(Policy.MODEL_RATE, error)
        if status >= 500:
            error = ModelUnavailableError(f"The model's service is out of order ({words}).", retry_after=wait)
            return SetbackError(Policy.MODEL_SERVER, error)
        if status == 408:
            return SetbackError(
                Policy.MODEL_NETWORK, ModelUnavailableError(f"The model did not answer in time ({words}).")
            )
        return NudgeError(f"The model's service does not accept this question ({words}).")
