"""What a dead daemon held: settled at the next start of the same home, and by nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nudge.instants import HOUR, Instant
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Money
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.spending.kit import INPUT, PricedModel, costs, feed, prepared, question, spending_on
from tests.times import NOON

InStore = Callable[..., Any]
DAILY = 10_000
WINDOW = 30 * DAILY
WORST = INPUT + 1_000


async def dies_in_a_call(store: SqlStore, clock: VirtualClock, home: str, agent: str = "coach") -> Any:
    """A daemon of that home that is killed while a call is under way: nobody leaves the block."""
    spending = spending_on(store, clock, WINDOW, owner=home)
    return await spending.hold(agent, input_bound=INPUT, max_tokens=1_000).__aenter__()


def test_a_start_charges_what_its_own_dead_predecessor_held(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "coach", "other")
        for _ in range(2):
            await dies_in_a_call(store, clock, "home")
        await dies_in_a_call(store, clock, "home", "other")
        await dies_in_a_call(store, clock, "another home")
        await dies_in_a_call(store, clock, "")
        before = await spending_on(store, clock, WINDOW).state("coach", clock.now())
        assert (before.meter.spent, before.held) == (0, 4 * WORST)
        assert before.text == f"Budget: 0% used, {4 * WORST * 100 // DAILY}% held"

        spending = spending_on(store, clock, WINDOW, owner="home")
        await spending.start(clock.now())
        status = await spending.state("coach", clock.now())
        assert (status.meter.spent, status.held) == (2 * WORST, 2 * WORST)
        assert (await spending.state("other", clock.now())).meter.spent == WORST
        text = "nudge stopped during 2 calls. That may have been billed, so the highest possible cost is charged."
        assert text in await feed(store, "budget")
        await spending.start(clock.now())
        assert (await spending.state("coach", clock.now())).meter.spent == 2 * WORST, "once"

    in_store(scenario)


def test_a_process_that_was_not_dead_corrects_it_with_the_truth(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        alive = spending_on(store, clock, WINDOW, owner="home")
        async with alive.hold("coach", input_bound=INPUT, max_tokens=1_000) as hold:
            await spending_on(store, clock, WINDOW, owner="home").start(clock.now())
            assert (await alive.state("coach", clock.now())).meter.spent == WORST
            hold.settle(TokenUse(7))
        status = await alive.state("coach", clock.now())
        assert (status.meter.spent, status.held) == (7, 0)

    in_store(scenario)


def test_deaths_that_fill_the_day_put_the_agent_to_sleep_at_the_start(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        for _ in range(DAILY // WORST):
            await dies_in_a_call(store, clock, "home")
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(1)), owner="home")
        await spending.start(clock.now())
        status = await spending.state("coach", clock.now())
        assert status.held == 0
        assert not status.state.may_start_task, "the person is told at once, and nobody waits for 15 minutes"
        await spending.budgets.top_up("coach", Money(WINDOW), clock.now())
        await spending.call("coach", question())
        assert (await spending.state("coach", clock.now())).state is SpendingState.AWAKE
        assert clock.now() < Instant(NOON + HOUR)

    in_store(scenario)
