from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.progress.phases import Phase
from nudge.progress.reserves import RESERVES, PhaseReserves

EXPLORATION, PLANNING, ACTING, VERIFYING, WRAPUP = Phase
LIMIT = 1_000


def walk(*steps: Phase | int, limit: int = LIMIT) -> PhaseReserves:
    reserves = PhaseReserves(limit)
    for step in steps:
        reserves = reserves.enter(step) if isinstance(step, Phase) else reserves.spend(step)
    return reserves


@pytest.mark.parametrize(
    ("steps", "available"),
    [
        pytest.param([], 300, id="exploration has 30 %"),
        pytest.param([100], 200, id="less what it spent"),
        pytest.param([300], 0, id="and no more"),
        pytest.param([PLANNING], 100, id="planning has 10 % while exploration may come back"),
        pytest.param([50, PLANNING, 60, EXPLORATION], 250, id="going back to explore finds the rest of its own"),
        pytest.param([300, PLANNING, 100, ACTING], 400, id="acting has 40 % after two full phases"),
        pytest.param([100, PLANNING, 20, ACTING], 680, id="what exploring and planning left flows on to acting"),
        pytest.param([100, ACTING], 700, id="a skipped phase leaves its reserve too"),
        pytest.param([300, PLANNING, 100, VERIFYING], 150, id="verifying first leaves acting its 40 %"),
        pytest.param([300, PLANNING, 100, ACTING, 400, VERIFYING], 150, id="verifying has 15 % when acting is full"),
        pytest.param([300, PLANNING, 100, ACTING, 100, VERIFYING], 150, id="acting's rest waits for the way back"),
        pytest.param([300, PLANNING, 100, ACTING, 100, VERIFYING, 150], 0, id="so verifying cannot eat it"),
        pytest.param(
            [300, PLANNING, 100, ACTING, 100, VERIFYING, 150, ACTING], 300, id="back in acting, the rest is there"
        ),
        pytest.param(
            [300, PLANNING, 100, ACTING, 400, VERIFYING, 50, ACTING], 0, id="acting cannot eat verifying's rest"
        ),
        pytest.param([200, ACTING, 400, VERIFYING, 150], 200, id="what flowed on serves acting and verifying alike"),
        pytest.param([200, ACTING, 600, VERIFYING], 150, id="whoever took it first"),
        pytest.param([200, ACTING, EXPLORATION], 200, id="exploring after edits has only what nobody needs"),
        pytest.param([WRAPUP], 1_000, id="wrapping up at once has everything"),
        pytest.param([300, PLANNING, 100, ACTING, 400, VERIFYING, 150, WRAPUP], 50, id="wrapping up has its 5 %"),
        pytest.param([2_000, WRAPUP], 50, id="and has it even after everything was overrun"),
        pytest.param([2_000, WRAPUP, 30], 20, id="but only once"),
        pytest.param([400, PLANNING], 0, id="an overrun is paid by who comes next"),
        pytest.param([350, PLANNING], 50, id="in part, if it was small"),
        pytest.param([100, WRAPUP, 20, ACTING], 850, id="going on after a report still keeps the rest of the 5 %"),
    ],
)
def test_what_a_phase_may_spend(steps: list[Phase | int], available: int) -> None:
    assert walk(*steps).available == available


def test_reserves_are_30_10_40_15_5() -> None:
    assert list(RESERVES.values()) == [30, 10, 40, 15, 5]
    assert [PhaseReserves(200).reserve_of(phase) for phase in Phase] == [60, 20, 80, 30, 10]


def test_an_extension_widens_every_reserve() -> None:
    reserves = walk(300, PLANNING, 100, ACTING, 400, VERIFYING, 150)
    assert reserves.available == 0
    assert reserves.with_limit(2_000).available == 2_000 - 950 - 400 - 100


def test_reserves_can_be_shared_out_otherwise() -> None:
    assert PhaseReserves(100, percents=(0, 0, 80, 10, 10)).enter(ACTING).available == 80


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": -5},
        {"limit": 10, "percents": (30, 10, 45, 15, 5)},
        {"limit": 10, "percents": (50, 50)},
        {"limit": 10, "percents": (110, -10, 0, 0, 0)},
        {"limit": 10, "spent": (1, 2)},
        {"limit": 10, "spent": (1, 2, 3, 4, -5)},
    ],
    ids=str,
)
def test_reserves_that_do_not_add_up_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        PhaseReserves(**options)


def test_nobody_spends_less_than_nothing() -> None:
    with pytest.raises(UsageError):
        PhaseReserves(10).spend(-1)


def test_json_both_ways() -> None:
    reserves = walk(100, ACTING, 50, VERIFYING, 7)
    assert PhaseReserves.from_json(json.loads(json.dumps(reserves.to_json()))) == reserves
    with pytest.raises(UsageError, match="phase reserves"):
        PhaseReserves.from_json({"limit": 10, "phase": "dancing"})


moves = st.lists(st.tuples(st.sampled_from(Phase), st.integers(0, 100)), max_size=30)


@given(moves, st.integers(1, 5_000))
def test_phases_that_keep_to_what_is_available_never_touch_each_other(
    script: list[tuple[Phase, int]], limit: int
) -> None:
    reserves = PhaseReserves(limit)
    for phase, percent in script:
        reserves = reserves.enter(phase)
        reserves = reserves.spend(reserves.available * percent // 100)
        total = sum(reserves.spent)
        assert total <= limit
        for other in Phase:
            own = reserves.spent[list(Phase).index(other)]
            if other is WRAPUP or other not in reserves.over:
                assert reserves.available_to(other) >= reserves.reserve_of(other) - own
        assert total <= limit - reserves.reserve_of(WRAPUP) + reserves.spent[-1]


@given(st.lists(st.tuples(st.sampled_from([p for p in Phase if p is not WRAPUP]), st.integers(0, 900)), max_size=20))
def test_the_closing_report_is_always_affordable(script: list[tuple[Phase, int]]) -> None:
    reserves = PhaseReserves(LIMIT)
    for phase, tokens in script:
        reserves = reserves.enter(phase).spend(tokens)
    assert reserves.enter(WRAPUP).available >= 50
