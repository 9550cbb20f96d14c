from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import NaiveDatetimeError, UsageError
from nudge.instants import SECOND, Instant
from nudge.progress.enforcement import EnforcementLevel
from nudge.progress.injection import Urgency
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning
from nudge.spending.money import Money
from nudge.tokens import TokenUse

STRICT, ADVISORY, SOFT = BudgetEnforcementMode
NONE, WARN, RESTRICTED, HARD = EnforcementLevel
NOW = Instant(1_772_366_400 * SECOND)

EFFICIENT = "Budget at {}%. Be efficient with remaining budget."
WARNING = "WARNING: Only {}% budget remaining. Focus on completing the most important remaining work."
CRITICAL = "CRITICAL: Wrap up immediately. Complete current task and stop."


def seconds(count: float) -> Instant:
    return Instant(NOW + round(count * SECOND))


def used(tokens: int, mode: BudgetEnforcementMode = STRICT, limit: int = 1_000_000) -> RunBudget:
    budget = RunBudget(max_tokens=limit, mode=mode)
    budget.record_call(TokenUse(output=tokens))
    return budget


@pytest.mark.parametrize(
    ("tokens", "level", "tools_restricted", "text_only", "goes_on"),
    [
        pytest.param(0, NONE, False, False, True, id="nothing used is free"),
        pytest.param(699_999, NONE, False, False, True, id="one token below 70 % is free"),
        pytest.param(700_000, WARN, False, False, True, id="exactly 70 % warns"),
        pytest.param(899_999, WARN, False, False, True, id="one token below 90 % still only warns"),
        pytest.param(900_000, RESTRICTED, True, False, True, id="exactly 90 % restricts tools"),
        pytest.param(949_999, RESTRICTED, True, False, True, id="one token below 95 % still allows some tools"),
        pytest.param(950_000, HARD, True, True, True, id="exactly 95 % is text only"),
        pytest.param(999_999, HARD, True, True, True, id="the last token may be used"),
        pytest.param(1_000_000, HARD, True, True, False, id="exactly 100 % stops"),
        pytest.param(1_400_000, HARD, True, True, False, id="past the limit it stays stopped"),
    ],
)
def test_strict_levels_begin_exactly_at_their_percentage(
    tokens: int, level: EnforcementLevel, tools_restricted: bool, text_only: bool, goes_on: bool
) -> None:
    check = used(tokens).check(NOW)
    assert (check.level, check.restrict_tools, check.force_text_only, check.can_continue) == (
        level,
        tools_restricted,
        text_only,
        goes_on,
    )


@pytest.mark.parametrize("percent", [70, 90, 95, 100])
@pytest.mark.parametrize("limit", [3, 7, 99, 1_000_003, 10**15 + 7])
def test_no_rounding_moves_a_level(percent: int, limit: int) -> None:
    first = -(-limit * percent // 100)
    order = [NONE, WARN, RESTRICTED, HARD, HARD]
    expected = order[[70, 90, 95, 100].index(percent) + 1]
    assert used(first, limit=limit).check(NOW).level >= expected
    assert used(first - 1, limit=limit).check(NOW).level == max(
        (lvl for p, lvl in [(0, NONE), (70, WARN), (90, RESTRICTED), (95, HARD)] if (first - 1) * 100 >= p * limit)
    )
    assert used(first - 1, limit=limit).check(NOW).can_continue


@pytest.mark.parametrize(
    ("mode", "overrun", "goes_on", "level", "nudged"),
    [
        pytest.param(STRICT, "tokens", False, HARD, True, id="strict stops at the token limit"),
        pytest.param(STRICT, "cost", False, HARD, True, id="strict stops at the cost limit"),
        pytest.param(STRICT, "duration", False, HARD, True, id="strict stops at the duration limit"),
        pytest.param(STRICT, "iterations", False, HARD, True, id="strict stops at the iteration limit"),
        pytest.param(ADVISORY, "tokens", True, WARN, True, id="advisory only warns about tokens"),
        pytest.param(ADVISORY, "cost", True, WARN, True, id="advisory only warns about cost"),
        pytest.param(ADVISORY, "duration", True, NONE, False, id="advisory ignores the duration"),
        pytest.param(ADVISORY, "iterations", True, WARN, True, id="advisory only warns about iterations"),
        pytest.param(SOFT, "tokens", True, NONE, False, id="soft only counts tokens"),
        pytest.param(SOFT, "cost", True, NONE, False, id="soft only counts cost"),
        pytest.param(SOFT, "duration", True, NONE, False, id="soft only counts time"),
        pytest.param(SOFT, "iterations", True, NONE, False, id="soft only counts iterations"),
    ],
)
def test_modes(mode: BudgetEnforcementMode, overrun: str, goes_on: bool, level: EnforcementLevel, nudged: bool) -> None:
    budget = RunBudget(1_000, "1.00", timedelta(seconds=100), 10, mode=mode)
    budget.check(NOW)
    budget.record_call(
        TokenUse(output=1_000 if overrun == "tokens" else 0), cost="1.00" if overrun == "cost" else 0, iteration=False
    )
    for _ in range(10 if overrun == "iterations" else 0):
        budget.record_call(TokenUse())
    check = budget.check(seconds(100 if overrun == "duration" else 0))
    assert (check.can_continue, check.level, check.nudge is not None) == (goes_on, level, nudged)
    assert (check.force_text_only, check.restrict_tools) == (not goes_on, not goes_on)
    assert check.reason == (f"{overrun} at 100%" if nudged else "")


@pytest.mark.parametrize("resource", ["iterations", "duration"])
def test_iterations_and_duration_warn_and_stop_but_never_take_tools_away(resource: str) -> None:
    budget = RunBudget(None, None, timedelta(seconds=100), 100)
    budget.check(NOW)
    seen = []
    for step in range(1, 101):
        if resource == "iterations":
            budget.record_call(TokenUse())
        check = budget.check(seconds(step if resource == "duration" else 0))
        seen.append((check.level, check.force_text_only, check.restrict_tools, check.can_continue))
    assert seen[:69] == [(NONE, False, False, True)] * 69
    assert seen[69:99] == [(WARN, False, False, True)] * 30
    assert seen[99] == (HARD, True, True, False)


@pytest.mark.parametrize(
    ("tokens", "text", "urgency"),
    [
        pytest.param(70_000, EFFICIENT.format(70), Urgency.HINT, id="30 % remaining"),
        pytest.param(70_999, EFFICIENT.format(70), Urgency.HINT, id="a percentage is cut, not rounded"),
        pytest.param(85_000, EFFICIENT.format(85), Urgency.HINT, id="exactly 15 % remaining is not below 15"),
        pytest.param(85_001, WARNING.format(14), Urgency.HINT, id="below 15 % remaining"),
        pytest.param(90_000, WARNING.format(10), Urgency.WARNING, id="10 % remaining"),
        pytest.param(94_999, WARNING.format(5), Urgency.WARNING, id="one token before text only"),
        pytest.param(95_000, CRITICAL, Urgency.CRITICAL, id="exactly 95 % is text only, and says so"),
        pytest.param(95_001, CRITICAL, Urgency.CRITICAL, id="below 5 % remaining"),
        pytest.param(130_000, CRITICAL, Urgency.CRITICAL, id="past the limit"),
    ],
)
def test_nudge_texts(tokens: int, text: str, urgency: Urgency) -> None:
    nudge = used(tokens, limit=100_000).check(NOW).nudge
    assert nudge is not None
    assert (nudge.text, nudge.urgency) == (text, urgency)


@pytest.mark.parametrize("mode", [STRICT, ADVISORY])
def test_each_level_nudges_once_and_not_on_every_call(mode: BudgetEnforcementMode) -> None:
    budget = RunBudget(max_tokens=1_000, mode=mode)
    given_at = {}
    for tokens in range(1, 1_021):
        budget.record_call(TokenUse(output=1))
        for _ in range(2):
            nudge = budget.check(NOW).nudge
            if nudge:
                given_at[tokens] = nudge.text
    assert given_at == {700: EFFICIENT.format(70), 900: WARNING.format(10), 950: CRITICAL}


def test_the_worst_of_tokens_and_cost_decides() -> None:
    budget = RunBudget(max_tokens=1_000, max_cost="1.00")
    budget.record_call(TokenUse(output=710), cost="0.91")
    check = budget.check(NOW)
    assert (check.level, check.reason) == (RESTRICTED, "cost at 91%")
    assert check.nudge is not None
    assert check.nudge.text == WARNING.format(9)


def test_a_warning_about_iterations_does_not_loosen_what_tokens_have_tightened() -> None:
    budget = RunBudget(max_tokens=1_000, max_iterations=10)
    for _ in range(8):
        budget.record_call(TokenUse(output=115))
    check = budget.check(NOW)
    assert (check.level, check.restrict_tools, check.reason) == (RESTRICTED, True, "tokens at 92%")


def test_equal_shares_are_blamed_on_tokens() -> None:
    budget = RunBudget(1_000, "1.00", timedelta(seconds=10), 10)
    budget.check(NOW)
    for _ in range(8):
        budget.record_call(TokenUse(output=100), cost="0.10")
    assert budget.check(seconds(8)).reason == "tokens at 80%"


def test_without_limits_nothing_is_ever_said() -> None:
    budget = RunBudget(None, None, None, None)
    budget.record_call(TokenUse(output=10**12), cost=10**12)
    check = budget.check(NOW)
    assert (check.can_continue, check.level, check.nudge, check.reason) == (True, NONE, None, "")
    assert (budget.usage_fraction, budget.remaining_tokens, budget.allow_task_continuation()) == (0.0, None, True)


def test_waiting_for_the_model_or_a_person_is_not_the_runs_time() -> None:
    budget = RunBudget(max_duration=timedelta(seconds=100))
    budget.check(NOW)
    budget.pause(seconds(10))
    budget.resume(seconds(5_000))
    assert budget.check(seconds(5_060)).can_continue
    assert budget.active_time == timedelta(seconds=70)
    assert not budget.check(seconds(5_090)).can_continue


def test_overlapping_waits_end_with_the_last_one() -> None:
    budget = RunBudget()
    budget.check(NOW)
    budget.pause(seconds(1))
    budget.pause(seconds(2))
    budget.resume(seconds(3))
    budget.check(seconds(50))
    budget.resume(seconds(60))
    budget.check(seconds(61))
    assert budget.active_time == timedelta(seconds=2)
    with pytest.raises(UsageError, match="was not waiting"):
        budget.resume(seconds(62))


def test_the_waiting_block_reads_the_clock_twice_and_survives_an_error() -> None:
    budget = RunBudget()
    moments = iter([seconds(1), seconds(100)])
    budget.check(NOW)
    with pytest.raises(KeyError), budget.waiting(lambda: next(moments)):
        raise KeyError("the model failed")
    budget.check(seconds(103))
    assert budget.active_time == timedelta(seconds=4)


def test_a_clock_that_goes_back_changes_nothing() -> None:
    budget = RunBudget()
    for moment in (0, 10, -3_600, -3_595):
        budget.check(seconds(moment))
    assert budget.active_time == timedelta(seconds=15)


def test_time_starts_with_the_first_moment_told_and_naive_ones_are_refused() -> None:
    budget = RunBudget(max_duration=timedelta(seconds=1))
    assert budget.check(datetime(2026, 3, 1, tzinfo=UTC)).can_continue
    assert not budget.check(datetime(2026, 3, 1, 0, 0, 1, tzinfo=UTC)).can_continue
    with pytest.raises(NaiveDatetimeError):
        budget.check(datetime(2026, 3, 1))


@pytest.mark.parametrize(
    ("mode", "calls", "tokens_each", "allowed"),
    [
        pytest.param(STRICT, 0, 0, True, id="before the first call"),
        pytest.param(STRICT, 1, 699, True, id="below 70 % always, even if no further call of that size fits"),
        pytest.param(STRICT, 7, 100, True, id="exactly 70 % with three calls left"),
        pytest.param(STRICT, 1, 700, False, id="exactly 70 % with less than one call left"),
        pytest.param(STRICT, 2, 400, False, id="80 % with half a call left"),
        pytest.param(STRICT, 8, 100, False, id="80 % with two calls left"),
        pytest.param(STRICT, 80, 10, True, id="80 % with twenty calls left"),
        pytest.param(STRICT, 90, 10, True, id="exactly 90 % with ten calls left"),
        pytest.param(STRICT, 30, 30, True, id="exactly 90 % with three calls left"),
        pytest.param(STRICT, 29, 31, True, id="89.9 % with three calls left"),
        pytest.param(STRICT, 901, 1, False, id="above 90 % although 99 calls are left"),
        pytest.param(ADVISORY, 1, 700, True, id="advisory allows at 70 % what it allows above 90 %"),
        pytest.param(ADVISORY, 8, 100, True, id="advisory allows with two calls left"),
        pytest.param(SOFT, 1, 700, True, id="soft allows at 70 %"),
        pytest.param(ADVISORY, 901, 1, True, id="advisory allows above 90 %"),
        pytest.param(SOFT, 901, 1, True, id="soft allows above 90 %"),
        pytest.param(SOFT, 3, 500, True, id="soft allows above 100 %"),
    ],
)
def test_task_gate(mode: BudgetEnforcementMode, calls: int, tokens_each: int, allowed: bool) -> None:
    budget = RunBudget(max_tokens=1_000, max_cost=None, max_duration=None, mode=mode)
    for _ in range(calls):
        budget.record_call(TokenUse(output=tokens_each))
    assert budget.allow_task_continuation() is allowed


def test_the_task_gate_looks_at_every_limit() -> None:
    budget = RunBudget(max_tokens=1_000_000, max_cost="1.00", max_duration=timedelta(seconds=100), max_iterations=10)
    budget.record_call(TokenUse(output=1), cost="0.10")
    assert budget.estimated_remaining_calls == 9
    budget.check(NOW)
    assert budget.allow_task_continuation(seconds(69))
    assert not budget.allow_task_continuation(seconds(91))
    assert not budget.allow_task_continuation(), "the time told before still counts"


def test_cost_takes_every_form_of_money() -> None:
    budget = RunBudget(max_cost=Decimal("1.50"))
    for cost in ("$0.25", Decimal("0.25"), Money(250_000)):
        budget.record_call(TokenUse(), cost=cost)
    assert budget.cost == 750_000
    with pytest.raises(UsageError):
        budget.record_call(TokenUse(output=5), cost=-1)
    assert (budget.cost, budget.total_tokens, budget.iterations) == (750_000, 0, 3), "a refused call leaves no trace"


def eventful() -> RunBudget:
    budget = RunBudget(
        1_000, "3.00", timedelta(minutes=5), 70, mode="advisory", tuning=EconomicsTuning(warn_percent=60)
    )
    budget.set_baseline(40)
    budget.record_call(TokenUse(100, 20, 30, 4, 5), cost="0.10")
    budget.begin_run()
    budget.record_call(TokenUse(700, 120, 30, 4, 5), cost="0.20", kept_output=7, iteration=False)
    budget.check(NOW)
    budget.check(seconds(8))
    first = budget.request_extension(50, "more tests", now=NOW)
    budget.grant(first, NOW)
    budget.request_extension(60, "even more", now=seconds(120))
    return budget


def test_a_budget_survives_json() -> None:
    budget = eventful()
    copy = RunBudget.from_json(json.loads(json.dumps(budget.to_json())))
    assert copy.to_json() == budget.to_json()
    assert copy.check(seconds(9)).nudge is None, "a nudge given before the checkpoint is not given again"
    assert (copy.limits, copy.mode, copy.account, copy.cost_all_runs) == (
        budget.limits,
        budget.mode,
        budget.account,
        300_000,
    )
    assert copy.limits.tokens == 1_050
    assert copy.extensions_granted == 1


def test_time_the_process_was_down_is_not_the_runs() -> None:
    copy = RunBudget.from_json(eventful().to_json())
    copy.check(seconds(90_000))
    copy.check(seconds(90_001))
    assert copy.active_time == timedelta(seconds=9)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data.pop("cost"), id="a field is missing"),
        pytest.param(lambda data: data.update(version=99), id="another version"),
        pytest.param(lambda data: data.update(cost=-1), id="a negative cost"),
        pytest.param(lambda data: data.update(active=1.5), id="a fraction of a microsecond"),
        pytest.param(lambda data: data.update(mode="lenient"), id="an unknown mode"),
        pytest.param(lambda data: data.update(nudged="LOUD"), id="an unknown level"),
        pytest.param(lambda data: data["limits"].update(tokens=0), id="a limit of nothing"),
        pytest.param(lambda data: data["account"].update(counted="9"), id="a count in words"),
        pytest.param(lambda data: data["extensions"].update(granted=None), id="no count of extensions"),
        pytest.param(lambda data: data["extensions"].update(granted=True), id="a yes is no count"),
        pytest.param(lambda data: data["extensions"].update(answered_at="noon"), id="an answer at noon"),
        pytest.param(lambda data: data.update(tuning=None), id="no tuning"),
    ],
)
def test_a_damaged_checkpoint_is_refused(damage: Any) -> None:
    data = eventful().to_json()
    damage(data)
    with pytest.raises(UsageError):
        RunBudget.from_json(data)


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(0, 900_000)), max_size=30),
    st.integers(1, 20),
)
def test_usage_only_rises_and_levels_with_it(calls: list[tuple[int, int, int]], iterations: int) -> None:
    budget = RunBudget(5_000, "5.00", timedelta(seconds=60), iterations)
    last, nudges = NONE, []
    for step, (prompt, output, cost) in enumerate(calls):
        budget.record_call(TokenUse(input=prompt, output=output), cost=cost)
        check = budget.check(seconds(step))
        assert check.level >= last
        assert check.force_text_only == (check.level is HARD)
        assert check.can_continue or check.level is HARD
        last = check.level
        nudges += [check.nudge] if check.nudge else []
    assert len(nudges) <= 3
    assert [nudge.urgency for nudge in nudges] == sorted({nudge.urgency for nudge in nudges})
