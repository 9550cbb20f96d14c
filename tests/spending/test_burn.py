"""Burn rates: when money runs out at this rate, and an agent that uses up its share day after day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.budgets import SpendingPlan
from nudge.spending.burn import chronic, used_up_at
from nudge.spending.governor import Spending
from nudge.spending.store import DaySpent
from nudge.stores.open import open_store
from tests.spending.kit import PENNY
from tests.times import NOON

TODAY = date(2026, 11, 16)


@pytest.mark.parametrize(
    ("left", "spent", "span", "hours"),
    [
        pytest.param(300, 100, HOUR, 3, id="three hours' money is left"),
        pytest.param(300, 0, HOUR, None, id="nothing was spent lately"),
        pytest.param(0, 100, HOUR, None, id="it is used up already"),
        pytest.param(1_300, 100, HOUR, None, id="it lasts until the refresh"),
        pytest.param(600, 100, MINUTE, 1, id="a minute is too short for a rate, so it counts as ten"),
    ],
)
def test_when_it_is_used_up(left: int, spent: int, span: int, hours: int | None) -> None:
    at = used_up_at(left, spent, span, NOON, Instant(NOON + 12 * HOUR))
    assert at == (None if hours is None else NOON + hours * HOUR)


@pytest.mark.parametrize(
    ("spent", "topped_up", "burns"),
    [
        pytest.param([95, 90, 99], False, True, id="three red days"),
        pytest.param([95, 89, 99], False, False, id="a better day in between"),
        pytest.param([None, 95, 99], False, False, id="two days are a spike"),
        pytest.param([95, 95, None], False, False, id="not today"),
        pytest.param([50, 50, 50], False, False, id="half of it"),
        pytest.param([50, 50, 50], True, True, id="half of what top-ups made of it, and all of its own share"),
    ],
)
def test_what_a_chronic_burn_is(spent: list[int | None], topped_up: bool, burns: bool) -> None:
    days = [
        DaySpent(TODAY - timedelta(days=2 - number), 100, amount, 0, 0)
        for number, amount in enumerate(spent)
        if amount is not None
    ]
    assert bool(chronic(days, TODAY, 50, topped_up=topped_up)) is burns


async def test_a_chronic_burn_is_told_once_and_again_after_a_better_day() -> None:
    clock, store = VirtualClock(NOON), await open_store("sqlite://:memory:")
    await store.agents.add(Agent("builder", "worker", clock.now()))
    spending = Spending(store, clock, prices=PENNY, plan=SpendingPlan.of(30))

    async def told() -> list[str]:
        return [line.text for line in await store.feed.recent(limit=1_000) if line.kind == "burn"]

    counts = []
    for percent in (95, 95, 95, 95, 10, 95, 95, 95):
        limit = (await spending.state("builder", clock.now())).meter.limit
        for part in (percent - 5, 5):
            amount = limit * part // 100
            async with spending.hold("builder", model="penny", input_bound=amount, max_tokens=1) as hold:
                hold.settle({"input_tokens": amount, "output_tokens": 0})
        counts.append(len(await told()))
        clock.jump(DAY)
    assert counts == [0, 0, 1, 1, 1, 1, 1, 2]
    assert (await told())[0].startswith("builder used up its share of the budget 3 days in a row (9")
    await store.close()


async def test_the_budget_says_when_the_day_is_used_up() -> None:
    clock, store = VirtualClock(NOON), await open_store("sqlite://:memory:")
    await store.agents.add(Agent("builder", "worker", clock.now()))
    spending = Spending(store, clock, prices=PENNY, plan=SpendingPlan.of(3_000))
    async with spending.hold("builder", model="penny", input_bound=25_000_000, max_tokens=1) as hold:
        hold.settle({"input_tokens": 25_000_000, "output_tokens": 0})
    clock.jump(30 * MINUTE)
    status = await spending.state("builder", clock.now())
    forecast = await spending.budgets.forecast(status, clock.now())
    assert status.meter.percent == 25
    assert forecast.day is not None
    assert abs(forecast.day - clock.now() - 90 * MINUTE) < MINUTE
    assert forecast.window is None, "a quarter of a day's share on a day is no danger to the window"
    await store.close()
