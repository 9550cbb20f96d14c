from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidScheduleError
from nudge.instants import Instant, parse_rfc3339, rfc3339
from nudge.schedules import Cron, occurrences

UTC = ZoneInfo("UTC")
FRIDAY = parse_rfc3339("2026-02-20T12:34:56Z")
FOR_EVER = parse_rfc3339("2100-01-01T00:00:00Z")


def times(cron: Cron, count: int, after: Instant = FRIDAY) -> list[str]:
    found = occurrences(cron, after, FOR_EVER, count, UTC)
    return [rfc3339(instant).removesuffix(":00+00:00").removeprefix("2026-") for instant in found]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        pytest.param("* * * * *", ["02-20T12:35", "02-20T12:36"], id="every minute"),
        pytest.param("*/15 9-17 * * 1-5", ["02-20T12:45", "02-20T13:00"], id="quarters of working hours"),
        pytest.param("0 9 * * 1-5", ["02-23T09:00", "02-24T09:00"], id="weekdays at nine"),
        pytest.param("0 9 * * 0", ["02-22T09:00", "03-01T09:00"], id="0 is Sunday"),
        pytest.param("0 9 * * 7", ["02-22T09:00", "03-01T09:00"], id="7 is Sunday as well"),
        pytest.param("0 9 * * SUN", ["02-22T09:00", "03-01T09:00"], id="and so is SUN"),
        pytest.param("0 9 * * 6-7", ["02-21T09:00", "02-22T09:00", "02-28T09:00"], id="6-7 is the weekend"),
        pytest.param("0 9 * * 0,6", ["02-21T09:00", "02-22T09:00", "02-28T09:00"], id="0,6 is the weekend"),
        pytest.param("0 9 * * 1", ["02-23T09:00"], id="1 is Monday"),
        pytest.param("0 9 13 * 5", ["02-27T09:00", "03-06T09:00", "03-13T09:00"], id="day 13 or a Friday"),
        pytest.param("0 9 */2 * 5", ["02-27T09:00", "03-13T09:00"], id="a star at the front: odd days and Fridays"),
        pytest.param("0 9 L * *", ["02-28T09:00", "03-31T09:00"], id="the last day of the month"),
        pytest.param("0 9 * * 2#2", ["03-10T09:00", "04-14T09:00"], id="the second Tuesday"),
        pytest.param("0 0 1 jan *", ["2027-01-01T00:00"], id="a month by its name"),
        pytest.param("0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00"], id="29 February"),
        pytest.param("0 0 29 2 */7", ["2032-02-29T00:00", "2060-02-29T00:00"], id="29 February and Sunday"),
        pytest.param("34 12 * * *", ["02-21T12:34"], id="the minute that has begun is past"),
        pytest.param("35 12 20 2 *", ["02-20T12:35"], id="the next minute is not"),
    ],
)
def test_expressions(expr: str, expected: list[str]) -> None:
    assert times(Cron(expr, "UTC"), len(expected)) == expected


@pytest.mark.parametrize(
    "expr",
    [
        pytest.param("", id="nothing"),
        pytest.param("* * * *", id="four fields"),
        pytest.param("0 * * * * *", id="six fields"),
        pytest.param("60 * * * *", id="minute 60"),
        pytest.param("* 24 * * *", id="hour 24"),
        pytest.param("* * 0 * *", id="day 0"),
        pytest.param("* * * * 8", id="weekday 8"),
        pytest.param("*/0 * * * *", id="a step of nothing"),
        pytest.param("5-1 * * * *", id="a range backwards"),
        pytest.param("@daily", id="a nickname"),
        pytest.param("0 0 30 2 *", id="30 February"),
        pytest.param("0 0 31 4,6,9,11 *", id="31 April"),
        pytest.param("0 0 * * 1L/2", id="a step of last Mondays"),
        pytest.param("0 0 * * 1#6", id="a sixth Monday"),
        pytest.param("0 0 * * " + ",".join(["1"] * 500), id="a text without end"),
        pytest.param("٣ * * * *", id="digits of another script"),
    ],
)
def test_what_is_refused_shows_an_example(expr: str) -> None:
    with pytest.raises(InvalidScheduleError) as caught:
        Cron(expr, "UTC")
    assert caught.value.next_step
    assert "0 9 * * 1-5" in caught.value.next_step


@pytest.mark.parametrize("expr", ["*/90 * * * *", "0 0-12/36 * * *"])
def test_a_step_that_would_start_anew_before_its_time_is_refused(expr: str) -> None:
    with pytest.raises(InvalidScheduleError, match="longer than the field") as caught:
        Cron(expr, "UTC")
    assert "every 90m" in str(caught.value.next_step)
    assert times(Cron("*/60  */24 * * *", "UTC"), 1) == ["02-21T00:00"]


def test_a_day_that_never_comes_is_found_out() -> None:
    with pytest.raises(InvalidScheduleError, match="never fires"):
        Cron("0 0 */9 2 1#5", "UTC")  # a fifth Monday in February, on the 1st, 10th, 19th or 28th


def test_a_count_is_from_the_anchor() -> None:
    cron = Cron("0 * * * *", "UTC", count=3, anchor=FRIDAY)
    assert times(cron, 9) == ["02-20T13:00", "02-20T14:00", "02-20T15:00"]
    assert times(cron, 9, Instant(0)) == ["02-20T13:00", "02-20T14:00", "02-20T15:00"]
    assert times(cron, 9, parse_rfc3339("2026-02-20T14:00:00Z")) == ["02-20T15:00"]


def test_a_time_at_the_anchor_is_not_counted() -> None:
    on_the_hour = parse_rfc3339("2026-02-20T12:00:00Z")
    assert times(Cron("0 * * * *", "UTC", count=1, anchor=on_the_hour), 9, Instant(0)) == ["02-20T13:00"]


def test_a_large_count_of_working_hours() -> None:
    cron = Cron("*/15 9-17 * * 1-5", "UTC", count=36 * 5 * 52 * 3, anchor=FRIDAY)
    last = parse_rfc3339("2029-02-16T12:30:00Z")
    assert cron.next_after(Instant(last - 1), UTC) == last
    assert cron.next_after(last, UTC) is None


def test_a_count_needs_an_anchor() -> None:
    with pytest.raises(InvalidScheduleError, match="a time to count from"):
        Cron("0 * * * *", "UTC", count=3)


def test_an_end_is_included() -> None:
    end = parse_rfc3339("2026-02-20T14:00:00Z")
    assert times(Cron("0 * * * *", "UTC", until=end), 9) == ["02-20T13:00", "02-20T14:00"]
    assert times(Cron("0 * * * *", "UTC", until=Instant(end - 1)), 9) == ["02-20T13:00"]


def test_an_end_before_the_first_time_is_refused() -> None:
    with pytest.raises(InvalidScheduleError, match="never fires"):
        Cron("0 * * * *", "UTC", until=parse_rfc3339("2026-02-20T12:59:59Z"), anchor=FRIDAY)


def test_an_expression_without_a_zone_takes_the_one_of_the_question() -> None:
    nine = Cron("0 9 * * *", None)
    assert nine.next_after(FRIDAY, ZoneInfo("America/Toronto")) == parse_rfc3339("2026-02-20T14:00:00Z")
    assert nine.next_after(FRIDAY, UTC) == parse_rfc3339("2026-02-21T09:00:00Z")


def test_in_words() -> None:
    assert Cron("*/15 9-17 * * 1-5", "UTC").describe() == "cron */15 9-17 * * 1-5"
    end = parse_rfc3339("2026-03-01T00:00:00Z")
    limited = Cron("0 9 * * *", "America/Toronto", 3, end, FRIDAY)
    assert limited.describe() == "cron 0 9 * * *, 3 times, until 2026-02-28 19:00 America/Toronto"
