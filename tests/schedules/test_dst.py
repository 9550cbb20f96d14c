"""Around clock changes: a wall time in a gap fires at its end, one in a fold once, and `every` does not notice."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from nudge.instants import MINUTE, Instant, parse_rfc3339, rfc3339
from nudge.schedules import AnySchedule, Cron, Every, Rrule

LONG_AGO = parse_rfc3339("2010-01-01T00:00:00Z")


def utc(text: str) -> Instant:
    return parse_rfc3339(f"{text}:00Z" if text.count(":") == 1 else f"{text}Z")


def fires(schedule: AnySchedule, zone: str, after: str, count: int) -> list[str]:
    """The next `count` times after a UTC time, as UTC times to the minute (or second, where it is not zero)."""
    found = []
    instant: Instant | None = utc(after)
    for _ in range(count):
        assert instant is not None
        instant = schedule.next_after(instant, ZoneInfo(zone))
        assert instant is not None
        found.append(rfc3339(instant).removesuffix("+00:00").removesuffix(":00"))
    return found


DAILY = "DTSTART:20100101T{time}00\nRRULE:FREQ=DAILY"


@pytest.mark.parametrize(
    ("zone", "time", "after", "expected"),
    [
        pytest.param(
            "America/Toronto",
            "0230",
            "2026-03-07T12:00",
            ["2026-03-08T07:00", "2026-03-09T06:30"],
            id="Toronto: 2:30 is in the gap and fires at 3:00",
        ),
        pytest.param(
            "America/Toronto",
            "0200",
            "2026-03-07T12:00",
            ["2026-03-08T07:00", "2026-03-09T06:00"],
            id="Toronto: the gap begins at 2:00 sharp",
        ),
        pytest.param(
            "America/Toronto",
            "0300",
            "2026-03-07T12:00",
            ["2026-03-08T07:00", "2026-03-09T07:00"],
            id="Toronto: 3:00 is after the gap",
        ),
        pytest.param(
            "America/Toronto",
            "0130",
            "2026-10-31T12:00",
            ["2026-11-01T05:30", "2026-11-02T06:30"],
            id="Toronto: 1:30 comes twice and fires the first time",
        ),
        pytest.param(
            "America/Toronto",
            "0130",
            "2026-11-01T05:30",
            ["2026-11-02T06:30"],
            id="Toronto: between the two 1:30 the next one is tomorrow's",
        ),
        pytest.param(
            "America/Toronto",
            "0130",
            "2026-11-01T06:10",
            ["2026-11-02T06:30"],
            id="Toronto: in the second pass before its 1:30",
        ),
        pytest.param(
            "Europe/London",
            "0130",
            "2026-03-28T12:00",
            ["2026-03-29T01:00", "2026-03-30T00:30"],
            id="London: 1:30 is in the gap and fires at 2:00",
        ),
        pytest.param(
            "Europe/London",
            "0130",
            "2026-10-24T12:00",
            ["2026-10-25T00:30", "2026-10-26T01:30"],
            id="London: 1:30 comes twice and fires in summer time",
        ),
        pytest.param(
            "Europe/London",
            "0900",
            "2026-03-28T00:00",
            ["2026-03-28T09:00", "2026-03-29T08:00"],
            id="London: nine o'clock stays nine o'clock",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "0210",
            "2026-10-03T00:00",
            ["2026-10-03T15:30", "2026-10-04T15:10"],
            id="Lord Howe: 2:10 is in the gap of half an hour",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "0145",
            "2026-04-04T00:00",
            ["2026-04-04T14:45", "2026-04-05T15:15"],
            id="Lord Howe: 1:45 is in the fold of half an hour",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "0115",
            "2026-04-04T00:00",
            ["2026-04-04T14:15", "2026-04-05T14:45"],
            id="Lord Howe: 1:15 is before the fold, which an hour would hold",
        ),
        pytest.param(
            "America/Sao_Paulo",
            "0000",
            "2018-11-03T12:00",
            ["2018-11-04T03:00", "2018-11-05T02:00"],
            id="São Paulo: the day has no midnight and fires at 1:00",
        ),
        pytest.param(
            "America/Sao_Paulo",
            "0030",
            "2018-11-03T12:00",
            ["2018-11-04T03:00", "2018-11-05T02:30"],
            id="São Paulo: half past midnight is in the gap",
        ),
        pytest.param(
            "America/Sao_Paulo",
            "2330",
            "2018-02-17T12:00",
            ["2018-02-18T01:30", "2018-02-19T02:30"],
            id="São Paulo: 23:30 comes twice before midnight",
        ),
        pytest.param(
            "America/Sao_Paulo",
            "0000",
            "2026-11-03T12:00",
            ["2026-11-04T03:00", "2026-11-05T03:00"],
            id="São Paulo: no summer time any more",
        ),
        pytest.param(
            "Africa/Casablanca",
            "0230",
            "2026-02-14T12:00",
            ["2026-02-15T01:30", "2026-02-16T02:30"],
            id="Casablanca: the clock goes back for Ramadan",
        ),
        pytest.param(
            "Africa/Casablanca",
            "0230",
            "2026-03-21T12:00",
            ["2026-03-22T02:00", "2026-03-23T01:30"],
            id="Casablanca: and forward after it",
        ),
        pytest.param(
            "Pacific/Apia",
            "1200",
            "2011-12-29T12:00",
            ["2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"],
            id="Apia: noon of the day that never was fires at its end",
        ),
    ],
)
def test_a_daily_time(zone: str, time: str, after: str, expected: list[str]) -> None:
    rule = Rrule(DAILY.format(time=time), zone, LONG_AGO)
    assert fires(rule, zone, after, len(expected)) == expected
    cron = Cron(f"{int(time[2:])} {int(time[:2])} * * *", zone)
    assert fires(cron, zone, after, len(expected)) == expected


@pytest.mark.parametrize(
    ("zone", "schedule", "after", "expected"),
    [
        pytest.param(
            "America/Toronto",
            Rrule("DTSTART:20260301T000000\nRRULE:FREQ=MINUTELY;INTERVAL=30", "America/Toronto", LONG_AGO),
            "2026-03-08T06:10",
            ["2026-03-08T06:30", "2026-03-08T07:00", "2026-03-08T07:30"],
            id="every 30 minutes by the wall goes on through a gap without doubling",
        ),
        pytest.param(
            "America/Toronto",
            Rrule("DTSTART:20260301T000000\nRRULE:FREQ=MINUTELY;INTERVAL=30", "America/Toronto", LONG_AGO),
            "2026-11-01T05:10",
            ["2026-11-01T05:30", "2026-11-01T07:00", "2026-11-01T07:30"],
            id="every 30 minutes by the wall is silent in the second pass",
        ),
        pytest.param(
            "America/Toronto",
            Rrule("DTSTART:20260301T003000\nRRULE:FREQ=HOURLY", "America/Toronto", LONG_AGO),
            "2026-03-08T06:10",
            ["2026-03-08T06:30", "2026-03-08T07:00", "2026-03-08T07:30", "2026-03-08T08:30"],
            id="hourly at half past: the one in the gap comes at its end",
        ),
        pytest.param(
            "America/Toronto",
            Rrule("DTSTART:20260301T000000\nRRULE:FREQ=SECONDLY", "America/Toronto", LONG_AGO),
            "2026-11-01T06:20",
            ["2026-11-01T07:00", "2026-11-01T07:00:01"],
            id="every second: the whole second pass is stepped over at once",
        ),
        pytest.param(
            "America/Toronto",
            Rrule("DTSTART:20260301T000000\nRRULE:FREQ=SECONDLY", "America/Toronto", LONG_AGO),
            "2026-03-08T06:59:59",
            ["2026-03-08T07:00", "2026-03-08T07:00:01"],
            id="every second: the gap is one instant",
        ),
        pytest.param(
            "America/Toronto",
            Cron("*/15 * * * *", "America/Toronto"),
            "2026-03-08T06:40",
            ["2026-03-08T06:45", "2026-03-08T07:00", "2026-03-08T07:15"],
            id="cron every quarter of an hour in a gap",
        ),
        pytest.param(
            "America/Toronto",
            Cron("*/15 * * * *", "America/Toronto"),
            "2026-11-01T05:40",
            ["2026-11-01T05:45", "2026-11-01T07:00", "2026-11-01T07:15"],
            id="cron every quarter of an hour in a fold fires once",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            Cron("*/10 * * * *", "Australia/Lord_Howe"),
            "2026-04-04T14:40",
            ["2026-04-04T14:50", "2026-04-04T15:30", "2026-04-04T15:40"],
            id="cron in Lord Howe's half hour",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            Rrule("DTSTART:20260301T001500\nRRULE:FREQ=HOURLY", "Australia/Lord_Howe", LONG_AGO),
            "2026-10-03T14:30",
            ["2026-10-03T14:45", "2026-10-03T15:30", "2026-10-03T16:15"],
            id="hourly through Lord Howe's gap",
        ),
        pytest.param(
            "America/Sao_Paulo",
            Cron("0 0 * * 0", "America/Sao_Paulo"),
            "2018-11-01T00:00",
            ["2018-11-04T03:00", "2018-11-11T02:00"],
            id="cron on Sundays at a midnight that is not there is still on Sunday",
        ),
        pytest.param(
            "Africa/Casablanca",
            Cron("*/30 2 * * *", "Africa/Casablanca"),
            "2026-03-21T12:00",
            ["2026-03-22T02:00", "2026-03-23T01:00", "2026-03-23T01:30"],
            id="two times of the same gap are one",
        ),
        pytest.param(
            "America/Toronto",
            Every(30 * MINUTE, utc("2026-01-01T00:00")),
            "2026-11-01T05:10",
            ["2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30", "2026-11-01T07:00"],
            id="every 30m is elapsed time in a fold",
        ),
        pytest.param(
            "America/Toronto",
            Every(30 * MINUTE, utc("2026-01-01T00:00")),
            "2026-03-08T06:40",
            ["2026-03-08T07:00", "2026-03-08T07:30", "2026-03-08T08:00"],
            id="every 30m is elapsed time in a gap",
        ),
    ],
)
def test_rhythms_within_a_day(zone: str, schedule: AnySchedule, after: str, expected: list[str]) -> None:
    assert fires(schedule, zone, after, len(expected)) == expected


def test_a_rule_made_in_the_second_pass_waits_for_tomorrow() -> None:
    created = utc("2026-11-01T06:30")  # the second 1:30
    rule = Rrule("FREQ=DAILY", "America/Toronto", created)
    assert rule.next_after(created, ZoneInfo("UTC")) == utc("2026-11-02T06:30")


def test_an_end_in_utc_separates_the_two_passes_of_a_fold() -> None:
    quarter = "DTSTART:20261101T000000\nRRULE:FREQ=MINUTELY;INTERVAL=15;UNTIL=20261101T05{minute}00Z"
    for minute, last in (("30", "2026-11-01T05:30"), ("44", "2026-11-01T05:30"), ("45", "2026-11-01T05:45")):
        rule = Rrule(quarter.format(minute=minute), "America/Toronto", LONG_AGO)
        assert rule.next_after(utc(last), ZoneInfo("UTC")) is None
        assert rule.next_after(Instant(utc(last) - 1), ZoneInfo("UTC")) == utc(last)
