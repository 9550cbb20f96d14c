"""A real model in a simulation: the virtual clock stands still while it is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable

from nudge.model import Model, ModelReply, ModelRequest, StreamEvent


class StandingStill:
    """Asks another model on an event loop of its own, in real time, and lets the caller's loop wait.

    On a virtual loop a deadline comes as soon as nothing else is left to do, so a call over a network would time out
    before its answer is there. Blocking the loop is the point: no virtual second passes. A stream comes all at once.
    """

    def __init__(self, make: Callable[[], Model]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="model", daemon=True)
        self._thread.start()
        self._inner = make()

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        return asyncio.run_coroutine_threadsafe(self._inner.complete(request), self._loop).result()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in asyncio.run_coroutine_threadsafe(self._all_of(request), self._loop).result():
            yield event

    async def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._inner.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _all_of(self, request: ModelRequest) -> list[StreamEvent]:
        return [event async for event in self._inner.stream(request)]
