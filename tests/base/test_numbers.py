"""No governor takes a number that would slip through its comparisons: NaN is below nothing, and True is 1."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nudge import (
    Allowance,
    BudgetPool,
    Ledger,
    LoopDetector,
    LoopTuning,
    Nudge,
    PhaseReserves,
    PhaseTracker,
    RunBudget,
    TokenUse,
    inject,
    load_prices,
)
from nudge.errors import UsageError
from nudge.numbers import is_whole

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NUMBERS: list[Any] = [float("nan"), float("inf"), 1.5, True, "5"]


def hold(**told: Any) -> None:
    asked = {"model": "claude-sonnet-5-5", "input_tokens": 100, "max_tokens": 100, **told}
    with Ledger("$1.00", prices=load_prices()).hold(**asked):
        pass


TAKES: dict[str, Callable[[Any], object]] = {
    "the total of a pool": BudgetPool,
    "the cap of a member": lambda n: BudgetPool(100).reserve("a", cap=n, now=NOW),
    "the need of a member": lambda n: BudgetPool(100).reserve("a", need=n, now=NOW),
    "what a member spends": lambda n: BudgetPool(100).spend("parent", n, now=NOW),
    "what a parent keeps": lambda n: BudgetPool(100, keeps_percent=n),
    "what a child gets": lambda n: BudgetPool(100, gets_percent=n),
    "the limit of phase reserves": PhaseReserves,
    "what a phase spends": lambda n: PhaseReserves(100).spend(n),
    "the saturation": lambda n: PhaseTracker(saturation=n),
    "the injection budget": lambda n: inject([Nudge("x")], max_tokens=n),
    "the limit of a run": lambda n: RunBudget(max_tokens=n),
    "what a call used": lambda n: TokenUse(input=n),
    "what of an output is kept": lambda n: RunBudget().record_call(TokenUse(output=9), kept_output=n),
    "the compacted size": lambda n: RunBudget().update_baseline(n),
    "the threshold of loops": lambda n: LoopDetector(threshold=n),
    "the window of loops": lambda n: LoopDetector(window=n),
    "a loop's refusal": lambda n: LoopTuning(refuse_after=n),
    "the input of a call": lambda n: hold(input_tokens=n),
    "the output of a call": lambda n: hold(max_tokens=n),
    "the least output of a call": lambda n: hold(min_tokens=n),
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)
def test_only_whole_numbers_count(take: Callable[[Any], object], number: Any) -> None:
    with pytest.raises(UsageError):
        take(number)


@pytest.mark.parametrize(
    "take",
    [
        pytest.param(lambda: RunBudget().check(time.time()), id="seconds where a moment belongs"),  # type: ignore[arg-type] # noqa: TID251
        pytest.param(lambda: Allowance.open("$30", start="today"), id="words where a moment belongs"),  # type: ignore[arg-type]
        pytest.param(lambda: RunBudget(max_duration=7_200), id="seconds where a duration belongs"),  # type: ignore[arg-type]
        pytest.param(lambda: BudgetPool(100, lasts=600), id="seconds where a pool's duration belongs"),  # type: ignore[arg-type]
        pytest.param(lambda: RunBudget(mode="firm"), id="a mode that there is not"),
        pytest.param(lambda: hold(caching="2h"), id="a caching that there is not"),
    ],
)
def test_what_is_of_another_kind_is_refused_with_a_next_step(take: Callable[[], object]) -> None:
    with pytest.raises(UsageError) as refused:
        take()
    assert refused.value.next_step


def test_what_is_whole() -> None:
    assert [is_whole(value) for value in (0, -1, 10**30, True, 1.0, "1", None)] == [True] * 3 + [False] * 4


def test_a_mode_may_be_written_as_the_table_does() -> None:
    assert RunBudget(mode="STRICT", max_duration=timedelta(hours=1)).mode.value == "strict"
