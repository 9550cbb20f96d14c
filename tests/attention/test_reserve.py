from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget
from nudge.attention.reserve import PING
from nudge.instants import HOUR, MINUTE, Instant, parse_rfc3339, to_datetime

NOON = parse_rfc3339("2026-02-20T12:00:00Z")


def at(minutes: float) -> Instant:
    return Instant(NOON + round(minutes * MINUTE))


@pytest.mark.parametrize(
    ("available", "claims", "granted"),
    [
        pytest.param("1", [], True, id="no claim: one ping is enough"),
        pytest.param("0.999999", [], False, id="no claim: less than one ping is not"),
        pytest.param("1", [0], False, id="a claim right now needs the only ping"),
        pytest.param("1", [89], False, id="a claim before the next refill needs the only ping"),
        pytest.param("1", [90], True, id="a claim exactly at the next refill is met by it"),
        pytest.param("1", [-1], True, id="a claim in the past is over"),
        pytest.param("2", [10], True, id="two pings: one for now, one for the claim"),
        pytest.param("2", [10, 20], False, id="two pings, two claims soon: none for now"),
        pytest.param("3", [10, 20], True, id="three pings, two claims soon: one for now"),
        pytest.param("2", [10, 90], True, id="the second claim is met by the refill"),
        pytest.param("2", [20, 10], False, id="the order in which claims are given does not matter"),
        pytest.param("5", [10, 11, 12, 13], True, id="a full bucket and four claims: one for now"),
        pytest.param("4.9", [10, 11, 12, 13], True, id="a bit less is made good by what comes back until the last"),
        pytest.param("4.8", [10, 11, 12, 13], False, id="a bit less still is not: none for now"),
        pytest.param("1", [449], True, id="a claim shortly before the horizon is met by refilling"),
        pytest.param("1", [451], True, id="a claim beyond the horizon holds nothing back"),
        pytest.param("5", [10, 10, 10, 10, 10, 10], False, id="more claims than a full bucket can serve: all is kept"),
        pytest.param("5", [100, 100, 100, 100, 100, 100], True, id="but not what is back in time"),
    ],
)
def test_a_ping_without_a_claim_leaves_what_the_claims_need(available: str, claims: list[float], granted: bool) -> None:
    budget = PingBudget.at(NOON, available=available)
    use = budget.try_use(NOON, claims=[at(minutes) for minutes in claims])
    assert use.granted is granted
    if not granted:
        assert use.budget.level == budget.level


def test_the_holder_of_a_claim_is_not_held_back_by_later_ones() -> None:
    budget = PingBudget.at(NOON, available=1)
    assert not budget.try_use(NOON, claims=[NOON, at(30), at(60)]).granted
    assert budget.try_use(NOON).granted


def test_a_critical_ping_needs_no_leave_from_claims() -> None:
    assert PingBudget.at(NOON, available=1).try_use(NOON, critical=True, claims=[at(1)]).granted


def test_claims_may_be_datetimes() -> None:
    soon = to_datetime(at(10))
    assert not PingBudget.at(NOON, available=1).try_use(NOON, claims=iter([soon])).granted


def test_what_is_held_back() -> None:
    budget = PingBudget.at(NOON)
    assert budget.held_back(NOON, []) == 0
    assert budget.held_back(NOON, [at(45)]) == PING // 2
    assert budget.held_back(NOON, [at(0), at(0)]) == 2 * PING
    assert budget.held_back(NOON, [at(-5)]) == 0
    # a third of a micro-ping is rounded up
    assert PingBudget(refill_minutes=1).held_back(NOON, [Instant(NOON + 20)]) == PING


minutes_ahead = st.lists(st.integers(0, 900), max_size=8).map(sorted)
levels = st.integers(0, 5 * PING)


def served(budget: PingBudget, claims: list[Instant]) -> list[bool]:
    """Which claims are served in sequence, each taking its ping when its time comes."""
    result = []
    for claim in claims:
        granted, budget = budget.try_use(claim)
        result.append(granted)
    return result


@settings(max_examples=300, deadline=None)
@given(levels, minutes_ahead)
def test_a_granted_ping_costs_no_claim_its_own(level: int, minutes: list[int]) -> None:
    budget = PingBudget(level=level, last_refill=NOON)
    claims = [at(ahead) for ahead in minutes]
    use = budget.try_use(NOON, claims=claims)
    if use.granted and all(served(budget, claims)):
        assert all(served(use.budget, claims))


@settings(max_examples=300, deadline=None)
@given(levels, minutes_ahead)
def test_nothing_is_held_back_without_need(level: int, minutes: list[int]) -> None:
    """Where one more ping would leave every claim served, it is granted."""
    budget = PingBudget(level=level, last_refill=NOON)
    claims = [at(ahead) for ahead in minutes]
    taken = budget.try_use(NOON)
    if taken.granted and all(served(taken.budget, claims)):
        assert budget.try_use(NOON, claims=claims).granted


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 900), max_size=40), st.lists(st.integers(400, 900), min_size=1, max_size=5, unique=True))
def test_chatter_never_takes_an_evening_that_a_full_bucket_could_serve(attempts: list[int], evening: list[int]) -> None:
    budget = PingBudget.at(NOON)
    claims = [at(minutes) for minutes in sorted(evening)]
    events = sorted([(at(minutes), True) for minutes in evening] + [(at(minutes), False) for minutes in attempts])
    for now, is_claim in events:
        granted, budget = budget.try_use(now, claims=() if is_claim else [c for c in claims if c >= now])
        assert granted or not is_claim or now not in claims
        if is_claim:
            claims.remove(now)


@pytest.mark.parametrize(
    ("available", "claims", "minutes"),
    [
        pytest.param("0.5", [], 45, id="no claims: when the ping is whole"),
        pytest.param("0", [], 90, id="empty: a whole refill"),
        pytest.param("2", [], 0, id="one is there already"),
        pytest.param("1", [30], 90, id="the claim takes the one that is there, the next to come is free"),
        pytest.param("0.5", [300], 45, id="a far claim does not matter"),
        pytest.param("5", [10, 10, 10, 10, 10], 100, id="all five are kept: a refill after they are taken"),
        pytest.param("1.9", [0], 9, id="a claim due now goes first"),
    ],
)
def test_when_a_ping_will_be_free(available: str, claims: list[int], minutes: int) -> None:
    budget = PingBudget.at(NOON, available=available)
    assert budget.free_at(NOON, [at(claim) for claim in claims]) == at(minutes)


@pytest.mark.parametrize(
    ("capacity", "claims", "minutes"),
    [
        pytest.param(2, [0, 90], 0, id="one to spare beside a claim due now"),
        pytest.param(2, [0, 0, 600], 90, id="both are taken, and the far claim leaves the next one free"),
        pytest.param(2, [0, 0, 91], 180, id="the next one belongs to the claim after it, the one after that is free"),
        pytest.param(2, [0, 0, 0, 0], 90, id="claims that cannot all be met do not block for ever"),
        pytest.param(1, [10, 20, 30], 100, id="those that find nothing take nothing"),
    ],
)
def test_when_a_ping_will_be_free_in_a_small_bucket(capacity: int, claims: list[int], minutes: int) -> None:
    budget = PingBudget.at(NOON, capacity=capacity)
    assert budget.free_at(NOON, [at(claim) for claim in claims]) == at(minutes)


def test_a_bucket_filled_in_the_future_is_waited_for() -> None:
    assert PingBudget.at(at(60), available="0.5").free_at(NOON) == at(105)


@settings(max_examples=300, deadline=None)
@given(levels, minutes_ahead, st.integers(0, 5400))
def test_the_free_instant_is_ahead_and_true(level: int, minutes: list[int], remainder: int) -> None:
    """If the claims take their pings on the way, the ping is granted at the instant that was named."""
    start = PingBudget(level=level, last_refill=Instant(NOON - remainder))
    claims = [at(ahead) for ahead in minutes]
    refused = not start.try_use(NOON, claims=claims).granted
    free = start.free_at(NOON, claims)
    assert free >= NOON + refused
    budget = start
    for claim in [claim for claim in claims if claim < free]:
        budget = budget.try_use(claim).budget
    assert budget.try_use(free, claims=[claim for claim in claims if claim >= free]).granted
    assert to_datetime(free) - to_datetime(NOON) <= timedelta(minutes=900 + 90) + timedelta(microseconds=HOUR)
