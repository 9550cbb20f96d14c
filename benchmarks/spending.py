"""Spending: how fast money is reserved and settled, and what a hundred parallel tasks do with a dollar.

Speed is measured on SQLite with synchronous=FULL, in one process, against two bare loops on the same disk: one that
writes the same rows without any rule, and one that writes a single row in each of its two transactions.

Restraint is measured with a hundred parallel tasks, a limit of a dollar and calls of which 8 to 100 % of the worst case
is used. "Check, then act" looks at what was spent before it calls, as most home-made limits do. pydantic-ai's limits
are per run; here 50 parallel runs share one usage object, which is how it says to limit them together.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Callable, Coroutine
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, in_turns, median, scratch
from nudge.errors import BudgetExhaustedError
from nudge.home.prices import load_prices
from nudge.instants import Instant, parse_rfc3339
from nudge.model import ModelReply, ModelRequest, Purpose, Text, text_reply, user
from nudge.queue.agents import Agent
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.budgets import SpendingPlan
from nudge.spending.governor import Spending, input_bound
from nudge.spending.holds import AccountKey, AccountKind, Call, settle
from nudge.spending.ledger import AccountLedger, Attempt
from nudge.spending.money import DOLLAR
from nudge.spending.prices import Price, Rates
from nudge.stores.open import open_sqlite
from nudge.tokens import TokenUse, token_use

PAIRS = 300
ROUNDS = 9
TASKS = 100
NOON = parse_rfc3339("2026-11-15T12:00:00Z")
CHAIN = (AccountKey(AccountKind.WINDOW, "window"), AccountKey(AccountKind.DAY, "day"))
PRICE = Price(Rates(*[1_000_000] * 5))


def rows() -> list[Row]:
    return [*speed(), *restraint(), *others()]


def speed() -> list[Row]:
    with scratch() as folder:
        sides = {
            "ledger": ledger_pairs(folder / "ledger.db"),
            "call": call_pairs(folder / "call.db"),
            "same rows": bare_pairs(folder / "same.db", same_rows=True),
            "one row": bare_pairs(folder / "one.db", same_rows=False),
        }
        found = {name: median(times) / PAIRS for name, times in in_turns(sides, ROUNDS).items()}
    pair = found["ledger"]
    return [
        ("reserve + settle, pairs a second on SQLite", f"{1 / pair:,.0f}", "≥ 5,000, or the ratio below 2 ×"),
        (
            "… by a single caller ÷ two bare transactions that write the same rows",
            f"{pair / found['same rows']:.2f} ×",
            "< 2 ×",
        ),
        ("… ÷ two bare transactions that write one row each", f"{pair / found['one row']:.2f} ×", "-"),
        ("a whole call (state, usage log, badge) ÷ reserve + settle", f"{found['call'] / pair:.2f} ×", "-"),
    ]


def ledger_pairs(path: Path) -> Callable[[], float]:
    store = open_sqlite(str(path))
    ledger, call, loop = AccountLedger(store), Call(PRICE, 100, 100), asyncio.new_event_loop()
    settled = partial(settle, actual=50)
    numbers = iter(range(10**9))

    async def opened() -> None:
        for key in CHAIN:
            await store.ledger.open(key, 10**15, agent="bench")

    async def pairs() -> float:
        started = time.perf_counter()
        for _ in range(PAIRS):
            name = f"attempt {next(numbers)}"
            await ledger.reserve(Attempt(name, call, "bench"), CHAIN, NOON, expires_at=Instant(NOON + 1))
            await ledger.end(name, settled)
        return time.perf_counter() - started

    loop.run_until_complete(opened())
    return lambda: loop.run_until_complete(pairs())


def call_pairs(path: Path) -> Callable[[], float]:
    store, loop = open_sqlite(str(path)), asyncio.new_event_loop()
    loop.run_until_complete(store.agents.add(Agent("bench", "bench", NOON)))
    spending = Spending(
        store, VirtualClock(NOON, loop), prices=load_prices(), plan=SpendingPlan(10**15), model=Instantly(100)
    )

    async def pairs() -> float:
        started = time.perf_counter()
        for _ in range(PAIRS):
            await spending.call("bench", QUESTION)
        return time.perf_counter() - started

    return lambda: loop.run_until_complete(pairs())


def bare_pairs(path: Path, *, same_rows: bool) -> Callable[[], float]:
    store = open_sqlite(str(path))  # for its tables
    asyncio.run(store.close())
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    for key in CHAIN:
        connection.execute(
            "INSERT INTO accounts VALUES (?, ?, 'bench', '', 1000000000000000, 0, 0, 0, NULL)",
            (int(key.kind), key.name),
        )
    numbers = iter(range(10**9))

    def pairs() -> float:
        run = connection.execute
        started = time.perf_counter()
        for _ in range(PAIRS):
            name = f"attempt {next(numbers)}"
            run("BEGIN IMMEDIATE")
            hold = (name, "bench", "0 window\n1 day", 200, 100, 100, NOON + 1, "held", 0, "", "", "", NOON)
            run("INSERT INTO holds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", hold)
            if same_rows:
                for key in CHAIN:
                    run("UPDATE accounts SET held = held + 200 WHERE kind = ? AND name = ?", (int(key.kind), key.name))
            run("COMMIT")
            run("BEGIN IMMEDIATE")
            run("UPDATE holds SET state = 'settled', charged = 50 WHERE attempt_id = ?", (name,))
            if same_rows:
                for key in CHAIN:
                    run(
                        "UPDATE accounts SET held = held - 200, committed = committed + 50 WHERE kind = ? AND name = ?",
                        (int(key.kind), key.name),
                    )
            run("COMMIT")
        return time.perf_counter() - started

    return pairs


QUESTION = ModelRequest(
    Purpose.CONVERSATION, "claude-sonnet-5-5", (Text("Please look at this again. " * 40),), (user("Go on."),), 2_000
)


class Instantly:
    """Answers after `seconds`, having used between 8 and 100 % of what was held (or exactly `percent`)."""

    name = "bench"

    def __init__(self, percent: int | None = None, clock: VirtualClock | None = None, seed: int = 1) -> None:
        self.percent = percent
        self.clock = clock
        self.chance = random.Random(seed)

    async def complete(self, request: ModelRequest) -> ModelReply:
        if self.clock:
            await self.clock.sleep(self.chance.uniform(1, 20))
        percent = self.percent or self.chance.randrange(8, 101)
        usage = TokenUse(cache_write=input_bound(request) * percent // 100, output=request.max_tokens * percent // 100)
        return text_reply("", request.model, usage)

    async def close(self) -> None: ...


def restraint() -> list[Row]:
    held, naive = run_virtual(with_holds, NOON), run_virtual(check_then_act, NOON)
    return [
        ("100 parallel tasks, limit $1: spent with holds", f"{held * 100 / DOLLAR:.1f} %", "95 to 100 %"),
        ("… spent by check, then act", f"{naive * 100 / DOLLAR:.1f} %", "-"),
    ]


async def with_holds(clock: VirtualClock) -> int:
    store = open_sqlite(":memory:")
    await store.agents.add(Agent("bench", "bench", NOON))
    plan = SpendingPlan(DOLLAR, renews=date(2026, 11, 16))
    spending = Spending(store, clock, prices=load_prices(), plan=plan, model=Instantly(clock=clock))

    async def task() -> None:
        while True:
            try:
                await spending.call("bench", QUESTION)
            except BudgetExhaustedError:
                return

    await asyncio.gather(*(task() for _ in range(TASKS)))
    spent = (await spending.state("bench", clock.now())).meter.spent
    await store.close()
    return spent


async def check_then_act(clock: VirtualClock) -> int:
    """The same calls by tasks that look at a counter first."""
    prices, model = load_prices(), Instantly(clock=clock)
    spent = 0

    async def task() -> None:
        nonlocal spent
        while spent < DOLLAR:
            reply = await model.complete(QUESTION)
            spent += prices.cost(reply.model, token_use(reply.usage))

    await asyncio.gather(*(task() for _ in range(TASKS)))
    return spent


def others() -> list[Row]:
    what = "pydantic-ai, 50 parallel runs with one limit: spent ÷ limit"
    try:
        return [(what, f"{_pydantic_ai():.1f} ×", "-")]
    except ImportError:
        return [(what, "not installed", "-")]


def _pydantic_ai() -> float:
    """Each run answers with 1,000 tokens; the limit is what a little more than two of them use."""
    from pydantic_ai import Agent as TheirAgent
    from pydantic_ai import ModelResponse, RequestUsage, TextPart, UsageLimitExceeded, UsageLimits
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import RunUsage

    used = 0

    async def answer(messages: Any, info: Any) -> ModelResponse:
        nonlocal used
        await asyncio.sleep(0.05)
        used += 1_000
        return ModelResponse([TextPart("ok")], usage=RequestUsage(input_tokens=500, output_tokens=500))

    agent = TheirAgent(FunctionModel(answer))
    shared, limit = RunUsage(), 2_250

    async def run() -> None:
        try:
            await agent.run("Go on.", usage=shared, usage_limits=UsageLimits(total_tokens_limit=limit))
        except UsageLimitExceeded:
            return

    async def main() -> None:
        jobs: list[Coroutine[Any, Any, None]] = [run() for _ in range(50)]
        await asyncio.gather(*jobs)

    asyncio.run(main())
    return used / limit


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
