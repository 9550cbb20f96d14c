"""A guard on the daemon's spending governor, on every store and in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge import AsyncGuard, CallAllowed, RunLimits, TokenUse
from nudge.errors import UsageError
from nudge.instants import to_datetime
from nudge.progress.guard_holds import AsyncLedgerHolds
from nudge.progress.guard_store import StoredGuards
from nudge.spending.governor import Spending
from nudge.spending.lifecycle import AsleepError
from nudge.stores.store import SqlStore
from tests.spending.kit import prepared, spending_on

InStore = Callable[[Callable[..., Any]], Any]
DAY_MONEY = 10_000
"""Micro-dollars, and tokens at a micro-dollar each, for the day."""


def guarded(spending: Spending, clock: Any, agent: str = "coach", run: str = "") -> AsyncGuard:
    return AsyncGuard(ledger=AsyncLedgerHolds.of_agent(spending, agent, run=run), clock=clock)


async def opened(guard: AsyncGuard, input_bound: int, max_tokens: int, **more: Any) -> CallAllowed:
    call = await guard.before_call("penny", input_bound, max_tokens, **more)
    assert call, call
    return call


def test_a_call_is_held_on_the_day_and_settled(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)
        guard = guarded(spending, clock)
        call = await opened(guard, 1_000, 500)
        assert (await spending.state("coach", clock.now())).held == 1_500
        settled = await guard.after_call({"input_tokens": 900, "output_tokens": 100})
        status = await spending.state("coach", clock.now())
        assert (settled.cost, status.held, status.meter.spent, guard.budget.cost) == (1_000, 0, 1_000, 1_000)
        [row] = await store.usage.recent("coach")
        assert (row.attempt_id, row.purpose, row.cost) == (call.id, "work", 1_000)

    in_store(scenario)


def test_the_accounts_of_a_run_limit_it_too(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)
        await spending.open_run("coach", "run-7", "0.002")
        call = await opened(guarded(spending, clock, run="run-7"), 1_000, 5_000)
        assert (call.max_tokens, call.clamped) == (1_000, True)

    in_store(scenario)


def test_a_sleeping_agent_is_told_until_when(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)
        guard = guarded(spending, clock)
        await opened(guard, DAY_MONEY - 100, 100)
        await guard.after_call(TokenUse(input=DAY_MONEY))
        refused = await guard.before_call("penny", 100, 100)
        assert not refused
        refresh = (await spending.state("coach", clock.now())).refresh_at
        assert refused.retry_at == to_datetime(refresh)
        assert "is asleep until" in refused.reason
        with pytest.raises(UsageError, match="No such call is open"):
            await guard.after_call(TokenUse())

    in_store(scenario)


def test_an_agent_that_winds_down_goes_on_but_starts_no_task(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        guard = guarded(spending_on(store, clock, 30 * DAY_MONEY), clock)
        await opened(guard, 9_100, 100, starts_task=True)
        await guard.after_call(TokenUse(input=9_100))
        refused = await guard.before_call("penny", 100, 100, starts_task=True)
        assert not refused
        assert "winding down" in refused.reason
        await opened(guard, 100, 100)

    in_store(scenario)


@pytest.mark.parametrize(
    ("error", "charged"),
    [
        pytest.param(None, 0, id="a call that was never sent is free"),
        pytest.param(RuntimeError("cut off"), 1_500, id="one that failed is charged its worst case"),
    ],
)
def test_a_failed_call_leaves_nothing_held(in_store: InStore, error: Exception | None, charged: int) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)
        guard = guarded(spending, clock)
        await opened(guard, 1_000, 500)
        await guard.call_failed(error)
        status = await spending.state("coach", clock.now())
        assert (status.held, status.meter.spent, guard.budget.cost) == (0, charged, charged)

    in_store(scenario)


def test_a_call_that_is_stopped_because_the_day_is_exceeded_says_so(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)

        async def long_call() -> None:
            guard = guarded(spending, clock)
            await opened(guard, 100, 100)
            try:
                await clock.sleep(3_600)
            except BaseException as error:
                await guard.call_failed(error)
                raise

        task = asyncio.ensure_future(long_call())
        await clock.sleep(1)
        other = guarded(spending, clock)
        await opened(other, 9_000, 100)
        await other.after_call(TokenUse(input=12_000))
        with pytest.raises(AsleepError, match="was stopped"):
            await task
        assert (await spending.state("coach", clock.now())).held == 0

    in_store(scenario)


def test_two_sessions_in_the_store_wait_for_each_others_money(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30 * DAY_MONEY)
        guards = StoredGuards(store, clock, limits=RunLimits(cost=None))

        async def run(name: str) -> int:
            session = guards.session("coach", name, ledger=AsyncLedgerHolds.of_agent(spending, "coach", run=name))
            spent = 0
            while call := await session.before_call("penny", 100, 2_000, min_tokens=2_000):
                await clock.sleep(10)
                spent += (await session.after_call(TokenUse(input=100, output=400), call=call)).cost
            return spent

        spent = await asyncio.gather(*(run(f"session-{number}") for number in range(8)))
        status = await spending.state("coach", clock.now())
        assert sum(spent) == status.meter.spent
        assert DAY_MONEY - 2_100 < sum(spent) <= DAY_MONEY
        assert status.held == 0

    in_store(scenario)
