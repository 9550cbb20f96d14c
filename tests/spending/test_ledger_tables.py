"""Accounts, holds and the spending row, on every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date

import pytest

from nudge.instants import DAY, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.queue.timers import Timer
from nudge.spending import holds
from nudge.spending.holds import Account, AccountKey, AccountKind, Hold, HoldState
from nudge.spending.lifecycle import SpendingState
from nudge.spending.store import AccountRow, DaySpent, HoldRow, SpendingRow
from nudge.stores.store import SqlStore
from tests.times import NOON

WINDOW = AccountKey(AccountKind.WINDOW, "coach w")
TODAY = AccountKey(AccountKind.DAY, "coach d")
RUN = AccountKey(AccountKind.RUN, "run 7")
FEB_18 = date(2026, 2, 18)


def row(attempt_id: str = "a1", amount: int = 100, *, expires_at: int | None = None, agent: str = "coach") -> HoldRow:
    hold = Hold(attempt_id, amount, 20, 80, None if expires_at is None else Instant(expires_at))
    return HoldRow(hold, agent, (RUN, TODAY, WINDOW), NOON, "sonnet", "conversation", "run 7")


async def opened(store: SqlStore) -> None:
    await store.ledger.open(WINDOW, 10_000, agent="coach")
    await store.ledger.open(TODAY, 1_000, agent="coach", day=FEB_18)
    await store.ledger.open(RUN, 500, agent="coach")


async def test_an_account_opens_empty_and_opening_it_again_changes_nothing(store: SqlStore) -> None:
    await opened(store)
    await store.ledger.open(TODAY, 7, agent="other", day=date(2026, 2, 19))
    found = await store.ledger.get([TODAY, AccountKey(AccountKind.POOL, "nobody")])
    assert found == {TODAY: AccountRow(TODAY, Account(1_000), "coach", FEB_18)}


async def test_a_reservation_holds_on_the_whole_chain_once(store: SqlStore) -> None:
    await opened(store)
    assert await store.ledger.reserve(row())
    after = await store.ledger.get([WINDOW, TODAY, RUN])
    assert [after[key].account.held for key in (WINDOW, TODAY, RUN)] == [100, 100, 100]
    assert not await store.ledger.reserve(row(amount=999))
    assert (await store.ledger.get([RUN]))[RUN].account == Account(500, 0, 100)
    assert await store.ledger.hold("a1") == row()
    assert await store.ledger.lock_hold("nobody's") is None


async def test_a_settlement_replaces_the_hold_and_counts_the_overrun(store: SqlStore) -> None:
    await opened(store)
    await store.ledger.reserve(row())
    expired = holds.give_up(row().hold)
    await store.ledger.change(row(), expired)
    assert (await store.ledger.get([TODAY]))[TODAY].account == Account(1_000, 100, 0)
    known = await store.ledger.hold("a1")
    assert known is not None
    settling = holds.settle(known.hold, 130)
    before = await store.ledger.get([WINDOW, TODAY])
    await store.ledger.change(known, settling)
    after = await store.ledger.get([WINDOW, TODAY])
    assert after == {key: account.changed(known.hold, settling) for key, account in before.items()}
    assert after[TODAY] == AccountRow(TODAY, Account(1_000, 130, 0), "coach", FEB_18, overrun=30)
    assert after[WINDOW].overrun == 30
    settled = await store.ledger.hold("a1")
    assert settled is not None
    assert (settled.hold.state, settled.hold.charged) == (HoldState.SETTLED, 130)


async def test_a_rolled_back_reservation_leaves_nothing(store: SqlStore) -> None:
    await opened(store)
    with pytest.raises(ZeroDivisionError):
        async with store.transaction():
            await store.ledger.reserve(row())
            raise ZeroDivisionError
    assert await store.ledger.hold("a1") is None
    assert (await store.ledger.get([RUN]))[RUN].account.held == 0


async def test_expired_holds_are_found_at_exactly_their_expiry(store: SqlStore) -> None:
    await opened(store)
    for name, expires_at in (("late", NOON + 2 * MINUTE), ("early", NOON + MINUTE), ("never", None)):
        await store.ledger.reserve(row(name, 10, expires_at=expires_at))
    await store.ledger.reserve(row("theirs", 10, expires_at=NOON, agent="other"))
    assert await store.ledger.expired("coach", Instant(NOON + MINUTE - 1)) == []
    found = await store.ledger.expired("coach", Instant(NOON + 2 * MINUTE))
    assert [one.hold.attempt_id for one in found] == ["early", "late"]
    assert await store.ledger.next_expiry("coach") == NOON + MINUTE
    await store.ledger.change(found[0], holds.settle(found[0].hold, 1))
    assert await store.ledger.next_expiry("coach") == NOON + 2 * MINUTE
    assert await store.ledger.next_expiry("nobody") is None


async def test_only_ended_holds_are_forgotten(store: SqlStore) -> None:
    await opened(store)
    await store.ledger.reserve(row("open", 10))
    await store.ledger.reserve(row("ended", 10))
    ended = await store.ledger.hold("ended")
    assert ended is not None
    await store.ledger.change(ended, holds.cancel(ended.hold))
    assert await store.ledger.forget("coach", NOON) == 0
    assert await store.ledger.forget("coach", Instant(NOON + 1)) == 1
    assert await store.ledger.hold("open") is not None


async def test_another_limit_ends_a_used_up_day_and_so_does_a_lower_charge(store: SqlStore) -> None:
    await opened(store)
    await store.ledger.reserve(row())
    await store.ledger.change(row(), holds.give_up(row().hold))
    await store.ledger.use_up(TODAY)
    assert (await store.ledger.get([TODAY]))[TODAY].used_up
    known = await store.ledger.hold("a1")
    assert known is not None
    await store.ledger.change(known, holds.settle(known.hold, 60))
    assert not (await store.ledger.get([TODAY]))[TODAY].used_up
    await store.ledger.use_up(TODAY)
    await store.ledger.set_limit(TODAY, 2_000)
    found = (await store.ledger.get([TODAY]))[TODAY]
    assert (found.account.limit, found.used_up_at) == (2_000, None)


async def test_days_are_added_up_in_order(store: SqlStore) -> None:
    for name, day in (("one", date(2026, 2, 17)), ("two", FEB_18), ("three", FEB_18)):
        key = AccountKey(AccountKind.DAY, name)
        await store.ledger.open(key, 1_000, agent="coach", day=day)
        await store.ledger.reserve(HoldRow(Hold(name, 10, 5, 5), "coach", (key,), NOON))
    assert await store.ledger.days("coach", date(2026, 2, 17)) == [
        DaySpent(date(2026, 2, 17), 1_000, 0, 10, 0),
        DaySpent(FEB_18, 2_000, 0, 20, 0),
    ]
    assert [one.day for one in await store.ledger.days("coach", FEB_18)] == [FEB_18]


async def test_locks_are_held_until_the_transaction_ends(store: SqlStore) -> None:
    """Thirty tasks read, wait and write on the same accounts in opposite orders; no change is lost and none hangs."""
    await opened(store)

    async def add(number: int) -> None:
        async with store.transaction():
            keys = [WINDOW, TODAY, RUN] if number % 2 else [RUN, TODAY, WINDOW]
            locked = await store.ledger.lock(keys)
            await asyncio.sleep(0)
            for key in keys:
                await store.ledger.set_limit(key, locked[key].account.limit + 1)

    async with asyncio.timeout(30):
        await asyncio.gather(*(add(number) for number in range(30)))
    found = await store.ledger.get([WINDOW, TODAY, RUN])
    assert [found[key].account.limit for key in (WINDOW, TODAY, RUN)] == [10_030, 1_030, 530]


async def test_the_spending_row_is_made_once_and_kept_whole(store: SqlStore) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    first = SpendingRow("coach", 10_000_000, NOON, FEB_18, configured="{}")
    assert await store.spending.create(first)
    assert not await store.spending.create(replace(first, budget=1))
    assert await store.spending.get("coach") == first
    assert await store.spending.lock("nobody") is None
    full = SpendingRow(
        "coach", 5, Instant(NOON + 1), date(2026, 2, 19), 6, Instant(NOON + DAY), SpendingState.ASLEEP, NOON, 7, 8, "x"
    )
    await store.spending.put(full)
    assert await store.spending.lock("coach") == full
    assert await store.spending.all() == [full]


async def test_what_waits_for_money_is_pulled_ahead_and_nothing_else(store: SqlStore) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    later, now = Instant(NOON + DAY), Instant(NOON + MINUTE)
    deferred = replace(Timer.at("coach", "deferred", "turn", NOON), due_at=later)
    for timer in (
        deferred,
        Timer.at("coach", "next", "turn", later),
        Timer.at("coach", "another", "turn", later),
        Timer.at("coach", "due", "turn", NOON),
        replace(deferred, key="retried", attempts=1),
    ):
        await store.timers.set(timer)
    keys = ("deferred", "next", "due", "retried", "gone")
    assert [await store.spending.pull("coach", key, now) for key in keys] == [True, True, False, False, False]
    found = {timer.key: (timer.due_at, timer.slot_at) for timer in await store.timers.of_agent("coach")}
    assert found == {
        "deferred": (now, NOON),
        "next": (now, now),
        "another": (later, later),
        "due": (NOON, NOON),
        "retried": (later, NOON),
    }
