"""Eight processes with a hundred tasks between them that spend one dollar: `python -m … URL MOST_PERCENT SEED`.

Each process is a fork of this one, with a store and a spending governor of its own. Every grant and every end is
written to the feed inside the transaction that made it, so that afterwards one can read in which order things happened.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import os
import random
import sys
import time
from dataclasses import replace
from datetime import date
from multiprocessing.synchronize import Barrier

from nudge.errors import BudgetExhaustedError
from nudge.home.prices import load_prices
from nudge.instants import Instant
from nudge.model import ModelReply, ModelRequest, Purpose, Text, text_reply, user
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine
from nudge.spending.budgets import SpendingPlan
from nudge.spending.governor import Spending, input_bound
from nudge.spending.holds import AccountKind, Change
from nudge.spending.store import HoldRow
from nudge.spending.tables import LedgerTable
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.times import NOON

PROCESSES = 8
TASKS = 100
LIMIT = 1_000_000
TEXT = "Please look at this again. " * 40


class TracedLedger(LedgerTable):
    def __init__(self, store: SqlStore) -> None:
        super().__init__(store.database)
        self._feed = store.feed

    async def reserve(self, row: HoldRow) -> bool:
        made = await super().reserve(row)
        assert made
        await self._trace("grant", row, 0)
        return made

    async def change(self, row: HoldRow, change: Change) -> None:
        await super().change(row, change)
        await self._trace("end", row, change.hold.overrun)

    async def _trace(self, what: str, row: HoldRow, overrun: int) -> None:
        (day,) = (await self.get(key for key in row.chain if key.kind is AccountKind.DAY)).values()
        text = f"{row.hold.attempt_id} {overrun} {day.account.committed} {day.account.held}"
        await self._feed.add(FeedLine(NOON, "coach", what, text))


class HalfTrueModel:
    """Uses between 8 % and `most` % of what was held for it."""

    name = "half-true"

    def __init__(self, chance: random.Random, most: int) -> None:
        self._chance = chance
        self._most = most

    async def complete(self, request: ModelRequest) -> ModelReply:
        await asyncio.sleep(self._chance.uniform(0.02, 0.1))  # long enough for others to find the store free
        percent = self._chance.randrange(8, self._most + 1)
        usage = TokenUse(cache_write=input_bound(request) * percent // 100, output=request.max_tokens * percent // 100)
        return text_reply("", request.model, usage)

    async def close(self) -> None: ...


class PassingClock:
    """Real time, but from a noon: the test must not fail because midnight passes."""

    def __init__(self) -> None:
        self._began = time.monotonic()  # noqa: TID251

    def now(self) -> Instant:
        return Instant(NOON + int((time.monotonic() - self._began) * 1_000_000))  # noqa: TID251

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True


async def spend(url: str, most: int, seed: int, number: int, together: Barrier) -> None:
    store = await open_store(url, connections=2)
    store.__dict__["ledger"] = TracedLedger(store)
    chance = random.Random(seed * 100 + number)
    plan = SpendingPlan(LIMIT, renews=date(2026, 2, 19))
    model = HalfTrueModel(chance, most)
    spending = Spending(store, PassingClock(), prices=load_prices(), plan=plan, model=model, patience=120)
    request = ModelRequest(Purpose.CONVERSATION, "claude-sonnet-5-5", (Text(TEXT),), (user("Go on."),), 2_000)

    names = itertools.count()

    async def call() -> None:
        await spending.call("coach", replace(request, attempt_id=f"{number}-{next(names)}"))

    async def task() -> None:
        while True:
            try:
                await call()
            except BudgetExhaustedError:
                return

    await call()
    together.wait(60)  # the first to be ready must not spend it all before the others have begun
    mine = TASKS // PROCESSES + (number < TASKS % PROCESSES)
    await asyncio.gather(*(task() for _ in range(mine)))
    await store.close()


async def prepare(url: str) -> None:
    store = await open_store(url, connections=1)
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.close()


def main(url: str, most: int, seed: int) -> int:
    asyncio.run(prepare(url))
    children = []
    together = multiprocessing.get_context("fork").Barrier(PROCESSES)
    for number in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                asyncio.run(spend(url, most, seed, number, together))
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    return max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
