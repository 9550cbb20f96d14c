from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.instants import Instant
from nudge.spending.holds import (
    Account,
    AccountKey,
    AccountKind,
    Answer,
    Call,
    Change,
    Decision,
    Hold,
    HoldState,
    available,
    cancel,
    decide,
    expire,
    fits,
    give_up,
    lock_order,
    reserve,
    settle,
)
from nudge.spending.prices import Caching, Price, Rates
from nudge.tokens import TokenUse

HELD, SETTLED, CANCELLED, EXPIRED = HoldState
A_DOLLAR_A_TOKEN = Price(Rates(*[10**12] * 5))
PENNY = Price(Rates(*[10**6] * 5))
"""One micro-dollar a token, whatever kind: amounts can be read as tokens."""
HOLD = Hold("a", amount=100, input_cost=30, max_tokens=70, expires_at=Instant(1_000))


def penny_call(input_tokens: int, max_tokens: int, min_tokens: int = 1) -> Call:
    return Call(PENNY, input_tokens, max_tokens, min_tokens, Caching.NONE)


@pytest.mark.parametrize(
    ("account", "room"),
    [
        pytest.param(Account(100), 100, id="untouched"),
        pytest.param(Account(100, 30, 20), 50, id="what was charged and what is held are gone"),
        pytest.param(Account(100, 60, 40), 0, id="full"),
        pytest.param(Account(100, 130, 0), 0, id="over the limit there is nothing, not less"),
    ],
)
def test_an_account_has_what_nobody_took(account: Account, room: int) -> None:
    assert account.available == room


def test_a_chain_has_as_much_as_its_smallest_account() -> None:
    chain = [Account(1_000), Account(100, 20), Account(500, 0, 430)]
    assert available(chain) == 70
    assert (fits(chain, 70), fits(chain, 71)) == (True, False)


@pytest.mark.parametrize(
    ("chain", "call", "decision"),
    [
        pytest.param([Account(100)], penny_call(30, 70), Decision(Answer.GRANTED, 70, 100), id="it fits exactly"),
        pytest.param([Account(99)], penny_call(30, 70), Decision(Answer.GRANTED, 69, 99), id="clamped by one token"),
        pytest.param(
            [Account(1_000), Account(60), Account(90)],
            penny_call(30, 70),
            Decision(Answer.GRANTED, 30, 60),
            id="clamped to the smallest account of the chain",
        ),
        pytest.param(
            [Account(59)], penny_call(30, 70, 30), Decision(Answer.REFUSED, short=(0,)), id="not below the least useful"
        ),
        pytest.param(
            [Account(59, 0, 40)], penny_call(30, 70, 30), Decision(Answer.REFUSED, short=(0,)), id="holds cannot help"
        ),
        pytest.param(
            [Account(1_000), Account(100, 0, 80)],
            penny_call(30, 70, 30),
            Decision(Answer.WAIT, short=(1,)),
            id="it waits where settling holds may help",
        ),
        pytest.param(
            [Account(100, 95), Account(100, 0, 80)],
            penny_call(30, 70, 30),
            Decision(Answer.REFUSED, short=(0, 1)),
            id="one hopeless account refuses",
        ),
        pytest.param(
            [Account(29)], penny_call(30, 70), Decision(Answer.REFUSED, short=(0,)), id="the input alone is too dear"
        ),
        pytest.param(
            [Account(30)], penny_call(30, 70), Decision(Answer.REFUSED, short=(0,)), id="the input takes it all"
        ),
        pytest.param([Account(0)], penny_call(0, 1), Decision(Answer.REFUSED, short=(0,)), id="no money"),
        pytest.param(
            [Account(50)], penny_call(30, 10, 64), Decision(Answer.GRANTED, 10, 40), id="a short answer may stay short"
        ),
        pytest.param(
            [Account(100, 130)],
            penny_call(1, 1),
            Decision(Answer.REFUSED, short=(0,)),
            id="nothing starts over the limit",
        ),
    ],
)
def test_a_call_is_granted_clamped_kept_waiting_or_refused(
    chain: list[Account], call: Call, decision: Decision
) -> None:
    assert decide(chain, call) == decision


@pytest.mark.parametrize(("input_tokens", "max_tokens", "min_tokens"), [(-1, 1, 1), (0, 0, 1), (0, 1, 0)])
def test_an_impossible_call_is_refused(input_tokens: int, max_tokens: int, min_tokens: int) -> None:
    with pytest.raises(UsageError):
        penny_call(input_tokens, max_tokens, min_tokens)


def test_a_hold_knows_what_a_cancelled_call_costs() -> None:
    call = penny_call(30, 70)
    change = reserve("a", decide([Account(100)], call), call, Instant(1_000))
    assert change == Change(HOLD, held=100)


settled = replace(HOLD, state=SETTLED, charged=40)
cancelled = replace(HOLD, state=CANCELLED, charged=30)
expired = replace(HOLD, state=EXPIRED, charged=100)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(settle(HOLD, 40), Change(settled, 40, -100), id="settled below the hold"),
        pytest.param(settle(HOLD, 0), Change(replace(settled, charged=0), 0, -100), id="a call that was never sent"),
        pytest.param(settle(HOLD, 130), Change(replace(settled, charged=130), 130, -100), id="settled above the hold"),
        pytest.param(settle(settled, 55), Change(settled), id="the first settlement counts"),
        pytest.param(settle(cancelled, 40), Change(settled, 10, 0), id="the truth after a cancellation"),
        pytest.param(settle(expired, 40), Change(settled, -60, 0), id="the truth after an expiry"),
        pytest.param(cancel(HOLD), Change(cancelled, 30, -100), id="cancelled at the input's cost"),
        pytest.param(cancel(settled), Change(settled), id="a settled call cannot be cancelled"),
        pytest.param(cancel(cancelled), Change(cancelled), id="cancelled twice"),
        pytest.param(cancel(expired), Change(expired), id="an expired hold stays at its worst case"),
        pytest.param(expire(HOLD, Instant(999)), Change(HOLD), id="not yet expired"),
        pytest.param(expire(HOLD, Instant(1_000)), Change(expired, 100, -100), id="at its expiry it is over"),
        pytest.param(expire(settled, Instant(9_999)), Change(settled), id="a settled call does not expire"),
        pytest.param(expire(expired, Instant(9_999)), Change(expired), id="expired twice"),
        pytest.param(
            expire(replace(HOLD, expires_at=None), Instant(9_999)),
            Change(replace(HOLD, expires_at=None)),
            id="no expiry, never expired",
        ),
        pytest.param(give_up(HOLD), Change(expired, 100, -100), id="given up at the worst case"),
    ],
)
def test_what_happens_to_a_hold(change: Change, expected: Change) -> None:
    assert change == expected


def test_an_overrun_is_recorded_on_the_hold() -> None:
    assert [settle(HOLD, cost).hold.overrun for cost in (99, 100, 130)] == [0, 0, 30]


def test_accounts_are_locked_in_one_order() -> None:
    window, day = AccountKey(AccountKind.WINDOW, "w"), AccountKey(AccountKind.DAY, "a")
    pool_a, pool_b = AccountKey(AccountKind.POOL, "a"), AccountKey(AccountKind.POOL, "b")
    assert lock_order([pool_b, day, pool_a, window, day]) == [window, day, pool_a, pool_b]


ends = st.sampled_from(["settle", "cancel", "expire", "leave"])
reports = st.lists(
    st.tuples(
        st.integers(0, 40), st.integers(1, 60), st.integers(0, 2), ends, st.integers(0, 100), st.one_of(st.none(), ends)
    ),
    max_size=40,
)


@given(st.lists(st.integers(0, 600), min_size=3, max_size=3), reports)
def test_no_money_appears_or_vanishes_and_true_worst_cases_keep_every_limit(
    limits: list[int], calls: list[tuple[int, int, int, str, int, str | None]]
) -> None:
    """Calls on paths of a tree (root, and one of two children below it) end in any way, some twice, some late."""
    accounts = [Account(limit) for limit in limits]
    holds: list[tuple[Hold, tuple[int, ...]]] = []

    def apply(change: Change, path: tuple[int, ...]) -> None:
        for index in path:
            accounts[index] = accounts[index].changed(change)

    def end(hold: Hold, how: str | None, percent: int) -> Change:
        if how == "settle":
            return settle(hold, hold.amount * percent // 100)
        return {"cancel": cancel(hold), "expire": expire(hold, Instant(1_000))}.get(how or "", Change(hold))

    for number, (input_tokens, max_tokens, child, how, percent, again) in enumerate(calls):
        path = (0,) if child == 0 else (0, child)
        call = penny_call(input_tokens, max_tokens)
        decision = decide([accounts[index] for index in path], call)
        if decision.answer is Answer.WAIT:
            assert any(accounts[index].held for index in path), "who waits can be called again"
        if decision.answer is not Answer.GRANTED:
            continue
        change = reserve(str(number), decision, call, Instant(1_000))
        apply(change, path)
        for report in (how, again):
            ended = end(change.hold, report, percent)
            apply(ended, path)
            change = ended
        holds.append((change.hold, path))
        for index, account in enumerate(accounts):
            here = [hold for hold, way in holds if index in way]
            assert account.committed == sum(hold.charged for hold in here)
            assert account.held == sum(hold.amount for hold in here if hold.state is HELD)
            assert account.committed + account.held <= account.limit
            assert min(account.committed, account.held) >= 0


def test_searches_by_the_service_are_held_and_paid_by_the_piece() -> None:
    price = replace(PENNY, searches=10_000)
    call = Call(price, 20, 100, 10, Caching.NONE, searches=3)
    assert (call.input_cost, call.worst_case(100)) == (50, 150)
    assert decide([Account(70)], call) == Decision(Answer.GRANTED, 20, 70)
    assert price.cost(TokenUse(input=20, output=5, searches=2)) == 45
