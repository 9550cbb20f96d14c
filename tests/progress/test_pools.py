"""Pools in the store: the same shares as the pure pool, held by the ledger, whoever shares them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from nudge.errors import BudgetExhaustedError, NotFoundError, UsageError
from nudge.instants import MINUTE, Instant, to_datetime
from nudge.progress.pool_rules import ReservationState
from nudge.progress.stored_pools import Pools, member_key, run_key
from nudge.queue.agents import Agent
from nudge.spending.agent_ledger import run_chain
from nudge.spending.ledger import AccountLedger, Attempt
from nudge.spending.money import Money
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from tests.progress.pool_twins import costing
from tests.spending.kit import prepared, settled
from tests.times import NOON

OPEN, RELEASED, REVOKED, EXPIRED = ReservationState
DOLLAR = 1_000_000


def at(minutes: float) -> Instant:
    return Instant(NOON + round(minutes * MINUTE))


async def opened(store: SqlStore, total: int = 100_000, **options: Any) -> Pools:
    await prepared(store)
    pools = Pools(store, **options)
    await pools.open("coach", "run", Money(total))
    return pools


async def hold(store: SqlStore, name: str, amount: int, attempt: str = "a") -> bool:
    """Whether a call of that worst case may start."""
    reserved = await AccountLedger(store).reserve(
        Attempt(attempt, costing(amount), "coach"), run_chain(f"run/{name}"), NOON
    )
    return reserved.held is not None


async def test_a_parent_keeps_a_quarter_and_children_get_sixty_per_cent_of_what_is_left(store: SqlStore) -> None:
    pools = await opened(store)
    shares = [await pools.reserve("run", name, now=NOON) for name in "abc"]
    assert [share.granted for share in shares] == [45_000, 18_000, 7_200]
    assert (await pools.reserve("run", "capped", cap=Money(100), now=NOON)).granted == 100
    assert shares[0].run == "run/a"
    assert shares[0].expires_at == to_datetime(at(10))
    assert await pools.available("run", "parent", NOON) == 100_000 - 70_200 - 100
    accounts = await store.ledger.get([run_key("run"), *(member_key("run", name) for name in ("parent", "a"))])
    assert [row.account.limit for row in accounts.values()] == [100_000, 45_000, 29_700]


async def test_grandchildren_share_their_parents_grant(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "child", cap=Money(40_000), now=NOON)
    assert (await pools.reserve("run", "grandchild", parent="child", now=NOON)).granted == 18_000
    assert await pools.available("run", "child", NOON) == 22_000
    assert not await hold(store, "child", 22_001)
    assert await hold(store, "child", 22_000)
    assert await hold(store, "grandchild", 18_000, "b")
    status = await pools.status("run", NOON)
    assert (status.used, status.reserved) == (40_000, 0)


async def test_asking_again_for_a_child_gives_the_same_share(store: SqlStore) -> None:
    pools = await opened(store)
    first = await pools.reserve("run", "child", now=NOON)
    again = await pools.reserve("run", "child", now=at(2))
    assert (again.granted, again.expires_at) == (first.granted, to_datetime(at(12)))
    assert (await pools.status("run", at(2))).reserved == 45_000
    with pytest.raises(BudgetExhaustedError, match=r"was given \$0.045 before, and needs \$0.045001"):
        await pools.reserve("run", "child", need=Money(45_001), now=at(2))
    await pools.reserve("run", "other", now=at(2))
    with pytest.raises(UsageError, match="This pool already had a 'child'"):
        await pools.reserve("run", "child", parent="other", now=at(2))
    await pools.release("run", "child", at(2))
    with pytest.raises(UsageError, match="This pool already had a 'child'"):
        await pools.reserve("run", "child", now=at(2))


@pytest.mark.parametrize("ending", [RELEASED, REVOKED, EXPIRED])
async def test_nothing_is_given_back_twice_and_a_closed_child_makes_no_call(
    store: SqlStore, ending: ReservationState
) -> None:
    pools = await opened(store)
    await pools.reserve("run", "child", now=NOON)
    if ending is RELEASED:
        assert await pools.release("run", "child", NOON) == 45_000
    elif ending is REVOKED:
        assert await pools.revoke("run", "child", NOON) == ("child",)
    with pytest.raises(UsageError, match=f"is {ending}"):
        await pools.release("run", "child", at(10))
    assert not await hold(store, "child", 1)
    assert await pools.available("run", "child", at(10)) == 0
    assert await pools.available("run", "parent", at(10)) == 100_000


async def test_stopping_a_parent_revokes_its_descendants(store: SqlStore) -> None:
    pools = await opened(store)
    for name, parent in [("a", None), ("a1", "a"), ("a11", "a1"), ("a2", "a"), ("b", None)]:
        await pools.reserve("run", name, parent=parent, now=NOON)
    await pools.release("run", "a2", NOON)
    assert await pools.revoke("run", "a", NOON) == ("a", "a1", "a11")
    states = {member.name: member.state for member in (await pools.status("run", NOON)).members}
    assert states == {"parent": OPEN, "a": REVOKED, "a1": REVOKED, "a11": REVOKED, "a2": RELEASED, "b": OPEN}
    assert not any([await hold(store, name, 1, name) for name in ("a", "a1", "a11", "a2")])
    assert await hold(store, "b", 1)
    with pytest.raises(UsageError, match="is revoked"):
        await pools.reserve("run", "a12", parent="a1", now=NOON)


async def test_stopping_the_owner_stops_the_run(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "a", now=NOON)
    assert await hold(store, "a", 100)
    assert await pools.revoke("run", "parent", NOON) == ("parent", "a")
    assert not any([await hold(store, name, 1, f"after {name}") for name in ("parent", "a")])
    alone = await AccountLedger(store).reserve(Attempt("x", costing(1), "coach"), run_chain("run"), NOON)
    assert alone.held is None
    assert (await AccountLedger(store).end("a", settled(80))).hold.charged == 80, "what was under way is still paid"


async def test_what_is_held_for_a_call_under_way_comes_back_when_it_ends(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "child", now=NOON)
    assert await hold(store, "child", 40_000)
    assert await pools.release("run", "child", NOON) == 5_000
    assert await pools.available("run", "parent", NOON) == 60_000
    await AccountLedger(store).end("a", settled(1_000))
    assert not await hold(store, "child", 1, "b")
    assert await pools.available("run", "parent", NOON) == 99_000
    assert await hold(store, "parent", 99_000, "c")


async def test_a_call_that_cost_more_than_was_held_is_paid_from_above(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "a", now=NOON)
    await pools.reserve("run", "b", now=NOON)
    assert await hold(store, "a", 45_000)
    await AccountLedger(store).end("a", settled(60_000))
    status = await pools.status("run", NOON)
    assert (status.used, status.reserved, status.overrun) == (60_000, 18_000, 0)
    assert await pools.available("run", "parent", NOON) == 100_000 - 60_000 - 18_000
    with pytest.raises(BudgetExhaustedError, match=r"'parent' can give 'c' \$0.00 of the \$0.000001"):
        await pools.reserve("run", "c", now=NOON)
    await AccountLedger(store).reserve(Attempt("p", costing(22_000), "coach"), run_chain("run/parent"), NOON)
    await AccountLedger(store).end("p", settled(30_000))
    status = await pools.status("run", NOON)
    assert (status.used, status.reserved, status.overrun) == (90_000, 18_000, 8_000)
    assert await pools.available("run", "b", NOON) == 10_000, "b was promised more, but the pool has no more"


async def test_calls_that_name_only_the_run_are_the_owners(store: SqlStore) -> None:
    pools = await opened(store)
    ledger = AccountLedger(store)
    await ledger.reserve(Attempt("x", costing(40_000), "coach"), run_chain("run"), NOON)
    await ledger.end("x", settled(40_000))
    assert (await pools.reserve("run", "child", now=NOON)).granted == 36_000
    assert await pools.available("run", "parent", NOON) == 24_000
    assert not await hold(store, "parent", 24_001)
    assert await hold(store, "parent", 24_000)


async def test_a_run_that_spent_already_is_shared_out_from_what_is_left(store: SqlStore) -> None:
    await prepared(store)
    await store.ledger.open(run_key("run"), 100_000, agent="coach")
    await AccountLedger(store).reserve(Attempt("x", costing(60_000), "coach"), run_chain("run"), NOON)
    pools = Pools(store)
    await pools.open("coach", "run", Money(100_000))
    await pools.open("coach", "run", Money(100_000))
    assert await pools.available("run", "parent", NOON) == 40_000
    assert (await pools.reserve("run", "child", now=NOON)).granted == 24_000


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        pytest.param(lambda p: p.open("coach", "run", 5), UsageError, "already has a pool", id="another total"),
        pytest.param(
            lambda p: p.open("coach", "run", Money(100_000), owner="x"),
            UsageError,
            "already has a pool",
            id="new owner",
        ),
        pytest.param(lambda p: p.open("nobody", "r", 5), NotFoundError, "no agent", id="an agent that is not there"),
        pytest.param(lambda p: p.open("coach", "r", 0), UsageError, "nothing to share", id="an empty pool"),
        pytest.param(lambda p: p.open("coach", "r/x", 5), UsageError, "cannot be the name", id="a path as a run"),
        pytest.param(lambda p: p.open("coach", "taken", 5), UsageError, r"\$0.000007", id="a run with another budget"),
        pytest.param(lambda p: p.reserve("none", "x", now=NOON), NotFoundError, "no pool", id="a run without a pool"),
        pytest.param(lambda p: p.reserve("run", "", now=NOON), UsageError, "cannot be the name", id="no name"),
        pytest.param(lambda p: p.reserve("run", "a/b", now=NOON), UsageError, "cannot be the name", id="a path"),
        pytest.param(
            lambda p: p.reserve("run", "a\x00", now=NOON), UsageError, "cannot be", id="what is not printable"
        ),
        pytest.param(lambda p: p.reserve("run", "x", cap=0, now=NOON), UsageError, "cap of 0", id="a cap of nothing"),
        pytest.param(lambda p: p.reserve("run", "parent", now=NOON), UsageError, "already had", id="the owner's name"),
        pytest.param(lambda p: p.reserve("run", "x", parent="y", now=NOON), NotFoundError, "no 'y'", id="no parent"),
        pytest.param(
            lambda p: p.reserve("run", "x", need=Money(45_001), now=NOON),
            BudgetExhaustedError,
            r"can give 'x' \$0.045 of the \$0.045001",
            id="a need above the share",
        ),
        pytest.param(lambda p: p.release("run", "x", NOON), NotFoundError, "no 'x'", id="somebody unknown"),
        pytest.param(lambda p: p.release("run", "parent", NOON), UsageError, "owns the pool", id="the owner lets go"),
    ],
)
async def test_what_makes_no_sense_is_refused(step: Any, error: type[Exception], words: str) -> None:
    store = open_sqlite(":memory:")
    pools = await opened(store)
    await store.ledger.open(run_key("taken"), 7, agent="coach")
    before = await pools.status("run", NOON)
    with pytest.raises(error, match=words):
        await step(pools)
    assert await pools.status("run", NOON) == before
    await store.close()


@pytest.mark.parametrize("options", [{"keeps_percent": 100}, {"gets_percent": 0}, {"lasts": timedelta(0)}])
async def test_shares_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    store = open_sqlite(":memory:")
    with pytest.raises(UsageError):
        Pools(store, **options)
    await store.close()


async def test_an_error_around_a_step_leaves_nothing_of_it(store: SqlStore) -> None:
    pools = await opened(store)
    with pytest.raises(ZeroDivisionError):
        async with store.transaction():
            await pools.reserve("run", "child", now=NOON)
            raise ZeroDivisionError
    assert [member.name for member in (await pools.status("run", NOON)).members] == ["parent"]
    assert await store.timers.get("coach", "pool:run") is None
    assert await pools.available("run", "parent", NOON) == 100_000


async def test_tasks_that_share_one_pool_never_pass_it(store: SqlStore) -> None:
    """Thirty tasks on a few connections reserve, spend and release at once; one sees whatever the others left."""
    pools = await opened(store, 10_000)
    ledger = AccountLedger(store)

    async def work(number: int) -> int:
        name = f"child-{number}"
        try:
            share = await pools.reserve("run", name, now=NOON)
        except BudgetExhaustedError:
            return 0
        await asyncio.sleep(0)
        spent = share.granted * 2 // 3
        if spent:
            await ledger.reserve(Attempt(name, costing(spent), "coach"), run_chain(share.run), NOON)
            await ledger.end(name, settled(spent))
        assert await pools.release("run", name, NOON) == share.granted - spent
        status = await pools.status("run", NOON)
        assert status.used + status.reserved <= 10_000
        return spent

    async with asyncio.timeout(60):
        spent = await asyncio.gather(*(work(number) for number in range(30)))
    status = await pools.status("run", NOON)
    assert (status.used, status.reserved, status.overrun) == (sum(spent), 0, 0)
    assert 4_900 <= status.used <= 7_500, "whoever came found its share, and the parent's quarter is untouched"


async def test_two_agents_cannot_have_one_run(store: SqlStore) -> None:
    pools = await opened(store)
    await store.agents.add(Agent("other", "coach", NOON))
    with pytest.raises(UsageError, match="already has a pool"):
        await pools.open("other", "run", Money(100_000))


async def test_a_step_reads_closed_members_in_sums(store: SqlStore) -> None:
    pools = await opened(store)
    await pools.reserve("run", "lead", now=NOON)
    await pools.reserve("run", "team", parent="lead", now=NOON)
    for number in range(5):
        await pools.reserve("run", f"worker-{number}", parent="team", cap=Money(100), now=NOON)
        assert await hold(store, f"worker-{number}", 40, f"a{number}")
        await AccountLedger(store).end(f"a{number}", settled(40))
        await pools.release("run", f"worker-{number}", NOON)
    await pools.release("run", "team", NOON)
    assert [member.row.name for member in await store.pools.members("run")] == ["parent", "lead"]
    assert sum(use.used for use in await store.pools.closed_use("run")) == 200
    assert await pools.available("run", "lead", NOON) == 45_000 - 200
    await pools.release("run", "lead", NOON)
    assert await pools.available("run", "parent", NOON) == 100_000 - 200
    for name in ("worker-3", "lead"):
        with pytest.raises(UsageError, match="already had"):
            await pools.reserve("run", name, now=NOON)
        with pytest.raises(UsageError, match="is released"):
            await pools.release("run", name, NOON)
    with pytest.raises(UsageError, match="is released"):
        await pools.reserve("run", "late", parent="team", now=NOON)
    status = await pools.status("run", NOON)
    assert (status.used, status.reserved, len(status.members)) == (200, 0, 8)
