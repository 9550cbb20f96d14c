"""The limits of a run and the numbers it is judged by."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from nudge.errors import UsageError
from nudge.instants import SECOND, Instant
from nudge.progress.enforcement import EnforcementLevel
from nudge.progress.guard import Guard
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning, RunLimits
from nudge.spending.money import Money
from nudge.tokens import TokenUse

STRICT, ADVISORY, SOFT = BudgetEnforcementMode
NONE, WARN, RESTRICTED, HARD = EnforcementLevel
NOW = Instant(1_772_366_400 * SECOND)


def test_defaults_are_a_million_tokens_ten_dollars_and_two_hours() -> None:
    assert RunBudget().limits == RunLimits() == RunLimits(1_000_000, 10, timedelta(hours=2), None)
    assert RunLimits().cost == 10_000_000


@pytest.mark.parametrize("amount", [5, 5.0, "5", "$5.00", Decimal(5), Money(5_000_000)], ids=repr)
def test_a_number_of_money_is_dollars_everywhere(amount: Any) -> None:
    assert RunLimits(cost=amount).cost == RunBudget(max_cost=amount).limits.cost == 5_000_000
    assert Guard(max_cost=amount).budget.limits.cost == 5_000_000
    budget = RunBudget()
    budget.record_call(TokenUse(), cost=amount)
    assert budget.cost == 5_000_000


def test_what_money_comes_back_is_taken_as_it_is() -> None:
    first, second = RunBudget(max_cost=3), RunBudget()
    first.record_call(TokenUse(), cost=1.25)
    second.record_call(TokenUse(), cost=first.cost)
    assert second.cost_all_runs == 1_250_000
    assert RunBudget.within(replace(first.limits, tokens=5)).limits == RunLimits(tokens=5, cost=3)


def test_limits_say_what_they_are() -> None:
    assert repr(RunLimits(cost=2.5, iterations=50)) == "RunLimits(1,000,000 tokens, $2.50, 2:00:00, 50 iterations)"
    assert repr(RunLimits(None, None, None)) == "RunLimits(none)"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"max_tokens": 0}, id="no tokens"),
        pytest.param({"max_tokens": -5}, id="negative tokens"),
        pytest.param({"max_tokens": 1.5}, id="half a token"),
        pytest.param({"max_tokens": True}, id="a yes is no number"),
        pytest.param({"max_cost": 0}, id="no money"),
        pytest.param({"max_cost": "0.00"}, id="no money in words"),
        pytest.param({"max_cost": "-1"}, id="negative money"),
        pytest.param({"max_cost": 0.1 + 0.2}, id="money that is no short decimal"),
        pytest.param({"max_duration": timedelta(0)}, id="no time"),
        pytest.param({"max_duration": timedelta(seconds=-1)}, id="negative time"),
        pytest.param({"max_iterations": 0}, id="no iterations"),
    ],
)
def test_a_limit_of_zero_or_less_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RunBudget(**arguments)


@pytest.mark.parametrize(
    ("config", "limits"),
    [
        pytest.param({}, RunLimits(), id="nothing said: defaults"),
        pytest.param(
            {"budget_max_tokens": 1_000_000, "budget_max_cost": 10.0, "budget_max_duration": 7200},
            RunLimits(),
            id="the defaults spelled out",
        ),
        pytest.param(
            {"budget_max_tokens": 5, "budget_max_cost": "0.50", "budget_max_duration": 0.5, "max_iterations": 50},
            RunLimits(5, 0.50, timedelta(seconds=0.5), 50),
            id="everything said",
        ),
        pytest.param(
            {"budget_max_tokens": None, "budget_max_cost": None, "budget_max_duration": None, "max_iterations": None},
            RunLimits(None, None, None, None),
            id="null lifts a limit",
        ),
    ],
)
def test_limits_from_configuration(config: dict[str, Any], limits: RunLimits) -> None:
    assert RunLimits.from_config(config) == limits
    assert RunBudget.within(limits).limits == limits
    assert RunBudget.within(limits).check(NOW).can_continue


@pytest.mark.parametrize(
    "config",
    [
        {"budget_max_tokens": 0},
        {"budget_max_tokens": "many"},
        {"budget_max_cost": -1.0},
        {"budget_max_cost": [10]},
        {"budget_max_cost": True},
        {"budget_max_cost": float("nan")},
        {"budget_max_duration": 0},
        {"budget_max_duration": float("inf")},
        {"budget_max_duration": "2h"},
        {"budget_max_duration": True},
        {"max_iterations": -1},
    ],
    ids=str,
)
def test_broken_configuration_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RunLimits.from_config(config)


@pytest.mark.parametrize(
    "tuning",
    [
        {"warn_percent": 91},
        {"hard_percent": 101},
        {"restricted_percent": 96},
        {"max_extensions": -1},
        {"extension_cooldown_seconds": 1.5},
        {"task_gate_percent": 91},
    ],
    ids=str,
)
def test_tuning_that_makes_no_sense_is_refused(tuning: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        EconomicsTuning(**tuning)


def test_levels_may_coincide() -> None:
    tuning = EconomicsTuning(
        warn_percent=100, restricted_percent=100, hard_percent=100, task_gate_percent=90, max_extensions=0
    )
    budget = RunBudget.within(RunLimits(tokens=10), tuning=tuning)
    budget.record_call(TokenUse(output=9))
    assert budget.check(NOW).level is NONE
    assert not RunBudget(tuning=tuning).request_extension(5, "more", now=NOW).can_request


def test_levels_can_be_tuned() -> None:
    budget = RunBudget(max_tokens=100, tuning=EconomicsTuning(warn_percent=10, restricted_percent=20, hard_percent=30))
    levels = []
    for _ in range(3):
        budget.record_call(TokenUse(output=10))
        levels.append(budget.check(NOW).level)
    assert levels == [WARN, RESTRICTED, HARD]
