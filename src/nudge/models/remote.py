"""What every provider has in common: try again, ask in words what a model cannot do, and lose no error of a stream."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self

from nudge.backoff import RetryClock, persevere
from nudge.model import ModelReply, ModelRequest, StreamEvent
from nudge.models.failures import Capability, LacksError
from nudge.models.fallbacks import in_words, read_in_words, stream_in_words

log = logging.getLogger("nudge.models")


class RemoteModel(ABC):
    """A model behind a network: the Model port over one attempt (`_ask`, `_stream`) of a provider.

    What the service certainly did not do is tried again by the rows `model-…` of the back-off table, then raises
    ModelUnavailableError. What it may have done is not: another attempt may cost the same again, and only the caller
    knows whether there is money for it.

    `capabilities` is what the provider can do in general. Where a service says that one of its models cannot, that is
    remembered for the model, and the same question is asked in words at once.
    """

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability)

    def __init__(self, *, clock: RetryClock) -> None:
        self._clock = clock
        self._lacks: dict[str, frozenset[Capability]] = {}

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Mapping[str, str], *, clock: RetryClock) -> Self:
        """From the environment and `.env`. Raises NotConfiguredError where something is missing."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        while True:
            lacks = self._missing(request.model)
            asked = in_words(request, lacks)
            try:
                reply, attempts = await persevere(partial(self._ask, asked), self._clock)
            except LacksError as error:
                self._learn(request.model, error)
            else:
                return _tried(read_in_words(reply, request, lacks), attempts)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        while True:
            lacks = self._missing(request.model)
            asked = in_words(request, lacks)
            try:
                (first, events), attempts = await persevere(partial(self._begin, asked), self._clock)
            except LacksError as error:
                self._learn(request.model, error)
                continue
            async with aclosing(events):
                async for event in stream_in_words(_go_on(first, events), request, lacks):
                    yield _tried(event, attempts) if isinstance(event, ModelReply) else event
            return

    @abstractmethod
    async def check(self) -> str:
        """Ask the service, once and for free, whether it takes what is configured; what to tell the operator."""

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def _ask(self, request: ModelRequest) -> ModelReply:
        """One attempt. Raises SetbackError, NudgeError or LacksError."""

    @abstractmethod
    def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One attempt, as it is written. Ends with the reply, or raises the same."""

    async def _begin(self, request: ModelRequest) -> tuple[StreamEvent, AsyncGenerator[StreamEvent, None]]:
        """Open a stream and wait for its first event; until then the service may say no, and is asked again."""
        events = self._stream(request)
        try:
            return await anext(events), events
        except BaseException:
            await events.aclose()
            raise

    def _missing(self, model: str) -> frozenset[Capability]:
        return (frozenset(Capability) - self.capabilities) | self._lacks.get(model, frozenset())

    def _learn(self, model: str, error: LacksError) -> None:
        log.warning("%s does not support %s, so nudge asks in words: %s", model, error.capability.value, error)
        self._lacks[model] = self._lacks.get(model, frozenset()) | {error.capability}


async def _go_on(first: StreamEvent, events: AsyncIterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
    yield first
    async for event in events:
        yield event


def _tried(reply: ModelReply, attempts: int) -> ModelReply:
    return replace(reply, details={**reply.details, "attempts": attempts})
