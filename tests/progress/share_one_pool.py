"""Eight processes that share one pool: `python -m … URL SEED`.

Each is a fork with a store, a pool and a spending governor of its own. It starts subagents that call a model, and lets
go of them, or forgets them as a process does that died. After every step, while the pool is still locked, what is used
and reserved is written to the feed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import sys
import traceback
from contextlib import suppress
from datetime import timedelta
from multiprocessing.synchronize import Barrier

from nudge.errors import BudgetExhaustedError, UsageError
from nudge.model import ModelReply, ModelRequest, text_reply
from nudge.progress.stored_pools import Pools, StoredPool
from nudge.queue.outcomes import FeedLine
from nudge.spending.money import Money
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.spending.kit import everything, prepared, question, spending_on
from tests.spending.spend_together import PassingClock
from tests.times import NOON

PROCESSES = 8
TOTAL = 100_000
LASTS = timedelta(seconds=0.5)
STEPS = 12


class TracedPools(Pools):
    def __init__(self, store: SqlStore, who: int) -> None:
        super().__init__(store, lasts=LASTS)
        self._feed = store.feed
        self._who = who

    async def _write(self, pool: StoredPool) -> None:
        await super()._write(pool)
        status = pool.status()
        text = f"{self._who} {pool.row.run} {status.used} {status.reserved} {status.overrun}"
        await self._feed.add(FeedLine(NOON, "coach", "pool", text))


class HastyModel:
    """Uses a random part of what was held for it, after a moment."""

    name = "hasty"

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def complete(self, request: ModelRequest) -> ModelReply:
        await asyncio.sleep(self._chance.uniform(0, 0.01))
        whole, percent = everything(request), self._chance.randrange(10, 101)
        return text_reply("", request.model, TokenUse(whole.input * percent // 100, whole.output * percent // 100))

    async def close(self) -> None: ...


async def share(url: str, seed: int, number: int, everybody: Barrier) -> None:
    store = await open_store(url, connections=2)
    chance, clock = random.Random(seed * 100 + number), PassingClock()
    pools = TracedPools(store, number)
    spending = spending_on(store, clock, 3_000_000_000, HastyModel(chance))

    async def tell(what: str) -> None:
        await store.feed.add(FeedLine(NOON, "coach", "told", f"{number} {what}"))

    async def work(name: str, parent: str | None) -> None:
        part = await pools.reserve("run", name, parent=parent, cap=chance.choice([None, Money(9_000)]), now=clock.now())
        await asyncio.gather(*(call(part.run) for _ in range(chance.randrange(1, 4))))
        if chance.random() < 0.3:
            await work(f"{name}-below", name)
        if chance.random() < 0.7:
            await pools.release("run", name, clock.now())

    async def call(run: str) -> None:
        with suppress(BudgetExhaustedError):
            await spending.call("coach", question(chance.randrange(100, 3_000)), run=run)

    await tell(f"granted {(await pools.reserve('other', 'same', now=clock.now())).granted}")
    everybody.wait(30)
    try:
        await pools.release("other", "same", clock.now())
        await tell("released")
    except UsageError:
        await tell("refused")
    await call("run/parent")
    for step in range(STEPS):
        try:
            await work(f"{number}-{step}", None)
        except (BudgetExhaustedError, UsageError):  # nothing left, or taken back because the machine was slow
            await asyncio.sleep(chance.uniform(0, 0.02))
    await store.close()


async def prepare(url: str) -> None:
    store = await open_store(url, connections=1)
    await prepared(store)
    await Pools(store, lasts=LASTS).open("coach", "run", Money(TOTAL))
    await Pools(store).open("coach", "other", Money(TOTAL))
    await store.close()


def main(url: str, seed: int) -> int:
    asyncio.run(prepare(url))
    everybody, children = multiprocessing.Barrier(PROCESSES), []
    for number in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                asyncio.run(share(url, seed, number, everybody))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(pid)
    return max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
