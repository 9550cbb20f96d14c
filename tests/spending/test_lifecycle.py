from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.instants import DAY, HOUR, Instant, as_instant
from nudge.spending.allowance import Allowance, SpendingDay
from nudge.spending.lifecycle import (
    Alert,
    CancelSiblings,
    ClearWake,
    Effect,
    FeedLine,
    Lifecycle,
    SetWake,
    SpendingState,
    resuming,
    state_of,
    step,
)
from nudge.spending.money import Money

AWAKE, WINDING_DOWN, ASLEEP, EXCEEDED = SpendingState
MIDNIGHT = as_instant(datetime(2026, 11, 2, tzinfo=UTC))
NOON = Instant(MIDNIGHT - 12 * HOUR)
DOLLAR = 1_000_000


def day(spent: int, limit: int = 100, refresh_at: int = MIDNIGHT) -> SpendingDay:
    return SpendingDay(limit, spent, Instant(refresh_at))


def feed(effects: tuple[Effect, ...]) -> list[str]:
    return [effect.text for effect in effects if isinstance(effect, FeedLine)]


@pytest.mark.parametrize(
    ("spent", "limit", "state"),
    [
        pytest.param(0, 100, AWAKE, id="nothing spent"),
        pytest.param(899_999, DOLLAR, AWAKE, id="a micro-dollar below 90 percent"),
        pytest.param(900_000, DOLLAR, WINDING_DOWN, id="exactly 90 percent"),
        pytest.param(999_999, DOLLAR, WINDING_DOWN, id="a micro-dollar below 100 percent"),
        pytest.param(1_000_000, DOLLAR, ASLEEP, id="exactly 100 percent"),
        pytest.param(1_100_000, DOLLAR, ASLEEP, id="exactly 110 percent is not above"),
        pytest.param(1_100_001, DOLLAR, EXCEEDED, id="a micro-dollar above 110 percent"),
        pytest.param(0, 0, ASLEEP, id="a budget of nothing sleeps at once"),
        pytest.param(1, 0, ASLEEP, id="a budget of nothing, also where something was spent before"),
    ],
)
def test_the_money_decides_the_state(spent: int, limit: int, state: SpendingState) -> None:
    assert state_of(day(spent, limit)) is state
    assert step(Lifecycle(), day(spent, limit), NOON).lifecycle.state is state


def test_a_rest_that_pays_for_no_call_is_as_good_as_none() -> None:
    used_up = SpendingDay(100, 96, MIDNIGHT, used_up=True)
    taken = step(Lifecycle(WINDING_DOWN, MIDNIGHT, 100), used_up, NOON)
    assert taken.lifecycle.state is ASLEEP
    assert taken.effects == (FeedLine("Agent paused until budget refresh"), SetWake(MIDNIGHT))
    assert used_up.meter.text == "Budget: 96% used"
    assert state_of(SpendingDay(100, 111, MIDNIGHT, used_up=True)) is EXCEEDED


@pytest.mark.parametrize(
    ("state", "may_start", "may_go_on"),
    [(AWAKE, True, True), (WINDING_DOWN, False, True), (ASLEEP, False, False), (EXCEEDED, False, False)],
)
def test_winding_down_finishes_and_starts_nothing(state: SpendingState, may_start: bool, may_go_on: bool) -> None:
    assert (state.may_start_task, state.may_go_on) == (may_start, may_go_on)


def test_going_to_sleep_says_so_and_sets_the_wake() -> None:
    taken = step(Lifecycle(WINDING_DOWN, MIDNIGHT, 100), day(100), NOON, "tests")
    assert taken.effects == (FeedLine("Agent paused until budget refresh"), SetWake(MIDNIGHT))


def test_winding_down_is_silent() -> None:
    assert step(Lifecycle(), day(95), NOON).effects == ()
    assert step(Lifecycle(WINDING_DOWN, MIDNIGHT, 100), day(0, refresh_at=MIDNIGHT + DAY), MIDNIGHT).effects == ()


@pytest.mark.parametrize("state", [ASLEEP, EXCEEDED])
def test_the_refresh_wakes_with_the_last_task(state: SpendingState) -> None:
    taken = step(Lifecycle(state, MIDNIGHT, 100), day(0, refresh_at=MIDNIGHT + DAY), MIDNIGHT, "the login form")
    assert taken.lifecycle.state is AWAKE
    assert feed(taken.effects) == ["Resuming — budget refreshed. Continuing from the login form."]
    assert ClearWake() in taken.effects


@pytest.mark.parametrize("state", [ASLEEP, EXCEEDED])
@pytest.mark.parametrize(
    ("limit", "expected"), [pytest.param(200, AWAKE, id="amply"), pytest.param(125, WINDING_DOWN, id="barely")]
)
def test_a_top_up_wakes_at_once(state: SpendingState, limit: int, expected: SpendingState) -> None:
    taken = step(Lifecycle(state, MIDNIGHT, 100), day(115, limit), NOON)
    assert taken.lifecycle.state is expected
    assert taken.effects == (FeedLine("Resuming — budget refreshed."), ClearWake())


def test_the_circuit_breaker_stops_siblings_and_alerts_once() -> None:
    first = step(Lifecycle(ASLEEP, MIDNIGHT, 100), day(112), NOON)
    assert first.lifecycle.state is EXCEEDED
    assert first.lifecycle.state.banner == "Agent stopped — daily budget exceeded"
    assert feed(first.effects) == ["Agent stopped — daily budget exceeded"]
    assert CancelSiblings() in first.effects
    (alert,) = (effect for effect in first.effects if isinstance(effect, Alert))
    assert alert.subject == "Agent stopped — daily budget exceeded"
    assert "112%" in alert.text
    assert "$" not in alert.text
    assert SetWake(MIDNIGHT) not in first.effects, "the timer was set when it fell asleep"
    assert step(first.lifecycle, day(130), NOON).effects == ()


def test_a_jump_over_sleep_sets_the_wake_too() -> None:
    taken = step(Lifecycle(), day(150), NOON)
    assert SetWake(MIDNIGHT) in taken.effects
    assert feed(taken.effects) == ["Agent stopped — daily budget exceeded"]


def test_a_stop_holds_when_a_cost_is_corrected_but_sleep_does_not() -> None:
    assert step(Lifecycle(EXCEEDED, MIDNIGHT, 100), day(50), NOON).lifecycle.state is EXCEEDED
    assert step(Lifecycle(ASLEEP, MIDNIGHT, 100), day(50), NOON).lifecycle.state is AWAKE


def test_a_new_incident_after_a_top_up_alerts_again() -> None:
    woken = step(Lifecycle(EXCEEDED, MIDNIGHT, 100), day(112, 200), NOON).lifecycle
    assert any(isinstance(effect, Alert) for effect in step(woken, day(221, 200), NOON).effects)


def test_who_sleeps_on_nothing_sleeps_on_and_is_woken_again() -> None:
    taken = step(Lifecycle(ASLEEP, MIDNIGHT, 0), day(0, 0, MIDNIGHT + DAY), MIDNIGHT)
    assert taken.lifecycle.state is ASLEEP
    assert taken.effects == (SetWake(Instant(MIDNIGHT + DAY)),)


def test_a_reading_of_a_day_that_is_over_decides_nothing() -> None:
    before = Lifecycle(ASLEEP, MIDNIGHT, 100)
    taken = step(before, day(100), MIDNIGHT)
    assert taken.lifecycle == before
    assert taken.effects == (SetWake(MIDNIGHT),)


@pytest.mark.parametrize(
    ("last_task", "text"),
    [
        pytest.param("Fix login", "Resuming — budget refreshed. Continuing from Fix login.", id="a task"),
        pytest.param("Fix login.", "Resuming — budget refreshed. Continuing from Fix login.", id="one full stop only"),
        pytest.param(" Fix\n  login ", "Resuming — budget refreshed. Continuing from Fix login.", id="on one line"),
        pytest.param(None, "Resuming — budget refreshed.", id="no task known"),
        pytest.param("  ", "Resuming — budget refreshed.", id="a blank task"),
        pytest.param("x" * 81, f"Resuming — budget refreshed. Continuing from {'x' * 79}….", id="a long task is cut"),
        pytest.param("x" * 80, f"Resuming — budget refreshed. Continuing from {'x' * 80}.", id="80 characters fit"),
    ],
)
def test_the_wake_is_announced(last_task: str | None, text: str) -> None:
    assert resuming(last_task) == text


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 200), st.integers(0, 3)), max_size=30))
def test_a_sleeper_always_has_a_wake_timer_and_a_reading_repeated_does_nothing(
    readings: list[tuple[int, int, int]],
) -> None:
    life, timer = Lifecycle(), None
    at = NOON
    for spent, limit, days in readings:
        at = Instant(at + days * DAY)
        reading = day(spent, limit, (at // DAY + 1) * DAY)
        taken = step(life, reading, at)
        for effect in taken.effects:
            if isinstance(effect, SetWake):
                timer = effect.at
            elif isinstance(effect, ClearWake):
                timer = None
        life = taken.lifecycle
        assert (timer is None) if life.state.may_go_on else (timer == reading.refresh_at)
        assert step(life, reading, at).effects == ()


def test_a_month_of_nights_with_a_tool_loop_under_way() -> None:
    """Thirty sleeps and wakes; the loop feels winding down between two of its calls, and the days spend the window."""
    start = datetime(2026, 11, 1, tzinfo=UTC)
    allowance, life = Allowance.open("$30.000007", start=start, renews=date(2026, 12, 1)), Lifecycle()
    lines: list[str] = []
    spent = 0
    for number in range(30):
        now = as_instant(start + timedelta(days=number, hours=9))
        while True:
            taken = step(life, allowance.today(now), now, "the tests")
            life, lines = taken.lifecycle, lines + feed(taken.effects)
            if not life.state.may_go_on:
                break
            reading = allowance.today(now)
            call = Money(min(97_001, reading.limit - reading.spent))
            allowance, spent = allowance.spend(call, now), spent + call
        assert allowance.meter.percent == 100
        assert allowance.spent_today == allowance.limit
    assert spent == 30_000_007
    assert lines.count("Agent paused until budget refresh") == 30
    assert lines.count("Resuming — budget refreshed. Continuing from the tests.") == 29
