from __future__ import annotations

import pytest

from nudge.cli.past_time import parse_past
from nudge.errors import UsageError
from nudge.instants import Instant
from tests.times import TORONTO, toronto

NOW = toronto(2026, 11, 1, 10)
"""The day on which the clocks go back an hour, at 2 in the morning."""


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        pytest.param("9:30", toronto(2026, 11, 1, 9, 30), id="today's, if it has been"),
        pytest.param("10:00", toronto(2026, 11, 1, 10), id="now has been"),
        pytest.param("23:00", toronto(2026, 10, 31, 23), id="yesterday's by the wall clock, if today's is to come"),
        pytest.param("today 23:00", toronto(2026, 11, 1, 23), id="today is today"),
        pytest.param("yesterday 9:30", toronto(2026, 10, 31, 9, 30), id="yesterday"),
        pytest.param("yesterday 23:00", toronto(2026, 10, 31, 23), id="yesterday once, not twice"),
        pytest.param("9am", toronto(2026, 11, 1, 9), id="nine in the morning"),
        pytest.param("12am", toronto(2026, 11, 1), id="twelve at night is the day's first hour"),
        pytest.param("12:15 PM", toronto(2026, 10, 31, 12, 15), id="noon was yesterday"),
        pytest.param("2026-02-18 15:00", toronto(2026, 2, 18, 15), id="a date and a time"),
        pytest.param("2026-02-18T15:00:00Z", toronto(2026, 2, 18, 10), id="RFC 3339"),
    ],
)
def test_a_time_that_has_been(text: str, instant: Instant) -> None:
    assert parse_past(text, NOW, TORONTO) == instant


@pytest.mark.parametrize("text", ["", "15", "24:00", "10:60", "13pm", "0am", "soon", "2026-02-30 10:00"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_past(text, NOW, TORONTO)
