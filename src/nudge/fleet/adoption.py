"""Move the agents of a home to the fleet, and back. Nothing is missed or doubled on the way: timers stay where they
are, and whoever fires one holds its lane."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from nudge.fleet.pokes import poke
from nudge.fleet.rules import poller_id, sweep_id, workflow_id
from nudge.fleet.tables import FleetTable
from nudge.instants import Instant
from nudge.queue.agents import Agents
from nudge.queue.outcomes import FeedLine
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.fleet")

AT_ONCE = 20
TASK_QUEUE = "nudge"


async def adopt(store: SqlStore, client: Client, task_queue: str, spread: int, now: Instant) -> int:
    """Give every agent a workflow; how many there are. Safe to repeat: those that have one are woken once. Daemons that
    still run work beside the fleet until they are stopped."""
    table = FleetTable(store)
    await Agents(store).ensure_default(now)
    await table.begin(task_queue, spread, now)
    names = [agent.name for agent in await store.agents.all()]

    async def one(name: str) -> None:
        await table.join(name, now)
        await poke(client, task_queue, name, now, now)

    await _each(names, one)
    await store.feed.add(FeedLine(now, "", "adopted", f"The fleet looks after {len(names)} agents."))
    return len(names)


async def release(store: SqlStore, client: Client, now: Instant) -> int:
    """End the workflows of all agents, so that daemons can take them back; how many there were."""
    table = FleetTable(store)
    fleet = await table.require()
    for which in (sweep_id(fleet.task_queue), poller_id(fleet.task_queue)):
        await _end(client, which)
    names = [agent.name for agent in await store.agents.all()]

    async def one(name: str) -> None:
        await _end(client, workflow_id(fleet.task_queue, name))

    await table.end()  # first: a poke that is sent now would start a workflow again
    await _each(names, one)
    await store.feed.add(FeedLine(now, "", "released", f"The fleet no longer looks after {len(names)} agents."))
    return len(names)


async def drain(store: SqlStore, client: Client, *, undo: bool = False) -> int:
    """Pause the workflows of all agents: what runs is finished, nothing new is started. With `undo`, go on."""
    table = FleetTable(store)
    fleet = await table.require()
    names = [agent.name for agent in await store.agents.all()]

    async def one(name: str) -> None:
        await _signal(client, workflow_id(fleet.task_queue, name), "resume" if undo else "pause")

    await _each(names, one)
    return len(names)


async def wake(store: SqlStore, client: Client, agent: str, now: Instant) -> None:
    """Visit the agent now; one without a workflow gets one."""
    await Agents(store).get(agent)
    table = FleetTable(store)
    fleet = await table.require()
    await table.join(agent, now)
    await poke(client, fleet.task_queue, agent, now, Instant(2**62))


async def _end(client: Client, which: str) -> None:
    await _signal(client, which, "cancel")


async def _signal(client: Client, which: str, signal: str) -> None:
    try:
        await client.get_workflow_handle(which).signal(signal)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _each(names: Sequence[str], work: Callable[[str], Awaitable[None]]) -> None:
    for start in range(0, len(names), AT_ONCE):
        await asyncio.gather(*(work(name) for name in names[start : start + AT_ONCE]))
