"""The ledger on both of its storages: in memory and in the tables of every database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

import pytest
import pytest_asyncio

from nudge.errors import NotFoundError, UsageError
from nudge.instants import MINUTE, Instant
from nudge.spending import holds
from nudge.spending.holds import Account, AccountKey, AccountKind, Answer, Call, HoldState
from nudge.spending.ledger import AccountLedger, Attempt, LedgerStorage, Reserved
from nudge.spending.memory_ledger import MemoryAccount, MemoryAccounts
from nudge.spending.store import AccountRow
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.spending.kit import PENNY, settled
from tests.times import NOON

WINDOW = AccountKey(AccountKind.WINDOW, "w")
TODAY = AccountKey(AccountKind.DAY, "d")
RUN = AccountKey(AccountKind.RUN, "run-7")
CHAIN = (RUN, TODAY, WINDOW)


class Storage(Protocol):
    ledger: AccountLedger

    async def open(self, key: AccountKey, limit: int) -> None: ...

    async def row(self, key: AccountKey) -> AccountRow: ...


class InMemory:
    def __init__(self) -> None:
        self._accounts = MemoryAccounts()
        self._kept: list[MemoryAccount] = []
        storage: LedgerStorage = self._accounts
        self.ledger = AccountLedger(storage)

    async def open(self, key: AccountKey, limit: int) -> None:
        self._kept.append(self._accounts.open(key, limit, key.name))

    async def row(self, key: AccountKey) -> AccountRow:
        return self._accounts.get(key).row


class InTables:
    def __init__(self, store: SqlStore) -> None:
        self._store = store
        storage: LedgerStorage = store
        self.ledger = AccountLedger(storage)

    async def open(self, key: AccountKey, limit: int) -> None:
        await self._store.ledger.open(key, limit)

    async def row(self, key: AccountKey) -> AccountRow:
        return (await self._store.ledger.get([key]))[key]


@pytest_asyncio.fixture(params=["in memory", "sqlite", "postgres"])
async def storage(request: pytest.FixtureRequest) -> AsyncIterator[Storage]:
    store: SqlStore | None = None
    if request.param != "in memory":
        url = "sqlite://:memory:" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
        store = await open_store(url)
    found: Storage = InMemory() if store is None else InTables(store)
    for key, limit in ((WINDOW, 10_000), (TODAY, 1_000), (RUN, 500)):
        await found.open(key, limit)
    yield found
    if store is not None:
        await store.close()


def costing(input_tokens: int, max_tokens: int, min_tokens: int = 1) -> Call:
    return Call(PENNY.quote("penny").price, input_tokens, max_tokens, min_tokens)


async def reserve(storage: Storage, call: Call, attempt: str = "a1", expires_at: int | None = None) -> Reserved:
    expiry = None if expires_at is None else Instant(expires_at)
    return await storage.ledger.reserve(Attempt(attempt, call), CHAIN, NOON, expires_at=expiry)


async def accounts(storage: Storage) -> list[Account]:
    return [(await storage.row(key)).account for key in (WINDOW, TODAY, RUN)]


async def test_a_call_is_held_on_its_whole_chain_and_charged_to_it(storage: Storage) -> None:
    reserved = await reserve(storage, costing(20, 80))
    assert reserved.held is not None
    assert reserved.held.chain == (WINDOW, TODAY, RUN), "locked in one order, whatever order was asked for"
    assert await accounts(storage) == [Account(10_000, 0, 100), Account(1_000, 0, 100), Account(500, 0, 100)]
    assert (await storage.ledger.end("a1", settled(30))).hold.state is HoldState.SETTLED
    assert await accounts(storage) == [Account(10_000, 30), Account(1_000, 30), Account(500, 30)]


async def test_a_call_is_clamped_to_the_account_with_the_least(storage: Storage) -> None:
    reserved = await reserve(storage, costing(20, 5_000))
    assert (reserved.decision.answer, reserved.decision.max_tokens) == (Answer.GRANTED, 480)


async def test_what_waits_and_what_is_hopeless_hold_nothing(storage: Storage) -> None:
    await reserve(storage, costing(0, 450))
    waits = await reserve(storage, costing(0, 100, 100), "a2")
    hopeless = await reserve(storage, costing(0, 501, 501), "a3")
    assert (waits.decision.answer, waits.short, waits.held) == (Answer.WAIT, (RUN,), None)
    assert (hopeless.decision.answer, hopeless.short, hopeless.held) == (Answer.REFUSED, (RUN,), None)
    assert (await accounts(storage))[2] == Account(500, 0, 450)


async def test_the_same_attempt_is_held_once_even_where_there_is_no_room_for_another(storage: Storage) -> None:
    first = await reserve(storage, costing(0, 400))
    again = await reserve(storage, costing(0, 400))
    assert again.held == first.held
    assert (await accounts(storage))[2] == Account(500, 0, 400)
    await storage.ledger.end("a1", settled(1))
    with pytest.raises(UsageError, match="a1 has ended"):
        await reserve(storage, costing(0, 10))


async def test_a_truth_that_comes_late_corrects_the_charge_once(storage: Storage) -> None:
    await reserve(storage, costing(20, 80))
    await storage.ledger.end("a1", partial(holds.cancel, produced=15))
    assert (await accounts(storage))[1] == Account(1_000, 35)
    await storage.ledger.end("a1", settled(130))
    await storage.ledger.end("a1", settled(7))
    row = await storage.row(TODAY)
    assert (row.account, row.overrun) == (Account(1_000, 130), 30)


async def test_a_sweep_gives_up_what_has_expired_and_nothing_else(storage: Storage) -> None:
    await reserve(storage, costing(0, 100), "leaked", NOON + MINUTE)
    await reserve(storage, costing(0, 50), "later", NOON + 2 * MINUTE)
    await reserve(storage, costing(0, 7), "never")
    assert await storage.ledger.sweep("", Instant(NOON + MINUTE - 1)) == []
    (ended,) = await storage.ledger.sweep("", Instant(NOON + MINUTE))
    assert (ended.hold.attempt_id, ended.hold.state, ended.hold.charged) == ("leaked", HoldState.EXPIRED, 100)
    assert (await accounts(storage))[2] == Account(500, 100, 57)


async def test_what_nobody_reserved_cannot_end(storage: Storage) -> None:
    with pytest.raises(NotFoundError, match="no attempt called 'ghost'"):
        await storage.ledger.end("ghost", settled(1))
