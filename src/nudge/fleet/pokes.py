"""Tell workflows of timers that are due earlier than they think: rows of an outbox, sent after the commit that wrote
them, and retried until Temporal has them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError

from nudge.backoff import Policy, delay
from nudge.clock import Clock
from nudge.errors import StoreError
from nudge.fleet.rules import together, workflow_id
from nudge.fleet.tables import FleetTable
from nudge.fleet.workflows import LONGEST_HISTORY, AgentStart, AgentWorkflow
from nudge.instants import Instant
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.fleet")

AT_ONCE = 50
LOOK_SECONDS = 5.0
"""Nobody listens while the connection is away: the outbox is also read this often."""


async def poke(
    client: Client, task_queue: str, agent: str, wake_at: Instant, made_at: Instant, *, now: Instant
) -> None:
    """Wake an agent then. One that has no workflow gets one, which costs nothing more before its first wake."""
    await client.start_workflow(
        AgentWorkflow.run,
        AgentStart(agent, wake_at=wake_at, longest_history=LONGEST_HISTORY),
        id=workflow_id(task_queue, agent),
        task_queue=task_queue,
        start_signal="poke",
        start_signal_args=[wake_at, made_at],
        start_delay=timedelta(microseconds=wake_at - now) if wake_at > now else None,
    )


class PokeSender:
    def __init__(self, store: SqlStore, clock: Clock, client: Client, task_queue: str, spread: int) -> None:
        self._store = store
        self._table = FleetTable(store)
        self._clock = clock
        self._client = client
        self._task_queue = task_queue
        self._spread = spread
        self._news = asyncio.Event()
        self.sent = 0

    async def run(self) -> None:
        """Until cancelled."""
        listening = asyncio.create_task(self._listen())
        failures = 0
        try:
            while True:
                self._news.clear()
                try:
                    while await self.send() == AT_ONCE:
                        pass
                    failures, wait = 0, LOOK_SECONDS
                except (StoreError, RPCError) as error:
                    wait = delay(failures, Policy.STORE)
                    failures += 1
                    log.warning("Pokes are waiting. Retrying in %.0f s: %s", wait, error)
                    await self._clock.sleep(wait)
                    continue
                await self._clock.wait(self._news, wait)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def send(self) -> int:
        """Send what is there, up to a number; how many rows were taken. If one cannot be sent, all stay."""
        async with self._store.transaction():
            pokes = await self._table.take_pokes(AT_ONCE)
            now = self._clock.now()
            wakes = together(pokes, now, self._spread)
            new = await self._table.join(wakes, now)  # nobody has started what belongs to them
            wakes |= {agent: (now, wakes[agent][1]) for agent in new}
            await asyncio.gather(
                *(poke(self._client, self._task_queue, agent, at, made, now=now) for agent, (at, made) in wakes.items())
            )
        self.sent += len(wakes)
        return len(pokes)

    async def _listen(self) -> None:
        failures = 0
        while True:
            with suppress(StoreError):
                async for _ in self._table.pokes():
                    failures = 0
                    self._news.set()
            await self._clock.sleep(delay(failures, Policy.STORE))
            failures += 1
