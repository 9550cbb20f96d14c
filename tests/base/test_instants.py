from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import NaiveDatetimeError, UsageError
from nudge.instants import (
    Instant,
    as_instant,
    from_local,
    parse_rfc3339,
    rfc3339,
    start_of_day,
    to_datetime,
    zone_of,
)


@given(st.integers(-(2**50), 2**53), st.sampled_from(["UTC", "America/Toronto", "Australia/Lord_Howe"]))
def test_an_instant_survives_the_way_through_any_zone(microseconds: int, name: str) -> None:
    assert as_instant(to_datetime(Instant(microseconds), ZoneInfo(name))) == microseconds
    assert parse_rfc3339(rfc3339(Instant(microseconds), UTC)) == microseconds


@pytest.mark.parametrize(
    ("zone", "wall", "expected"),
    [
        pytest.param(
            "America/Toronto",
            (2026, 3, 8, 2, 30),
            "2026-03-08T07:00:00+00:00",
            id="gap: first instant after it",
        ),
        pytest.param("America/Toronto", (2026, 3, 8, 1, 59), "2026-03-08T06:59:00+00:00", id="just before the gap"),
        pytest.param("America/Toronto", (2026, 11, 1, 1, 30), "2026-11-01T05:30:00+00:00", id="fold: the first one"),
        pytest.param("Australia/Lord_Howe", (2026, 10, 4, 2, 10), "2026-10-03T15:30:00+00:00", id="half-hour gap"),
        pytest.param("America/Sao_Paulo", (2018, 11, 4, 0, 0), "2018-11-04T03:00:00+00:00", id="midnight in a gap"),
        pytest.param("Pacific/Apia", (2011, 12, 30, 12, 0), "2011-12-30T10:00:00+00:00", id="a day that never was"),
    ],
)
def test_wall_times_around_changes(zone: str, wall: tuple[int, ...], expected: str) -> None:
    assert rfc3339(from_local(datetime(*wall), ZoneInfo(zone))) == expected


def test_the_day_starts_after_a_gap_at_midnight() -> None:
    zone = ZoneInfo("America/Sao_Paulo")
    assert to_datetime(start_of_day(datetime(2018, 11, 4).date(), zone), zone).hour == 1


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError, match="time zone"):
        as_instant(datetime(2026, 1, 1))


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "America", "a/" * 20_000])
def test_an_unknown_zone_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match="America/Toronto"):
        zone_of(name)
