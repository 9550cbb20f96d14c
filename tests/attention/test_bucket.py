from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget, level_at
from nudge.attention.reserve import PING
from nudge.errors import NaiveDatetimeError, UsageError
from nudge.instants import HOUR, MINUTE, Instant, as_instant, parse_rfc3339

NOON = parse_rfc3339("2026-02-20T12:00:00Z")
TORONTO = ZoneInfo("America/Toronto")


def after(minutes: float) -> Instant:
    return Instant(NOON + round(minutes * MINUTE))


def test_ninety_loads_a_minute_apart_give_one_whole_ping() -> None:
    budget = PingBudget.at(NOON, available=0)
    for minute in range(1, 91):
        assert not budget.try_use(after(minute - 1)).granted
        budget = PingBudget.from_json(json.loads(json.dumps(budget.refill(after(minute)).to_json())))
    assert budget.level == PING
    assert budget.try_use(after(90)).granted


@settings(deadline=None)
@given(
    st.integers(1, 1000),
    st.integers(1, 10),
    st.lists(st.integers(0, 10 * HOUR), max_size=30),
    st.integers(0, 10 * PING),
)
def test_looking_often_fills_no_faster_and_no_slower(rate: int, capacity: int, looks: list[int], level: int) -> None:
    start = PingBudget(capacity, rate, min(level, capacity * PING), NOON)
    end = Instant(NOON + 10 * HOUR)
    budget = start
    for look in sorted(looks):
        budget = budget.refill(Instant(NOON + look))
    assert budget.refill(end).level == start.refill(end).level


@pytest.mark.parametrize(
    ("available", "rate", "expected"),
    [
        pytest.param("4.6", 90, timedelta(minutes=36), id="4.6 at rate 90: in 36 minutes"),
        pytest.param(3, 90, timedelta(minutes=90), id="exactly 3: a whole refill away"),
        pytest.param(0, 60, timedelta(minutes=60), id="empty: a whole refill away"),
        pytest.param("0.5", 60, timedelta(minutes=30), id="half a ping: half a refill away"),
        pytest.param("4.999999", 90, timedelta(microseconds=5400), id="a micro-ping short: one grain away"),
        pytest.param(5, 90, None, id="full: nothing to come"),
        pytest.param(7, 90, None, id="more than full is full"),
    ],
)
def test_when_the_next_ping_comes(available: object, rate: int, expected: timedelta | None) -> None:
    assert PingBudget.at(NOON, available=available, refill_minutes=rate).next_refill(NOON) == expected  # type: ignore[arg-type]


def test_the_next_ping_is_there_when_it_was_announced() -> None:
    budget = PingBudget.at(NOON, available="0.4")
    assert budget.next_refill(after(10)) == timedelta(minutes=44)
    assert not budget.try_use(Instant(after(54) - 1)).granted
    assert budget.try_use(after(54)).granted


def test_a_clock_that_goes_back_changes_nothing() -> None:
    budget = PingBudget.at(NOON, available=2, tz=TORONTO)
    for earlier in (after(-1), after(-60 * 24 * 3)):
        assert budget.refill(earlier) == budget
        used = budget.try_use(earlier)
        assert used.granted
        assert (used.budget.level, used.budget.last_refill, used.budget.daily_used) == (PING, NOON, 1)
        assert used.budget.daily_used_reset == date(2026, 2, 20)


def test_use_stops_at_zero_and_a_refusal_takes_nothing() -> None:
    budget = PingBudget.at(NOON)
    granted = []
    for _ in range(7):
        use = budget.try_use(NOON)
        granted.append(use.granted)
        budget = use.budget
    assert granted == [True] * 5 + [False] * 2
    assert (budget.level, budget.daily_used) == (0, 5)


def test_critical_passes_an_empty_bucket_and_is_counted_apart() -> None:
    budget = PingBudget.at(NOON, available="0.25")
    granted, budget = budget.try_use(NOON, critical=True)
    assert granted
    assert (budget.available, budget.critical_used, budget.daily_used) == (0.25, 1, 1)


def test_a_long_downtime_fills_up_to_the_capacity_and_no_further() -> None:
    budget = PingBudget.at(NOON, available=1).refill(after(60 * 24 * 30))
    assert (budget.available, budget.last_refill) == (5.0, after(60 * 24 * 30))
    # A full bucket has saved up no time: after one use the next ping is a whole refill away.
    _, budget = budget.try_use(after(60 * 24 * 30 + 45))
    assert budget.next_refill(after(60 * 24 * 30 + 45)) == timedelta(minutes=90)


def test_a_bucket_without_a_clock_is_full_and_starts_at_the_first_look() -> None:
    budget = PingBudget(capacity=5, refill_minutes=90)
    assert (budget.available, budget.last_refill) == (5.0, None)
    _, budget = budget.try_use(NOON)
    assert (budget.available, budget.last_refill, budget.daily_used_reset) == (4.0, NOON, date(2026, 2, 20))


@pytest.mark.parametrize(
    ("available", "capacity", "minutes", "expected"),
    [
        pytest.param(4, 2, None, 2.0, id="lowered below what is there: shown as the new capacity"),
        pytest.param(1, 8, None, 1.0, id="raised while depleted: stays, and refills towards the new"),
        pytest.param(3, 5, 60, 3.0, id="a new rate alone changes no level"),
    ],
)
def test_another_capacity(available: int, capacity: int, minutes: int | None, expected: float) -> None:
    budget = PingBudget.at(NOON, available=available).with_capacity(capacity, minutes, now=NOON)
    assert budget.available == expected
    assert budget.refill_rate_minutes == budget.refill_minutes == (minutes or 90)
    granted = 0
    for _ in range(9):
        use = budget.try_use(NOON)
        granted, budget = granted + use.granted, use.budget
    assert granted == int(expected)


def test_time_before_a_change_counts_at_the_old_size_and_rate() -> None:
    full_for_hours = PingBudget.at(NOON)
    assert full_for_hours.with_capacity(10, now=after(600)).refill(after(600)).available == 5.0
    half = PingBudget.at(NOON, available=0).with_capacity(5, 30, now=after(45))
    assert half.refill(after(60)).available == 1.0


def test_a_stored_level_above_the_capacity_is_shown_and_used_as_the_capacity() -> None:
    budget = PingBudget.from_json({"capacity": 2, "available": 5.0, "last_refill": "2026-02-20T12:00:00Z"})
    assert budget.available == 2.0
    assert level_at(5 * PING, NOON, after(-1), 2, 90 * MINUTE) == (2 * PING, NOON)


@pytest.mark.parametrize("minutes", [0, -1, -90, 1.5, True, "90", 10**9])
def test_a_rate_that_cannot_be_is_refused(minutes: Any) -> None:
    with pytest.raises(UsageError, match="minutes"):
        PingBudget(5, minutes)
    with pytest.raises(UsageError, match="minutes"):
        PingBudget().with_capacity(5, minutes)


@pytest.mark.parametrize("capacity", [0, -1, 2.5, True, 10**9])
def test_a_capacity_that_cannot_be_is_refused(capacity: Any) -> None:
    with pytest.raises(UsageError, match="capacity"):
        PingBudget(capacity)
    with pytest.raises(UsageError, match="capacity"):
        PingBudget().with_capacity(capacity)


@pytest.mark.parametrize("available", ["1e999999999", "1e99999999", "-1e99999999", "1000000.5", "inf", "nan", "lots"])
def test_a_level_that_is_no_number_of_pings_is_refused_at_once(available: str) -> None:
    with pytest.raises(UsageError, match="not a number of pings"):
        PingBudget.at(NOON, available=available)


def test_a_level_below_zero_and_a_naive_time_are_refused() -> None:
    with pytest.raises(UsageError, match="below zero"):
        PingBudget(level=-2)
    with pytest.raises(NaiveDatetimeError):
        PingBudget().try_use(datetime(2026, 2, 20))


@pytest.mark.parametrize(
    ("zone", "before", "midnight"),
    [
        ("America/Toronto", "2026-02-21T04:59:59Z", "2026-02-21T05:00:00Z"),
        ("Asia/Tokyo", "2026-02-20T14:59:59Z", "2026-02-20T15:00:00Z"),
        ("Pacific/Kiritimati", "2026-02-21T09:59:59Z", "2026-02-21T10:00:00Z"),
    ],
)
def test_counters_turn_at_the_persons_midnight(zone: str, before: str, midnight: str) -> None:
    start = parse_rfc3339(before)
    _, budget = PingBudget.at(start, tz=ZoneInfo(zone)).try_use(start, critical=True)
    _, budget = budget.try_use(start)
    late = budget.refill(parse_rfc3339(before))
    assert (late.critical_used, late.daily_used) == (1, 2)
    turned = budget.refill(parse_rfc3339(midnight))
    assert (turned.critical_used, turned.daily_used) == (0, 0)
    assert turned.daily_used_reset == turned.critical_reset_date
    assert turned.daily_used_reset is not None
    assert budget.daily_used_reset is not None
    assert turned.daily_used_reset - budget.daily_used_reset == timedelta(days=1)
    # the counter that a use raises is the new day's
    assert budget.try_use(parse_rfc3339(midnight)).budget.daily_used == 1


def test_counters_whose_days_differ_turn_each_on_its_own() -> None:
    stored = {"capacity": 5, "critical_used": 3, "critical_reset_date": "2026-02-20", "daily_used": 7}
    budget = PingBudget.from_json({**stored, "daily_used_reset": "2026-02-19"}).refill(NOON)
    assert (budget.critical_used, budget.daily_used) == (3, 0)
    budget = PingBudget.from_json({**stored, "daily_used_reset": "2026-02-21"}).refill(NOON)
    assert (budget.daily_used, budget.daily_used_reset) == (7, date(2026, 2, 21))


def test_json_has_the_eight_fields() -> None:
    _, budget = PingBudget.at(NOON, available="4.6").try_use(NOON)
    assert budget.to_json() == {
        "capacity": 5,
        "available": 3.6,
        "refill_rate_minutes": 90,
        "last_refill": "2026-02-20T12:00:00+00:00",
        "critical_used": 0,
        "critical_reset_date": "2026-02-20",
        "daily_used": 1,
        "daily_used_reset": "2026-02-20",
    }
    assert PingBudget().to_json()["last_refill"] is None


@settings(deadline=None)
@given(
    st.integers(1, 1000), st.integers(1, 10_000), st.integers(0, 10**9), st.integers(0, 2**51), st.integers(0, 99),
    st.dates(date(2000, 1, 1), date(2100, 1, 1)),
)  # fmt: skip
def test_json_gives_back_what_it_was_given(
    capacity: int, rate: int, level: int, last: int, used: int, day: date
) -> None:
    budget = PingBudget(capacity, rate, level, Instant(last), used, day, used + 1, day, TORONTO)
    assert PingBudget.from_json(json.loads(json.dumps(budget.to_json())), TORONTO) == budget


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"daily_limit": 10, "used": 6, "date": "2026-02-20"}, id="the format before"),
        pytest.param({}, id="nothing"),
    ],
)
def test_the_old_format_gives_fresh_defaults(data: dict[str, object]) -> None:
    assert PingBudget.from_json(data) == PingBudget(capacity=5, refill_minutes=90)


@pytest.mark.parametrize(
    "broken",
    [
        {"capacity": "five"},
        {"capacity": 5, "available": "many"},
        {"capacity": 5, "available": "nan"},
        {"capacity": 5, "last_refill": "yesterday"},
        {"capacity": 5, "last_refill": "2026-02-20T12:00:00"},
        {"capacity": 5, "daily_used_reset": "today"},
        {"capacity": 5, "daily_used": None},
    ],
    ids=str,
)
def test_broken_json_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        PingBudget.from_json(broken)


def test_public_times_are_datetimes_or_instants() -> None:
    noon = datetime(2026, 2, 20, 7, tzinfo=TORONTO)
    assert as_instant(noon) == NOON
    assert PingBudget.at(noon, available=1) == PingBudget.at(NOON, available=1)
    assert PingBudget().horizon == timedelta(hours=7, minutes=30)


# The statement of the module's docstring, as SQLite runs it.
FILLED = "MIN(capacity * 1000000, level + MAX(0, :now - last_refill) / (refill_minutes * 60))"
DEBIT = f"""
    UPDATE pings SET
      level = {FILLED} - 1000000,
      last_refill = CASE WHEN :now <= last_refill THEN last_refill
                         WHEN {FILLED} = capacity * 1000000 THEN :now
                         ELSE last_refill + (:now - last_refill) / (refill_minutes * 60) * (refill_minutes * 60) END,
      daily_used = CASE WHEN daily_used_reset < :today THEN 1 ELSE daily_used + 1 END,
      daily_used_reset = MAX(daily_used_reset, :today)
    WHERE {FILLED} >= :at_least
"""


@settings(max_examples=150, deadline=None)
@given(
    capacity=st.integers(1, 8),
    rate=st.integers(1, 200),
    level=st.integers(0, 8 * PING),
    steps=st.lists(st.integers(-HOUR, 6 * HOUR), max_size=6),
    claim=st.none() | st.integers(0, 6 * HOUR),
)
def test_one_sql_statement_does_the_same(
    capacity: int, rate: int, level: int, steps: list[int], claim: int | None
) -> None:
    budget = PingBudget(
        capacity, rate, min(level, capacity * PING), NOON, 0, date(2026, 2, 20), 0, date(2026, 2, 20), UTC
    )
    store = sqlite3.connect(":memory:")
    try:
        store.execute("CREATE TABLE pings (capacity, refill_minutes, level, last_refill, daily_used, daily_used_reset)")
        row = (capacity, rate, budget.level, NOON, 0, "2026-02-20")
        store.execute("INSERT INTO pings VALUES (?, ?, ?, ?, ?, ?)", row)
        now = NOON
        for step in steps:
            now = Instant(now + step)
            claims = () if claim is None else (Instant(now + claim),)
            today = datetime.fromtimestamp(now // 1_000_000, UTC).date().isoformat()
            values = {"now": now, "today": today, "at_least": budget.at_least(now, claims)}
            changed = store.execute(DEBIT, values).rowcount
            granted, after_use = budget.try_use(now, claims=claims)
            assert granted == (changed == 1)
            if granted:
                budget = after_use
                assert store.execute("SELECT level, last_refill, daily_used FROM pings").fetchone() == (
                    budget.level,
                    budget.last_refill,
                    budget.daily_used,
                )
    finally:
        store.close()
