"""Look at once when another machine set a timer that is due soon, instead of at the next look of one's own."""

from __future__ import annotations

import logging
from collections.abc import Callable

from nudge.clock import Clock
from nudge.errors import StoreError
from nudge.queue.store import QueueStore

log = logging.getLogger("nudge.wakes")

RETRY_SECONDS = 15.0


class EarlyWakes:
    def __init__(self, store: QueueStore, clock: Clock, poke: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._poke = poke

    async def run(self) -> None:
        """Listen until cancelled, or until it is clear that nobody else writes this store. Nothing depends on it: while
        a server cannot be listened to, the dispatcher looks by itself every few seconds."""
        while True:
            try:
                async for _ in self._store.wakes():
                    self._poke()
                return
            except StoreError as error:
                log.warning("not told of early timers for %.0f s: %s", RETRY_SECONDS, error)
            await self._clock.sleep(RETRY_SECONDS)
