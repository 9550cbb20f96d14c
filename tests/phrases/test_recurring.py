"""What people type for something that comes again. It is Wednesday 2026-02-18, 2:00 PM in Toronto."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.instants import HOUR, MINUTE, SECOND, Instant, from_local, to_datetime
from nudge.phrases import understand

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)

MON_FRI = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"

RULES = [
    # phrase, rule, BYHOUR, BYMINUTE, the first time
    ("every day", "FREQ=DAILY", "9", "0", "2026-02-19 09:00"),
    ("every day at 9", "FREQ=DAILY", "9", "0", "2026-02-19 09:00"),
    ("every day at 5pm", "FREQ=DAILY", "17", "0", "2026-02-18 17:00"),
    ("every day at 8 and 20", "FREQ=DAILY", "8,20", "0", "2026-02-18 20:00"),
    ("every day at 7:30 and 19:30", "FREQ=DAILY", "7,19", "30", "2026-02-18 19:30"),
    ("daily at 7:30", "FREQ=DAILY", "7", "30", "2026-02-19 07:30"),
    ("each day at noon", "FREQ=DAILY", "12", "0", "2026-02-19 12:00"),
    ("at 9am every day", "FREQ=DAILY", "9", "0", "2026-02-19 09:00"),
    ("every morning", "FREQ=DAILY", "9", "0", "2026-02-19 09:00"),
    ("every morning at 6:45", "FREQ=DAILY", "6", "45", "2026-02-19 06:45"),
    ("every evening at 8", "FREQ=DAILY", "20", "0", "2026-02-18 20:00"),
    ("every night at 11", "FREQ=DAILY", "23", "0", "2026-02-18 23:00"),
    ("every midnight", "FREQ=DAILY", "0", "0", "2026-02-19 00:00"),
    ("every 3 days at 9am", "FREQ=DAILY;INTERVAL=3", "9", "0", "2026-02-19 09:00"),
    ("every other day", "FREQ=DAILY;INTERVAL=2", "9", "0", "2026-02-19 09:00"),
    ("every second day at 6pm", "FREQ=DAILY;INTERVAL=2", "18", "0", "2026-02-18 18:00"),
    ("every weekday at 9", MON_FRI, "9", "0", "2026-02-19 09:00"),
    ("every weekday", MON_FRI, "9", "0", "2026-02-19 09:00"),
    ("weekdays at 9am", MON_FRI, "9", "0", "2026-02-19 09:00"),
    ("every weekday at 9 and 17", MON_FRI, "9,17", "0", "2026-02-18 17:00"),
    ("mon-fri at 9", MON_FRI, "9", "0", "2026-02-19 09:00"),
    ("monday to friday at 18:00", MON_FRI, "18", "0", "2026-02-18 18:00"),
    ("every weekend at 10am", "FREQ=WEEKLY;BYDAY=SA,SU", "10", "0", "2026-02-21 10:00"),
    ("weekends at 10am", "FREQ=WEEKLY;BYDAY=SA,SU", "10", "0", "2026-02-21 10:00"),
    ("every tuesday", "FREQ=WEEKLY;BYDAY=TU", "9", "0", "2026-02-24 09:00"),
    ("every tuesday at 10", "FREQ=WEEKLY;BYDAY=TU", "10", "0", "2026-02-24 10:00"),
    ("tuesdays at 10am", "FREQ=WEEKLY;BYDAY=TU", "10", "0", "2026-02-24 10:00"),
    ("on mondays", "FREQ=WEEKLY;BYDAY=MO", "9", "0", "2026-02-23 09:00"),
    ("every monday morning", "FREQ=WEEKLY;BYDAY=MO", "9", "0", "2026-02-23 09:00"),
    ("every friday afternoon at 4", "FREQ=WEEKLY;BYDAY=FR", "16", "0", "2026-02-20 16:00"),
    ("mon, wed and fri at 18:00", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "18", "0", "2026-02-18 18:00"),
    ("every tuesday and thursday at 9am", "FREQ=WEEKLY;BYDAY=TU,TH", "9", "0", "2026-02-19 09:00"),
    ("every mon & thu 8am", "FREQ=WEEKLY;BYDAY=MO,TH", "8", "0", "2026-02-19 08:00"),
    ("weekly on monday 9am", "FREQ=WEEKLY;BYDAY=MO", "9", "0", "2026-02-23 09:00"),
    ("every week on friday at 4pm", "FREQ=WEEKLY;BYDAY=FR", "16", "0", "2026-02-20 16:00"),
    ("every other tuesday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "9", "0", "2026-02-24 09:00"),
    ("every other tuesday 10am", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "10", "0", "2026-02-24 10:00"),
    ("every 2 weeks on friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "9", "0", "2026-02-20 09:00"),
    ("every 2nd tuesday 10am", "FREQ=MONTHLY;BYDAY=2TU", "10", "0", "2026-03-10 10:00"),
    ("every 2nd tuesday of the month at 10am", "FREQ=MONTHLY;BYDAY=2TU", "10", "0", "2026-03-10 10:00"),
    ("every second tuesday of the month", "FREQ=MONTHLY;BYDAY=2TU", "9", "0", "2026-03-10 09:00"),
    ("every first monday at 9", "FREQ=MONTHLY;BYDAY=1MO", "9", "0", "2026-03-02 09:00"),
    ("the first monday of each month", "FREQ=MONTHLY;BYDAY=1MO", "9", "0", "2026-03-02 09:00"),
    ("monthly on the first monday", "FREQ=MONTHLY;BYDAY=1MO", "9", "0", "2026-03-02 09:00"),
    ("every last friday of the month at 4pm", "FREQ=MONTHLY;BYDAY=-1FR", "16", "0", "2026-02-27 16:00"),
    ("last friday of every month", "FREQ=MONTHLY;BYDAY=-1FR", "9", "0", "2026-02-27 09:00"),
    ("on the 1st of each month", "FREQ=MONTHLY;BYMONTHDAY=1", "9", "0", "2026-03-01 09:00"),
    ("the 1st of every month at 8am", "FREQ=MONTHLY;BYMONTHDAY=1", "8", "0", "2026-03-01 08:00"),
    ("every month on the 15th", "FREQ=MONTHLY;BYMONTHDAY=15", "9", "0", "2026-03-15 09:00"),
    ("monthly on the 1st and 15th at noon", "FREQ=MONTHLY;BYMONTHDAY=1,15", "12", "0", "2026-03-01 12:00"),
    ("every 15th at 10am", "FREQ=MONTHLY;BYMONTHDAY=15", "10", "0", "2026-03-15 10:00"),
    ("every 3 months on the 1st", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1", "9", "0", "2026-03-01 09:00"),
    ("on the last day of every month at 6pm", "FREQ=MONTHLY;BYMONTHDAY=-1", "18", "0", "2026-02-28 18:00"),
    ("every year on march 1", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1", "9", "0", "2026-03-01 09:00"),
    ("every march 1 at 8am", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1", "8", "0", "2026-03-01 08:00"),
    ("yearly on the 14th of february", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=14", "9", "0", "2027-02-14 09:00"),
    ("every 1st of march", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1", "9", "0", "2026-03-01 09:00"),
    ("every 2nd day of the month", "FREQ=MONTHLY;BYMONTHDAY=2", "9", "0", "2026-03-02 09:00"),
    ("every 14 days", "FREQ=DAILY;INTERVAL=14", "9", "0", "2026-02-19 09:00"),
    ("sat-mon at 8am", "FREQ=WEEKLY;BYDAY=MO,SA,SU", "8", "0", "2026-02-21 08:00"),
    ("every friday end of day", "FREQ=WEEKLY;BYDAY=FR", "17", "0", "2026-02-20 17:00"),
    ("every year on feb 29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "9", "0", "2028-02-29 09:00"),
]

EVERY = [
    ("every 30 minutes", 30 * MINUTE),
    ("every 30m", 30 * MINUTE),
    ("every half hour", 30 * MINUTE),
    ("every half an hour", 30 * MINUTE),
    ("every hour", HOUR),
    ("hourly", HOUR),
    ("every 2 hours", 2 * HOUR),
    ("every other hour", 2 * HOUR),
    ("every hour and a half", 90 * MINUTE),
    ("every 1h30m", 90 * MINUTE),
    ("every 24 hours", 24 * HOUR),
    ("every minute", MINUTE),
    ("every 90 seconds", 90 * SECOND),
    ("each 15 min", 15 * MINUTE),
]


def local(text: str) -> Instant:
    return from_local(datetime.fromisoformat(text), TORONTO)


@pytest.mark.parametrize(("phrase", "rule", "hours", "minutes", "first"), RULES, ids=[row[0] for row in RULES])
def test_a_phrase_means_a_rule(phrase: str, rule: str, hours: str, minutes: str, first: str) -> None:
    understood = understand(phrase, NOW, TORONTO)
    assert understood.rrule == f"{rule};BYHOUR={hours};BYMINUTE={minutes};BYSECOND=0"
    assert (understood.once, understood.every) == (None, None)
    assert to_datetime(understood.first, TORONTO) == to_datetime(local(first), TORONTO)


@pytest.mark.parametrize(("phrase", "every"), EVERY, ids=[row[0] for row in EVERY])
def test_a_phrase_means_an_interval(phrase: str, every: int) -> None:
    understood = understand(phrase, NOW, TORONTO)
    assert (understood.every, understood.once, understood.rrule) == (every, None, None)
    assert understood.first == NOW + every


@pytest.mark.parametrize(
    ("phrase", "dated"),
    [
        (
            "every other tuesday 10am",
            "DTSTART:20260224T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;BYHOUR=10;BYMINUTE=0;BYSECOND=0",
        ),
        ("every day at 9", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0"),
        ("every 30 minutes", None),
        ("friday", None),
    ],
)
def test_a_rule_with_an_interval_starts_at_its_first_time(phrase: str, dated: str | None) -> None:
    assert understand(phrase, NOW, TORONTO).dated_rrule == dated


def test_a_rule_that_starts_inside_a_dst_gap_keeps_its_wall_clock() -> None:
    before_gap = from_local(datetime(2026, 3, 7, 14, 0), TORONTO)
    understood = understand("every 2 days at 2:30am", before_gap, TORONTO)
    assert understood.first == from_local(datetime(2026, 3, 8, 3, 0), TORONTO)
    assert str(understood.dated_rrule).startswith("DTSTART:20260308T023000\n")


@pytest.mark.parametrize(
    "phrase",
    [
        *(row[0] for row in (*RULES, *EVERY)),
        "every 31st",
        "every 3 months on the 1st",
        "every 2 months on the 30th",
        "every 3 months on the 2nd tuesday at 10am",
        "every 2 years on march 1",
        "every 3 weeks on mon and thu at 18:00",
    ],
)
def test_what_is_said_back_can_be_said_again(phrase: str) -> None:
    understood = understand(phrase, NOW, TORONTO)
    assert understand(understood.words, NOW, TORONTO) == understood
