from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import NaiveDatetimeError, UsageError
from nudge.instants import Instant, as_instant, to_datetime
from nudge.spending.allowance import Allowance, Colour, DayTurn, Meter, day_share
from nudge.spending.money import Money

DOLLAR = 1_000_000


def november(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 11, 1, hour, minute, tzinfo=UTC) + timedelta(days=day - 1)


def window(budget: str | int = "$30") -> Allowance:
    return Allowance.open(budget, start=november(1), renews=date(2026, 12, 1))


@pytest.mark.parametrize(
    ("spent", "limit", "percent", "colour"),
    [
        pytest.param(0, 100, 0, Colour.GREEN, id="nothing used"),
        pytest.param(47, 100, 47, Colour.GREEN, id="47 percent"),
        pytest.param(599_999, DOLLAR, 59, Colour.GREEN, id="a micro-dollar below 60 is green and shows 59"),
        pytest.param(600_000, DOLLAR, 60, Colour.YELLOW, id="60 belongs to yellow"),
        pytest.param(899_999, DOLLAR, 89, Colour.YELLOW, id="a micro-dollar below 90 is yellow and shows 89"),
        pytest.param(900_000, DOLLAR, 90, Colour.RED, id="90 belongs to red"),
        pytest.param(999_999, DOLLAR, 99, Colour.RED, id="100 shows only when all is used"),
        pytest.param(1_125_000, DOLLAR, 112, Colour.RED, id="above 100 goes on"),
        pytest.param(0, 0, 100, Colour.RED, id="an allowance of nothing is used up"),
        pytest.param(5, 0, 100, Colour.RED, id="something spent of nothing"),
    ],
)
def test_the_meter_shows_whole_percent_and_a_colour(spent: int, limit: int, percent: int, colour: Colour) -> None:
    meter = Meter(spent, limit)
    assert (meter.percent, meter.colour, meter.text) == (percent, colour, f"Budget: {percent}% used")


@pytest.mark.parametrize(("spent", "cells"), [(0, 0), (99, 9), (100, 10), (250, 10)])
def test_a_bar_is_full_only_when_all_is_used_and_never_fuller(spent: int, cells: int) -> None:
    assert Meter(spent, 100).filled(10) == cells


@pytest.mark.parametrize(
    ("remaining", "days", "share"),
    [
        pytest.param(30 * DOLLAR, 30, DOLLAR, id="an even split"),
        pytest.param(100, 3, 33, id="rounded down"),
        pytest.param(100, 1, 100, id="the last day gets everything"),
        pytest.param(100, 0, 100, id="a day is always left"),
        pytest.param(0, 30, 0, id="nothing left"),
        pytest.param(-5, 30, 0, id="a debt is no allowance"),
    ],
)
def test_a_day_gets_its_share_of_what_remains(remaining: int, days: int, share: int) -> None:
    assert day_share(remaining, days) == share


def test_unspent_money_is_in_what_remains_and_no_bonus_for_tomorrow() -> None:
    idle = window().at(november(16))
    assert idle.limit == 2 * DOLLAR
    assert window().spend("$0.50", november(1, 9)).at(november(2)).limit == 29_500_000 // 29


def test_the_share_is_computed_at_the_first_touch_and_stays_for_the_day() -> None:
    touched = window().at(november(3, 17))
    assert touched.limit == 30 * DOLLAR // 28
    assert touched.spend("$5", november(3, 18)).at(november(3, 23, 59)).limit == touched.limit


def test_the_day_turns_at_midnight_utc_and_its_counter_starts_at_zero() -> None:
    tired = window().spend("$1", november(1, 12))
    assert (tired.meter.percent, tired.spent_today) == (100, DOLLAR)
    fresh = tired.at(november(2))
    assert (fresh.spent_today, fresh.spent_before, fresh.meter.percent) == (0, DOLLAR, 0)
    assert tired.at(november(2) - timedelta(microseconds=1)) == tired


def test_sessions_share_the_day() -> None:
    shared = window()
    for _session in range(4):
        shared = shared.spend("$0.225", november(1, 10))
    assert shared.meter.text == "Budget: 90% used"


def test_without_a_renewal_the_window_has_thirty_days_also_when_it_begins_at_noon() -> None:
    open_ended = Allowance.open("$30", start=november(1, 12))
    assert open_ended.limit == DOLLAR
    assert to_datetime(open_ended.end) == november(31)
    assert open_ended.at(november(30, 23)).limit == 30 * DOLLAR


def test_a_budget_of_nothing_divides_nothing() -> None:
    broke = Allowance.open("0", start=november(1))
    assert (broke.limit, broke.meter.percent, broke.at(november(2)).limit) == (0, 100, 0)


@pytest.mark.parametrize(
    ("turn", "before", "after"),
    [
        pytest.param(DayTurn(), "2026-11-01T23:59:59+00:00", "2026-11-02T00:00:00+00:00", id="midnight utc"),
        pytest.param(
            DayTurn("America/Toronto"), "2026-11-01T23:59:59-05:00", "2026-11-02T00:00:00-05:00", id="a zone's midnight"
        ),
        pytest.param(
            DayTurn("UTC", timedelta(hours=4)),
            "2026-11-02T03:59:59+00:00",
            "2026-11-02T04:00:00+00:00",
            id="four o'clock",
        ),
        pytest.param(
            DayTurn.parse("04:00 America/Toronto"),
            "2026-03-08T03:59:59-04:00",
            "2026-03-08T04:00:00-04:00",
            id="four o'clock on the day the clocks go forward",
        ),
        pytest.param(
            DayTurn.parse("04:00 America/Toronto"),
            "2026-11-01T03:59:59-05:00",
            "2026-11-01T04:00:00-05:00",
            id="four o'clock on the day the clocks go back",
        ),
        pytest.param(
            DayTurn.parse("02:30 America/Toronto"),
            "2026-03-08T01:59:59-05:00",
            "2026-03-08T03:00:00-04:00",
            id="a turn that the clocks skip comes right after",
        ),
        pytest.param(
            DayTurn.parse("01:30 America/Toronto"),
            "2026-11-01T01:29:59-04:00",
            "2026-11-01T01:30:00-04:00",
            id="a turn that comes twice counts the first time",
        ),
        pytest.param(
            DayTurn("Pacific/Apia"), "2011-12-29T23:59:59-10:00", "2011-12-31T00:00:00+14:00", id="a day that never was"
        ),
        pytest.param(
            DayTurn("America/St_Johns"),
            "2010-11-06T23:59:00-02:30",
            "2010-11-07T00:00:00-02:30",
            id="a day that begins twice begins at the first",
        ),
    ],
)
def test_the_turn_is_configurable(turn: DayTurn, before: str, after: str) -> None:
    late, turned = datetime.fromisoformat(before), datetime.fromisoformat(after)
    assert turn.day_of(as_instant(late)) < turn.day_of(as_instant(turned))
    allowance = Allowance.open("$30", start=late, turn=turn)
    assert as_instant(allowance.next_refresh(late)) == as_instant(turned)
    assert as_instant(allowance.next_refresh(turned)) > as_instant(turned)


@pytest.mark.parametrize("hour", range(24))
def test_every_day_of_a_year_turns_at_the_same_time_on_the_clock(hour: int) -> None:
    turn = DayTurn.parse(f"{hour:02}:15 America/Toronto")
    at = turn.start_of(date(2026, 1, 1))
    for number in range(1, 366):
        day = date(2026, 1, 1) + timedelta(days=number)
        following = turn.after(at)
        local = to_datetime(following, ZoneInfo("America/Toronto"))
        assert turn.day_of(following) == day
        assert turn.day_of(Instant(following - 1)) == day - timedelta(days=1)
        skipped = day == date(2026, 3, 8) and hour == 2
        assert local.strftime("%d %H:%M") == f"{day.day:02} " + ("03:00" if skipped else f"{hour:02}:15")
        at = following


def test_a_turn_takes_a_real_zone_and_less_than_a_day() -> None:
    with pytest.raises(UsageError, match="24 hours"):
        DayTurn(offset=timedelta(hours=24))
    with pytest.raises(UsageError, match="no time zone"):
        DayTurn("Mars/Olympus")


def test_a_refresh_is_told_in_the_zone_of_the_turn() -> None:
    refresh = Allowance.open("$1", start=november(1), turn=DayTurn("America/Toronto")).next_refresh(november(5))
    assert refresh.tzinfo == ZoneInfo("America/Toronto")
    assert refresh.isoformat() == "2026-11-05T00:00:00-05:00"


def test_a_clock_that_goes_back_changes_nothing() -> None:
    later = window().spend("$0.10", november(5))
    assert later.at(november(3)) == later
    assert later.next_refresh(november(3)) == november(6)


def test_a_renewal_begins_a_new_window_with_the_same_budget() -> None:
    spent = window().top_up("$5", november(2)).spend("$20", november(20))
    renewed = spent.at(november(31))
    assert (renewed.remaining, renewed.topped_up, renewed.limit) == (30 * DOLLAR, 0, DOLLAR)
    assert to_datetime(renewed.end) == november(61)


def test_windows_that_passed_while_nobody_looked_are_skipped_on_their_own_grid() -> None:
    woken = window().at(november(31 + 75, 8))
    assert (to_datetime(woken.start), to_datetime(woken.end)) == (november(31 + 60), november(31 + 90))
    assert woken.limit == 30 * DOLLAR // 15


def test_a_clock_far_ahead_is_no_trouble() -> None:
    assert window().at(datetime(2900, 1, 1, tzinfo=UTC)).remaining == 30 * DOLLAR


def test_the_next_turn_is_later_also_in_an_hour_that_the_calendar_repeats() -> None:
    """In St. John's, 00:01 on 7 November 2010 became 23:01 on the 6th: the 7th had begun already."""
    repeated = as_instant(datetime.fromisoformat("2010-11-06T23:30:00-03:30"))
    turn = DayTurn("America/St_Johns")
    assert turn.day_of(repeated) == date(2010, 11, 6)
    assert to_datetime(turn.after(repeated)) == datetime.fromisoformat("2010-11-08T00:00:00-03:30")


def test_a_renewal_in_the_middle_of_a_day_refreshes_then() -> None:
    allowance = Allowance.open("$2", start=november(1), renews=november(2, 15)).spend("$2", november(2, 9))
    assert allowance.meter.percent == 100
    assert allowance.next_refresh(november(2, 10)) == november(2, 15)
    renewed = allowance.at(november(2, 15))
    assert (renewed.spent_today, renewed.remaining) == (0, 2 * DOLLAR)


def test_a_top_up_buys_something_today_even_for_a_sleeper() -> None:
    asleep = window().spend("$1", november(1, 12))
    topped = asleep.top_up("$10", november(1, 13))
    assert topped.limit == DOLLAR + 39 * DOLLAR // 30
    assert topped.spent_today == DOLLAR
    assert not topped.meter.reached(90)


def test_a_top_up_of_nothing_changes_nothing() -> None:
    topped = window().spend("$1", november(1, 12)).top_up("$10", november(1, 13))
    assert topped.top_up(0, november(1, 14)) == topped


def test_a_top_up_that_does_not_cover_the_debt_buys_nothing() -> None:
    owing = Allowance.open("$1", start=november(1), renews=november(2)).spend("$1.50", november(1, 12))
    topped = owing.top_up("$0.25", november(1, 13))
    assert (topped.limit, topped.remaining, topped.meter.percent) == (1_250_000, 0, 120)


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        pytest.param({}, 1_000_000, id="nothing changed"),
        pytest.param({"budget": "$30"}, 1_000_000, id="the same said twice grants nothing twice"),
        pytest.param({"budget": "$60"}, 500_000 + 59_500_000 // 30, id="a bigger tier"),
        pytest.param({"budget": "$15"}, 500_000, id="a smaller one"),
        pytest.param({"budget": "0"}, 0, id="cancelled"),
        pytest.param({"renews": date(2026, 11, 11)}, 3_000_000, id="an earlier renewal"),
        pytest.param({"budget": "$40", "renews": date(2026, 11, 11)}, 500_000 + 3_950_000, id="both"),
    ],
)
def test_a_changed_window_computes_today_anew(change: dict[str, str | date], limit: int) -> None:
    half = window().spend("$0.50", november(1, 12))
    changed = half.with_window(november(1, 13), **change)  # type: ignore[arg-type]
    assert (changed.limit, changed.spent_today) == (limit, 500_000)


def test_top_ups_stay_when_the_subscription_changes() -> None:
    assert window().top_up("$5", november(1)).with_window(november(1), budget="$50").total == 55 * DOLLAR


@pytest.mark.parametrize("renews", [november(1), date(2026, 10, 1)], ids=["now", "a day in the past"])
def test_a_renewal_in_the_past_is_refused(renews: date) -> None:
    with pytest.raises(UsageError, match="in the future"):
        Allowance.open("$30", start=november(1), renews=renews)


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError):
        window().at(datetime(2026, 11, 2))


@given(budget=st.integers(0, 10**12), days=st.integers(1, 40))
def test_days_that_spend_their_share_add_up_to_the_window(budget: int, days: int) -> None:
    allowance = Allowance.open(Money(budget), start=november(1), renews=november(1 + days))
    shares = []
    for day in range(1, days + 1):
        allowance = allowance.at(november(day, 6))
        shares.append(allowance.limit)
        allowance = allowance.spend(allowance.limit, november(day, 7))
    assert sum(shares) == budget
    assert allowance.remaining == 0
    assert max(shares) - min(shares) <= 1, "an even split, to the micro-dollar"


@given(
    budget=st.integers(0, 10**9),
    parts=st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=30, max_size=30),
    top_ups=st.dictionaries(st.integers(1, 30), st.integers(0, 10**8), max_size=3),
)
def test_a_month_of_random_days_ends_at_the_window_exactly(
    budget: int, parts: list[int | None], top_ups: dict[int, int]
) -> None:
    """A day either is not touched at all or spends a part of its share; the last one spends what it has."""
    allowance, days = Allowance.open(Money(budget), start=november(1), renews=november(31)), []
    for day, part in enumerate([*parts[:29], 100], start=1):
        if day in top_ups:
            allowance = allowance.top_up(Money(top_ups[day]), november(day, 3))
        if part is not None:
            allowance = allowance.at(november(day, 5))
            assert 0 <= allowance.limit <= allowance.total - allowance.spent_before
            for hour in (6, 7):
                allowance = allowance.spend(allowance.limit * part // 200, november(day, hour))
            if part == 100:
                allowance = allowance.spend(allowance.limit - allowance.spent_today, november(day, 8))
            days.append(allowance.spent_today)
        assert allowance.remaining + allowance.spent == allowance.total
    assert sum(days) == budget + sum(top_ups.values())


@given(st.integers(0, 10**9), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 10**8)), max_size=40))
def test_overspending_never_makes_anything_negative(budget: int, costs: list[tuple[int, int]]) -> None:
    allowance = Allowance.open(Money(budget), start=november(1))
    for hours, cost in costs:
        allowance = allowance.spend(Money(cost), november(1) + timedelta(hours=hours * 24 / 3))
        assert min(allowance.remaining, allowance.limit, allowance.spent_today, allowance.spent_before) >= 0
        assert allowance.at(november(1) + timedelta(hours=hours * 24 / 3)) == allowance


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_added_money_never_lowers_the_share(budget: int, spent: int, first: int, second: int) -> None:
    before = window(Money(budget)).spend(Money(spent), november(9, 1)).top_up(Money(first), november(9, 2))
    assert before.top_up(Money(second), november(9, 3)).limit >= before.limit
