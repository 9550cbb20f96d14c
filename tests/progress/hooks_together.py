"""Hooks of one session in several processes at once: `python -m … URL`.

Each is a fork with a store of its own. It reports tool calls one by one, as the hooks of a coding agent with parallel
tools do, and reports model calls in between.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
from multiprocessing.synchronize import Barrier

from nudge.clock import SystemClock
from nudge.progress.guard_store import StoredGuards
from nudge.progress.run_limits import RunLimits
from nudge.stores.open import open_store
from nudge.tokens import TokenUse

PROCESSES = 6
EVENTS = 20


async def report(url: str, who: int, barrier: Barrier) -> None:
    store = await open_store(url, connections=1)
    stored = StoredGuards(store, SystemClock(), limits=RunLimits(cost=None)).session("builder", "shared")
    barrier.wait(30)
    for number in range(EVENTS):
        async with stored.open() as guard:
            guard.after_tool("read_file", {"path": f"{who}-{number}"}, result="text")
        call = await stored.before_call("m", 0, 100)
        assert call
        await stored.after_call(TokenUse(output=7), call=call)
    await store.close()


def main(url: str) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(PROCESSES)
    workers = [
        context.Process(target=lambda who=who: asyncio.run(report(url, who, barrier))) for who in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(90)
    sys.exit(any(worker.exitcode != 0 for worker in workers))


if __name__ == "__main__":
    main(sys.argv[1])
