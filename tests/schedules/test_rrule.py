"""RFC 5545 text: what is read, what it means, and what is refused when it is made."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import DAY, HOUR, Instant, parse_rfc3339, rfc3339
from nudge.schedules import Rrule, occurrences
from nudge.schedules.rule_text import LONGEST_TEXT, MOST_DATES

TORONTO = ZoneInfo("America/Toronto")
CREATED = parse_rfc3339("2026-02-20T10:23:45-05:00")  # a Friday
FOR_EVER = parse_rfc3339("2100-01-01T00:00:00Z")


def rule(text: str, created: Instant = CREATED, tz: str | None = "America/Toronto") -> Rrule:
    return Rrule(text, tz, created)


def local(schedule: Rrule, count: int, after: Instant = CREATED) -> list[str]:
    """The next times in Toronto, `MM-DD HH:MM:SS`, with the year where it is another one."""
    found = occurrences(schedule, after, FOR_EVER, count, TORONTO)
    return [rfc3339(instant, TORONTO)[:19].replace("T", " ").removeprefix("2026-") for instant in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("FREQ=DAILY", ["02-21 10:23:45", "02-22 10:23:45"], id="the time of day is the creation's"),
        pytest.param(
            "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR",
            ["02-23 10:23:45", "02-24 10:23:45"],
            id="weekdays without an hour keep the creation's time",
        ),
        pytest.param(
            "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0",
            ["02-23 09:00:00", "02-24 09:00:00"],
            id="with an hour and a minute the seconds are zero",
        ),
        pytest.param("FREQ=DAILY;BYHOUR=9", ["02-21 09:00:00"], id="an hour alone is sharp"),
        pytest.param("FREQ=DAILY;BYMINUTE=5", ["02-21 10:05:00"], id="a minute alone keeps the hour"),
        pytest.param("FREQ=HOURLY", ["02-20 11:23:45", "02-20 12:23:45"], id="hourly keeps the minute"),
        pytest.param("FREQ=HOURLY;BYHOUR=10,11", ["02-20 11:00:00", "02-21 10:00:00"], id="hourly at hours is sharp"),
        pytest.param("FREQ=HOURLY;BYMINUTE=0,30", ["02-20 10:30:00", "02-20 11:00:00"], id="hourly at minutes"),
        pytest.param("FREQ=MINUTELY;INTERVAL=30", ["02-20 10:53:45", "02-20 11:23:45"], id="every 30 minutes"),
        pytest.param(
            "FREQ=MINUTELY;INTERVAL=50;BYHOUR=9,10,11;BYDAY=MO,FR",
            ["02-20 11:13:00", "02-23 09:13:00"],
            id="steps that do not divide the day, in part of some days",
        ),
        pytest.param(
            "FREQ=HOURLY;INTERVAL=48;BYDAY=MO",
            ["03-02 10:23:45", "03-16 10:23:45"],
            id="every 48 hours, on Mondays",
        ),
        pytest.param("FREQ=SECONDLY", ["02-20 10:23:46", "02-20 10:23:47"], id="every second"),
        pytest.param("FREQ=WEEKLY", ["02-27 10:23:45", "03-06 10:23:45"], id="weekly keeps the weekday"),
        pytest.param(
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=8",
            ["03-02 08:00:00", "03-06 08:00:00", "03-16 08:00:00"],
            id="every other week counts weeks, not days",
        ),
        pytest.param(
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,FR;WKST=SU;BYHOUR=8",
            ["03-01 08:00:00", "03-06 08:00:00", "03-15 08:00:00"],
            id="with weeks from Sunday",
        ),
        pytest.param("FREQ=MONTHLY", ["03-20 10:23:45"], id="monthly keeps the day"),
        pytest.param(
            "FREQ=MONTHLY;BYMONTHDAY=31;BYHOUR=9", ["03-31 09:00:00", "05-31 09:00:00"], id="short months are left out"
        ),
        pytest.param("FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9", ["02-28 09:00:00", "03-31 09:00:00"], id="the last day"),
        pytest.param("FREQ=MONTHLY;BYDAY=2TU;BYHOUR=10", ["03-10 10:00:00", "04-14 10:00:00"], id="the 2nd Tuesday"),
        pytest.param(
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17",
            ["02-27 17:00:00", "03-31 17:00:00"],
            id="the last working day",
        ),
        pytest.param("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;BYHOUR=0", ["03-13 00:00:00", "11-13 00:00:00"], id="Fri 13"),
        pytest.param("FREQ=YEARLY", ["2027-02-20 10:23:45"], id="yearly keeps the date"),
        pytest.param("FREQ=YEARLY;BYMONTH=5;BYHOUR=9", ["05-20 09:00:00"], id="in May on the creation's day"),
        pytest.param("FREQ=YEARLY;BYDAY=20MO;BYHOUR=9", ["05-18 09:00:00"], id="the 20th Monday of the year"),
        pytest.param("FREQ=YEARLY;BYYEARDAY=-1;BYHOUR=9", ["12-31 09:00:00"], id="the last day of the year"),
        pytest.param("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;BYHOUR=9", ["05-11 09:00:00"], id="Monday of week 20"),
        pytest.param(
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=9",
            ["2028-02-29 09:00:00", "2032-02-29 09:00:00"],
            id="29 February",
        ),
        pytest.param(
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=9",
            ["2044-02-29 09:00:00", "2072-02-29 09:00:00"],
            id="29 February on a Monday",
        ),
        pytest.param(
            "FREQ=MINUTELY;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29",
            ["2028-02-29 03:00:00", "2028-02-29 03:01:00"],
            id="every minute of an hour that comes every four years",
        ),
        pytest.param("rrule:freq=daily;byhour=9", ["02-21 09:00:00"], id="lower case and a prefix"),
        pytest.param(
            "RRULE:FREQ=WEEKLY; BYDAY=MO,\n WE; BYHOUR=9;", ["02-23 09:00:00"], id="white space means nothing"
        ),
    ],
)
def test_rules_from_their_creation(text: str, expected: list[str]) -> None:
    assert local(rule(text), len(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "DTSTART:20260301T090000\nRRULE:FREQ=DAILY",
            ["03-01 09:00:00", "03-02 09:00:00"],
            id="a start in the future is the first time",
        ),
        pytest.param(
            "RRULE:FREQ=DAILY\nDTSTART;TZID=Europe/London:20260101T090000",
            ["02-21 04:00:00", "02-22 04:00:00"],
            id="the start's zone is the rule's zone",
        ),
        pytest.param(
            "DTSTART:20260101T140000Z RRULE:FREQ=DAILY;BYDAY=SU",
            ["02-22 09:00:00", "03-01 09:00:00", "03-08 10:00:00"],
            id="a start in UTC is a rule in UTC",
        ),
        pytest.param("DTSTART;VALUE=DATE:20260225\nRRULE:FREQ=DAILY", ["02-25 00:00:00"], id="a start without a time"),
        pytest.param(
            "DTSTART:19000101T073000\nRRULE:FREQ=DAILY;INTERVAL=3",
            ["02-23 07:30:00", "02-26 07:30:00"],
            id="an old start keeps its grid",
        ),
        pytest.param(
            "DTSTART:20260220T110000\nRRULE:FREQ=DAILY;COUNT=2",
            ["02-20 11:00:00", "02-21 11:00:00"],
            id="a count is from the start",
        ),
        pytest.param(
            "DTSTART:20260218T110000\nRRULE:FREQ=DAILY;COUNT=4",
            ["02-20 11:00:00", "02-21 11:00:00"],
            id="also a past one",
        ),
        pytest.param(
            "DTSTART:20260220T120000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=20,21;BYHOUR=9,15;COUNT=3\nRDATE:20260401T000000",
            ["02-20 15:00:00", "02-21 09:00:00", "02-21 15:00:00", "04-01 00:00:00"],
            id="a count from the middle of a day",
        ),
        pytest.param(
            "DTSTART:20260220T080000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,SA;WKST=SU;COUNT=3\nRDATE:20260501T000000",
            ["02-21 08:00:00", "03-06 08:00:00", "05-01 00:00:00"],
            id="a count of weeks from Sunday",
        ),
        pytest.param(
            "DTSTART:20260220T103000\nRRULE:FREQ=HOURLY;BYHOUR=10,11;BYMINUTE=0,45;COUNT=3\nRDATE:20260401T000000",
            ["02-20 10:45:00", "02-20 11:00:00", "02-20 11:45:00", "04-01 00:00:00"],
            id="a count from the middle of an hour",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;UNTIL=20260222",
            ["02-20 11:00:00", "02-21 11:00:00", "02-22 11:00:00"],
            id="an end without a time holds its whole day",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;UNTIL=20260221T110000",
            ["02-20 11:00:00", "02-21 11:00:00"],
            id="a local end is included",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;UNTIL=20260221T105959", ["02-20 11:00:00"], id="or just missed"
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;UNTIL=20260221T160000Z",
            ["02-20 11:00:00", "02-21 11:00:00"],
            id="an end in UTC with a local start",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;UNTIL=20260221T155959Z",
            ["02-20 11:00:00"],
            id="or a second before",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY;COUNT=3;UNTIL=20300101",
            [],
            id="of a count and an end, the first",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY\nEXDATE:20260220T110000,20260222T110000",
            ["02-21 11:00:00", "02-23 11:00:00"],
            id="exceptions",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=DAILY\nEXDATE:20260220T160000Z\nEXDATE;TZID=Europe/London:20260221T160000",
            ["02-22 11:00:00"],
            id="exceptions in other zones",
        ),
        pytest.param(
            "DTSTART:20260201T000000\nRRULE:FREQ=SECONDLY\nEXDATE;VALUE=DATE:20260220,20260221",
            ["02-22 00:00:00"],
            id="whole days as exceptions, also of every second",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=WEEKLY\nRDATE:20260220T120000,20260301T110000",
            ["02-20 12:00:00", "02-22 11:00:00", "03-01 11:00:00", "03-08 11:00:00"],
            id="extra dates, and one that is there anyway",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=WEEKLY;COUNT=1\nRDATE;VALUE=DATE:20260305",
            ["03-05 11:00:00"],
            id="an extra day has the start's time and is not counted",
        ),
        pytest.param(
            "DTSTART:20260201T110000\nRRULE:FREQ=WEEKLY\nRDATE:20260220T120000\nEXDATE:20260220T120000",
            ["02-22 11:00:00"],
            id="an exception goes before an extra date",
        ),
        pytest.param(
            "DTSTART:20260218T110000\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=3",
            ["02-20 11:00:00", "02-27 11:00:00"],
            id="a position counts from the start of the week, not of the rule",
        ),
        pytest.param(
            "DTSTART:20260220T110000\nRRULE:FREQ=DAILY;UNTIL=99991231T235959Z",
            ["02-20 11:00:00"],
            id="an end that is none",
        ),
    ],
)
def test_starts_ends_and_dates(text: str, expected: list[str]) -> None:
    assert local(rule(text), max(len(expected), 1)) == expected


WEEK_52_OF_2021 = ["2021-12-27", "2021-12-28", "2021-12-29", "2021-12-30", "2021-12-31", "2022-01-01", "2022-01-02"]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param("BYWEEKNO=52", WEEK_52_OF_2021, id="a week goes on in the next year"),
        pytest.param("BYWEEKNO=53", ["2026-12-28", "2026-12-29"], id="a year of 52 weeks has no week 53"),
        pytest.param("BYWEEKNO=-1", WEEK_52_OF_2021, id="the last week is the 52nd"),
        pytest.param("BYWEEKNO=52;BYSETPOS=1", ["2021-12-27", "2022-01-01", "2023-01-01"], id="the first in a year"),
        pytest.param("BYWEEKNO=52;BYSETPOS=-1", ["2021-12-31", "2022-12-31", "2023-12-31"], id="the last in a year"),
        pytest.param("BYWEEKNO=1;BYSETPOS=1", ["2022-01-03", "2023-01-02", "2024-01-01"], id="the first of week 1"),
        pytest.param("BYWEEKNO=52;INTERVAL=2", [*WEEK_52_OF_2021[:5], "2023-01-01"], id="every other year"),
    ],
)
def test_weeks_of_a_year_by_rfc_5545(parts: str, expected: list[str]) -> None:
    """A week has the number that its year gives it, also for its days beyond that year. `BYSETPOS` and `INTERVAL` count
    calendar years: "one interval of the recurrence rule", and the rule says YEARLY."""
    text = f"DTSTART:20211101T090000\nRRULE:FREQ=YEARLY;{parts}"
    found = occurrences(rule(text), Instant(0), FOR_EVER, len(expected), TORONTO)
    assert [rfc3339(instant, TORONTO)[:10] for instant in found] == expected


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        pytest.param("FREQ=DAILY;COUNT=3", 3, id="the creation itself is not one of them"),
        pytest.param("FREQ=DAILY;BYHOUR=10;COUNT=3", 3, id="nor is a time just before it"),
        pytest.param("FREQ=DAILY;BYHOUR=23;COUNT=3", 3, id="a later time today is"),
        pytest.param("FREQ=MINUTELY;INTERVAL=30;COUNT=1", 1, id="once"),
        pytest.param("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=14", 14, id="by position"),
        pytest.param("FREQ=HOURLY;BYHOUR=9,10,11;COUNT=5", 5, id="hours"),
    ],
)
def test_a_count_without_a_start_is_how_often_it_fires(text: str, fires: int) -> None:
    assert len(local(rule(text), 100)) == fires


@pytest.mark.parametrize(
    ("text", "last"),
    [
        pytest.param(
            "DTSTART:20000101T000000\nRRULE:FREQ=MINUTELY;COUNT=13800000", "03-28 07:59:00", id="minutes of 26 years"
        ),
        pytest.param(
            "DTSTART:20000103T090000\nRRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=6830", "03-06 09:00:00", id="weekdays"
        ),
        pytest.param(
            "DTSTART:20000103T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;COUNT=684",
            "03-09 09:00:00",
            id="fortnights",
        ),
        pytest.param(
            "DTSTART:20000131T090000\nRRULE:FREQ=MONTHLY;COUNT=185", "05-31 09:00:00", id="months with a 31st"
        ),
    ],
)
def test_a_large_count_from_an_old_start(text: str, last: str) -> None:
    schedule = rule(text, tz="UTC")
    (before,) = occurrences(schedule, Instant(parse_rfc3339(f"2026-{last.replace(' ', 'T')}Z") - 1), FOR_EVER, 5)
    assert rfc3339(before) == f"2026-{last.replace(' ', 'T')}+00:00"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=9;COUNT=400", "2028-02-29 09:00:00", id="leap days"),
        pytest.param("FREQ=YEARLY;BYDAY=MO;BYSETPOS=53;BYHOUR=9;COUNT=5", "2029-12-31 09:00:00", id="53rd Mondays"),
        pytest.param(
            "FREQ=HOURLY;BYHOUR=9;BYMONTH=2;BYMONTHDAY=29;COUNT=400", "2028-02-29 09:00:00", id="hours of them"
        ),
        pytest.param("FREQ=YEARLY;COUNT=400;BYHOUR=9", "2027-02-20 09:00:00", id="four hundred years"),
    ],
)
def test_a_count_that_outlives_everybody(text: str, first: str) -> None:
    assert local(rule(text), 1) == [first]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "no RRULE", id="nothing"),
        pytest.param("every day", "NAME=VALUE", id="words"),
        pytest.param("BYHOUR=9", "no FREQ", id="no frequency"),
        pytest.param("FREQ=FORTNIGHTLY", "not one of YEARLY", id="an unknown frequency"),
        pytest.param("FREQ=DAILY;INTERVAL=0", "INTERVAL=0", id="an interval of nothing"),
        pytest.param("FREQ=DAILY;INTERVAL=-1", "INTERVAL=-1", id="a negative interval"),
        pytest.param("FREQ=DAILY;INTERVAL=1.5", "INTERVAL=1.5", id="half an interval"),
        pytest.param("FREQ=SECONDLY;INTERVAL=1000000000000", "longer than", id="an interval beyond the calendar"),
        pytest.param("FREQ=YEARLY;INTERVAL=401", "400 years", id="every 401 years"),
        pytest.param("FREQ=DAILY;COUNT=0", "COUNT=0", id="a count of nothing"),
        pytest.param("FREQ=DAILY;BYHOUR=24", "BYHOUR=24", id="hour 24"),
        pytest.param("FREQ=DAILY;BYSECOND=60", "BYSECOND=60", id="a leap second"),
        pytest.param("FREQ=DAILY;BYHOUR=9;BYHOUR=10", "twice", id="a part twice"),
        pytest.param("FREQ=DAILY;BYHOUR=9,", "BYHOUR=", id="a value missing"),
        pytest.param("FREQ=DAILY;BYHOUR=", "NAME=VALUE", id="no value"),
        pytest.param("FREQ=DAILY;BYHOUR=٣", "BYHOUR=٣", id="digits of another script"),
        pytest.param("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY=0", id="day 0"),
        pytest.param("FREQ=MONTHLY;BYDAY=0MO", "0MO", id="the 0th Monday"),
        pytest.param("FREQ=MONTHLY;BYDAY=XX", "not a weekday", id="not a weekday"),
        pytest.param("FREQ=WEEKLY;BYDAY=2TU", "FREQ=MONTHLY", id="the 2nd Tuesday of a week"),
        pytest.param("FREQ=WEEKLY;BYMONTHDAY=13", "RFC 5545", id="month days of weeks"),
        pytest.param("FREQ=DAILY;BYYEARDAY=100", "RFC 5545", id="year days of days"),
        pytest.param("FREQ=MONTHLY;BYWEEKNO=20", "RFC 5545", id="weeks of months"),
        pytest.param("FREQ=YEARLY;BYEASTER=0", "RDATE", id="Easter"),
        pytest.param("FREQ=DAILY;X-MINE=1", "X-MINE", id="an unknown part"),
        pytest.param("FREQ=DAILY;WKST=FUNDAY", "WKST", id="weeks from no weekday"),
        pytest.param("FREQ=DAILY;UNTIL=tomorrow", "not a date", id="an end in words"),
        pytest.param("FREQ=DAILY;UNTIL=20260230", "not a date", id="an end on 30 February"),
        pytest.param("RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "more than one RRULE", id="two rules"),
        pytest.param("RRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY", "EXRULE", id="a rule of exceptions"),
        pytest.param("DTSTART:20260101T090000", "no RRULE", id="a start alone"),
        pytest.param("DTSTART:20260101,20260102\nRRULE:FREQ=DAILY", "more than one time", id="two starts in a line"),
        pytest.param("DTSTART:20260101\nDTSTART:20260102\nRRULE:FREQ=DAILY", "more than one DTSTART", id="two starts"),
        pytest.param("DTSTART:18990101T000000\nRRULE:FREQ=DAILY", "1900", id="a start before 1900"),
        pytest.param("DTSTART:99990101T000000\nRRULE:FREQ=DAILY", "2999", id="a start at the end of the calendar"),
        pytest.param("DTSTART;TZID=Mars/Olympus:20260101\nRRULE:FREQ=DAILY", "time zone", id="a zone that is none"),
        pytest.param("DTSTART;VALUE=PERIOD:20260101\nRRULE:FREQ=DAILY", "not supported", id="periods"),
        pytest.param("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never fires", id="30 February"),
        pytest.param("FREQ=MONTHLY;BYMONTH=4,6;BYMONTHDAY=31", "never fires", id="31 April"),
        pytest.param("FREQ=MONTHLY;BYDAY=1MO;BYMONTHDAY=8", "never fires", id="a first Monday on the 8th"),
        pytest.param("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", "never fires", id="a sixth Monday"),
        pytest.param("FREQ=DAILY;BYSETPOS=2", "never fires", id="the second of one"),
        pytest.param("FREQ=DAILY;INTERVAL=7;BYDAY=MO", "never fires", id="every seventh day from a Friday, on Mondays"),
        pytest.param("FREQ=HOURLY;INTERVAL=2;BYHOUR=9", "never fires", id="even hours, at nine"),
        pytest.param("FREQ=MINUTELY;INTERVAL=30;BYMINUTE=0", "never fires", id="23 and 53 past, on the hour"),
        pytest.param("FREQ=DAILY;UNTIL=20200101", "never fires", id="an end before the start"),
        pytest.param("DTSTART:20260101T09\nRRULE:FREQ=DAILY", "not a date", id="a start cut short"),
        pytest.param(
            "DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=1\nEXDATE:20260101T090000",
            "never fires",
            id="all excepted",
        ),
        pytest.param(
            "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=3;BYMINUTE=0;BYSECOND=0", "too rarely", id="a second a day, in a drift"
        ),
        pytest.param("FREQ=HOURLY;INTERVAL=61;BYHOUR=23;BYMONTHDAY=1", "too rarely", id="a drift through the month"),
        pytest.param("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;COUNT=100000", "COUNT", id="a count beyond counting"),
        pytest.param("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1;COUNT=5000", "COUNT", id="a count of positions beyond counting"),
        pytest.param("FREQ=MINUTELY;BYHOUR=3;BYDAY=MO;COUNT=50000", "COUNT", id="a count of minutes beyond counting"),
        pytest.param("RRULE:FREQ=DAILY\nRDATE:18000101", "1900", id="an extra date before 1900"),
        pytest.param("FREQ=DAILY;BYHOUR=" + ",".join(["9"] * 9000), "longer than", id="a text without end"),
        pytest.param(
            "RRULE:FREQ=DAILY\nEXDATE:" + ",".join(["20260101T000000"] * (MOST_DATES + 1)), "250 dates", id="many dates"
        ),
    ],
)
def test_what_is_refused_says_why_and_what_to_do(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        rule(text)
    assert caught.value.next_step


def test_thousands_of_values_are_a_set() -> None:
    hours = ",".join(str(hour) for hour in [9, 17] * 1400)
    text = f"FREQ=DAILY;BYHOUR={hours}"
    assert 5_000 < len(text) < LONGEST_TEXT
    assert local(rule(text), 2) == ["02-20 17:00:00", "02-21 09:00:00"]


def test_all_seconds_of_all_days_are_not_written_out() -> None:
    every = ";".join(
        f"{name}={','.join(map(str, range(size)))}"
        for name, size in (("BYHOUR", 24), ("BYMINUTE", 60), ("BYSECOND", 60))
    )
    assert local(rule(f"FREQ=DAILY;{every}"), 2) == ["02-20 10:23:46", "02-20 10:23:47"]
    assert local(rule(f"FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1;{every};BYSETPOS=-1"), 1) == ["03-01 23:59:59"]


def test_a_rule_without_a_zone_takes_the_one_of_the_question() -> None:
    nine = rule("FREQ=DAILY;BYHOUR=9", tz=None)
    assert rfc3339(nine.next_after(CREATED, TORONTO) or Instant(0)) == "2026-02-21T14:00:00+00:00"
    assert rfc3339(nine.next_after(CREATED, ZoneInfo("UTC")) or Instant(0)) == "2026-02-21T09:00:00+00:00"


def test_nothing_lies_beyond_the_calendar() -> None:
    daily = rule("FREQ=DAILY")
    assert daily.next_after(Instant(10**18), TORONTO) is None
    assert daily.next_after(Instant(-(10**18)), TORONTO) == CREATED
    assert daily.next_after(parse_rfc3339("9998-12-31T23:00:00Z"), TORONTO) is None


def test_the_next_time_is_strictly_after() -> None:
    nine = rule("FREQ=DAILY;BYHOUR=9")
    first = nine.next_after(CREATED, TORONTO)
    assert first is not None
    assert nine.next_after(Instant(first - 1), TORONTO) == first
    assert nine.next_after(first, TORONTO) == first + DAY
    assert nine.next_after(Instant(first + 1), TORONTO) == first + DAY
    assert first - CREATED < DAY - HOUR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FREQ=DAILY", "RRULE(daily)"),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "RRULE(daily on weekdays)"),
        ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0", "RRULE(daily on weekdays at 09:00)"),
        ("FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=9,21", "RRULE(weekly on weekends at 09:00, 21:00)"),
        (
            "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10,11;BYMINUTE=0,10,20,30,40,50;BYSECOND=0;BYSETPOS=1,5,9,13,17",
            "RRULE(daily on weekdays every 40 min from 09:00 to 11:40)",
        ),
        ("FREQ=DAILY;BYHOUR=7,19;BYMINUTE=30,45;BYSECOND=0;BYSETPOS=1,4", "RRULE(daily at 07:30, 19:45)"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "RRULE(every 2 weeks on Mon)"),
        ("FREQ=MONTHLY;BYDAY=2TU;BYHOUR=10;BYMINUTE=30", "RRULE(monthly on the 2nd Tue at 10:30)"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "RRULE(monthly on the last Fri)"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "RRULE(monthly on weekdays (last))"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15,-1", "RRULE(monthly on the last day, 1st, 15th)"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "RRULE(yearly on the 29th in Feb)"),
        ("FREQ=YEARLY;BYYEARDAY=100,-2", "RRULE(yearly on the 2nd last, 100th day of the year)"),
        ("FREQ=YEARLY;BYWEEKNO=20", "RRULE(yearly in week 20)"),
        ("FREQ=MINUTELY;INTERVAL=30;BYHOUR=9,10", "RRULE(every 30 minutes in hour 9, 10)"),
        ("FREQ=HOURLY;BYMINUTE=15;BYSECOND=30", "RRULE(hourly at minute 15 at second 30)"),
        ("FREQ=MINUTELY", "RRULE(every minute)"),
        ("FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9", "RRULE(daily in hour 1, 2, 3, 4, 5, 6, …)"),
        ("FREQ=DAILY;COUNT=1;UNTIL=20270101", "RRULE(daily, 1 time, until 2027-01-01)"),
        ("FREQ=DAILY;UNTIL=20270101T120000Z", "RRULE(daily, until 2027-01-01 12:00 UTC)"),
        (
            "RRULE:FREQ=DAILY;COUNT=9\nEXDATE:20260301\nRDATE:20260401,20260402",
            "RRULE(daily, 9 times, without 1 date, plus 2 dates)",
        ),
    ],
)
def test_rules_in_words(text: str, expected: str) -> None:
    assert rule(text).describe() == expected


def test_refusals_are_schedule_errors() -> None:
    with pytest.raises(InvalidScheduleError):
        rule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")
