"""A daemon whose only handler never ends by itself; a deaf one does not even when it is cancelled."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from nudge.clock import SystemClock
from nudge.daemon.signals import handle_signals
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import Firing
from nudge.queue.timers import Timer
from nudge.stores.open import open_store


async def main(url: str, ready: Path, *, deaf: bool) -> None:
    store = await open_store(url)
    clock = SystemClock()

    async def hang(firing: Firing) -> None:
        ready.write_text("hanging")
        while True:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                if not deaf:
                    raise
            if dispatcher.stopping:
                ready.write_text("stopping")

    await store.agents.add(Agent("coach", "coach", clock.now()))
    await store.timers.set(Timer.at("coach", "x", "hang", clock.now()))
    dispatcher = Dispatcher(store, clock, {"hang": hang}, owner="stubborn")
    handle_signals(dispatcher)
    await dispatcher.run()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), deaf=sys.argv[3:] == ["deaf"]))
