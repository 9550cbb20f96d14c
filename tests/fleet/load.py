"""The same load on three workers of a fleet and on three plain daemons, in one run:

python -m tests.fleet.load --agents 200 --every 20 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import psycopg

from nudge.fleet.adoption import adopt
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.dev import postgres
from nudge.fleet.dev_server import dev_server
from nudge.fleet.rules import jitter
from nudge.instants import SECOND, Instant
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from tests.fleet.conftest import NOTE, World

PROCESSES = 3
SETTLE_SECONDS = 5.0


def resident(process: subprocess.Popen[bytes]) -> int:
    """MB of memory."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


async def measured(kind: str, url: str, address: str, wanted: argparse.Namespace) -> str:
    store = await open_store(url)
    client = await connect(Server(address))
    await ensure_search_attributes(client)
    world = World(url, address, store, client, f"load-{kind}")
    names = [f"agent{number}" for number in range(wanted.agents)]
    await world.agents(*names)
    if kind == "fleet":
        await adopt(store, client, world.queue, 0, world.clock.now())
    command = [sys.executable, "-m", "tests.fleet.worker_process", kind, url, address, world.queue]
    processes = [subprocess.Popen([*command, f"{kind}{number}", "0"]) for number in range(PROCESSES)]
    try:
        if kind == "fleet":
            for name in names:
                await world.until(lambda name=name: world.asleep(name), 300)
        else:
            await asyncio.sleep(SETTLE_SECONDS)
        start = world.clock.now() + round(SETTLE_SECONDS * SECOND)
        every = wanted.every * SECOND
        payload = {"every": every}
        timers = [
            Timer.at(name, "tick", NOTE, Instant(start + jitter(name, every)), payload=payload, lane=f"{name}/n")
            for name in names
        ]
        await store.timers.set_many(timers)
        await asyncio.sleep(SETTLE_SECONDS + wanted.seconds)
        memory = max(resident(process) for process in processes)
        found = await store.outcomes.recent(kind=NOTE, limit=1_000_000)
    finally:
        for process in processes:
            process.kill()
            process.wait()
        await store.close()
    end = start + wanted.seconds * SECOND
    lags = sorted(one.at - one.slot_at for one in found)
    due = sum(len(range(timer.due_at, end, every)) for timer in timers)
    on_time = sum(one.slot_at < end for one in found)
    doubled = sum(count > 1 for count in Counter((one.agent, one.slot_at) for one in found).values())
    shares = [lags[int(len(lags) * share)] / SECOND for share in (0.5, 0.99)]
    return f"{kind:6} {due:6} {on_time:6} {doubled:8} {shares[0]:8.2f} {shares[1]:8.2f} {memory:8}"


async def main(wanted: argparse.Namespace) -> None:
    print("kind      due  fired  doubled  p50 (s)  p99 (s)  MB/process")
    with tempfile.TemporaryDirectory(prefix="nudge-load-") as folder:
        async with postgres(Path(folder)) as url, dev_server(Path(folder)) as server:
            for kind in ("plain", "fleet"):
                async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                    await connection.execute(f"CREATE DATABASE {kind}")
                print(await measured(kind, url.replace("/postgres?", f"/{kind}?"), server.address, wanted), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    asyncio.run(main(parser.parse_args()))
