"""A process that fires timers into an inbox until it is killed."""

from __future__ import annotations

import asyncio
import sys

from nudge.adapters.clock import SystemClock
from nudge.adapters.open_store import open_store
from nudge.app.dispatch import Dispatcher, Firing
from nudge.app.ports.records import Letter, Priority
from nudge.core.outcome import Result


async def main(url: str, owner: str) -> None:
    store = await open_store(url)

    async def note(firing: Firing) -> None:
        async with firing.settle() as settlement:
            letter = Letter(firing.timer.agent, "test", firing.timer.key, Priority.NORMAL, firing.now)
            await store.letters.put(letter)
            settlement.outcome(Result.FIRED)

    await Dispatcher(store, SystemClock(), {"note": note}, owner=owner).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
