"""After money comes, nothing waits: the whole daemon, with money that comes in every way at every point of a sleep."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from nudge.errors import BudgetExhaustedError
from nudge.model import ModelReply, ModelRequest, text_reply
from nudge.queue.inbox import Letter, Priority
from nudge.spending.budgets import SpendingPlan
from nudge.spending.holds import settle
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Money
from nudge.spending.prices import Caching
from nudge.testing import Life, live
from nudge.tokens import TokenUse

NOON = datetime(2026, 2, 18, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 2, 19, tzinfo=UTC)
DAILY = 1_000_000
PLAN = SpendingPlan(30 * DAILY)
MODEL = "claude-sonnet-5-5"
"""Two micro-dollars a token of input."""


class Quiet:
    """A model that has nothing to say, and keeps what it is asked."""

    name = "quiet"

    def __init__(self, use: TokenUse = TokenUse(100, 10)) -> None:  # noqa: B008
        self.asked: list[str] = []
        self._use = use

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request.turns[-1].text)
        return text_reply("HEARTBEAT_OK", request.model, self._use)

    async def close(self) -> None: ...

    def read(self, life: Life) -> list[str]:
        """The letters that it was asked about."""
        return [name for name in ("first", "second") if any(f"letter {name}" in text for text in self.asked)]


async def spend(life: Life, percent: int) -> None:
    """One call that costs so much of the day."""
    async with life.daemon.spending.hold("coach", model=MODEL, input_bound=1, max_tokens=1, starts_task=False) as hold:
        hold.settle(TokenUse(input=DAILY * percent // 200))


async def letter(life: Life, name: str) -> None:
    now = life.clock.now()
    async with life.store.transaction():
        await life.store.letters.put(Letter("coach", "test", f"letter {name}", Priority.NORMAL, now, name))
        await life.daemon.coach.background.arrived("coach", Priority.NORMAL, now)
    life.daemon.poke()


Way = Callable[[Life], Awaitable[None]]


async def top_up(life: Life) -> None:
    await life.daemon.spending.budgets.top_up("coach", Money(60 * DAILY), life.clock.now())
    life.daemon.poke()


async def other_window(life: Life) -> None:
    await life.daemon.spending.budgets.set_window("coach", life.clock.now(), budget=Money(90 * DAILY))
    life.daemon.poke()


async def other_configuration(life: Life) -> None:
    plan = SpendingPlan(90 * DAILY)
    await life.daemon.spending.reconfigure(plan, life.daemon.spending.routes, life.clock.now())


WAYS: dict[str, Way] = {
    "a top-up": top_up,
    "another window": other_window,
    "another configuration": other_configuration,
}
STATES = {
    "winding down": (95, SpendingState.WINDING_DOWN),
    "asleep": (102, SpendingState.ASLEEP),
    "stopped": (120, SpendingState.BUDGET_EXCEEDED),
}
MOMENTS = {
    "at once": timedelta(0),
    "a minute later": timedelta(minutes=1),
    "hours later": timedelta(hours=7),
    "a second before the day turns": MIDNIGHT - NOON - timedelta(seconds=3),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("percent", "state"), STATES.values(), ids=STATES.keys())
def test_what_waits_runs_as_soon_as_there_is_money(
    percent: int, state: SpendingState, way: Way, moment: timedelta
) -> None:
    model = Quiet()

    async def scenario(life: Life) -> None:
        await spend(life, percent)
        await letter(life, "first")
        await life.passes(seconds=1)
        assert (await life.daemon.spending.state("coach", life.now)).state is state
        await life.passes(moment)
        await letter(life, "second")  # one that joins, and is still kept
        await life.passes(seconds=0.5)
        assert model.read(life) == []
        await way(life)
        await life.passes(seconds=1)
        assert model.read(life) == ["first", "second"]
        assert await life.store.letters.unread("coach") == []

    live(scenario, NOON, model=model, plan=PLAN, capacity=5)


@pytest.mark.parametrize(("percent", "state"), STATES.values(), ids=STATES.keys())
def test_the_refresh_brings_money_too(percent: int, state: SpendingState) -> None:
    model = Quiet()

    async def scenario(life: Life) -> None:
        await spend(life, percent)
        await letter(life, "first")
        await life.passes(MIDNIGHT - NOON - timedelta(seconds=1))
        assert model.read(life) == []
        await life.passes(seconds=2)
        assert model.read(life) == ["first"]

    live(scenario, NOON, model=model, plan=PLAN)


def test_a_cost_that_is_corrected_downwards_brings_money() -> None:
    model = Quiet()

    async def scenario(life: Life) -> None:
        spending = life.daemon.spending
        async with spending.hold(
            "coach", model=MODEL, input_bound=DAILY // 2 - 9, max_tokens=1, caching=Caching.NONE
        ) as hold:
            pass  # nobody says what it used: the worst case, which is all of the day
        await letter(life, "first")
        await life.passes(minutes=5)
        assert model.read(life) == []
        row = await life.store.ledger.hold(hold.id)
        assert row is not None
        advanced = await spending._ledger.end(row, lambda held: settle(held, 1_000), life.clock.now())
        spending._after(advanced, room=True)
        await life.passes(seconds=1)
        assert model.read(life) == ["first"]

    live(scenario, NOON, model=model, plan=PLAN)


def test_what_was_refused_because_others_held_the_money_goes_on_when_they_end() -> None:
    model = Quiet()

    async def scenario(life: Life) -> None:
        spending = life.daemon.spending
        async with spending.hold(
            "coach", model=MODEL, input_bound=DAILY // 2 - 9, max_tokens=1, caching=Caching.NONE
        ) as hold:
            await letter(life, "first")
            await life.passes(minutes=11)  # longer than a call waits in line
            assert model.read(life) == []
            hold.settle(TokenUse(10, 1))
        await life.passes(seconds=1)
        assert model.read(life) == ["first"]

    live(scenario, NOON, model=model, plan=PLAN)


def test_a_rest_that_pays_for_no_call_is_told_and_is_no_limbo() -> None:
    model = Quiet(TokenUse(4_000, 100))
    daily = 40_000  # a few calls of the coach, whose worst case is some cents

    async def scenario(life: Life) -> list[str]:
        spending = life.daemon.spending
        for _ in range(20):
            await life.say("What do you think about Kant?")
            status = await spending.state("coach", life.now)
            if status.state is not SpendingState.AWAKE:
                break
        assert status.state is SpendingState.ASLEEP
        assert status.meter.percent < 90, "far from used up by the meter"
        assert status.public()["used_up"] is True
        lines = [line.text for line in await life.store.feed.after_id(0)]
        assert "Agent paused until budget refresh" in lines
        said = await life.say("What do you think about Hegel?")
        assert len(model.asked) >= 1
        await top_up(life)
        await life.passes(seconds=1)
        assert (await spending.state("coach", life.now)).state is SpendingState.AWAKE
        return said

    (told,) = live(scenario, NOON, model=model, plan=SpendingPlan(30 * daily))
    assert "budget" in told
    assert "Thu 12:00 AM" in told
    assert "language model" not in told


def test_a_person_is_told_within_seconds_that_other_calls_hold_the_money() -> None:
    model = Quiet()

    async def scenario(life: Life) -> list[str]:
        spending = life.daemon.spending
        async with spending.hold(
            "coach", model=MODEL, input_bound=DAILY // 2 - 9, max_tokens=1, caching=Caching.NONE
        ) as hold:
            assert (await spending.state("coach", life.now)).text == "Budget: 0% used, 99% held"
            said = [*await life.say("What do you think about Kant?"), *await life.passes(seconds=13)]
            hold.settle(TokenUse(10, 1))
        return said

    (told,) = live(scenario, NOON, model=model, plan=PLAN)
    assert "tied up" in told
    assert model.asked == []


def test_a_call_that_asks_for_less_than_all_before_is_tried_in_a_rest_that_paid_for_none() -> None:
    async def scenario(life: Life) -> None:
        spending = life.daemon.spending

        async def call(asked: int, used: int) -> SpendingState:
            bound = {"model": MODEL, "input_bound": asked, "max_tokens": 1, "caching": Caching.NONE}
            with suppress(BudgetExhaustedError):
                async with spending.hold("coach", **bound) as hold:  # type: ignore[arg-type]
                    hold.settle(TokenUse(input=used))
            return (await spending.state("coach", life.now)).state

        large, small = DAILY // 5, DAILY // 20
        assert await call(large, DAILY * 35 // 100) is SpendingState.AWAKE
        assert await call(large, 1) is SpendingState.AWAKE, "one call that is too large may be its own problem"
        assert await call(large, 1) is SpendingState.ASLEEP, (
            "after two in a row the rest pays for nothing that is known"
        )
        assert await call(small, 1) is SpendingState.AWAKE, "it does pay for a smaller one"
        assert await call(large, 1) is SpendingState.AWAKE, "so the large one is its own problem"
        assert (await spending.state("coach", life.now)).meter.percent == 70

    live(scenario, NOON, plan=PLAN)
