"""Guards that live in the store, on every store: no hook loses what another wrote."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from nudge import Ledger, Phase, PriceTable, RunLimits, TokenUse
from nudge.errors import StoreCorruptError, UsageError
from nudge.instants import DAY, SECOND, Instant
from nudge.progress.guard_holds import AsyncLedgerHolds
from nudge.progress.guard_store import KEPT, StoredGuards
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.progress.hooks_together import EVENTS, PROCESSES
from tests.times import NOON

PRICES = PriceTable.of({"models": {"m": {"input": "1.00", "output": "2.00"}}})


class Ticking:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> Instant:
        return self.at

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("a guard never sleeps")

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        raise AssertionError("a guard never waits")


def guards(store: SqlStore, clock: Ticking | None = None, **more: Any) -> StoredGuards:
    return StoredGuards(store, clock or Ticking(), **more)


async def test_a_guard_goes_on_where_another_hook_left_it(store: SqlStore) -> None:
    heard = []
    for _ in range(3):
        async with guards(store).session("builder", "s1").open() as guard:
            heard.append(len(guard.after_tool("Grep", {"q": "x"}, result="no match")))
    assert heard == [0, 0, 2]


async def test_sessions_and_agents_are_apart(store: SqlStore) -> None:
    async with guards(store).session("builder", "s1").open() as guard:
        guard.after_tool("Edit", {"file_path": "a.py"}, result="ok")
    phases = [
        (await guards(store).session(agent, session).look()).phase
        for agent, session in (("builder", "s1"), ("builder", "s2"), ("coach", "s1"))
    ]
    assert phases == [Phase.ACTING, Phase.EXPLORATION, Phase.EXPLORATION]


async def test_a_block_that_fails_writes_nothing(store: SqlStore) -> None:
    session = guards(store).session("builder", "s1")
    async with session.open() as guard:
        guard.after_tool("Edit", {"file_path": "a.py"}, result="ok")
    with pytest.raises(ZeroDivisionError):
        async with session.open() as guard:
            guard.after_tool("Bash", {"command": "make"}, result="ok")
            raise ZeroDivisionError
    assert (await session.look()).phase is Phase.ACTING


async def test_what_is_done_to_a_copy_is_not_written(store: SqlStore) -> None:
    session = guards(store).session("builder", "s1")
    (await session.look()).wrap_up()
    assert (await session.look()).phase is Phase.EXPLORATION


async def test_time_goes_on_between_two_hooks(store: SqlStore) -> None:
    clock = Ticking()
    session = guards(store, clock).session("builder", "s1")
    for _ in range(4):
        async with session.open() as guard:
            guard.before_tool("Read", {"file_path": "a"})
        clock.at = Instant(clock.at + 5 * SECOND)
    assert (await session.look()).budget.active_time == timedelta(seconds=15)


async def test_the_limits_are_those_with_which_the_session_began(store: SqlStore) -> None:
    first = guards(store, limits=RunLimits(tokens=1_000), mode="advisory").session("builder", "s1")
    async with first.open():
        pass
    later = await guards(store, limits=RunLimits(tokens=9_000)).session("builder", "s1").look()
    assert (later.budget.limits.tokens, later.budget.mode) == (1_000, "advisory")


async def test_a_call_is_opened_in_one_place_and_settled_in_another(store: SqlStore) -> None:
    ledger = AsyncLedgerHolds.of(money := Ledger("1.00", prices=PRICES))
    call = await guards(store).session("builder", "s1", ledger=ledger).before_call("m", 1_000, 500)
    assert call
    assert money.held == 2_250
    other = guards(store).session("builder", "s1", ledger=ledger)
    settled = await other.after_call(TokenUse(input=1_000, output=100), call=call.id)
    assert (settled.cost, money.spent, money.held) == (1_200, 1_200, 0)
    guard = await other.look()
    assert (guard.budget.cost, guard.budget.incremental_tokens) == (1_200, 1_100)


async def test_calls_at_once_count_with_their_worst_case_whoever_opened_them(store: SqlStore) -> None:
    one, other = (guards(store, limits=RunLimits(tokens=10_000)).session("builder", "s1") for _ in range(2))
    first, second = await one.before_call("m", 0, 6_000), await other.before_call("m", 0, 6_000)
    assert first
    assert second
    assert second.max_tokens == 10_000 - 500 - 6_000


async def test_a_call_without_money_is_refused_and_leaves_nothing_open(store: SqlStore) -> None:
    ledger = AsyncLedgerHolds.of(Ledger("0.000001", prices=PRICES))
    session = guards(store).session("builder", "s1", ledger=ledger)
    refused = await session.before_call("m", 1_000, 500)
    assert not refused
    with pytest.raises(UsageError, match="No such call is open"):
        await session.after_call(TokenUse())


async def test_what_a_refused_call_would_have_told_is_told_with_the_next(store: SqlStore) -> None:
    money = Ledger("0.000001", prices=PRICES)
    session = guards(store).session("builder", "s1", ledger=AsyncLedgerHolds.of(money))
    async with session.open() as guard:
        guard.budget.record_call(TokenUse(output=700_000))
    assert not await session.before_call("m", 1_000, 500)
    money.top_up(1)
    call = await session.before_call("m", 1_000, 500)
    assert call
    assert call.text == "Budget at 70%. Be efficient with remaining budget."


async def test_a_call_that_the_ledger_clamps_is_counted_so(store: SqlStore) -> None:
    ledger = AsyncLedgerHolds.of(Ledger("0.01", prices=PRICES))
    session = guards(store, limits=RunLimits(cost=None)).session("builder", "s1", ledger=ledger)
    call = await session.before_call("m", 0, 64_000)
    assert call
    assert (call.max_tokens, call.clamped) == (5_000, True)
    await session.after_call(None)
    assert (await session.look()).budget.incremental_tokens == 5_000


async def test_a_call_that_is_cancelled_while_it_waits_for_money_leaves_nothing_open(store: SqlStore) -> None:
    money = Ledger("0.01", prices=PRICES)
    holds = AsyncLedgerHolds.of(money)
    one, other = (guards(store).session("builder", name, ledger=holds) for name in ("s1", "s2"))
    first = await one.before_call("m", 0, 5_000)
    waiting = asyncio.ensure_future(other.before_call("m", 0, 5_000))
    while not money.waiting:
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(UsageError, match="No such call is open"):
        await other.after_call(TokenUse())
    assert first
    await one.call_failed(RuntimeError("gone"), call=first)
    assert (money.held, money.waiting) == (0, 0)


async def test_a_call_in_a_session_that_nobody_knows_is_refused(store: SqlStore) -> None:
    with pytest.raises(UsageError, match="No such call is open"):
        await guards(store).session("builder", "new").after_call(TokenUse())


@pytest.mark.parametrize("state", ["{}", "[1", "null", '{"version": 99, "budget": {}}'])
async def test_a_damaged_state_is_called_that(store: SqlStore, state: str) -> None:
    await store.guards.lock("builder", "s1", NOON)
    await store.guards.save("builder", "s1", state, NOON)
    with pytest.raises(StoreCorruptError, match="The guard of session s1 of builder is damaged"):
        async with guards(store).session("builder", "s1").open():
            pass


async def test_sessions_nobody_used_for_a_month_are_forgotten_when_a_new_one_begins(store: SqlStore) -> None:
    clock = Ticking()
    names = ("old", "young", "new")
    for name, at in zip(names, (NOON, NOON + DAY, NOON + KEPT + 1), strict=True):
        clock.at = Instant(at)
        async with guards(store, clock).session("builder", name).open() as guard:
            guard.wrap_up()
    known = [bool(await store.guards.get("builder", name)) for name in names]
    assert known == [False, True, True]


async def test_tasks_at_once_lose_nothing(store: SqlStore) -> None:
    session = guards(store).session("builder", "s1")

    async def hook(number: int) -> None:
        async with session.open() as guard:
            await asyncio.sleep(0)
            guard.after_tool("Read", {"file_path": f"{number}"}, result="text")

    await asyncio.gather(*(hook(number) for number in range(30)))
    state = json.loads(await store.guards.get("builder", "s1"))
    assert (state["loops"]["history"]["next"], state["phases"]["reads"]) == (30, 10)


@pytest.mark.process
async def test_processes_at_once_lose_nothing(durable_url: str) -> None:
    await (await open_store(durable_url)).close()
    words = [sys.executable, "-m", "tests.progress.hooks_together", durable_url]
    done = subprocess.run(words, timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    store = await open_store(durable_url)
    guard = await guards(store).session("builder", "shared").look()
    state = guard.state()
    await store.close()
    assert state["loops"]["history"]["next"] == PROCESSES * EVENTS
    assert (guard.budget.account.calls, guard.budget.incremental_tokens) == (PROCESSES * EVENTS, PROCESSES * EVENTS * 7)
    assert state["calls"]["open"] == []
