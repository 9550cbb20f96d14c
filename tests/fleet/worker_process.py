"""A worker in a process of its own, to be killed: python -m tests.fleet.worker_process URL ADDRESS QUEUE NAME"""

from __future__ import annotations

import asyncio
import sys

from nudge.errors import NudgeError
from nudge.fleet.connection import Server, connect
from nudge.stores.open import open_store
from tests.fleet.conftest import World

TAKES = 0.2
SWEEP_SECONDS = 5.0


async def main(url: str, address: str, queue: str, name: str) -> None:
    while True:
        try:
            world = World(url, address, await open_store(url), await connect(Server(address)), queue)
            world.takes, world.sweep_seconds = TAKES, SWEEP_SECONDS
            async with world.worker(name):
                await asyncio.Event().wait()
        except NudgeError as error:  # a server is away at this moment
            print(error, file=sys.stderr)
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
