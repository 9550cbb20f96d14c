"""A process that fires timers into an inbox until it is killed."""

from __future__ import annotations

import asyncio
import sys

from nudge.clock import SystemClock
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import Firing
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outcomes import Result
from nudge.stores.open import open_store


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
