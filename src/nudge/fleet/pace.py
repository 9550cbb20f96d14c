"""A thousand agents share one key: their calls of the model are paced in the store, so that the service refuses none.

Each call takes the next free moment. The person's own messages are answered at once, and the others move back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from nudge.clock import Clock
from nudge.fleet.tables import FleetTable
from nudge.instants import MINUTE, SECOND
from nudge.model import Model, ModelReply, ModelRequest, Purpose, StreamEvent


class PacedModel:
    """`calls_per_minute` is what all workers together may ask."""

    def __init__(self, model: Model, table: FleetTable, clock: Clock, calls_per_minute: int) -> None:
        self._model = model
        self._table = table
        self._clock = clock
        self._interval = MINUTE // calls_per_minute

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        await self._wait(request.purpose)
        return await self._model.complete(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        await self._wait(request.purpose)
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        await self._model.close()

    async def _wait(self, purpose: Purpose) -> None:
        now = self._clock.now()
        at = await self._table.next_call(self._model.name, now, self._interval)
        if purpose is not Purpose.CONVERSATION and at > now:
            await self._clock.sleep((at - now) / SECOND)
