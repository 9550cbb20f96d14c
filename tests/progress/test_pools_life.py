"""How long a member of a pool in the store lives, and its calls through the spending governor."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nudge.errors import BudgetExhaustedError
from nudge.instants import SECOND, Instant
from nudge.progress.stored_pools import POOL, member_key
from nudge.spending.agent_ledger import run_chain
from nudge.spending.ledger import AccountLedger, Attempt
from nudge.spending.money import DOLLAR, Money
from nudge.spending.store import UsageRow
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.progress.pool_twins import costing
from tests.progress.test_pools import EXPIRED, OPEN, REVOKED, at, opened
from tests.spending.kit import PricedModel, costs, dispatcher_of, everything, question, spending_on
from tests.times import NOON


def test_a_silent_child_loses_its_reservation_and_a_call_is_a_sign(in_store: Any) -> None:
    """In the daemon a timer takes back what is stale, to the microsecond; calls keep a child and its parents."""

    async def scenario(clock: Any, store: SqlStore) -> None:
        pools = await opened(store)
        model = PricedModel(costs(10))
        spending = spending_on(store, clock, 30 * DOLLAR, model)
        dispatcher = dispatcher_of(spending, store, clock, **{POOL: pools.sweep})
        running = asyncio.create_task(dispatcher.run())
        await pools.reserve("run", "silent", now=clock.now())
        await pools.reserve("run", "busy", now=clock.now())
        await pools.reserve("run", "below", parent="busy", now=clock.now())
        dispatcher.poke()
        await clock.sleep(540)
        await spending.call("coach", question(), run="run/below")
        await clock.sleep(59.9)
        states = {member.name: member.state for member in (await pools.status("run", NOON)).members}
        assert set(states.values()) == {OPEN}
        await clock.sleep(0.2)
        rows = {member.row.name: member.row for member in await store.pools.members("run", closed=True)}
        assert [rows[name].state for name in ("silent", "busy", "below")] == [EXPIRED, OPEN, OPEN]
        assert rows["busy"].expires_at == rows["below"].expires_at == at(19)
        await clock.sleep(540)
        rows = {member.row.name: member.row for member in await store.pools.members("run", closed=True)}
        assert [rows[name].state for name in ("busy", "below")] == [EXPIRED, REVOKED]
        assert await store.timers.get("coach", "pool:run") is None
        parent = member_key("run", "parent")
        assert (await store.ledger.get([parent]))[parent].account.limit == 99_990
        dispatcher.stop()
        await running

    in_store(scenario)


def test_a_call_under_way_keeps_its_child_open(in_store: Any) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        pools = await opened(store)
        spending = spending_on(store, clock, 30 * DOLLAR, PricedModel(costs(10), clock=clock, seconds=840))
        await pools.reserve("run", "slow", now=clock.now())
        call = asyncio.create_task(spending.call("coach", question(), run="run/slow"))
        await clock.sleep(800)
        assert await pools.expire("run", clock.now()) == ()
        await call
        assert await pools.expire("run", at(23.9)) == ()
        assert await pools.expire("run", at(24)) == ("slow",)

    in_store(scenario)


def test_a_child_that_died_in_a_call_is_not_kept_by_its_giving_up(in_store: Any) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        pools = await opened(store)
        spending = spending_on(store, clock, 30 * DOLLAR, PricedModel(everything))
        dispatcher = dispatcher_of(spending, store, clock, **{POOL: pools.sweep})
        running = asyncio.create_task(dispatcher.run())
        await pools.reserve("run", "dead", now=clock.now())
        await spending.call("coach", question(), run="run/parent")  # sets the timer that sweeps
        await AccountLedger(store).reserve(
            Attempt("lost", costing(500), "coach", run="run/dead"), run_chain("run/dead"), NOON, expires_at=at(15)
        )
        dispatcher.poke()
        await clock.sleep(14 * 60)
        assert (await pools.status("run", clock.now())).members[1].state is OPEN, "its call may still come back"
        await clock.sleep(7 * 60)
        rows = {member.row.name: member for member in await store.pools.members("run", closed=True)}
        assert rows["dead"].row.state is EXPIRED
        assert rows["dead"].committed == 500, "nobody knows what it cost, so the worst case is charged"
        dispatcher.stop()
        await running

    in_store(scenario)


def test_calls_of_a_child_are_held_on_its_account_and_refused_beyond_it(in_store: Any) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        pools = await opened(store)
        spending = spending_on(store, clock, 30 * DOLLAR, PricedModel(everything))
        share = await pools.reserve("run", "child", cap=Money(2_500), now=clock.now())
        reply = await spending.call("coach", question(2_000), run=share.run)
        rest = 2_500 - reply.details["cost"]
        assert await pools.available("run", "child", clock.now()) == rest
        with pytest.raises(BudgetExhaustedError, match=r"the budget of run/child does not cover this call"):
            await spending.call("coach", question(2_000), run=share.run)
        assert await pools.release("run", "child", clock.now()) == rest
        with pytest.raises(BudgetExhaustedError, match=r"the budget of run/child"):
            await spending.call("coach", question(10), run=share.run)
        assert (await pools.status("run", clock.now())).used == reply.details["cost"]
        assert [row.run for row in await store.usage.recent("coach")] == ["run/child"]

    in_store(scenario)


async def test_a_removed_agents_timer_is_gone_and_its_pool_can_still_be_read(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "child", now=NOON)
    assert await store.timers.get("coach", "pool:run") is not None
    await store.agents.remove("coach", NOON)
    assert await store.timers.get("coach", "pool:run") is None
    assert (await pools.status("run", Instant(at(10) - SECOND))).reserved == 45_000
    assert (await pools.status("run", at(10))).reserved == 0


async def test_an_offline_call_is_a_sign_of_life_too(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "child", now=NOON)
    await store.usage.put(UsageRow("free", "coach", at(5), "work", "offline", TokenUse(), 0, "run/child"))
    assert await pools.expire("run", at(14.9)) == ()
    assert await pools.expire("run", at(15)) == ("child",)
