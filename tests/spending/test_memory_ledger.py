from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nudge.errors import BudgetExhaustedError, NotConfiguredError, UsageError
from nudge.home.prices import load_prices
from nudge.spending.holds import HoldState
from nudge.spending.ledger import HeldCall
from nudge.spending.memory_ledger import Ledger
from nudge.spending.money import Money
from nudge.spending.prices import PriceTable
from nudge.tokens import TokenUse

PRICES = load_prices()
PENNY = PriceTable.of({"models": {"penny": dict.fromkeys(["input", "output", "cache_read", "cache_write"], 1)}})
"""One micro-dollar a token, so that money can be read as tokens."""
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
DOLLAR = 1_000_000
SONNET_OUTPUT = 10
"""Micro-dollars for a token of its answers."""


def penny(limit: int) -> Ledger:
    """A ledger of so many micro-dollars."""
    return Ledger(Money(limit), prices=PENNY)


def test_a_call_is_held_then_charged_what_it_used() -> None:
    ledger = penny(1_000)
    with ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        assert (ledger.held, ledger.available, hold.max_tokens, hold.clamped) == (100, 900, 80, False)
        assert hold.settle(TokenUse(input=20, output=5)) == 25
    assert (ledger.spent, ledger.held, hold.state, ledger.meter.percent) == (25, 0, HoldState.SETTLED, 2)


async def test_async_with_does_the_same() -> None:
    ledger = penny(1_000)
    async with ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        hold.settle({"input_tokens": 20, "output_tokens": 5})
    assert (ledger.spent, ledger.held) == (25, 0)


def test_an_exception_charges_the_worst_case_and_goes_on() -> None:
    ledger = penny(1_000)
    with pytest.raises(ConnectionError), ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        raise ConnectionError
    assert (ledger.spent, ledger.held, hold.state) == (100, 0, HoldState.EXPIRED)


def test_a_stream_that_breaks_off_is_charged_the_worst_case_until_the_truth_comes() -> None:
    ledger = penny(1_000)
    with pytest.raises(ConnectionError), ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        hold.produced(5)
        raise ConnectionError
    assert (ledger.spent, hold.state) == (100, HoldState.EXPIRED)
    hold.settle(TokenUse(20, 14))
    assert ledger.spent == 34


def test_a_stream_that_its_caller_ends_is_charged_what_it_brought() -> None:
    ledger = penny(1_000)
    with ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        hold.produced(5)
        hold.produced(12)
        hold.cancel()
    assert (ledger.spent, hold.state) == (32, HoldState.CANCELLED)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 2**63, "output_tokens": 1},
        {"input_tokens": 10**30, "output_tokens": 10**30},
        {"input_tokens": 10**5_000, "output_tokens": 1},
        {"input_tokens": 20, "output_tokens": -1},
        {"input_tokens": 20.5, "output_tokens": 1},
        {"input_tokens": True, "output_tokens": 1},
        {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
    ],
    ids=["64 bits", "30 digits", "5,000 digits", "negative", "a fraction", "true", "more cached than read"],
)
def test_a_usage_that_cannot_be_true_is_charged_the_worst_case(usage: dict[str, Any]) -> None:
    ledger = penny(1_000)
    with ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        assert hold.settle(usage) == 100
    assert (ledger.spent, ledger.held, hold.state) == (100, 0, HoldState.EXPIRED)


class HttpError(Exception):
    """An error as the clients of Anthropic and OpenAI raise it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status_code = status


class ResponseError(Exception):
    """An error as httpx raises it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.response = HttpError(status)


@pytest.mark.parametrize(
    ("error", "charged"),
    [
        pytest.param(HttpError(429), 0, id="a 429 is free"),
        pytest.param(HttpError(400), 0, id="a 400 is free"),
        pytest.param(HttpError(529), 0, id="a service that says it is overloaded is free"),
        pytest.param(ResponseError(500), 0, id="a 500 is free, whoever tells it"),
        pytest.param(ConnectionRefusedError(), 0, id="a refused connection is free"),
        pytest.param(HttpError(504), 100, id="a gateway that gave up waiting is not"),
        pytest.param(HttpError(200), 100, id="an answer that cannot be read is not"),
        pytest.param(ConnectionResetError(), 100, id="a connection that broke is not"),
        pytest.param(TimeoutError(), 100, id="a time-out is not"),
    ],
)
def test_what_the_service_certainly_did_not_do_is_free(error: Exception, charged: int) -> None:
    ledger = penny(1_000)
    with pytest.raises(type(error)), ledger.hold(model="penny", input_tokens=20, max_tokens=80):
        raise error
    assert (ledger.spent, ledger.held) == (charged, 0)


def test_a_refused_key_costs_nothing() -> None:
    ledger = penny(1_000)
    with pytest.raises(NotConfiguredError), ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        raise NotConfiguredError
    assert (ledger.spent, ledger.held, hold.state) == (0, 0, HoldState.SETTLED)


def test_a_limit_is_in_dollars() -> None:
    ledger = Ledger(5, prices=PENNY)
    assert ledger.limit == 5 * DOLLAR
    ledger.top_up(0.5)
    ledger.top_up(ledger.child("0.25", name="run").limit)
    assert repr(ledger) == "<Ledger 'the ledger': $0.00 spent and $0.00 held of $5.75>"


def test_children_are_forgotten_with_their_last_call() -> None:
    """A program may open one for every run; their calls keep them as long as they need them."""
    ledger = penny(1_000)
    accounts = ledger._tree.accounts._accounts
    for number in range(20):
        with ledger.child(Money(50), name=f"run {number}").hold(model="penny", input_tokens=0, max_tokens=50) as hold:
            gc.collect()
            assert (hold.max_tokens, len(accounts)) == (50, 2)
        hold.settle(TokenUse(output=1))
        del hold
    gc.collect()
    assert (ledger.spent, len(accounts)) == (20, 1)


def test_an_exception_after_the_settlement_changes_nothing() -> None:
    ledger = penny(1_000)
    with pytest.raises(KeyError), ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        hold.settle(TokenUse(20, 7))
        raise KeyError
    assert ledger.spent == 27


async def test_a_cancelled_task_charges_the_worst_case() -> None:
    ledger = penny(1_000)

    async def never_answered() -> None:
        async with ledger.hold(model="penny", input_tokens=20, max_tokens=80):
            await asyncio.Event().wait()

    task = asyncio.create_task(never_answered())
    await asyncio.sleep(0)
    assert ledger.held == 100
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (ledger.spent, ledger.held) == (100, 0)


def test_a_block_without_a_settlement_is_charged_the_worst_case_until_the_truth_comes() -> None:
    ledger = penny(1_000)
    with ledger.hold(model="penny", input_tokens=20, max_tokens=80) as hold:
        pass
    assert (ledger.spent, hold.state) == (100, HoldState.EXPIRED)
    hold.settle(TokenUse(20, 1))
    hold.settle(TokenUse(20, 60))
    assert (ledger.spent, hold.state) == (21, HoldState.SETTLED)


def test_a_call_is_clamped_to_what_is_left() -> None:
    with penny(50).hold(model="penny", input_tokens=20, max_tokens=80, min_tokens=10) as hold:
        assert (hold.max_tokens, hold.clamped, hold.amount) == (30, True, 50)
        hold.settle(TokenUse(20))


def test_plain_with_refuses_what_does_not_fit_and_says_whether_waiting_would_help() -> None:
    ledger = Ledger("$0.0001", prices=PENNY, name="the demo")
    with pytest.raises(BudgetExhaustedError, match=r"the demo has \$0\.0001 left of \$0\.0001\. Top up"):
        ledger.hold(model="penny", input_tokens=200, max_tokens=80).__enter__()
    with ledger.hold(model="penny", input_tokens=0, max_tokens=95) as first:
        with pytest.raises(BudgetExhaustedError, match=r"held for running calls.*async with"):
            ledger.hold(model="penny", input_tokens=20, max_tokens=80, min_tokens=10).__enter__()
        first.settle(TokenUse(output=1))
    assert (ledger.spent, ledger.held) == (1, 0)


async def test_a_call_that_does_not_fit_waits_until_others_settled() -> None:
    ledger, log = penny(100), []

    async def call(name: str, used: int) -> None:
        async with ledger.hold(model="penny", input_tokens=0, max_tokens=80, min_tokens=60) as hold:
            log.append(f"{name} starts with {hold.max_tokens}")
            await asyncio.sleep(0)
            hold.settle(TokenUse(output=used))

    await asyncio.gather(call("first", 10), call("second", 20), call("third", 70))
    assert log == ["first starts with 80", "second starts with 80", "third starts with 70"]
    assert (ledger.spent, ledger.held, ledger.waiting) == (100, 0, 0)


async def test_who_waits_in_vain_is_told() -> None:
    ledger = penny(100)

    async def call() -> None:
        async with ledger.hold(model="penny", input_tokens=0, max_tokens=80, min_tokens=60) as hold:
            await asyncio.sleep(0)
            hold.settle(TokenUse(output=80))

    results = await asyncio.gather(*(call() for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), BudgetExhaustedError, BudgetExhaustedError]


async def test_a_large_call_is_not_passed_by_small_ones() -> None:
    ledger, log = penny(100), []
    release = asyncio.Event()

    async def call(name: str, tokens: int, until: asyncio.Event | None = None) -> None:
        async with ledger.hold(model="penny", input_tokens=0, max_tokens=tokens, min_tokens=tokens) as hold:
            log.append(name)
            if until:
                await until.wait()
            hold.settle(TokenUse(output=1))

    first = asyncio.create_task(call("first", 50, release))
    await asyncio.sleep(0)
    rest = [asyncio.create_task(call("large", 90)), asyncio.create_task(call("small", 5))]
    await asyncio.sleep(0)
    assert (log, ledger.waiting) == (["first"], 2)
    with pytest.raises(BudgetExhaustedError, match="ahead of it"):
        ledger.hold(model="penny", input_tokens=0, max_tokens=5).__enter__()
    release.set()
    await asyncio.gather(first, *rest)
    assert log == ["first", "large", "small"]


async def test_a_call_that_gives_up_waiting_leaves_the_line_and_lets_others_on() -> None:
    ledger, release, log = penny(100), asyncio.Event(), []

    async def call(name: str, tokens: int, until: asyncio.Event | None = None) -> None:
        async with ledger.hold(model="penny", input_tokens=0, max_tokens=tokens, min_tokens=tokens) as hold:
            log.append(name)
            if until:
                await until.wait()
            hold.settle(TokenUse(output=1))

    first = asyncio.create_task(call("first", 50, release))
    await asyncio.sleep(0)
    impatient, small = asyncio.create_task(call("impatient", 90)), asyncio.create_task(call("small", 5))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, small, return_exceptions=True)
    assert log == ["first", "small"]
    release.set()
    await first
    assert (ledger.spent, ledger.held, ledger.waiting) == (2, 0, 0)


@pytest.mark.parametrize("before_the_grant", [True, False], ids=["just before", "just after"])
async def test_a_call_cancelled_in_the_moment_of_its_grant_costs_nothing(before_the_grant: bool) -> None:
    ledger = penny(100)
    first = ledger.hold(model="penny", input_tokens=0, max_tokens=90)
    held = await first.__aenter__()

    async def enter() -> HeldCall:
        return await ledger.hold(model="penny", input_tokens=0, max_tokens=90, min_tokens=90).__aenter__()

    second = asyncio.create_task(enter())
    await asyncio.sleep(0)
    if before_the_grant:
        second.cancel()
    held.settle(TokenUse(output=1))
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert (second.cancelled(), ledger.spent, ledger.held) == (True, 1, 0)


async def test_a_top_up_lets_waiting_calls_go_on() -> None:
    ledger = penny(100)
    held = await ledger.hold(model="penny", input_tokens=0, max_tokens=60).__aenter__()
    waiting = asyncio.create_task(
        ledger.hold(model="penny", input_tokens=0, max_tokens=100, min_tokens=100).__aenter__()
    )
    await asyncio.sleep(0)
    assert ledger.waiting == 1
    ledger.top_up(Money(60))
    (await waiting).settle(TokenUse())
    held.settle(TokenUse())
    assert (ledger.limit, ledger.spent) == (160, 0)


def test_children_need_room_in_themselves_and_in_all_above() -> None:
    pool = penny(150)
    one, two = pool.child(Money(100), name="one"), pool.child(Money(100), name="two")
    with one.hold(model="penny", input_tokens=0, max_tokens=100) as hold:
        assert (pool.held, one.held, two.held, two.available) == (100, 100, 0, 50)
        hold.settle(TokenUse(output=90))
    with two.hold(model="penny", input_tokens=0, max_tokens=100, min_tokens=10) as hold:
        assert hold.max_tokens == 60, "the pool has less than the child"
        hold.settle(TokenUse(output=60))
    assert (pool.spent, one.spent, two.spent) == (150, 90, 60)
    with pytest.raises(BudgetExhaustedError, match=r"needs .* at least, and the ledger has"):
        one.hold(model="penny", input_tokens=0, max_tokens=5).__enter__()


async def test_a_child_that_waits_for_its_own_limit_does_not_stop_its_siblings() -> None:
    pool = penny(1_000)
    one, two = pool.child(Money(100), name="one"), pool.child(Money(100), name="two")
    held = await one.hold(model="penny", input_tokens=0, max_tokens=80).__aenter__()
    blocked = asyncio.create_task(one.hold(model="penny", input_tokens=0, max_tokens=90, min_tokens=90).__aenter__())
    await asyncio.sleep(0)
    other = await two.hold(model="penny", input_tokens=0, max_tokens=90).__aenter__()
    with two.hold(model="penny", input_tokens=0, max_tokens=5) as third:
        third.settle(TokenUse())
    assert not blocked.done()
    for call in (held, other):
        call.settle(TokenUse())
    (await blocked).settle(TokenUse())
    assert (pool.spent, pool.held) == (0, 0)


def test_an_expired_hold_is_swept_at_its_worst_case_and_corrected_later() -> None:
    ledger = penny(1_000)
    leaked = ledger.hold(model="penny", input_tokens=0, max_tokens=80, expires_at=NOON).__enter__()
    kept = ledger.hold(model="penny", input_tokens=0, max_tokens=80).__enter__()
    assert ledger.sweep(NOON - timedelta(microseconds=1)) == 0
    assert ledger.sweep(NOON) == 1
    assert ledger.sweep(NOON) == 0
    assert (ledger.spent, ledger.held, leaked.state, kept.state) == (80, 80, HoldState.EXPIRED, HoldState.HELD)
    leaked.settle(TokenUse(output=3))
    assert ledger.spent == 3


def test_the_same_attempt_is_held_once_and_not_again_after_its_end() -> None:
    ledger = penny(1_000)
    with ledger.hold(model="penny", input_tokens=0, max_tokens=80, attempt_id="a1") as first:
        again = ledger.hold(model="penny", input_tokens=0, max_tokens=80, attempt_id="a1").__enter__()
        assert again is first
        assert ledger.held == 80
        first.settle(TokenUse(output=2))
        again.settle(TokenUse(output=50))
    assert ledger.spent == 2
    with pytest.raises(UsageError, match="a1 has ended"):
        ledger.hold(model="penny", input_tokens=0, max_tokens=80, attempt_id="a1").__enter__()


async def test_an_attempt_that_waits_twice_is_held_once() -> None:
    ledger = penny(100)
    first = await ledger.hold(model="penny", input_tokens=0, max_tokens=90).__aenter__()

    async def enter() -> HeldCall:
        return await ledger.hold(
            model="penny", input_tokens=0, max_tokens=90, min_tokens=90, attempt_id="twin"
        ).__aenter__()

    twins = [asyncio.create_task(enter()) for _ in range(2)]
    await asyncio.sleep(0)
    first.settle(TokenUse())
    one, two = await asyncio.gather(*twins)
    assert one is two
    assert (ledger.held, ledger.waiting) == (90, 0)
    one.settle(TokenUse(output=1))
    with pytest.raises(UsageError, match="twin has ended"):
        await enter()
    assert (ledger.spent, ledger.held) == (1, 0)


async def test_a_call_does_not_start_when_another_took_its_money_between_grant_and_start() -> None:
    ledger = penny(100)
    held = [await ledger.hold(model="penny", input_tokens=0, max_tokens=50).__aenter__() for _ in range(2)]

    async def enter() -> HeldCall:
        return await ledger.hold(
            model="penny", input_tokens=0, max_tokens=50, min_tokens=50, attempt_id="late"
        ).__aenter__()

    late = asyncio.create_task(enter())
    await asyncio.sleep(0)
    held[0].settle(TokenUse())
    held[1].settle(TokenUse(output=90))
    with pytest.raises(BudgetExhaustedError):
        await late
    assert (ledger.spent, ledger.held, ledger.waiting) == (90, 0, 0)
    ledger.top_up(Money(100))
    assert (await enter()).max_tokens == 50, "an attempt that never started may start later"


async def test_who_gives_a_hold_back_before_starting_stays_first_in_line() -> None:
    ledger, log = penny(100), []
    one, two, three = [
        await ledger.hold(model="penny", input_tokens=0, max_tokens=tokens, min_tokens=tokens).__aenter__()
        for tokens in (30, 30, 40)
    ]

    async def call(name: str) -> None:
        async with ledger.hold(model="penny", input_tokens=0, max_tokens=30, min_tokens=30) as hold:
            log.append(name)
            await asyncio.sleep(0)
            hold.settle(TokenUse())

    tasks = [asyncio.create_task(call(name)) for name in ("first", "second")]
    await asyncio.sleep(0)
    one.settle(TokenUse())
    two.settle(TokenUse(output=70))
    await asyncio.sleep(0)
    assert (log, ledger.waiting) == ([], 2)
    three.settle(TokenUse())
    await asyncio.gather(*tasks)
    assert log == ["first", "second"]
    assert (ledger.spent, ledger.overrun) == (70, 40)


async def test_a_free_model_needs_no_money_even_over_the_limit() -> None:
    prices = PriceTable.of({"models": {"penny": {"input": 1, "output": 1}, "offline": {"input": 0, "output": 0}}})
    ledger = Ledger(Money(100), prices=prices)
    with ledger.hold(model="penny", input_tokens=0, max_tokens=80) as hold:
        hold.settle(TokenUse(output=130))
    async with ledger.hold(model="offline", input_tokens=9_999, max_tokens=80) as hold:
        assert (hold.max_tokens, hold.amount) == (80, 0)
        hold.settle(TokenUse(9_999, 80))
    assert ledger.spent == 130


def test_an_unknown_model_is_held_at_the_highest_price_and_flagged() -> None:
    ledger = Ledger("$10", prices=PRICES)
    with ledger.hold(model="brand-new-model", input_tokens=1_000, max_tokens=100) as hold:
        assert not hold.known_price
        long = PRICES.models["gpt-5.5-pro"].long
        assert long is not None
        assert hold.amount == long.cost(TokenUse(1_000, 100)), (
            "nothing in the table costs more than this does at length"
        )
        hold.settle(TokenUse(1_000, 100), model="claude-sonnet-5-5")
    assert ledger.spent == 3_000


def test_a_mistake_in_the_estimates_is_recorded() -> None:
    pool = penny(1_000)
    with pool.child(Money(100), name="run").hold(model="penny", input_tokens=0, max_tokens=80) as hold:
        hold.settle(TokenUse(input=50, output=80))
    assert (hold.overrun, pool.overrun, pool.spent) == (50, 50, 130)


async def hundred_tasks(
    ledger: Ledger, actual: Callable[[HeldCall], int], seen: Callable[[HeldCall], None], calls: int | None
) -> int:
    """A hundred tasks that call a slow model side by side, `calls` times each or until they are refused; how many
    were refused."""
    patience = random.Random(7)

    async def task() -> bool:
        made = 0
        while calls is None or made < calls:
            try:
                async with ledger.hold(model="claude-sonnet-5-5", input_tokens=1_000, max_tokens=8_000) as hold:
                    seen(hold)
                    for _ in range(patience.randrange(1, 6)):
                        await asyncio.sleep(0)
                    hold.settle(TokenUse(output=actual(hold) // SONNET_OUTPUT))
                    made += 1
            except BudgetExhaustedError:
                return True
        return False

    return sum(await asyncio.gather(*(task() for _ in range(100))))


@pytest.mark.parametrize("calls", [pytest.param(None, id="until refused"), pytest.param(1, id="one call each")])
@pytest.mark.parametrize("seed", range(5))
async def test_a_hundred_parallel_tasks_spend_a_dollar_and_no_more(seed: int, calls: int | None) -> None:
    """True worst cases, of which 8 to 100 % are used."""
    ledger, chance = Ledger("$1.00", prices=PRICES), random.Random(seed)

    def seen(_: HeldCall) -> None:
        assert ledger.spent + ledger.held <= DOLLAR

    await hundred_tasks(ledger, lambda hold: hold.amount * chance.randrange(8, 101) // 100, seen, calls)
    assert ledger.spent <= DOLLAR
    assert (ledger.held, ledger.waiting, ledger.overrun) == (0, 0, 0)
    assert ledger.spent >= DOLLAR * 95 // 100


async def test_tasks_that_use_the_least_of_their_holds_still_spend_the_dollar() -> None:
    ledger = Ledger("$1.00", prices=PRICES)
    refused = await hundred_tasks(ledger, lambda hold: hold.amount * 8 // 100, lambda _: None, None)
    assert refused == 100
    assert DOLLAR * 95 // 100 <= ledger.spent <= DOLLAR


@pytest.mark.parametrize("seed", range(5))
async def test_estimates_that_are_too_low_cost_only_what_the_calls_in_flight_were_short_by(seed: int) -> None:
    ledger, chance = Ledger("$1.00", prices=PRICES), random.Random(seed)
    calls: list[HeldCall] = []
    in_flight: list[HeldCall] = []

    def seen(hold: HeldCall) -> None:
        assert ledger.spent < DOLLAR, "no call starts once the limit is reached"
        assert ledger.spent + ledger.held <= DOLLAR
        calls.append(hold)
        in_flight[:] = [call for call in calls if call.state is HoldState.HELD]

    await hundred_tasks(ledger, lambda hold: hold.amount * chance.randrange(8, 251) // 100, seen, None)
    assert (ledger.held, ledger.waiting) == (0, 0)
    assert ledger.overrun == sum(call.overrun for call in calls) > 0
    assert DOLLAR * 95 // 100 <= ledger.spent <= DOLLAR + sum(call.overrun for call in in_flight)
