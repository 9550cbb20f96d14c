"""A real Temporal server and a real PostgreSQL."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHistory
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from nudge.clock import Clock, SystemClock
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.fleet.activities import Activities
from nudge.fleet.adoption import adopt
from nudge.fleet.connection import Server, add_search_attributes, connect, ensure_search_attributes
from nudge.fleet.dev_server import DevServer
from nudge.fleet.rules import sweep_id, workflow_id
from nudge.fleet.tables import FleetTable
from nudge.fleet.worker import WorkerOptions, working
from nudge.home.prices import load_prices
from nudge.instants import SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.firing import Firing, Handler
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.timers import Timer
from nudge.spending.budgets import WAKE
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel
from nudge.testing.life import Texts

NOTE = "note"
PATIENCE = 60.0
HISTORIES = Path(__file__).parent / "histories"
_queues = itertools.count()


@pytest.fixture(scope="session")
def temporal() -> Iterator[DevServer]:
    """One server for all tests of this process: each test has a task queue of its own."""
    with tempfile.TemporaryDirectory(prefix="nudge-temporal") as folder:
        server = DevServer(Path(folder))
        asyncio.run(server.start())
        yield server
        server.stop()


def ports_on(store: SqlStore, clock: Clock) -> Ports:
    return Ports(
        store, clock, RecordingChannel(), Texts({}), load_prices(), is_coach=lambda agent: agent.role == "coach"
    )


def daemon_of(store: SqlStore, clock: Clock, name: str) -> Daemon:
    """One that works for all agents, as `nudge run` does."""
    return Daemon(ports_on(store, clock), Options(owner=name))


@dataclass
class World:
    """A home's store, its fleet and its workers. `note` timers are handled by `handled`."""

    url: str
    address: str
    store: SqlStore
    client: Client
    queue: str = field(default_factory=lambda: f"queue-{next(_queues)}")
    clock: SystemClock = field(default_factory=SystemClock)
    handled: list[tuple[str, str, Instant]] = field(default_factory=list)
    takes: float = 0.0
    sweep_seconds: float = 3600.0
    handlers: dict[str, Handler] = field(default_factory=dict)

    @property
    def table(self) -> FleetTable:
        return FleetTable(self.store)

    async def agents(self, *names: str) -> None:
        for name in names:
            await self.store.agents.add(Agent(name, "own", self.clock.now()))

    async def adopt(self, spread: int = 0) -> int:
        return await adopt(self.store, self.queue, spread, self.clock.now())

    def note(self, agent: str, key: str, seconds: float, *, every: float | None = None) -> Timer:
        due = Instant(self.clock.now() + round(seconds * SECOND))
        payload: dict[str, Any] = {} if every is None else {"every": round(every * SECOND)}
        return Timer.at(agent, key, NOTE, due, payload=payload, lane=f"{agent}/notes")

    @asynccontextmanager
    async def worker(self, name: str = "w1") -> AsyncIterator[Activities]:
        """In this process, with a store of its own."""
        store = await open_store(self.url)
        fleet = await FleetTable(store).require()
        ports, options = ports_on(store, self.clock), Options(owner=name)
        daemon = Daemon(ports, options)
        self.take_over(daemon)
        client = await connect(Server(self.address))
        wanted = WorkerOptions(sweep_seconds=self.sweep_seconds)
        try:
            async with working(daemon, ports, options, client, fleet, wanted) as activities:
                yield activities
        finally:
            await store.close()

    def take_over(self, daemon: Daemon) -> None:
        """Notes, and chores of midnight, are handled here."""
        daemon.dispatcher.handlers.update({NOTE: self.handle, WAKE: self.handle, **self.handlers})

    async def handle(self, firing: Firing) -> None:
        await asyncio.sleep(self.takes)
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED, "Done.")
            if (every := firing.timer.payload.get("every")) is not None:
                settlement.again(Instant(firing.timer.slot_at + every))
        self.handled.append((firing.timer.agent, firing.timer.key, firing.timer.slot_at))

    async def outcomes(self, agent: str | None = None) -> list[Outcome]:
        return list(await self.store.outcomes.recent(agent=agent, kind=NOTE, limit=1_000_000))

    async def until(self, condition: Any, seconds: float = PATIENCE) -> None:
        """Wait until `await condition()` is true."""
        async with asyncio.timeout(seconds):
            while not await condition():
                await asyncio.sleep(0.05)

    async def asleep(self, agent: str) -> bool:
        """Whether the agent has been visited and sleeps again."""
        member = await self.table.member(agent)
        return member is not None and member.visited_at is not None and (member.wakes_at or 0) > self.clock.now()

    async def there(self, agent: str) -> bool:
        """Whether the agent has a workflow."""
        with suppress(RPCError):
            return bool(await self.workflow(agent).describe())
        return False

    def workflow(self, agent: str) -> Any:
        return self.client.get_workflow_handle(workflow_id(self.queue, agent))


def _keep(name: str, history: WorkflowHistory) -> None:
    """Without the name of the machine."""
    text = re.sub(r'"identity": "\d+@[^"]*"', '"identity": "client"', history.to_json())
    (HISTORIES / f"{name}.json").write_text(text)


async def record(world: World, name: str) -> None:
    """Keep the histories of a test's workflows, for `test_histories.py` to replay: NUDGE_RECORD=1 writes them."""
    for agent in ["ada", "bob"]:
        with suppress(RPCError):
            history = await world.workflow(agent).fetch_history()
            _keep(f"{name}-{agent}", history)
    with suppress(RPCError):
        history = await world.client.get_workflow_handle(sweep_id(world.queue)).fetch_history()
        _keep(f"{name}-sweep", history)


@pytest.fixture
async def world(postgres_url: str, temporal: DevServer, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        store = await open_store(postgres_url)
        stack.push_async_callback(store.close)
        client = await connect(Server(temporal.address))
        await ensure_search_attributes(client)
        made = World(postgres_url, temporal.address, store, client)
        yield made
        if os.environ.get("NUDGE_RECORD"):
            await record(made, request.node.name.removeprefix("test_"))


@pytest.fixture
async def temporal_skipping() -> AsyncIterator[WorkflowEnvironment]:
    """A server whose time jumps to the next thing that happens."""
    beside = Path(sys.executable).with_name("temporal-test-server")
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(beside)) as environment:
        await add_search_attributes(environment.client)
        yield environment
