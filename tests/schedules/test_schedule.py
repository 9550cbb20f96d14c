from __future__ import annotations

import doctest
import inspect
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidScheduleError, NaiveDatetimeError, UsageError
from nudge.instants import DAY, as_instant
from nudge.schedules import WAYS, At, Schedule, occurrences, schedule

TORONTO = ZoneInfo("America/Toronto")
NOW = datetime(2026, 2, 20, 10, 0, tzinfo=TORONTO)  # a Friday


@pytest.mark.parametrize(
    ("given", "kind", "words", "expected"),
    [
        pytest.param(
            {"at": "2026-02-20T15:00:00-05:00"},
            "at",
            "at 2026-02-20 15:00 America/Toronto",
            "2026-02-20T15:00:00-05:00",
            id="at a text",
        ),
        pytest.param(
            {"at": datetime(2026, 2, 20, 20, 0, tzinfo=UTC)},
            "at",
            "at 2026-02-20 15:00 America/Toronto",
            "2026-02-20T15:00:00-05:00",
            id="at a datetime of another zone",
        ),
        pytest.param(
            {"in_": "2h"},
            "at",
            "at 2026-02-20 12:00 America/Toronto",
            "2026-02-20T12:00:00-05:00",
            id="in is stored as at",
        ),
        pytest.param(
            {"in_": timedelta(minutes=5)},
            "at",
            "at 2026-02-20 10:05 America/Toronto",
            "2026-02-20T10:05:00-05:00",
            id="in a timedelta",
        ),
        pytest.param({"every": "30m"}, "every", "every 30m", "2026-02-20T10:30:00-05:00", id="every"),
        pytest.param(
            {"every": "30m", "count": 2}, "every", "every 30m, 2 times", "2026-02-20T10:30:00-05:00", id="every, twice"
        ),
        pytest.param(
            {"rrule": "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"},
            "rrule",
            "RRULE(daily on weekdays at 09:00)",
            "2026-02-23T09:00:00-05:00",
            id="rrule",
        ),
        pytest.param(
            {"rrule": "FREQ=DAILY", "count": 3, "until": "2026-03-01T00:00:00Z"},
            "rrule",
            "RRULE(daily, 3 times, until 2026-03-01 00:00 UTC)",
            "2026-02-21T10:00:00-05:00",
            id="rrule with limits from outside",
        ),
        pytest.param(
            {"rrule": "DTSTART;TZID=Europe/London:20200101T090000\nRRULE:FREQ=DAILY"},
            "rrule",
            "RRULE(daily)",
            "2026-02-21T09:00:00+00:00",
            id="rrule in a zone of its own",
        ),
        pytest.param(
            {"cron": "*/15 9-17 * * 1-5"}, "cron", "cron */15 9-17 * * 1-5", "2026-02-20T10:15:00-05:00", id="cron"
        ),
        pytest.param({"idle": "5m"}, "idle", "idle 5m", "2026-02-20T10:05:00-05:00", id="idle"),
    ],
)
def test_every_kind(given: dict[str, Any], kind: str, words: str, expected: str) -> None:
    made = Schedule.parse(**given, tz="America/Toronto", now=NOW)
    assert made.kind == kind
    assert made.describe() == words
    found = made.next_after(NOW)
    assert found is not None
    assert found.isoformat() == expected
    assert Schedule.from_json(made.to_json()) == made
    assert made.next_after(as_instant(NOW)) == found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({}, "No schedule given", id="no kind"),
        pytest.param({"every": "30m", "cron": "* * * * *"}, "every and cron", id="two kinds"),
        pytest.param({"at": NOW, "count": 2}, "does not recur", id="a count of once"),
        pytest.param({"idle": "5m", "until": NOW}, "does not recur", id="an end of idleness"),
        pytest.param({"in_": timedelta(0), "now": NOW}, "not in the future", id="in no time"),
        pytest.param({"in_": timedelta(hours=-1), "now": NOW}, "-1h from now", id="in less than no time"),
        pytest.param({"in_": "0s", "now": NOW}, "is zero", id="in no time, in words"),
        pytest.param({"every": timedelta(0), "now": NOW}, "1 second", id="every no time"),
        pytest.param({"idle": timedelta(0)}, "1 second", id="idle for no time"),
        pytest.param({"in_": 5, "now": NOW}, "5 is not a duration", id="a number for a duration"),
        pytest.param({"cron": 5}, "5 is not a cron expression", id="a number for cron"),
        pytest.param({"rrule": 5}, "5 is not a recurrence rule", id="a number for a rule"),
        pytest.param({"at": timedelta(1)}, "a duration, not a time", id="a duration for a time"),
        pytest.param({"every": "30m", "tz": UTC, "now": NOW}, "is not a time zone", id="an offset for a zone"),
        pytest.param({"every": "30m"}, "Pass now", id="every without now"),
        pytest.param({"in_": "30m"}, "Pass now", id="in without now"),
        pytest.param({"cron": "0 9 * * *", "count": 2}, "Pass now", id="a count of cron without now"),
        pytest.param({"rrule": "FREQ=DAILY"}, "Pass now", id="a rule without a time, without now"),
        pytest.param({"rrule": "FREQ=WEEKLY;BYHOUR=9"}, "Pass now", id="a rule without a day, without now"),
        pytest.param({"rrule": "FREQ=DAILY;INTERVAL=2;BYHOUR=9"}, "Pass now", id="every other day, without now"),
        pytest.param({"rrule": "FREQ=DAILY;BYHOUR=9;COUNT=2"}, "Pass now", id="a count of a rule, without now"),
        pytest.param({"rrule": "FREQ=HOURLY"}, "Pass now", id="hourly at no minute, without now"),
        pytest.param({"rrule": "FREQ=DAILY;COUNT=2", "count": 3, "now": NOW}, "already has COUNT=2", id="two counts"),
        pytest.param({"every": "30m", "now": NOW, "count": 0}, "count of 0", id="a count of nothing"),
        pytest.param({"at": "tomorrow"}, "not a time", id="words"),
        pytest.param({"at": "2026-02-20T15:00:00"}, "time zone", id="a text without an offset"),
        pytest.param({"every": "sometimes", "now": NOW}, "not a duration", id="no duration"),
        pytest.param({"idle": "5m", "tz": "Mars/Olympus"}, "Mars/Olympus", id="no zone"),
        pytest.param({"rrule": "FREQ=DAILY;UNTIL=20260101", "now": NOW}, "never fires", id="an end that is past"),
        pytest.param(
            {"rrule": "DTSTART:20200101T090000\nRRULE:FREQ=DAILY;COUNT=3", "now": NOW},
            "never fires again",
            id="a series that is past",
        ),
        pytest.param(
            {"cron": "0 9 * * *", "until": "2026-02-20T15:30:00Z", "now": NOW}, "never fires", id="a cron that is past"
        ),
    ],
)
def test_what_is_refused_says_what_to_do(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Schedule.parse(**given)


@pytest.mark.parametrize(
    ("rrule", "expected"),
    [
        pytest.param("FREQ=DAILY;BYHOUR=9", "2026-02-21T09:00:00-05:00", id="daily at nine"),
        pytest.param("FREQ=HOURLY;BYMINUTE=30", "2026-02-20T10:30:00-05:00", id="hourly at half past"),
        pytest.param("FREQ=MINUTELY;BYHOUR=10", "2026-02-20T10:01:00-05:00", id="every minute of an hour"),
        pytest.param("FREQ=SECONDLY", "2026-02-20T10:00:01-05:00", id="every second"),
        pytest.param("FREQ=MONTHLY;BYDAY=2TU;BYHOUR=9", "2026-03-10T09:00:00-04:00", id="the 2nd Tuesday"),
    ],
)
def test_a_rule_that_says_everything_needs_no_now(rrule: str, expected: str) -> None:
    found = Schedule.parse(rrule=rrule, tz="America/Toronto").next_after(NOW)
    assert found is not None
    assert found.isoformat() == expected


def test_a_time_in_the_past_is_kept_for_whoever_fires_it_at_once() -> None:
    made = Schedule.parse(at="2020-01-01T00:00:00Z", now=NOW)
    assert made.spec == At(as_instant(datetime(2020, 1, 1, tzinfo=UTC)), "UTC")
    assert made.next_after(NOW) is None


@pytest.mark.parametrize("given", [{"every": "1h"}, {"cron": "0 9 * * *"}, {"in_": "1h"}, {"rrule": "FREQ=DAILY"}])
def test_a_zone_is_a_name_or_the_zone_itself(given: dict[str, Any]) -> None:
    by_name = Schedule.parse(**given, tz="America/Toronto", now=NOW)
    by_zone = Schedule.parse(**given, tz=TORONTO, now=NOW)
    assert by_name == by_zone
    assert by_zone.tz == "America/Toronto"
    assert Schedule(by_name.spec, TORONTO) == by_name  # type: ignore[arg-type]
    for where in (TORONTO, "America/Toronto"):
        assert occurrences(by_name.spec, as_instant(NOW), as_instant(NOW) + 2 * DAY, 1, where)


def test_every_way_to_write_a_schedule_is_a_keyword_with_help() -> None:
    keywords = inspect.signature(Schedule.parse).parameters
    for way in WAYS.values():
        assert way.help
        assert way.metavar
        assert way.name in keywords or f"{way.name}_" in keywords
        assert way.kind.kind in {"at", "every", "rrule", "cron", "idle"}


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError):
        Schedule.parse(idle="5m").next_after(datetime(2026, 2, 20))
    with pytest.raises(NaiveDatetimeError):
        Schedule.parse(every="5m", now=datetime(2026, 2, 20))


def test_the_zone_survives_json_where_the_kind_has_none() -> None:
    data = Schedule.parse(every="1h", tz="America/Toronto", now=NOW).to_json()
    assert data["tz"] == "America/Toronto"
    found = Schedule.from_json(data).next_after(NOW)
    assert found is not None
    assert found.tzinfo is TORONTO
    with pytest.raises(InvalidScheduleError, match="'tz'"):
        Schedule.from_json(data | {"tz": 5})


def test_the_examples_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "time-schedules.md"
    for results in (doctest.testmod(schedule), doctest.testfile(str(page), module_relative=False)):
        assert results.attempted > 0
        assert results.failed == 0
