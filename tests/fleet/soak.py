"""The same load on three workers of a fleet and on three plain daemons, in real time, with one midnight in the middle:

python -m tests.fleet.soak --agents 500 --minutes 3

Each agent ticks every 45 minutes (--every), at a time of its own, and has a chore at the run's midnight, which the
fleet spreads. Lag is from the due time to the outcome. What processes cost is processor time, so it hardly depends on
what else the machine does; lag does, and the last column says how much of it was left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from nudge.fleet.adoption import adopt
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.dev import postgres
from nudge.fleet.dev_server import DevServer, dev_server
from nudge.fleet.rules import jitter
from nudge.instants import MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.outcomes import Outcome
from nudge.queue.timers import Timer
from nudge.spending.budgets import WAKE
from nudge.stores.open import open_store
from tests.fleet.actions import BILLED, actions
from tests.fleet.conftest import NOTE, World

PROCESSES = 3
SETTLE_SECONDS = 10.0
AFTER_SECONDS = 60.0
"""How long what is late at the end may take."""
SAMPLE_SECONDS = 10.0
SAMPLED_AGENTS = 300
PROMISED_LAG = 5.0
PROMISED_ACTIONS = 2.2
JOINING_ACTIONS = 3
TICK, MIDNIGHT = "tick", "midnight"


@dataclass(frozen=True)
class Load:
    agents: int
    seconds: int
    every: int
    spread: int

    @property
    def names(self) -> list[str]:
        return [f"agent{number:06}" for number in range(self.agents)]

    @property
    def midnight(self) -> int:
        """Seconds after the start: the wave ends before the run does."""
        return (self.seconds - self.spread) * 2 // 3


@dataclass
class Costs:
    """Processor seconds and memory, by what the process is."""

    seconds: Counter[str] = field(default_factory=Counter)
    worker_mb: list[int] = field(default_factory=list)
    idle: float = 0.0
    wall: float = 0.0


def resident(pid: int) -> int:
    """MB of memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


def children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in found]


def used(pid: int) -> float:
    """Processor seconds of a process, and of its children that ended."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK")


def machine_idle() -> float:
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


@dataclass
class Machines:
    """Who works: their process ids, by what they are."""

    temporal: int
    postgres: int
    workers: Sequence[subprocess.Popen[bytes]]

    def used(self) -> Counter[str]:
        return Counter(
            {
                "temporal": used(self.temporal),
                "postgres": sum(used(pid) for pid in [self.postgres, *children(self.postgres)]),
                "workers": sum(used(one.pid) for one in self.workers),
            }
        )


async def watch(machines: Machines, until: Instant, world: World) -> Costs:
    before, idle, began = machines.used(), machine_idle(), world.clock.now()
    costs = Costs()
    while world.clock.now() < until:
        await asyncio.sleep(min(SAMPLE_SECONDS, max(0.1, (until - world.clock.now()) / SECOND)))
        costs.worker_mb.append(max(resident(one.pid) for one in machines.workers))
        print(".", end="", flush=True, file=sys.stderr)
    costs.seconds = machines.used() - before
    costs.wall = (world.clock.now() - began) / SECOND
    costs.idle = (machine_idle() - idle) / costs.wall
    return costs


def promote(pids: Sequence[int], nice: int) -> None:
    """Where the system shares the processor by session, niceness alone does not count between them."""
    for pid in pids:
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))


@dataclass
class Found:
    """What a run showed."""

    kind: str
    load: Load
    start: Instant
    outcomes: Sequence[Outcome]
    costs: Costs
    set_up: float
    actions: float | None

    def occurrences(self, key: str) -> set[tuple[str, int]]:
        if key == MIDNIGHT:
            return {(name, self.midnight) for name in self.load.names}
        end, every = self.start + self.load.seconds * SECOND, self.load.every * SECOND
        return {
            (name, slot) for name in self.load.names for slot in range(self.start + jitter(name, every), end, every)
        }

    @property
    def midnight(self) -> int:
        return self.start + self.load.midnight * SECOND

    def lags(self, key: str, *, wave: bool) -> list[float]:
        end = self.midnight + self.load.spread * SECOND
        due = self.occurrences(key)
        found = [one for one in self.outcomes if one.key == key and (one.agent, one.slot_at) in due]
        return sorted((one.at - one.slot_at) / SECOND for one in found if (self.midnight <= one.slot_at < end) == wave)

    def problems(self) -> list[str]:
        """What was promised and not kept."""
        counted = Counter((one.key, one.agent, one.slot_at) for one in self.outcomes)
        due = {(key, *one) for key in (TICK, MIDNIGHT) for one in self.occurrences(key)}
        checks = [
            (len(due - counted.keys()), "occurrences have no outcome"),
            (sum(count > 1 for count in counted.values()), "occurrences have two outcomes"),
            (share(self.lags(TICK, wave=False), 0.99) > PROMISED_LAG, "p99 lag outside the wave is above 5 s"),
            (share(self.lags(MIDNIGHT, wave=True), 0.99) > self.load.spread, "p99 lag in the wave is above the spread"),
            ((self.actions or 0.0) > PROMISED_ACTIONS, f"actions a wake are above {PROMISED_ACTIONS}"),
        ]
        return [f"{self.kind}: {int(wrong)} {words}" for wrong, words in checks if wrong]

    def row(self) -> str:
        costs, ticks = self.costs, self.lags(TICK, wave=False)
        wakes = max(1, len(self.outcomes))
        each = [costs.seconds[what] * 1000 / wakes for what in ("temporal", "postgres", "workers")]
        half = len(costs.worker_mb) // 2
        return (
            f"{self.kind:6} {len(self.occurrences(TICK)) + len(self.occurrences(MIDNIGHT)):6} {len(self.outcomes):6}"
            f" {share(ticks, 0.5):6.2f} {share(ticks, 0.99):6.2f} {share(self.lags(TICK, wave=True), 0.99):8.2f}"
            f" {share(self.lags(MIDNIGHT, wave=True), 0.99):8.1f}"
            f" {max(costs.worker_mb[:half] or [0]):5} {max(costs.worker_mb[half:] or [0]):5}"
            f" {each[0]:8.1f} {each[1]:8.1f} {each[2]:8.1f}"
            f" {self.actions or 0:7.2f} {self.set_up:7.1f} {costs.idle:5.2f}"
        )


HEADER = """\
          due  fired  p50 s  p99 s p99 wave midnight    MB worker    ms a wake of processor  actions  set-up  idle
                     (ticks outside  (ticks)     p99  1st  2nd half Temporal Postgres  workers a wake   s     cores"""


def share(sorted_values: Sequence[float], part: float) -> float:
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))] if sorted_values else 0.0


async def run(kind: str, url: str, temporal: DevServer, postgres_pid: int, load: Load, nice: int | None) -> Found:
    store = await open_store(url)
    client = await connect(Server(temporal.address))
    await ensure_search_attributes(client)
    world = World(url, temporal.address, store, client, f"soak-{kind}")
    began = world.clock.now()
    start = Instant(began + round(SETTLE_SECONDS * SECOND) + load.agents * SECOND // 80)
    async with store.transaction():
        for name in load.names:
            await store.agents.add(Agent(name, "own", began))
        await store.timers.set_many(timers(load, start))
    if kind == "fleet":
        await adopt(store, world.queue, load.spread * SECOND, world.clock.now())
    processes = [_process(kind, world, number) for number in range(PROCESSES)]
    try:
        machines = Machines(temporal.pid, postgres_pid, processes)
        if nice is not None:
            promote([os.getpid(), temporal.pid, postgres_pid], nice)
        if kind == "fleet":
            await world.until(lambda: _sent(world), 900)
        set_up = (world.clock.now() - began) / SECOND
        await asyncio.sleep(max(0, start - world.clock.now()) / SECOND)
        end = Instant(start + load.seconds * SECOND)
        costs = await watch(machines, end, world)
        late = Instant(world.clock.now() + round(AFTER_SECONDS * SECOND))
        while await _waiting(world, end) and world.clock.now() < late:
            await asyncio.sleep(0.5)
        found = [one for one in await store.outcomes.recent(limit=10_000_000) if one.key in (TICK, MIDNIGHT)]
        billed = await _billed(world, load) if kind == "fleet" else None
    finally:
        for process in processes:
            process.kill()
            process.wait()
        await store.close()
    found = [one for one in found if one.slot_at < end]
    return Found(kind, load, start, found, costs, set_up, billed)


def timers(load: Load, start: Instant) -> list[Timer]:
    every, midnight = load.every * SECOND, Instant(start + load.midnight * SECOND)
    return [
        timer
        for name in load.names
        for timer in (
            Timer.at(
                name, TICK, NOTE, Instant(start + jitter(name, every)), payload={"every": every}, lane=f"{name}/n"
            ),
            Timer.at(name, MIDNIGHT, WAKE, midnight, lane=f"{name}/n"),
        )
    ]


def _process(kind: str, world: World, number: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.fleet.worker_process", kind, world.url, world.address, world.queue]
    return subprocess.Popen([*command, f"{kind}{number}", "0"], start_new_session=False)


async def _sent(world: World) -> bool:
    now = world.clock.now()
    return not (await world.table.counts(now, now)).pokes


async def _waiting(world: World, before: Instant) -> bool:
    """Whether something that was due in the run has not been fired."""
    return any(True for _ in await world.store.timers.due_lanes(before, 1))


async def _billed(world: World, load: Load) -> float:
    """Actions a wake, of some agents that woke. An agent that joins costs three more once: its start, its first poke,
    and what its search attributes show first."""
    billed = wakes = 0
    for name in load.names[:: max(1, load.agents // SAMPLED_AGENTS)]:
        counted, _ = await actions(world.client, world.workflow(name).id)
        if counted["visits"]:
            billed += sum(counted[one] for one in BILLED) - JOINING_ACTIONS
            wakes += counted["visits"]
    return billed / max(1, wakes)


@asynccontextmanager
async def servers() -> AsyncIterator[tuple[str, DevServer, int]]:
    with tempfile.TemporaryDirectory(prefix="nudge-soak-") as folder:
        async with postgres(Path(folder)) as url, dev_server(Path(folder)) as server:
            pid = int((Path(folder) / "pg" / "postmaster.pid").read_text().split()[0])
            yield url, server, pid


async def _measured(kind: str, load: Load, nice: int | None) -> Found:
    async with servers() as (url, server, pid):
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute("CREATE DATABASE soak")
        found = await run(kind, url.replace("/postgres?", "/soak?"), server, pid, load, nice)
    print(f"\r{found.row()}", flush=True)
    return found


async def main(wanted: argparse.Namespace) -> int:
    spread = wanted.spread or round(wanted.minutes * 30)
    load = Load(wanted.agents, round(wanted.minutes * 60), wanted.every, spread)
    print(
        f"{load.agents:,} agents, a tick every {load.every} s each ({load.agents / load.every:.1f} a second), "
        f"{wanted.minutes} minutes, "
        f"midnight spread over {load.spread} s ({load.agents / load.spread:.1f} a second more)"
    )
    print(HEADER, flush=True)
    kinds = wanted.kinds.split(",")
    if wanted.together:
        found = await asyncio.gather(*(_measured(kind, load, wanted.nice) for kind in kinds))
    else:
        found = [await _measured(kind, load, wanted.nice) for kind in kinds]
    problems = [problem for one in found for problem in one.problems()]
    for problem in problems:
        print(problem)
    print("Everything that was promised was kept." if not problems else "Not everything that was promised was kept.")
    return 1 if problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--every", type=int, default=45 * MINUTE // SECOND, help="seconds between an agent's ticks")
    parser.add_argument("--spread", type=int, help="seconds of the midnight wave (default: half of the run)")
    parser.add_argument("--kinds", default="fleet,plain")
    parser.add_argument("--together", action="store_true", help="both kinds at the same time")
    parser.add_argument("--nice", type=int, help="priority of the run's sessions where others share the machine")
    sys.exit(asyncio.run(main(parser.parse_args())))
