from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from nudge.attention.repeats import RepeatLedger, normalised, signature
from nudge.instants import DAY, HOUR, Instant, parse_rfc3339

TORONTO = ZoneInfo("America/Toronto")
NOON = parse_rfc3339("2026-02-20T12:00:00Z")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("3 tasks are overdue", "5 tasks are overdue", id="a number"),
        pytest.param("1 task is overdue", "2 tasks are overdue", id="a number with its plural"),
        pytest.param("two mails wait", "Twenty-five mails wait", id="a number in words"),
        pytest.param("Still up at 00:30?", "Still up at 1:15?", id="a time"),
        pytest.param("It is 6 PM", "It is 7:30 p.m.", id="a time on a 12-hour clock"),
        pytest.param("It is 6 o'clock", "It is 7 o’clock", id="a full hour"),
        pytest.param("Due 2026-02-20", "Due 2026-03-01", id="an ISO date"),
        pytest.param("Due 2026-02-20T18:30:00Z", "Due 2026-02-20T19:30:00-05:00", id="an instant"),
        pytest.param("Due on Feb 20", "Due on 1st of March", id="dates in words"),
        pytest.param("Due Fri, Feb 20", "Due Mon 2 March", id="dates with a weekday"),
        pytest.param("Due on Friday", "Due on Monday", id="a weekday"),
        pytest.param("Reply to Mary today", "Reply to Mary tomorrow", id="a relative day"),
        pytest.param("Quiet for 45 min", "Quiet for an hour", id="a duration"),
        pytest.param("Quiet for 1 hour", "Quiet for 90 minutes", id="a duration in other units"),
        pytest.param("Spent $4.50 (12 %)", "Spent $1,204.10 (60 %)", id="money and percentages"),
        pytest.param("Workout?", "  workout!!  ", id="case, space and punctuation"),
        pytest.param("Don't forget: water", "don’t forget water 💧", id="apostrophes and emoji"),
        pytest.param("Caf\u00e9", "Cafe\u0301", id="two ways to write é"),
        pytest.param("Mary's paper", "Mary’s papers", id="a possessive"),
        pytest.param("", "18:30", id="nothing but a time is nothing"),
    ],
)
def test_what_changes_by_itself_is_no_change(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Reply to Mary", "Reply to John", id="another person"),
        pytest.param("The build fails", "The build passes", id="another state"),
        pytest.param("You are not asleep", "You are asleep", id="a negation"),
        pytest.param("March on", "Go on", id="a month's name that is a verb"),
        pytest.param("May I ask", "I ask", id="a month's name that is an auxiliary"),
        pytest.param("She sat down", "She sun down", id="a weekday's abbreviation that is a word"),
        pytest.param("Встреча", "Обед", id="other scripts"),
        pytest.param("start early", "art early", id="a word that ends like a unit"),
    ],
)
def test_another_state_is_a_change(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)
    assert signature(one) != signature(other)


def test_a_signature_does_not_show_the_text() -> None:
    assert signature("Call the doctor") == signature("call the doctor")
    assert "doctor" not in signature("Call the doctor")
    assert len(signature("x" * 10_000)) == 24


@pytest.mark.parametrize(
    ("topic", "state", "later", "repeated"),
    [
        pytest.param("inbox", "a", 0, True, id="at once"),
        pytest.param("inbox", "a", DAY - 1, True, id="a moment before 24 hours"),
        pytest.param("inbox", "a", DAY, False, id="exactly 24 hours is outside"),
        pytest.param("inbox", "b", HOUR, False, id="a changed signature"),
        pytest.param("sleep", "a", HOUR, False, id="another topic"),
        pytest.param("inbox", "a", -HOUR, True, id="a clock that went back"),
        pytest.param("inbox", "a", -DAY, False, id="a clock that was wrong by a day silences nothing"),
    ],
)
def test_the_same_topic_and_signature_within_24_hours(topic: str, state: str, later: int, repeated: bool) -> None:
    ledger = RepeatLedger().remember("inbox", "a", NOON)
    assert ledger.repeats(topic, state, Instant(NOON + later)) is repeated


def test_a_state_that_flaps_back_is_still_repeated() -> None:
    ledger = RepeatLedger().remember("ci", "red", NOON).remember("ci", "green", Instant(NOON + HOUR))
    assert ledger.repeats("ci", "red", Instant(NOON + 2 * HOUR))


def test_saying_it_again_starts_the_time_anew_and_old_entries_go() -> None:
    ledger = RepeatLedger().remember("a", "x", NOON).remember("b", "y", Instant(NOON + DAY))
    assert set(ledger.said) == {("b", "y")}
    again = ledger.remember("b", "y", Instant(NOON + DAY + 5 * HOUR))
    assert again.repeats("b", "y", Instant(NOON + 2 * DAY + HOUR))
    assert not ledger.repeats("b", "y", Instant(NOON + 2 * DAY + HOUR))


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        pytest.param("2026-03-07T20:30:00-05:00", "2026-03-08T20:30:00-04:00", False, id="23 h, but a day on the wall"),
        pytest.param("2026-03-07T20:30:00-05:00", "2026-03-08T20:29:00-04:00", True, id="a minute less than that"),
        pytest.param("2026-10-31T20:30:00-04:00", "2026-11-01T19:30:00-05:00", False, id="24 h, 23 on the wall"),
        pytest.param("2026-10-31T20:30:00-04:00", "2026-11-01T19:29:00-05:00", True, id="less on both"),
    ],
)
def test_a_day_is_a_day_when_the_clocks_change(first: str, second: str, repeated: bool) -> None:
    ledger = RepeatLedger().remember("wind-down", "a", parse_rfc3339(first))
    assert ledger.repeats("wind-down", "a", parse_rfc3339(second), TORONTO) is repeated
