from __future__ import annotations

from datetime import date, time
from zoneinfo import ZoneInfo

import pytest

from nudge.attention.bedtime import BedtimeCount, BedtimeTone, night_of
from nudge.instants import parse_rfc3339

TORONTO = ZoneInfo("America/Toronto")
FRIDAY, SATURDAY = date(2026, 2, 20), date(2026, 2, 21)


@pytest.mark.parametrize(
    ("now", "wake", "night"),
    [
        pytest.param("2026-02-20T23:59:00-05:00", "10:00", FRIDAY, id="before midnight"),
        pytest.param("2026-02-21T00:00:00-05:00", "10:00", FRIDAY, id="midnight belongs to the night before it"),
        pytest.param("2026-02-21T03:00:00-05:00", "10:00", FRIDAY, id="the small hours"),
        pytest.param("2026-02-21T09:59:59-05:00", "10:00", FRIDAY, id="a second before the wake target"),
        pytest.param("2026-02-21T10:00:00-05:00", "10:00", SATURDAY, id="the wake target begins the new day"),
        pytest.param("2026-02-21T04:30:00Z", "10:00", FRIDAY, id="the person's clock counts, not UTC"),
        pytest.param("2026-02-21T12:00:00-05:00", "17:00", FRIDAY, id="who works at night sleeps at noon"),
        pytest.param("2026-03-08T03:00:00-04:00", "07:00", date(2026, 3, 7), id="the night the clocks go forward"),
        pytest.param("2026-02-21T00:00:00-05:00", "00:00", SATURDAY, id="a wake target at midnight"),
    ],
)
def test_the_night_a_time_belongs_to(now: str, wake: str, night: date) -> None:
    assert night_of(parse_rfc3339(now), TORONTO, time.fromisoformat(wake)) == night


def test_three_tones_and_never_a_fourth_in_one_night() -> None:
    count = BedtimeCount()
    tones = []
    for _ in range(5):
        tone = count.next_tone(FRIDAY)
        tones.append(tone)
        if tone is not None:
            count = count.sent_in(FRIDAY)
    assert tones == [BedtimeTone.CASUAL, BedtimeTone.DIRECT, BedtimeTone.SERIOUS, None, None]
    assert count.in_night(FRIDAY) == 3


def test_a_new_night_begins_casually() -> None:
    count = BedtimeCount(FRIDAY, 3)
    assert count.next_tone(SATURDAY) is BedtimeTone.CASUAL
    assert count.sent_in(SATURDAY) == BedtimeCount(SATURDAY, 1)


def test_a_clock_that_goes_back_a_night_opens_no_new_count() -> None:
    count = BedtimeCount(SATURDAY, 3)
    assert count.next_tone(FRIDAY) is None
    assert BedtimeCount(SATURDAY, 2).sent_in(FRIDAY) == BedtimeCount(SATURDAY, 3)
