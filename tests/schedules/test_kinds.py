from __future__ import annotations

import subprocess
import sys
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import InvalidScheduleError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, parse_rfc3339
from nudge.schedules import (
    AnySchedule,
    At,
    Cron,
    Every,
    Idle,
    Rrule,
    occurrences,
    period_after,
    schedule_from_json,
)
from nudge.schedules.periods import Product, times_of

UTC = ZoneInfo("UTC")
NOON = parse_rfc3339("2026-02-20T12:00:00Z")


def later(microseconds: int) -> Instant:
    return Instant(NOON + microseconds)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(-1, 0, id="just before: the time itself"),
        pytest.param(0, None, id="at the time: strictly after, so none"),
        pytest.param(1, None, id="after: none"),
    ],
)
def test_at(asked: int, expected: int | None) -> None:
    assert At(NOON).next_after(later(asked), UTC) == (None if expected is None else later(expected))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(-5 * DAY, 30 * MINUTE, id="before the anchor: one interval after it"),
        pytest.param(0, 30 * MINUTE, id="at the anchor: one interval after it"),
        pytest.param(30 * MINUTE - 1, 30 * MINUTE, id="just before a point of the grid"),
        pytest.param(30 * MINUTE, 60 * MINUTE, id="on the grid: the next point"),
        pytest.param(1000 * DAY + 1, 1000 * DAY + 30 * MINUTE, id="years later: still on its own grid"),
    ],
)
def test_every(asked: int, expected: int) -> None:
    assert Every(30 * MINUTE, NOON).next_after(later(asked), UTC) == later(expected)


def test_every_ends_with_its_count_or_its_end() -> None:
    thrice = Every(HOUR, NOON, count=3)
    assert thrice.next_after(later(2 * HOUR), UTC) == later(3 * HOUR)
    assert thrice.next_after(later(3 * HOUR), UTC) is None
    until = Every(HOUR, NOON, until=later(2 * HOUR))
    assert until.next_after(later(HOUR), UTC) == later(2 * HOUR)
    assert until.next_after(later(2 * HOUR), UTC) is None
    both = Every(HOUR, NOON, count=9, until=later(HOUR))
    assert both.next_after(later(HOUR), UTC) is None


@given(st.integers(SECOND, 400 * DAY), st.integers(-(10**15), 10**16), st.integers(-(10**15), 10**16))
def test_every_is_the_first_point_of_its_grid(interval: int, anchor: int, asked: int) -> None:
    found = Every(interval, Instant(anchor)).next_after(Instant(asked), UTC)
    assert found is not None
    assert found > asked
    assert (found - anchor) % interval == 0
    assert found == anchor + interval or found - interval <= asked


def test_idle_counts_from_the_last_activity() -> None:
    assert Idle(5 * MINUTE).next_after(NOON, UTC) == later(5 * MINUTE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda: Every(0, NOON), "1 second", id="an interval of nothing"),
        pytest.param(lambda: Every(SECOND - 1, NOON), "1 second", id="less than a second"),
        pytest.param(lambda: Every(HOUR, NOON, count=0), "count of 0", id="a count of nothing"),
        pytest.param(
            lambda: Every(HOUR, NOON, until=later(HOUR - 1)), "never fires", id="an end before the first time"
        ),
        pytest.param(lambda: Idle(0), "1 second", id="no idleness"),
        pytest.param(lambda: At(Instant(10**18)), "calendar", id="a time beyond the calendar"),
    ],
)
def test_what_can_never_be_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InvalidScheduleError, match=words):
        make()


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (At(parse_rfc3339("2026-02-20T20:00:00Z"), "America/Toronto"), "at 2026-02-20 15:00 America/Toronto"),
        (At(parse_rfc3339("2026-02-20T20:00:07Z")), "at 2026-02-20 20:00:07 UTC"),
        (Every(30 * MINUTE, NOON), "every 30m"),
        (Every(90 * MINUTE, NOON, count=4), "every 1h 30m, 4 times"),
        (Every(HOUR, NOON, until=later(DAY)), "every 1h, until 2026-02-21 12:00 UTC"),
        (Idle(5 * MINUTE), "idle 5m"),
    ],
)
def test_in_words(schedule: AnySchedule, expected: str) -> None:
    assert schedule.describe() == expected


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        pytest.param(
            At(parse_rfc3339("2026-02-20T20:00:00Z"), "America/Toronto"),
            {"kind": "at", "at": "2026-02-20T15:00:00-05:00", "tz": "America/Toronto"},
            id="at",
        ),
        pytest.param(
            Every(30 * MINUTE, NOON, 3, later(DAY)),
            {
                "kind": "every",
                "interval_us": 1_800_000_000,
                "anchor": "2026-02-20T12:00:00+00:00",
                "count": 3,
                "until": "2026-02-21T12:00:00+00:00",
            },
            id="every",
        ),
        pytest.param(
            Rrule("FREQ=DAILY", "UTC", NOON),
            {"kind": "rrule", "rrule": "FREQ=DAILY", "dtstart": "2026-02-20T12:00:00+00:00", "tz": "UTC"},
            id="rrule",
        ),
        pytest.param(
            Cron("0 9 * * *", None, 2, None, NOON),
            {"kind": "cron", "cron": "0 9 * * *", "anchor": "2026-02-20T12:00:00+00:00", "count": 2},
            id="cron",
        ),
        pytest.param(Idle(5 * MINUTE), {"kind": "idle", "timeout_us": 300_000_000}, id="idle"),
    ],
)
def test_json(schedule: AnySchedule, expected: dict[str, Any]) -> None:
    assert schedule.to_json() == expected
    assert schedule_from_json(expected) == schedule


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param({}, "kind None", id="nothing"),
        pytest.param({"kind": "sundial"}, "sundial", id="an unknown kind"),
        pytest.param({"kind": "at"}, "'at' is missing", id="a field missing"),
        pytest.param({"kind": "at", "at": "noon"}, "'at'", id="a time in words"),
        pytest.param({"kind": "at", "at": "2026-02-20T12:00:00"}, "'at'", id="a time without an offset"),
        pytest.param({"kind": "at", "at": 5}, "'at'", id="a number for a time"),
        pytest.param({"kind": "idle", "timeout_us": "5m"}, "'timeout_us'", id="a text for a number"),
        pytest.param({"kind": "idle", "timeout_us": True}, "'timeout_us'", id="a truth for a number"),
        pytest.param(
            {"kind": "idle", "timeout_us": 300_000_000, "count": 3}, "no field 'count'", id="a field too many"
        ),
        pytest.param(
            {"kind": "rrule", "rrule": "FREQ=NEVER", "dtstart": "2026-02-20T12:00:00Z"},
            "NEVER",
            id="a rule that is none",
        ),
    ],
)
def test_json_that_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidScheduleError, match=words):
        schedule_from_json(data)


def test_json_of_one_kind_is_not_another() -> None:
    with pytest.raises(InvalidScheduleError, match="'idle'"):
        At.from_json(Idle(MINUTE).to_json())


WEEKDAYS_AT_NINE = Rrule("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9", "UTC", NOON)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        pytest.param(Every(30 * MINUTE, NOON), 30 * MINUTE, id="an interval"),
        pytest.param(Every(HOUR, NOON, count=1), None, id="one time has no period"),
        pytest.param(WEEKDAYS_AT_NINE, DAY, id="from Monday to Tuesday"),
        pytest.param(Cron("0 9 * * 5", "UTC"), 7 * DAY, id="a week"),
        pytest.param(At(later(HOUR)), None, id="once"),
        pytest.param(Idle(MINUTE), None, id="idleness has no period"),
    ],
)
def test_the_period_after_a_friday_noon(schedule: AnySchedule, expected: int | None) -> None:
    assert period_after(schedule, NOON) == expected


def test_the_period_over_a_clock_change_is_the_elapsed_time() -> None:
    daily = Cron("0 9 * * *", None)
    eve = parse_rfc3339("2026-03-07T09:00:00Z")
    assert period_after(daily, eve, ZoneInfo("America/Toronto")) == 23 * HOUR
    assert period_after(daily, eve, UTC) == DAY


def test_occurrences_are_after_the_one_and_up_to_the_other() -> None:
    hourly = Every(HOUR, NOON)
    assert occurrences(hourly, later(HOUR), later(3 * HOUR), 9) == [later(2 * HOUR), later(3 * HOUR)]
    assert occurrences(hourly, NOON, later(DAY), 2) == [later(HOUR), later(2 * HOUR)]
    assert occurrences(hourly, NOON, later(DAY), 0) == []
    assert occurrences(Idle(MINUTE), NOON, later(DAY), 9) == [later(MINUTE)]
    assert occurrences(Idle(MINUTE), NOON, later(DAY), 0) == []
    assert occurrences(At(NOON), later(-1), later(DAY), 9) == [NOON]


times = st.lists(st.integers(0, 23), min_size=1, unique=True).map(sorted)
sixty = st.lists(st.integers(0, 59), min_size=1, max_size=9, unique=True).map(sorted)


@given(times, sixty, sixty, st.integers(0, 86_400))
def test_times_of_day_written_out_or_not(hours: list[int], minutes: list[int], seconds: list[int], at: int) -> None:
    product = Product(hours, minutes, seconds)
    every = [hour * 3600 + minute * 60 + second for hour in hours for minute in minutes for second in seconds]
    for shape in (product, times_of(hours, minutes, seconds)):
        assert shape.size == len(every)
        assert shape.first(at) == next((second for second in every if second >= at), None)
        assert shape.index(at) == sum(second < at for second in every)
        assert shape.nth(at % len(every)) == every[at % len(every)]


@pytest.mark.process
def test_the_date_libraries_are_imported_when_a_rule_needs_them() -> None:
    look = "import sys, nudge.schedules; print({'dateutil', 'cronsim', 'dateparser'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "set()\n"
