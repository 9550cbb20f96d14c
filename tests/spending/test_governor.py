"""The spending governor in virtual time, on every store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from nudge.errors import (
    BudgetExhaustedError,
    ModelUnavailableError,
    NotConfiguredError,
    NotFoundError,
    StoreError,
    UsageError,
)
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.model import ModelReply, ModelRequest, Purpose
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.store import Session
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.governor import Spending
from nudge.spending.ledger import AccountLedger
from nudge.spending.lifecycle import AsleepError, SpendingState
from nudge.spending.money import Money
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.spending.kit import (
    INPUT,
    PricedModel,
    costs,
    dispatcher_of,
    everything,
    feed,
    prepared,
    question,
    settled,
    spending_on,
)
from tests.times import NOON

InStore = Callable[..., Any]
MIDNIGHT = Instant(NOON + 7 * HOUR)
"""The next turn of the spending day: noon in Toronto is 17:00 UTC."""
DAILY = 10_000
WINDOW = 30 * DAILY
WORST = INPUT + 1_000
"""What is held for a question with its answer."""


async def today(spending: Spending, clock: VirtualClock) -> tuple[SpendingState, int, int]:
    status = await spending.state("coach", clock.now())
    return status.state, status.meter.spent, status.held


def test_a_call_is_held_then_charged_what_it_used_and_logged(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        seen = []

        async def usage(request: ModelRequest) -> TokenUse:
            seen.append((await spending.state("coach", clock.now())).held)
            await clock.sleep(60)
            return TokenUse(input=30, output=20, cache_read=10, cache_write=40)

        spending = spending_on(store, clock, WINDOW, PricedModel(usage))
        reply = await spending.call("coach", question(attempt_id="a1"), clock.now(), run="run-7")
        assert (reply.text, reply.details["cost"], reply.details["clamped"]) == ("ok", 100, False)
        assert seen == [INPUT + 1_000]
        assert await today(spending, clock) == (SpendingState.AWAKE, 100, 0)
        (row,) = await store.usage.recent("coach")
        assert (row.attempt_id, row.at, row.purpose, row.model) == ("a1", NOON + MINUTE, "conversation", "penny")
        assert (row.use, row.cost, row.run, row.ended) == (TokenUse(30, 20, 10, 40), 100, "run-7", "settled")

    in_store(scenario)


def test_the_model_is_chosen_by_tier_and_purpose(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        from nudge.home.prices import load_prices
        from nudge.spending.budgets import SpendingPlan

        await prepared(store)
        model = PricedModel(costs(1))
        for tier in ("standard", "premium"):
            plan = SpendingPlan(30_000_000_000, tier=tier)
            spending = Spending(store, clock, prices=load_prices(), plan=plan, model=model)
            for purpose in (Purpose.HEARTBEAT, Purpose.CONVERSATION, Purpose.WORK):
                await spending.call("coach", question(purpose=purpose))
        haiku, sonnet, opus = "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5"
        assert [asked.model for asked in model.asked] == [haiku, sonnet, sonnet, haiku, sonnet, opus]

    in_store(scenario)


def test_a_call_is_clamped_to_what_is_left(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(DAILY - INPUT - 300))
        spending = spending_on(store, clock, WINDOW, model)
        await spending.call("coach", question(9_000))
        model.usage = everything
        reply = await spending.call("coach", question(1_000))
        assert (model.asked[-1].max_tokens, reply.details["clamped"]) == (300, True)
        assert await today(spending, clock) == (SpendingState.ASLEEP, DAILY, 0)
        assert await feed(store, "asleep") == ["Agent paused until budget refresh"]

    in_store(scenario)


@pytest.mark.parametrize(
    ("failure", "charged"),
    [
        pytest.param(ModelUnavailableError("lost"), [WORST, WORST], id="two lost answers cost their worst cases"),
        pytest.param(ModelUnavailableError("429", unbilled=True), [0], id="what the service did not do is free"),
        pytest.param(ValueError("a bug"), [WORST], id="a bug costs the worst case"),
        pytest.param(NotConfiguredError("bad key"), [0], id="a refused key costs nothing"),
    ],
)
def test_a_failed_call_ends_its_hold(in_store: InStore, failure: Exception, charged: list[int]) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        def fails(request: ModelRequest) -> TokenUse:
            raise failure

        spending = spending_on(store, clock, WINDOW, PricedModel(fails))
        with pytest.raises(type(failure)):
            await spending.call("coach", question())
        assert await today(spending, clock) == (SpendingState.AWAKE, sum(charged), 0)
        assert [row.cost for row in await store.usage.recent()] == charged

    in_store(scenario)


def test_a_cancelled_call_costs_its_worst_case_and_its_caller_is_cancelled(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(1), clock=clock, seconds=600)
        spending = spending_on(store, clock, WINDOW, model)
        task = asyncio.create_task(spending.call("coach", question()))
        await clock.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model.cancelled == 1
        assert await today(spending, clock) == (SpendingState.AWAKE, WORST, 0)

    in_store(scenario)


def test_an_answer_that_came_in_the_moment_of_a_cancellation_is_paid_for(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        answered: asyncio.Future[TokenUse] = asyncio.get_running_loop().create_future()

        async def usage(request: ModelRequest) -> TokenUse:
            return await answered

        spending = spending_on(store, clock, WINDOW, PricedModel(usage))
        task = asyncio.create_task(spending.call("coach", question()))
        await clock.sleep(1)
        answered.set_result(TokenUse(output=500))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await today(spending, clock) == (SpendingState.AWAKE, 500, 0)

    in_store(scenario)


def test_the_same_attempt_is_paid_once_and_refused_after_its_end(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(100), clock=clock, seconds=60))
        twins = [asyncio.create_task(spending.call("coach", question(attempt_id="a1"))) for _ in range(2)]
        await clock.sleep(1)
        assert (await spending.state("coach", clock.now())).held == INPUT + 1_000
        await asyncio.gather(*twins)
        assert await today(spending, clock) == (SpendingState.AWAKE, 100, 0)
        with pytest.raises(UsageError, match="a1 has ended"):
            await spending.call("coach", question(attempt_id="a1"))

    in_store(scenario)


def test_winding_down_finishes_a_task_and_starts_none(in_store: InStore) -> None:
    """A scripted loop of tool calls: the state is felt inside of it."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(1_500)))
        log: list[str] = []

        async def task(name: str, steps: int) -> None:
            for step in range(steps):
                await spending.call("coach", question(purpose=Purpose.WORK), starts_task=step == 0)
                log.append(f"{name}{step} {(await spending.state('coach', clock.now())).state.value}")

        await task("a", 5)
        await task("b", 1)
        assert log[-1] == "b0 winding_down"
        with pytest.raises(AsleepError, match="winding down") as refused:
            await task("c", 1)
        assert (refused.value.exit_code, refused.value.refresh_at) == (6, MIDNIGHT)
        with pytest.raises(AsleepError):
            await spending.call("coach", question(purpose=Purpose.HEARTBEAT))
        await spending.call("coach", question(500))  # somebody asks: that is no new task
        assert await spending.asleep("coach", clock.now())
        with pytest.raises(AsleepError, match="is asleep until"):
            await spending.call("coach", question(500))

    in_store(scenario)


def test_asleep_no_model_is_called_and_the_refresh_wakes(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        from nudge.progress.store import Session

        await prepared(store)
        await store.sessions.save(Session("coach", "s1", 1, last_task="Fix the login test"), 0)
        model = PricedModel(everything)
        spending = spending_on(store, clock, WINDOW, model)
        dispatcher = dispatcher_of(spending, store, clock)
        running = asyncio.create_task(dispatcher.run())
        await spending.call("coach", question(DAILY - INPUT))
        calls = len(model.asked)
        for _ in range(5):
            with pytest.raises(AsleepError):
                await spending.call("coach", question())
        assert len(model.asked) == calls
        wake = await store.timers.get("coach", "wake")
        assert wake
        assert (wake.due_at, wake.lane) == (MIDNIGHT, "coach/wake")
        await clock.sleep(7 * 3600 + 1)
        assert await feed(store, "asleep", "awake") == [
            "Agent paused until budget refresh",
            "Resuming — budget refreshed. Continuing from Fix the login test.",
        ]
        assert await today(spending, clock) == (SpendingState.AWAKE, 0, 0)
        assert await store.timers.get("coach", "wake") is None
        dispatcher.stop()
        await running

    in_store(scenario)


def test_two_nights_in_a_row_and_a_night_that_nobody_was_up_for(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything))
        for night in range(3):
            dispatcher = dispatcher_of(spending, store, clock)
            running = asyncio.create_task(dispatcher.run())
            await clock.sleep(1)  # a process that was down at midnight wakes the agent when it is back
            assert await today(spending, clock) == (SpendingState.AWAKE, 0, 0)
            share = (await spending.state("coach", clock.now())).meter.limit
            await spending.call("coach", question(share - INPUT))
            assert (await today(spending, clock))[0] is SpendingState.ASLEEP
            if night == 1:
                dispatcher.stop()
                await running
            await clock.sleep(24 * 3600)
            if night != 1:
                dispatcher.stop()
                await running
        assert len(await feed(store, "asleep")) == 3
        assert len(await feed(store, "awake")) == 2 + 1

    in_store(scenario)


def test_a_call_right_after_midnight_does_not_need_the_timer(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(everything)
        spending = spending_on(store, clock, WINDOW, model)
        await spending.call("coach", question(DAILY - INPUT))
        await clock.sleep(7 * 3600)
        model.usage = costs(5)
        await spending.call("coach", question())
        assert await feed(store, "awake") == ["Resuming — budget refreshed."]
        assert await store.timers.get("coach", "wake") is None
        assert await today(spending, clock) == (SpendingState.AWAKE, 5, 0)

    in_store(scenario)


def test_a_budget_of_nothing_sleeps_at_once_and_wakes_on_money(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 0, PricedModel(costs(5)))
        dispatcher = dispatcher_of(spending, store, clock)
        running = asyncio.create_task(dispatcher.run())
        with pytest.raises(AsleepError):
            await spending.call("coach", question())
        await clock.sleep(3 * 24 * 3600)
        assert await feed(store) == ["Agent paused until budget refresh"]
        await spending.budgets.top_up("coach", Money(WINDOW), clock.now())
        dispatcher.poke()
        await clock.sleep(1)
        await spending.call("coach", question())
        assert (await today(spending, clock))[0] is SpendingState.AWAKE
        dispatcher.stop()
        await running

    in_store(scenario)


@pytest.mark.parametrize("how", ["top-up", "another window", "another tier in the configuration"])
def test_money_wakes_a_sleeper_within_a_second_and_pulls_its_work_ahead(in_store: InStore, how: str) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        from nudge.queue.firing import Firing
        from nudge.queue.outcomes import Result
        from nudge.queue.timers import Timer
        from nudge.spending.budgets import SpendingPlan

        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything), waiting=("turn",))
        done: list[int] = []

        async def turn(firing: Firing) -> None:
            status = await spending.state("coach", firing.now)
            async with firing.settle() as settlement:
                if status.state.may_go_on:
                    done.append(firing.now - NOON)
                    settlement.outcome(Result.FIRED)
                else:
                    settlement.defer(status.refresh_at, "asleep")

        dispatcher = dispatcher_of(spending, store, clock, turn=turn)
        running = asyncio.create_task(dispatcher.run())
        await spending.call("coach", question(DAILY - INPUT))
        await store.timers.set(Timer.at("coach", "turn", "turn", Instant(NOON + MINUTE)))
        await clock.sleep(HOUR / 1_000_000)
        assert done == []
        if how == "top-up":
            await spending.budgets.top_up("coach", Money(WINDOW), clock.now())
        elif how == "another window":
            await spending.budgets.set_window("coach", clock.now(), budget=Money(3 * WINDOW), renews=date(2026, 3, 2))
        else:
            await spending.reconfigure(SpendingPlan(3 * WINDOW, tier="premium"), spending.routes, clock.now())
        dispatcher.poke()
        await clock.sleep(0.5)
        assert (await today(spending, clock))[0] is SpendingState.AWAKE
        assert await feed(store, "awake") == ["Resuming — budget refreshed."]
        assert [(at - HOUR) // 1_000_000 for at in done] == [0]
        dispatcher.stop()
        await running

    in_store(scenario)


def test_too_little_money_leaves_the_wake_where_it_was(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything))
        dispatcher = dispatcher_of(spending, store, clock)
        running = asyncio.create_task(dispatcher.run())
        await spending.call("coach", question(DAILY - INPUT))
        await spending.budgets.set_window("coach", clock.now(), budget=Money(WINDOW - 30))
        dispatcher.poke()
        await clock.sleep(1)
        wake = await store.timers.get("coach", "wake")
        assert wake
        assert wake.due_at == MIDNIGHT
        await clock.sleep(7 * 3600)
        assert (await today(spending, clock))[0] is SpendingState.AWAKE
        dispatcher.stop()
        await running

    in_store(scenario)


def test_a_rest_that_pays_for_no_call_puts_the_agent_to_sleep(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(DAILY - INPUT - 10)))
        await spending.call("coach", question(DAILY - INPUT))
        assert (await today(spending, clock))[0] is SpendingState.WINDING_DOWN
        with pytest.raises(BudgetExhaustedError, match=r"does not cover this call") as refused:
            await spending.call("coach", question())
        assert "$" not in str(refused.value)
        status = await spending.state("coach", clock.now())
        assert (status.state, status.used_up, status.meter.percent) == (SpendingState.ASLEEP, True, 99)
        assert await feed(store, "asleep") == ["Agent paused until budget refresh"]
        assert await store.timers.get("coach", "wake")

    in_store(scenario)


def test_a_call_too_large_for_half_a_day_is_its_own_problem(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(5_000)))
        await spending.call("coach", question())
        with pytest.raises(BudgetExhaustedError, match="Budget: 50% used"):
            await spending.call("coach", question(text="a" * 20_000))
        assert (await today(spending, clock))[0] is SpendingState.AWAKE

    in_store(scenario)


def test_the_feed_has_a_badge_for_every_percent_that_moved(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(4_700))
        spending = spending_on(store, clock, WINDOW, model)
        await spending.call("coach", question())
        for amount in (50, 49, 1):
            model.usage = costs(amount)
            await spending.call("coach", question())
        assert await feed(store) == ["Budget: 47% used", "Budget: 48% used"]
        await clock.sleep(24 * 3600)
        await spending.call("coach", question())
        assert len(await feed(store)) == 2, "0 % of a new day is no news"

    in_store(scenario)


def test_a_call_waits_for_others_to_settle_but_not_for_ever(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(100), clock=clock, seconds=60)
        spending = spending_on(store, clock, WINDOW, model, patience=90)
        big = question(DAILY - INPUT)
        started = clock.now()
        calls = [asyncio.create_task(spending.call("coach", big, min_tokens=9_000)) for _ in range(3)]
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(one) for one in done] == [ModelReply, ModelReply, BudgetExhaustedError]
        assert "none of them ended in time" in str(done[2]) or "did not come in time" in str(done[2])
        assert (clock.now() - started) // 1_000_000 in range(120, 123)
        assert await today(spending, clock) == (SpendingState.AWAKE, 200, 0)

    in_store(scenario)


def test_who_waits_is_told_when_the_money_is_gone(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything, clock=clock, seconds=60))
        calls = [asyncio.create_task(spending.call("coach", question(DAILY - INPUT))) for _ in range(5)]
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert Counter(type(one) for one in done) == {ModelReply: 1, AsleepError: 4}
        assert (clock.now() - NOON) // 1_000_000 in range(60, 63)

    in_store(scenario)


def test_a_large_call_is_not_passed_by_small_ones(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(10), clock=clock, seconds=60)
        spending = spending_on(store, clock, WINDOW, model)
        first = asyncio.create_task(spending.call("coach", question(5_000, text="first")))
        await clock.sleep(1)
        large = asyncio.create_task(spending.call("coach", question(9_000, text="large"), min_tokens=9_000))
        await clock.sleep(1)
        small = asyncio.create_task(spending.call("coach", question(100, text="small")))
        await asyncio.gather(first, large, small)
        assert [asked.turns[0].text for asked in model.asked] == ["first", "large", "small"]

    in_store(scenario)


def test_a_run_and_its_pools_child_have_limits_of_their_own(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything))
        await spending.open_run("coach", "run-7", "$0.003")
        await spending.open_run("coach", "run-7/reviewer", 0.001)
        await spending.call("coach", question(800 - INPUT), run="run-7/reviewer")
        with pytest.raises(BudgetExhaustedError, match="budget of run-7/reviewer") as refused:
            await spending.call("coach", question(1_000), run="run-7/reviewer")
        assert "top-up" not in str(refused.value), "more money for the window is none for the run"
        await spending.call("coach", question(2_000 - INPUT), run="run-7")
        with pytest.raises(BudgetExhaustedError, match="budget of run-7 "):
            await spending.call("coach", question(1_000), run="run-7/writer")
        assert await today(spending, clock) == (SpendingState.AWAKE, 2_800, 0)
        await spending.call("coach", question(100), run="another run without a limit")

    in_store(scenario)


def test_what_cannot_be_paid_for_is_named(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything))
        with pytest.raises(NotFoundError, match="no agent called 'ghost'"):
            await spending.call("ghost", question())
        with pytest.raises(NotFoundError, match="no agent called 'ghost'"):
            await Checkpoints(store).save(Session("ghost", "s1"), [], clock.now())
        for limit in (-5, float("nan"), None):
            with pytest.raises(UsageError, match="not an amount"):
                await spending.open_run("coach", "run-7", limit)  # type: ignore[arg-type]

    in_store(scenario)


def test_the_circuit_breaker_cancels_siblings_and_alerts_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "coach", "other")
        patient = PricedModel(costs(1), clock=clock, seconds=600)
        spending = spending_on(store, clock, WINDOW, patient)
        siblings = [asyncio.create_task(spending.call("coach", question())) for _ in range(3)]
        theirs = asyncio.create_task(spending.call("other", question()))
        await clock.sleep(1)
        # The service counts more tokens than anybody could foresee.
        await spending.call("coach", question(), model=PricedModel(costs(DAILY * 12 // 10)))
        done = await asyncio.gather(*siblings, return_exceptions=True)
        assert [type(one) for one in done] == [AsleepError] * 3
        assert clock.now() == NOON + 1_000_000
        assert not theirs.done(), "another agent's calls go on"
        state, spent, held = await today(spending, clock)
        assert (state, spent, held) == (SpendingState.BUDGET_EXCEEDED, DAILY * 12 // 10 + 3 * WORST, 0)
        assert await feed(store, "budget_exceeded") == ["Agent stopped — daily budget exceeded"]
        mails = await store.timers.of_agent("coach", prefix="mail:")
        assert [mail.payload["subject"] for mail in mails] == ["Agent stopped — daily budget exceeded"]
        with pytest.raises(AsleepError, match="was stopped"):
            await spending.call("coach", question())
        await theirs

    in_store(scenario)


def test_a_stop_in_another_process_is_noticed_where_the_store_is_shared(postgres_url: str) -> None:
    from nudge.simulation.virtual_time import run_virtual
    from nudge.stores.open import open_store

    async def scenario(clock: VirtualClock) -> None:
        here, there = await open_store(postgres_url), await open_store(postgres_url)
        await prepared(here)
        patient = PricedModel(costs(1), clock=clock, seconds=600)
        ours = spending_on(here, clock, WINDOW, patient)
        task = asyncio.create_task(ours.call("coach", question()))
        await clock.sleep(1)
        await spending_on(there, clock, WINDOW, PricedModel(costs(2 * DAILY))).call("coach", question())
        with pytest.raises(AsleepError, match="was stopped"):
            await task
        assert patient.cancelled == 1
        assert clock.now() - NOON < 11_000_000
        for store in (here, there):
            await store.close()

    run_virtual(scenario, NOON)


def test_what_a_dead_process_held_is_given_up_at_its_worst_case_and_corrected_by_the_truth(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:

        await prepared(store)
        late: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def hangs(request: ModelRequest) -> TokenUse:
            await late
            return TokenUse(input=7)

        spending = spending_on(store, clock, WINDOW, PricedModel(hangs))
        task = asyncio.create_task(spending.call("coach", question(attempt_id="a1")))
        await clock.sleep(60)
        dispatcher = dispatcher_of(spending, store, clock)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(14 * 60 - 1)
        assert await today(spending, clock) == (SpendingState.AWAKE, 0, INPUT + 1_000)
        await clock.sleep(2)
        assert await today(spending, clock) == (SpendingState.AWAKE, INPUT + 1_000, 0)
        (row,) = await store.usage.recent()
        assert (row.ended, row.cost, row.use) == ("expired", INPUT + 1_000, TokenUse())
        late.set_result(None)
        await task
        assert await today(spending, clock) == (SpendingState.AWAKE, 7, 0)
        (row,) = await store.usage.recent()
        assert (row.ended, row.cost, row.use) == ("settled", 7, TokenUse(input=7))
        assert (await AccountLedger(store).end("a1", settled(99))).hold.charged == 7
        assert await store.timers.get("coach", "sweep") is None
        dispatcher.stop()
        await running

    in_store(scenario)


def test_a_leaked_hold_does_not_keep_others_waiting_once_it_has_expired(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        dead = spending_on(store, clock, WINDOW, PricedModel(costs(1), clock=clock, seconds=10**6))
        leaked = asyncio.create_task(dead.call("coach", question(DAILY // 2)))
        await clock.sleep(15 * 60 + 1)
        alive = spending_on(store, clock, WINDOW, PricedModel(costs(1)))
        with pytest.raises(BudgetExhaustedError, match="does not cover"):
            await alive.call("coach", question(DAILY), min_tokens=DAILY // 2 + 1)
        assert await today(alive, clock) == (SpendingState.AWAKE, DAILY // 2 + INPUT, 0)
        leaked.cancel()
        await asyncio.gather(leaked, return_exceptions=True)

    in_store(scenario)


def test_what_a_dead_process_held_may_be_the_rest_of_the_day(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        dead = spending_on(store, clock, WINDOW, PricedModel(costs(1), clock=clock, seconds=10**6))
        leaked = asyncio.create_task(dead.call("coach", question(DAILY - INPUT)))
        await clock.sleep(15 * 60 + 1)
        model = PricedModel(costs(1))
        alive = spending_on(store, clock, WINDOW, model)
        with pytest.raises(AsleepError, match="is asleep"):
            await alive.call("coach", question())
        assert model.asked == []
        assert await feed(store, "asleep") == ["Agent paused until budget refresh"]
        leaked.cancel()
        await asyncio.gather(leaked, return_exceptions=True)

    in_store(scenario)


def test_yesterdays_call_is_charged_to_yesterday_and_today_starts_at_zero(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(500), clock=clock, seconds=600))
        await clock.sleep(7 * 3600 - 60)
        task = asyncio.create_task(spending.call("coach", question()))
        await clock.sleep(120)
        status = await spending.state("coach", clock.now())
        # What yesterday's call still holds is not shared out today.
        assert (status.meter.spent, status.meter.limit) == (0, (WINDOW - INPUT - 1_000) // 29)
        await task
        days = await spending.budgets.history("coach", 2, clock.now())
        assert [(day.day.isoformat(), day.spent, day.held) for day in days] == [
            ("2026-02-18", 500, 0),
            ("2026-02-19", 0, 0),
        ]
        status = await spending.state("coach", clock.now())
        assert (status.meter.spent, status.window.committed) == (0, 500)

    in_store(scenario)


def test_several_sessions_of_one_agent_share_the_day_and_agents_do_not(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "coach", "worker")
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(3_000)))
        for session in ("s1", "s2", "s3"):
            await spending.call("coach", question(), run=session)
        assert (await spending.state("coach", clock.now())).meter.text == "Budget: 90% used"
        assert (await spending.state("worker", clock.now())).meter.text == "Budget: 0% used"

    in_store(scenario)


def test_an_unreadable_store_means_no_spending(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        model = PricedModel(costs(1))
        spending = spending_on(store, clock, WINDOW, model)

        def fails(name: str) -> None:
            raise StoreError("the disk is gone")

        store.database.probe = fails
        with pytest.raises(StoreError):
            await spending.call("coach", question())
        assert model.asked == []

    in_store(scenario)


def test_a_store_that_fails_after_the_call_leaves_its_hold_to_be_swept(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        def fails(name: str) -> None:
            raise StoreError("the disk is full")

        def breaks_the_store(request: ModelRequest) -> TokenUse:
            store.database.probe = fails
            return TokenUse(input=5)

        spending = spending_on(store, clock, WINDOW, PricedModel(breaks_the_store))
        with pytest.raises(StoreError):
            await spending.call("coach", question())
        store.database.probe = None
        assert await today(spending, clock) == (SpendingState.AWAKE, 0, INPUT + 1_000)
        dispatcher = dispatcher_of(spending, store, clock)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(16 * 60)
        assert await today(spending, clock) == (SpendingState.AWAKE, INPUT + 1_000, 0)
        dispatcher.stop()
        await running

    in_store(scenario)


def test_what_was_set_by_command_stays_until_the_configuration_itself_changes(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        from nudge.spending.budgets import SpendingPlan

        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(costs(1)))
        await spending.call("coach", question())
        await spending.budgets.set_window("coach", clock.now(), budget=Money(2 * WINDOW))
        restarted = spending_on(store, clock, WINDOW)
        await restarted.start(clock.now())
        assert (await restarted.state("coach", clock.now())).window.limit == 2 * WINDOW
        await restarted.reconfigure(SpendingPlan(5 * WINDOW), restarted.routes, clock.now())
        assert (await restarted.state("coach", clock.now())).window.limit == 5 * WINDOW

    in_store(scenario)


def test_the_state_of_an_agent_that_never_spent_is_read_without_writing(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW)
        status = await spending.state("coach", clock.now())
        assert (status.state, status.meter.limit, status.refresh_at) == (SpendingState.AWAKE, DAILY, MIDNIGHT)
        assert await store.spending.get("coach") is None
        with pytest.raises(NotConfiguredError):
            await spending.call("coach", question())

    in_store(scenario)


def test_start_gives_a_sleeper_its_wake_back(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        spending = spending_on(store, clock, WINDOW, PricedModel(everything))
        await spending.call("coach", question(DAILY - INPUT))
        await store.timers.cancel("coach", "wake")
        await spending.start(clock.now())
        wake = await store.timers.get("coach", "wake")
        assert wake
        assert wake.due_at == MIDNIGHT
        assert wake.due_at < NOON + DAY

    in_store(scenario)
