"""`spending.hold`: the one way in, for one call or a stream, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.errors import ModelUnavailableError, NotConfiguredError, UsageError
from nudge.model import Purpose
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.governor import Spending
from nudge.spending.holds import HoldState
from nudge.spending.ledger import HeldCall
from nudge.spending.lifecycle import AsleepError, SpendingState
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.spending.kit import prepared, spending_on

InStore = Callable[..., Any]
DAILY = 10_000
WINDOW = 30 * DAILY


async def today(spending: Spending, clock: VirtualClock) -> tuple[SpendingState, int, int]:
    status = await spending.state("coach", clock.now())
    return status.state, status.meter.spent, status.held


def test_a_hold_is_clamped_named_and_settled(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)
        async with spending.hold("coach", input_bound=9_000, max_tokens=4_000, run="run-7") as hold:
            assert (hold.max_tokens, hold.clamped, hold.amount, hold.model) == (1_000, True, DAILY, "penny")
            assert await today(spending, clock) == (SpendingState.AWAKE, 0, DAILY)
            assert hold.settle({"input_tokens": 100, "output_tokens": 20}) == 120
            assert repr(hold) == f"<HeldCall {hold.id!r} settled: charged $0.00012 of $0.01, penny>"
        assert await today(spending, clock) == (SpendingState.AWAKE, 120, 0)
        (row,) = await store.usage.recent("coach")
        assert (row.attempt_id, row.purpose, row.run, row.use) == (hold.id, "work", "run-7", TokenUse(100, 20))

    in_store(scenario)


async def settles(hold: HeldCall) -> None:
    hold.settle(TokenUse(50, 7))


async def settles_then_fails(hold: HeldCall) -> None:
    hold.settle(TokenUse(50, 7))
    raise ModelUnavailableError


async def returns(hold: HeldCall) -> None:
    hold.produced(5)


async def fails(hold: HeldCall) -> None:
    raise ModelUnavailableError


async def breaks_off(hold: HeldCall) -> None:
    for produced in (10, 30, 20):
        hold.produced(produced)
    raise ModelUnavailableError


async def is_unbilled(hold: HeldCall) -> None:
    raise ModelUnavailableError(unbilled=True)


async def is_refused(hold: HeldCall) -> None:
    raise NotConfiguredError


async def is_cancelled(hold: HeldCall) -> None:
    hold.produced(30)
    raise asyncio.CancelledError


async def cancels(hold: HeldCall) -> None:
    hold.produced(30)
    hold.cancel()


@pytest.mark.parametrize(
    ("block", "charged", "ended", "use"),
    [
        pytest.param(settles, 57, HoldState.SETTLED, TokenUse(50, 7), id="what was used, where it settles"),
        pytest.param(settles_then_fails, 57, HoldState.SETTLED, TokenUse(50, 7), id="also where it fails afterwards"),
        pytest.param(returns, 1_100, HoldState.EXPIRED, TokenUse(output=5), id="the worst case, where it says nothing"),
        pytest.param(fails, 1_100, HoldState.EXPIRED, TokenUse(), id="the worst case, where it fails"),
        pytest.param(breaks_off, 1_100, HoldState.EXPIRED, TokenUse(output=30), id="also where a stream breaks off"),
        pytest.param(is_cancelled, 1_100, HoldState.EXPIRED, TokenUse(output=30), id="and where it is cancelled"),
        pytest.param(is_refused, 0, HoldState.SETTLED, TokenUse(), id="nothing, where the key is refused"),
        pytest.param(is_unbilled, 0, HoldState.SETTLED, TokenUse(), id="nor where the service did not do it"),
        pytest.param(cancels, 130, HoldState.CANCELLED, TokenUse(output=30), id="what came, where it ends the call"),
    ],
)
def test_how_a_block_ends_decides_what_is_charged(
    in_store: InStore, block: Any, charged: int, ended: HoldState, use: TokenUse
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)

        async def call() -> None:
            async with spending.hold("coach", input_bound=100, max_tokens=1_000) as hold:
                await block(hold)

        (result,) = await asyncio.gather(call(), return_exceptions=True)
        assert (await today(spending, clock))[1:] == (charged, 0)
        (row,) = await store.usage.recent("coach")
        assert (row.cost, row.ended, row.use) == (charged, ended.value, use)
        if result is not None:
            assert isinstance(result, ModelUnavailableError | NotConfiguredError | asyncio.CancelledError)

    in_store(scenario)


def test_a_settlement_after_the_block_is_refused(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)
        async with spending.hold("coach", input_bound=100, max_tokens=1_000) as hold:
            pass
        with pytest.raises(UsageError, match="Settle inside it"):
            hold.settle(TokenUse(1, 1))
        assert (await today(spending, clock))[1] == 1_100

    in_store(scenario)


def test_the_breaker_stops_a_block_but_not_the_task_around_it(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)
        log: list[str] = []

        async def streams() -> None:
            try:
                async with spending.hold("coach", input_bound=100, max_tokens=1_000) as hold:
                    hold.produced(40)
                    await clock.sleep(600)
                    log.append("went on")
            except AsleepError as error:
                log.append(error.state.value)
            async with asyncio.timeout(60):
                await clock.sleep(5)
            log.append("the task goes on")

        stream = asyncio.create_task(streams())
        await clock.sleep(1)
        async with spending.hold("coach", input_bound=100, max_tokens=100) as dear:
            dear.settle(TokenUse(input=DAILY * 12 // 10))
        await stream
        assert log == ["budget_exceeded", "the task goes on"]
        assert stream.cancelling() == 0
        assert await today(spending, clock) == (SpendingState.BUDGET_EXCEEDED, DAILY * 12 // 10 + 1_100, 0)

    in_store(scenario)


def test_a_cancelled_caller_stays_cancelled_where_the_breaker_stops_it_too(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)

        async def waits() -> None:
            async with spending.hold("coach", input_bound=100, max_tokens=1_000):
                await clock.sleep(600)

        task = asyncio.create_task(waits())
        await clock.sleep(1)
        spending._in_flight.stop("coach")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await today(spending, clock))[1:] == (1_100, 0)

    in_store(scenario)


@pytest.mark.parametrize("fails", [True, False], ids=["with an error of its own", "as if nothing were"])
def test_a_block_that_ends_in_the_moment_of_a_stop_ends_as_it_would(in_store: InStore, fails: bool) -> None:
    """A stop from inside the block, as of a nested one, is delivered when the block writes its end."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)

        async def call() -> str:
            async with spending.hold("coach", input_bound=100, max_tokens=1_000) as hold:
                hold.settle(TokenUse(7))
                spending._in_flight.stop("coach")
                if fails:
                    raise ModelUnavailableError
            await clock.sleep(1)
            return "went on"

        task = asyncio.create_task(call())
        (result,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(result, ModelUnavailableError) if fails else result == "went on"
        assert task.cancelling() == 0
        assert (await today(spending, clock))[1:] == (7, 0)

    in_store(scenario)


@pytest.mark.parametrize(
    ("purpose", "starts_task", "refused"),
    [
        pytest.param(Purpose.CONVERSATION, None, False, id="an answer is no new task"),
        pytest.param(Purpose.HEARTBEAT, None, True, id="a heartbeat is one"),
        pytest.param("heartbeat", False, False, id="unless it says otherwise"),
        pytest.param("work", True, True, id="and so is what says so"),
    ],
)
def test_winding_down_starts_no_task(in_store: InStore, purpose: str, starts_task: bool | None, refused: bool) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)
        async with spending.hold("coach", input_bound=100, max_tokens=100) as hold:
            hold.settle(TokenUse(9_200))

        async def call() -> None:
            options: Any = {"purpose": purpose, "starts_task": starts_task}
            async with spending.hold("coach", input_bound=10, max_tokens=100, **options) as hold:
                hold.settle(TokenUse())

        (result,) = await asyncio.gather(call(), return_exceptions=True)
        assert isinstance(result, AsleepError) == refused

    in_store(scenario)


def test_blocks_wait_in_line_for_each_other(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending, log = spending_on(store, clock, WINDOW), []

        async def call(name: str, tokens: int) -> None:
            async with spending.hold("coach", input_bound=0, max_tokens=tokens, min_tokens=tokens) as hold:
                log.append(name)
                await clock.sleep(60)
                hold.settle(TokenUse(output=10))

        names = [("first", 6_000), ("large", 9_000), ("small", 100)]
        tasks = []
        for name, tokens in names:
            tasks.append(asyncio.create_task(call(name, tokens)))
            await clock.sleep(1)
        await asyncio.gather(*tasks)
        assert log == ["first", "large", "small"]

    in_store(scenario)
