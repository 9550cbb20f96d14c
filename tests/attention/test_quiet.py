from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.quiet import QuietHours
from nudge.errors import UsageError
from nudge.instants import DAY, MINUTE, Instant, parse_rfc3339, rfc3339, to_datetime

TORONTO = ZoneInfo("America/Toronto")
KOLKATA = ZoneInfo("Asia/Kolkata")


def minutes(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


@pytest.mark.parametrize(
    ("hours", "now", "end"),
    [
        pytest.param("02:00-10:00", "2026-02-20T02:00:00-05:00", "2026-02-20T10:00:00-05:00", id="the start is inside"),
        pytest.param("02:00-10:00", "2026-02-20T01:59:59-05:00", None, id="a second before is not"),
        pytest.param("02:00-10:00", "2026-02-20T09:59:59-05:00", "2026-02-20T10:00:00-05:00", id="the last second is"),
        pytest.param("02:00-10:00", "2026-02-20T10:00:00-05:00", None, id="the end is outside"),
        pytest.param("22:00-07:00", "2026-02-20T23:00:00-05:00", "2026-02-21T07:00:00-05:00", id="before midnight"),
        pytest.param("22:00-07:00", "2026-02-21T00:00:00-05:00", "2026-02-21T07:00:00-05:00", id="at midnight"),
        pytest.param("22:00-07:00", "2026-02-21T06:59:00-05:00", "2026-02-21T07:00:00-05:00", id="after midnight"),
        pytest.param("22:00-07:00", "2026-02-21T12:00:00-05:00", None, id="by day"),
        pytest.param("10:00-10:00", "2026-02-20T10:00:00-05:00", None, id="same start and end: none at all"),
        pytest.param("23:00-00:00", "2026-02-20T23:59:00-05:00", "2026-02-21T00:00:00-05:00", id="until midnight"),
        pytest.param("00:00-08:00", "2026-02-20T00:00:00-05:00", "2026-02-20T08:00:00-05:00", id="from midnight"),
        pytest.param("01:00-07:00", "2026-03-08T01:30:00-05:00", "2026-03-08T07:00:00-04:00", id="clocks go forward"),
        pytest.param("22:00-02:30", "2026-03-08T00:30:00-05:00", "2026-03-08T03:00:00-04:00", id="an end in the gap"),
        pytest.param("22:00-07:00", "2026-10-31T23:00:00-04:00", "2026-11-01T07:00:00-05:00", id="clocks go back"),
    ],
)
def test_quiet_hours(hours: str, now: str, end: str | None) -> None:
    start, stop = (minutes(clock) for clock in hours.split("-"))
    found = QuietHours(start, stop, TORONTO).end_if_inside(parse_rfc3339(now))
    assert (None if found is None else rfc3339(found, TORONTO)) == end


@settings(deadline=None)
@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 3 * 365 * 24 * 60))
def test_the_windows_are_those_of_the_wall_clock(start: int, end: int, minute: int) -> None:
    now = Instant(parse_rfc3339("2026-01-01T00:00:00Z") + minute * MINUTE)
    local = to_datetime(now, KOLKATA)
    wall = local.hour * 60 + local.minute
    inside = start <= wall < end if start <= end else wall >= start or wall < end
    found = QuietHours(start, end, KOLKATA).end_if_inside(now)
    assert (found is not None) is inside
    if found is not None:
        finish = to_datetime(found, KOLKATA)
        assert finish.hour * 60 + finish.minute == end
        assert now < found <= now + DAY


@pytest.mark.parametrize(("start", "end"), [(-1, 60), (0, 1440), (1440, 0)])
def test_times_outside_a_day_are_refused(start: int, end: int) -> None:
    with pytest.raises(UsageError, match="Quiet hours"):
        QuietHours(start, end, TORONTO)
