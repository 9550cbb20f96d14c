from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from nudge.errors import BudgetExhaustedError, NotFoundError, UsageError
from nudge.instants import MINUTE, SECOND, Instant, to_datetime
from nudge.progress.pool import BudgetPool, Spending
from nudge.progress.pool_rules import ReservationState, kept_back, left_for_children, offer

NOW = Instant(1_772_366_400 * SECOND)
OPEN, RELEASED, REVOKED, EXPIRED = ReservationState


def at(minutes: float) -> Instant:
    return Instant(NOW + round(minutes * MINUTE))


@pytest.mark.parametrize(
    ("granted", "used", "handed_out", "left"),
    [
        pytest.param(1_000, 0, 0, 750, id="a quarter is kept"),
        pytest.param(1_000, 200, 0, 750, id="the parent's own use comes out of its quarter first"),
        pytest.param(1_000, 400, 0, 600, id="and then out of what is left"),
        pytest.param(1_000, 0, 450, 300, id="less what children have"),
        pytest.param(1_000, 900, 100, 0, id="never below zero"),
        pytest.param(3, 0, 0, 2, id="the quarter is rounded up"),
    ],
)
def test_what_is_left_for_children(granted: int, used: int, handed_out: int, left: int) -> None:
    assert left_for_children(granted, used, handed_out) == left


@pytest.mark.parametrize(
    ("left", "cap", "share"),
    [
        pytest.param(750, None, 450, id="sixty per cent"),
        pytest.param(750, 100, 100, id="at most the cap"),
        pytest.param(750, 10_000, 450, id="a large cap gives no more"),
        pytest.param(1, None, 0, id="rounded down"),
    ],
)
def test_what_a_child_is_offered(left: int, cap: int | None, share: int) -> None:
    assert offer(left, cap) == share


def test_children_in_turn_get_sixty_per_cent_of_what_is_left() -> None:
    pool = BudgetPool(100_000)
    assert [pool.reserve(name, now=NOW).granted for name in "abc"] == [45_000, 18_000, 7_200]
    assert (pool.used, pool.reserved) == (0, 70_200)
    assert pool.available("parent", NOW) == 29_800


def test_shares_can_be_set_to_their_ends() -> None:
    assert BudgetPool(1_000, keeps_percent=0, gets_percent=100).reserve("all", now=NOW).granted == 1_000


def test_grandchildren_share_their_parents_grant_by_the_same_rule() -> None:
    pool = BudgetPool(100_000)
    pool.reserve("child", now=NOW, cap=40_000)
    reservation = pool.reserve("grandchild", parent="child", now=NOW)
    assert (reservation.granted, reservation.parent) == (18_000, "child")
    assert reservation.expires_at == to_datetime(at(10))
    assert pool.available("child", NOW) == 22_000
    assert pool.reserved == 40_000, "a grandchild's grant lies inside its parent's"


def test_release_gives_back_what_was_not_used() -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    pool.spend("child", 100, NOW)
    assert pool.release("child", NOW) == 350
    assert (pool.used, pool.reserved, pool.available("child", NOW)) == (100, 0, 0)
    assert pool.reserve("next", now=NOW).granted == (750 - 100) * 60 // 100


@pytest.mark.parametrize("ending", ["released", "revoked", "expired"])
def test_nothing_is_given_back_twice(ending: str) -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    if ending == "released":
        pool.release("child", NOW)
    elif ending == "revoked":
        pool.revoke("child", NOW)
    with pytest.raises(UsageError, match=f"is {ending}"):
        pool.release("child", at(10))
    assert (pool.used, pool.reserved) == (0, 0)


def test_a_silent_subagent_loses_its_reservation_exactly_when_it_expires() -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    assert pool.expire(Instant(at(10) - 1)) == ()
    assert pool.expire(at(10)) == ("child",)
    assert pool.state("child") is EXPIRED
    assert pool.reserved == 0


@pytest.mark.parametrize("sign", ["spend", "renew", "a grandchild spends", "a grandchild is reserved"])
def test_every_sign_of_life_keeps_a_reservation_open(sign: str) -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    if sign == "a grandchild spends":
        pool.reserve("grandchild", parent="child", now=NOW)
        pool.spend("grandchild", 1, at(9))
    elif sign == "a grandchild is reserved":
        pool.reserve("grandchild", parent="child", now=at(9))
    elif sign == "renew":
        pool.renew("child", at(9))
    else:
        pool.spend("child", 1, at(9))
    assert pool.expire(at(18.9)) == ()
    assert "child" in pool.expire(at(19))


def test_a_clock_that_goes_back_shortens_no_reservation() -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    pool.renew("child", at(-60))
    assert pool.expire(at(9)) == ()


def family() -> BudgetPool:
    pool = BudgetPool(1_000_000)
    for name, parent in [("a", None), ("a1", "a"), ("a2", "a"), ("a11", "a1"), ("b", None)]:
        pool.reserve(name, parent=parent, now=NOW)
    return pool


def test_stopping_a_parent_revokes_its_descendants() -> None:
    pool = family()
    pool.spend("a11", 500, NOW)
    pool.release("a2", NOW)
    assert pool.revoke("a", NOW) == ("a", "a1", "a11")
    assert [pool.state(name) for name in ("a", "a1", "a11", "a2", "b")] == [REVOKED, REVOKED, REVOKED, RELEASED, OPEN]
    assert pool.used == 500
    with pytest.raises(UsageError, match="is revoked"):
        pool.reserve("a12", parent="a1", now=NOW)


def test_stopping_the_owner_stops_everybody_and_nothing_is_handed_out_any_more() -> None:
    pool = family()
    assert pool.revoke("parent", NOW) == ("parent", "a", "a1", "a11", "a2", "b")
    assert pool.reserved == 0
    with pytest.raises(UsageError, match="is revoked"):
        pool.reserve("c", now=NOW)
    assert pool.spend("b", 900_000, NOW) == Spending(0, 900_000, 0), "what was under way is still paid"
    assert pool.spend("parent", 50_000, NOW) == Spending(50_000)
    assert pool.used == 950_000


def test_a_released_parent_stops_those_below_it() -> None:
    pool = family()
    pool.spend("a1", 10, NOW)
    assert pool.release("a", NOW) == 450_000 - 10
    assert pool.state("a1") is REVOKED


def test_a_parent_that_went_stale_takes_its_descendants_with_it() -> None:
    pool = family()
    assert set(pool.expire(at(10))) == {"a", "a1", "a11", "a2", "b"}
    assert (pool.state("a"), pool.state("a11")) == (EXPIRED, REVOKED)


@pytest.mark.parametrize(
    ("amount", "spending"),
    [
        pytest.param(450, Spending(450), id="all of its own"),
        pytest.param(500, Spending(450, 50), id="a little more is covered from what is left above"),
        pytest.param(750, Spending(450, 300), id="until only the parent's quarter is left"),
        pytest.param(800, Spending(450, 300, 50), id="beyond that it is an overrun, outside the pool"),
    ],
)
def test_spending_past_a_grant_is_recorded(amount: int, spending: Spending) -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    assert pool.spend("child", amount, NOW) == spending
    assert pool.overrun == spending.overrun
    assert pool.used + pool.overrun == amount
    assert pool.available("parent", NOW) >= 250, "the parent's quarter is untouched"


def test_a_call_that_comes_back_after_the_end_is_still_paid() -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", now=NOW)
    pool.release("child", NOW)
    assert pool.spend("child", 70, NOW) == Spending(0, 70)
    assert (pool.used, pool.state("child")) == (70, RELEASED)


def test_an_overrun_climbs_until_somebody_can_cover_it() -> None:
    pool = BudgetPool(1_000)
    pool.reserve("child", cap=100, now=NOW)
    pool.reserve("grandchild", parent="child", now=NOW)
    assert pool.spend("grandchild", 45 + 30 + 500, NOW) == Spending(45, 530)
    assert pool.used == 575


def test_a_need_that_cannot_be_met_is_refused_and_changes_nothing() -> None:
    pool = BudgetPool(1_000)
    before = pool.to_json()
    with pytest.raises(BudgetExhaustedError, match="can give 'child' 450 of the 451"):
        pool.reserve("child", need=451, now=NOW)
    assert pool.to_json() == before
    assert pool.reserve("child", need=450, now=NOW).granted == 450


@pytest.mark.parametrize(
    ("call", "error"),
    [
        pytest.param(lambda pool: pool.reserve("a", now=NOW), UsageError, id="a name in use"),
        pytest.param(lambda pool: pool.reserve("parent", now=NOW), UsageError, id="the owner's name"),
        pytest.param(lambda pool: pool.reserve("x", cap=0, now=NOW), UsageError, id="a cap of nothing"),
        pytest.param(lambda pool: pool.reserve("x", parent="y", now=NOW), NotFoundError, id="an unknown parent"),
        pytest.param(lambda pool: pool.spend("x", 1, NOW), NotFoundError, id="an unknown spender"),
        pytest.param(lambda pool: pool.spend("a", -1, NOW), UsageError, id="spending backwards"),
        pytest.param(lambda pool: pool.release("parent", NOW), UsageError, id="the owner releases the pool"),
        pytest.param(lambda pool: BudgetPool(0), UsageError, id="an empty pool"),
        pytest.param(lambda pool: BudgetPool(5, keeps_percent=100), UsageError, id="a parent that keeps everything"),
        pytest.param(lambda pool: BudgetPool(5, gets_percent=0), UsageError, id="children that get nothing"),
        pytest.param(lambda pool: BudgetPool(5, lasts=timedelta(0)), UsageError, id="reservations of no time"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, error: type[Exception]) -> None:
    pool = family()
    before = pool.to_json()
    with pytest.raises(error):
        call(pool)
    assert pool.to_json() == before


def test_json_both_ways() -> None:
    pool = family()
    pool.spend("a11", 10**7, at(1))
    pool.release("a2", at(2))
    copy = BudgetPool.from_json(json.loads(json.dumps(pool.to_json())))
    assert copy.to_json() == pool.to_json()
    assert (copy.used, copy.reserved, copy.overrun) == (pool.used, pool.reserved, pool.overrun)
    assert copy.expire(at(10.5)) == pool.expire(at(10.5)) == ("b",)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data.update(version=9), id="another version"),
        pytest.param(lambda data: data.update(holders=[]), id="nobody"),
        pytest.param(lambda data: data["holders"][0].update(granted=3), id="less than was handed out"),
        pytest.param(lambda data: data["holders"][1].update(used=-1), id="spent backwards"),
        pytest.param(lambda data: data["holders"][1].update(parent="nobody"), id="an orphan"),
        pytest.param(lambda data: data["holders"][1].update(state="dancing"), id="an unknown state"),
        pytest.param(lambda data: data["holders"].append(data["holders"][1]), id="somebody twice"),
    ],
)
def test_a_damaged_pool_is_refused(damage: Any) -> None:
    data = family().to_json()
    damage(data)
    with pytest.raises(UsageError):
        BudgetPool.from_json(data)


class Pooling(RuleBasedStateMachine):
    """Any order of reserving, spending, releasing, stopping and silence, beside a plain sum of what was spent."""

    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.pool = BudgetPool(10_000)
        self.now = NOW
        self.spent = 0
        self.counter = 0
        self.stopped = False

    @rule(target=names, cap=st.none() | st.integers(1, 3_000))
    def reserve(self, cap: int | None) -> str:
        return self._reserve(None, cap)

    @rule(target=names, parent=names, cap=st.none() | st.integers(1, 3_000))
    def reserve_below(self, parent: str, cap: int | None) -> str:
        return self._reserve(parent, cap)

    def _reserve(self, parent: str | None, cap: int | None) -> str:
        self.counter += 1
        name = f"child-{self.counter}"
        self.pool.expire(self.now)
        above = parent or "parent"
        free = self.pool.available(above, self.now)
        try:
            reservation = self.pool.reserve(name, parent=parent, cap=cap, now=self.now)
        except (BudgetExhaustedError, UsageError):
            return above
        assert reservation.granted <= (cap or 10_000)
        assert reservation.granted * 100 <= free * 60
        assert self.pool.available(name, self.now) == reservation.granted
        return name

    @rule(name=names | st.just("parent"), amount=st.integers(0, 4_000))
    def spend(self, name: str, amount: int) -> None:
        spending = self.pool.spend(name, amount, self.now)
        assert spending.charged + spending.absorbed + spending.overrun == amount
        self.spent += amount

    @rule(name=names, stop=st.booleans())
    def close(self, name: str, stop: bool) -> None:
        self.pool.expire(self.now)
        before = self.pool.used
        if name == "parent" or self.pool.state(name) is not OPEN:
            with pytest.raises(UsageError):
                self.pool.release(name, self.now)
            return
        if stop:
            self.pool.revoke(name, self.now)
        else:
            self.pool.release(name, self.now)
        assert self.pool.used == before
        with pytest.raises(UsageError):
            self.pool.release(name, self.now)

    @rule(minutes=st.integers(0, 6))
    def wait(self, minutes: int) -> None:
        self.now = Instant(self.now + minutes * MINUTE)

    @rule(name=consumes(names))
    def forget(self, name: str) -> None:
        """Somebody whom nobody will hear of again."""

    @precondition(lambda self: not self.stopped)
    @rule(never=st.integers(0, 15))
    def stop_everything(self, never: int) -> None:
        if never == 7:
            self.pool.revoke("parent", self.now)
            self.stopped = True
            assert self.pool.reserved == 0

    @rule()
    def checkpoint(self) -> None:
        self.pool = BudgetPool.from_json(json.loads(json.dumps(self.pool.to_json())))

    @invariant()
    def used_and_reserved_never_pass_the_pool(self) -> None:
        assert self.pool.used >= 0
        assert self.pool.reserved >= 0
        assert self.pool.used + self.pool.reserved <= self.pool.total

    @invariant()
    def nothing_spent_is_forgotten(self) -> None:
        assert self.pool.used + self.pool.overrun == self.spent

    @invariant()
    def the_parent_keeps_its_quarter(self) -> None:
        own = next(item for item in self.pool.to_json()["holders"] if item["name"] == "parent")["used"]
        if not self.stopped:
            assert self.pool.available("parent", self.now) >= kept_back(10_000) - own

    @invariant()
    def an_open_member_has_open_parents(self) -> None:
        self.pool.expire(self.now)
        holders = {item["name"]: item for item in self.pool.to_json()["holders"]}
        for item in holders.values():
            if item["state"] == "open" and item["parent"] is not None:
                assert holders[item["parent"]]["state"] == "open"


Pooling.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestPooling = Pooling.TestCase
