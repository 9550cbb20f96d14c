"""Move the agents of a home to the fleet, and back. Nothing is missed or doubled on the way: timers stay where they
are, and whoever fires one holds its lane."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from nudge.fleet.pokes import poke
from nudge.fleet.rules import poller_id, sweep_id, workflow_id
from nudge.fleet.tables import FleetTable
from nudge.instants import Instant
from nudge.queue.agents import Agents
from nudge.queue.outcomes import FeedLine
from nudge.stores.store import SqlStore

AT_ONCE = 20
TASK_QUEUE = "nudge"


async def adopt(store: SqlStore, task_queue: str, spread: int, now: Instant, *, calls_per_minute: int = 0) -> int:
    """Let the fleet look after every agent; how many there are. Workers give each a workflow, which sleeps until the
    agent is due. Safe to repeat. Daemons that still run work beside the fleet until they are stopped."""
    table = FleetTable(store)
    await Agents(store).ensure_default(now)
    await table.begin(task_queue, spread, calls_per_minute, now)
    count = await table.join_all(now, spread)
    await store.feed.add(FeedLine(now, "", "adopted", f"The fleet looks after {count} agents."))
    return count


async def release(store: SqlStore, client: Client, now: Instant) -> int:
    """End the workflows of all agents, so that daemons can take them back; how many there were."""
    table = FleetTable(store)
    fleet = await table.require()
    for which in (sweep_id(fleet.task_queue), poller_id(fleet.task_queue)):
        await end_workflow(client, which)
    names = [agent.name for agent in await store.agents.all()]

    unvisited = await table.unvisited()

    async def one(name: str) -> None:
        await end_workflow(client, workflow_id(fleet.task_queue, name), begun=name not in unvisited)

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
    await table.join([agent], now)
    await poke(client, fleet.task_queue, agent, now, Instant(2**62), now=now)


async def end_workflow(client: Client, which: str, *, begun: bool = True) -> None:
    """One that has not begun hears nothing before its first wake, and has nothing to finish."""
    if begun:
        await _signal(client, which, "cancel")
        return
    with suppress(RPCError):  # it has none yet
        await client.get_workflow_handle(which).terminate("released")


async def _signal(client: Client, which: str, signal: str) -> None:
    try:
        await client.get_workflow_handle(which).signal(signal)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _each(names: Sequence[str], work: Callable[[str], Awaitable[None]]) -> None:
    for start in range(0, len(names), AT_ONCE):
        await asyncio.gather(*(work(name) for name in names[start : start + AT_ONCE]))
