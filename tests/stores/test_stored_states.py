"""A state that was stored and came back damaged is refused as it is read, or works: it never breaks a run later."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from nudge import BudgetPool, Guard, LoopDetector, Phase, PhaseReserves, PhaseTracker, RunBudget, TokenUse
from nudge.errors import UsageError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NONSENSE: list[Any] = [None, -1, True, 1.5, float("nan"), "x", "", [], {}, [1], 10**40]
GONE = object()


def budget() -> Any:
    run = RunBudget()
    run.record_call(TokenUse(10, 5), cost="0.10")
    run.request_extension(10, "more", now=NOW)
    return run.to_json()


def use_budget(data: Any) -> None:
    run = RunBudget.from_json(data)
    run.record_call(TokenUse(1, 1))
    run.check(NOW)
    run.allow_task_continuation(NOW)
    run.request_extension(5, "more", now=NOW)


def loops() -> Any:
    detector = LoopDetector()
    for step in range(4):
        detector.record("look", {"at": 1}, result="nothing", step=step)
    detector.record("run", {}, error="no")
    detector.record_message("I will look.")
    return detector.to_json()


def use_loops(data: Any) -> None:
    detector = LoopDetector.from_json(data)
    for step in range(9):
        detector.peek("look", {"at": 1})
        detector.record("look", {"at": 1}, result="nothing", step=step)
        detector.record("run", {}, error="no")
    detector.record_message("I will look.")
    json.dumps(detector.to_json())


def pool() -> Any:
    shared = BudgetPool(1_000)
    shared.reserve("a", now=NOW)
    shared.reserve("b", parent="a", now=NOW)
    shared.spend("b", 50, NOW)
    shared.release("b", NOW)
    return shared.to_json()


def use_pool(data: Any) -> None:
    shared = BudgetPool.from_json(data)
    shared.expire(NOW)
    shared.spend(data["holders"][0]["name"], 5, NOW)
    assert shared.used + shared.reserved <= shared.total


def phases() -> Any:
    tracker = PhaseTracker()
    tracker.record_tool("read_file", target="a.py")
    return tracker.to_json()


def use_phases(data: Any) -> None:
    tracker = PhaseTracker()
    tracker.restore(data)
    tracker.record_tool("read_file", target="b.py")
    tracker.record_tool("edit_file")


def use_reserves(data: Any) -> None:
    assert PhaseReserves.from_json(data).enter(Phase.WRAPUP).spend(5).available >= 0


def guard() -> Any:
    run = Guard(1_000)
    run.offer(["edit_file"])
    run.before_call("m", 10, 20, now=NOW)
    run.after_call(TokenUse(10, 5), now=NOW)
    run.after_tool("grep", {"q": "x"}, result="no match", now=NOW)
    run.before_call("m", 10, 20, now=NOW)
    run.said("I will look.")
    return run.state()


def use_guard(data: Any) -> None:
    run = Guard.from_state(data, running=True)
    run.before_tool("grep", {"q": "x"}, now=NOW)
    run.after_tool("grep", {"q": "x"}, result="no match", now=NOW)
    call = run.before_call("m", 10, 20, now=NOW)
    if call:
        run.after_call(TokenUse(1, 1), call=call, now=NOW)
    run.wrap_up()
    run.before_call("m", 10, 20, now=NOW)
    json.dumps(run.state())


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*above, key)
            yield from places(value[key], (*above, key))


def damaged(whole: Any, place: tuple[Any, ...], by: Any) -> Any:
    whole = copy.deepcopy(whole)
    around = whole
    for key in place[:-1]:
        around = around[key]
    if by is GONE:
        del around[place[-1]]
    else:
        around[place[-1]] = by
    return whole


@pytest.mark.parametrize(
    ("make", "use"),
    [
        pytest.param(budget, use_budget, id="run budget"),
        pytest.param(loops, use_loops, id="loop detector"),
        pytest.param(pool, use_pool, id="pool"),
        pytest.param(phases, use_phases, id="phase tracker"),
        pytest.param(guard, use_guard, id="guard"),
        pytest.param(lambda: PhaseReserves(1_000).spend(40).to_json(), use_reserves, id="phase reserves"),
    ],
)
def test_damage_anywhere_is_refused_or_harmless(make: Callable[[], Any], use: Callable[[Any], None]) -> None:
    stored = json.loads(json.dumps(make()))
    use(stored)
    for place in places(stored):
        for by in (*NONSENSE, GONE):
            try:
                use(damaged(stored, place, by))
            except UsageError:
                continue
            except Exception as error:
                pytest.fail(f"{by!r} at {place}: {error!r}")
