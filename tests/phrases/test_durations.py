"""How long people say. It is Wednesday 2026-02-18, 2:00 PM in Toronto, unless a row says so."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, from_local
from nudge.phrases import understand_duration

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("30 more min", 30 * MINUTE),
        ("30 min more", 30 * MINUTE),
        ("another 30 minutes", 30 * MINUTE),
        ("another hour", HOUR),
        ("give me 10 more minutes please", 10 * MINUTE),
        ("10 minutes longer", 10 * MINUTE),
        ("2h", 2 * HOUR),
        ("1h30", 90 * MINUTE),
        ("1h30m", 90 * MINUTE),
        ("1.5h", 90 * MINUTE),
        ("90m", 90 * MINUTE),
        ("45s", 45 * SECOND),
        ("an hour and a half", 90 * MINUTE),
        ("two and a half hours", 150 * MINUTE),
        ("half an hour", 30 * MINUTE),
        ("half a day", 12 * 60 * MINUTE),
        ("seventy five minutes", 75 * MINUTE),
        ("a quarter of an hour", 15 * MINUTE),
        ("2 hours 15 minutes", 135 * MINUTE),
        ("2 hours, 15 minutes", 135 * MINUTE),
        ("for 2 hours", 2 * HOUR),
        ("in 2 hours", 2 * HOUR),
        ("twenty-five minutes", 25 * MINUTE),
        ("3 days", 3 * DAY),
        ("1.5 days", 36 * HOUR),
        ("a week", 7 * DAY),
        ("until 5pm", 3 * HOUR),
        ("till 17:30", 210 * MINUTE),
        ("until tomorrow morning", 19 * HOUR),
        ("until friday", 43 * HOUR),
        ("today", 10 * HOUR),
        ("for the rest of the day", 10 * HOUR),
        ("all day", 10 * HOUR),
    ],
)
def test_a_phrase_is_a_duration(phrase: str, expected: int) -> None:
    assert understand_duration(phrase, NOW, TORONTO) == expected


@pytest.mark.parametrize(
    ("phrase", "says"),
    [
        ("", "empty"),
        ("30", "say the unit, such as 30 minutes"),
        ("forever", "forever"),
        ("0m", "0 is not a duration"),
        ("-5 minutes", '"-"'),
        ("a few minutes", "few"),
        ("until", 'missing after "until"'),
        ("until 1 january 2020", "past"),
        ("until every day", "one time"),
        ("tomorrow 9am", "tomorrow"),
        ("half a month", "halve a month"),
        ("1.5 months", "halve a month"),
        ("500 years", "100 years"),
        ("99999999 years", "100 years"),
        ("999999999 weeks", "100 years"),
        ("2h or so", '"or"'),
        ("x" * 201, "200"),
    ],
)
def test_a_duration_is_refused_with_three_examples_that_work(phrase: str, says: str) -> None:
    with pytest.raises(InvalidPhraseError) as refusal:
        understand_duration(phrase, NOW, TORONTO)
    assert says in refusal.value.message.partition(" as a duration: ")[2]
    examples = str(refusal.value.next_step).split('"')[1::2]
    assert len(examples) == 3
    for example in examples:
        understand_duration(example, NOW, TORONTO)


def test_an_end_that_could_be_two_times_is_asked_about() -> None:
    with pytest.raises(UnclearPhraseError) as unclear:
        understand_duration("until at 5", NOW, TORONTO)
    assert unclear.value.question == "5 am or 5 pm?"


def test_a_day_over_a_dst_change_has_23_or_25_hours_and_24_hours_have_24() -> None:
    before_gap = from_local(datetime(2026, 3, 7, 14, 0), TORONTO)
    before_fold = from_local(datetime(2026, 10, 31, 14, 0), TORONTO)
    assert understand_duration("1 day", before_gap, TORONTO) == 23 * HOUR
    assert understand_duration("1 day", before_fold, TORONTO) == 25 * HOUR
    assert understand_duration("24 hours", before_gap, TORONTO) == 24 * HOUR
