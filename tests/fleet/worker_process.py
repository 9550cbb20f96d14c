"""A process to be killed or measured: python -m tests.fleet.worker_process fleet|plain URL ADDRESS QUEUE NAME TAKES

`fleet` is a worker of the fleet. `plain` is a daemon that shares the PostgreSQL with others, without Temporal.
"""

from __future__ import annotations

import asyncio
import sys

from nudge.errors import NudgeError
from nudge.fleet.connection import Server, connect
from nudge.queue.dispatch import EarlyWakes
from nudge.stores.open import open_store
from tests.fleet.conftest import World, daemon_of

SWEEP_SECONDS = 5.0


async def fleet(url: str, address: str, queue: str, name: str, takes: float) -> None:
    world = World(url, address, await open_store(url), await connect(Server(address)), queue)
    world.takes, world.sweep_seconds = takes, SWEEP_SECONDS
    async with world.worker(name):
        await asyncio.Event().wait()


async def plain(url: str, address: str, queue: str, name: str, takes: float) -> None:
    world = World(url, address, await open_store(url), await connect(Server(address)), queue)
    world.takes = takes
    daemon = daemon_of(world.store, world.clock, name)
    world.take_over(daemon)
    await daemon.start()
    async with asyncio.TaskGroup() as group:
        group.create_task(EarlyWakes(world.store, world.clock, daemon.poke).run())
        group.create_task(daemon.run())


async def main(kind: str, url: str, address: str, queue: str, name: str, takes: str) -> None:
    while True:
        try:
            await {"fleet": fleet, "plain": plain}[kind](url, address, queue, name, float(takes))
        except NudgeError as error:  # a server is away at this moment
            print(error, file=sys.stderr)
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
