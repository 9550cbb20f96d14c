from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.durations import LONGEST, format_duration, parse_duration
from nudge.errors import UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2h", 2 * HOUR, id="hours"),
        pytest.param("30m", 30 * MINUTE, id="m is minutes"),
        pytest.param("1h30m", 90 * MINUTE, id="two units without a space"),
        pytest.param("1h 30m", 90 * MINUTE, id="two units with a space"),
        pytest.param("90 min", 90 * MINUTE, id="a word with a space before it"),
        pytest.param("45s", 45 * SECOND, id="seconds"),
        pytest.param("2 days", 2 * DAY, id="days in full"),
        pytest.param("1w", 7 * DAY, id="a week is seven days"),
        pytest.param("1 week 2 days 3 hours", 9 * DAY + 3 * HOUR, id="three units"),
        pytest.param("1.5h", 90 * MINUTE, id="a decimal is exact"),
        pytest.param("0.000001s", 1, id="down to one microsecond"),
        pytest.param("0h 5m", 5 * MINUTE, id="a zero part of a whole that is not zero"),
        pytest.param("  2H  ", 2 * HOUR, id="capitals and spaces around"),
        pytest.param("36525d", LONGEST, id="a hundred years is still allowed"),
    ],
)
def test_what_people_write(text: str, expected: int) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "not a duration", id="nothing"),
        pytest.param("0", "unit", id="zero without a unit"),
        pytest.param("0m", "is zero", id="zero"),
        pytest.param("0h 0m", "is zero", id="zero twice"),
        pytest.param("-5m", "negative", id="negative"),
        pytest.param("5", "Say the unit: 5s, 5m or 5h", id="no unit"),
        pytest.param("5 parsecs", "not a duration", id="a unit of length"),
        pytest.param("soon", "not a duration", id="a word"),
        pytest.param("30m 1h", "not a duration", id="small before large"),
        pytest.param("1h 1h", "not a duration", id="the same unit twice"),
        pytest.param("1h30", "not a duration", id="the second part without a unit"),
        pytest.param("0.0000001s", "not a duration", id="finer than a microsecond"),
        pytest.param("1,5h", "not a duration", id="a comma"),
        pytest.param("36526d", "hundred years", id="longer than a hundred years"),
        pytest.param("999999999999w", "hundred years", id="far longer"),
        pytest.param("9" * 60 + "h", "not a duration", id="more digits than anybody needs"),
        pytest.param("0.000001s " * 50, "not a duration", id="a very long text"),
        pytest.param("٣h", "not a duration", id="digits of another script"),
    ],
)
def test_what_is_refused_says_how_to_write_it(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse_duration(text)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [
        (2 * HOUR, "2h"),
        (90 * MINUTE, "1h 30m"),
        (45 * SECOND, "45s"),
        (3 * DAY, "3d"),
        (14 * DAY, "14d"),
        (DAY + SECOND, "1d 1s"),
        (1_500_000, "1.5s"),
        (1, "0.000001s"),
        (0, "0s"),
        (-5 * MINUTE, "-5m"),
    ],
)
def test_what_lists_show(microseconds: int, expected: str) -> None:
    assert format_duration(microseconds) == expected


@given(st.integers(1, LONGEST))
def test_what_is_shown_can_be_typed_again(microseconds: int) -> None:
    assert parse_duration(format_duration(microseconds)) == microseconds
