"""Schedules: `next_after` against dateutil's `after()` for everyday rules, new and old, and what the strangest cost.

The best of many short batches is taken on both sides: what the code costs when nothing else runs on the machine. Both
answer for the same instants in the same zone, and the answers are compared first. Both have read the rule before, as in
a running daemon, except where it says that the text is read as well: then all caches of rules are emptied each time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from time import perf_counter
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from nudge.errors import InvalidScheduleError
from nudge.instants import MINUTE, Instant, as_instant
from nudge.schedules import AnySchedule, Cron, Every, Rrule, cron, days, recurrence, rule_text

TORONTO = ZoneInfo("America/Toronto")
NOW = datetime(2026, 2, 20, 10, 0, 7, tzinfo=TORONTO)
ASKED = [Instant(as_instant(NOW) + second * 1_000_000) for second in range(20)]
FIVE_YEARS = timedelta(days=5 * 365 + 1)
WORKING_HOURS = ",".join(map(str, range(9, 18)))

EVERYDAY = {
    "weekdays at 9": "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
    "every 30 min, rrule": "FREQ=MINUTELY;INTERVAL=30",
    "every 30 min, every": "FREQ=MINUTELY;INTERVAL=30",
    "2nd Tuesday": "FREQ=MONTHLY;BYDAY=2TU;BYHOUR=10;BYMINUTE=0;BYSECOND=0",
    "cron */15 9-17 * * 1-5": (
        f"FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR={WORKING_HOURS};BYMINUTE=0,15,30,45;BYSECOND=0"
    ),
    "last weekday, BYSETPOS": ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17;BYMINUTE=0;BYSECOND=0"),
    "daily": "FREQ=DAILY",
}
NASTY = [
    "DTSTART:19000101T000000\nRRULE:FREQ=SECONDLY",
    "DTSTART:19000101T000000\nRRULE:FREQ=SECONDLY;INTERVAL=7;BYHOUR=3",
    "DTSTART:20060101T000000\nRRULE:FREQ=MINUTELY;INTERVAL=50;BYHOUR=9,10,11;BYDAY=MO",
    "DTSTART:20060101T000000\nRRULE:FREQ=MINUTELY;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29",
    "DTSTART:20060101T000000\nRRULE:FREQ=MINUTELY;COUNT=999999999",
    "DTSTART:20060101T000000\nRRULE:FREQ=HOURLY;INTERVAL=8766",
    "DTSTART:20060101T000000\nRRULE:FREQ=HOURLY;INTERVAL=1464;BYMONTHDAY=29;BYDAY=SA",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY;INTERVAL=61;BYMONTHDAY=31",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY;INTERVAL=213;BYMONTHDAY=13;BYDAY=FR",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY;INTERVAL=50;BYMONTHDAY=-29;BYDAY=SA",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY;INTERVAL=366;BYMONTH=6",
    "DTSTART:20060101T000000\nRRULE:FREQ=WEEKLY;INTERVAL=52;BYMONTH=7;BYDAY=MO",
    "DTSTART:20060101T000000\nRRULE:FREQ=MONTHLY;INTERVAL=5;BYDAY=5FR;BYMONTH=2",
    "DTSTART:20060101T000000\nRRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=5;BYMONTH=2",
    "DTSTART:20060101T000000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1;COUNT=390",
    "DTSTART:20060101T000000\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
    "DTSTART:20060101T000000\nRRULE:FREQ=YEARLY;BYWEEKNO=53;BYMONTH=1;BYDAY=SU;BYMONTHDAY=3",
    "DTSTART:20060101T000000\nRRULE:FREQ=YEARLY;BYSETPOS=53;BYDAY=MO",
    "DTSTART:20060101T000000\nRRULE:FREQ=YEARLY;BYYEARDAY=" + ",".join(map(str, range(1, 367))) + ";BYSETPOS=366",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY\nEXDATE:" + ",".join(f"202602{n:02}T000000" for n in range(20, 29)),
    "DTSTART:20260101T000000\nRRULE:FREQ=SECONDLY\nEXDATE;VALUE=DATE:"
    + ",".join(f"202603{n:02}" for n in range(1, 32)),
    "FREQ=DAILY;BYHOUR=" + ",".join(["9", "17"] * 1400),
    # refused when they are made
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "DTSTART:20060101T000000\nRRULE:FREQ=DAILY;INTERVAL=7;BYDAY=MO",
    "FREQ=SECONDLY;INTERVAL=1000000000000",
    "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=3;BYMINUTE=0;BYSECOND=0",
    "FREQ=HOURLY;INTERVAL=61;BYHOUR=23;BYMONTHDAY=1",
    "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;COUNT=100000",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
    "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-54",
    "FREQ=DAILY;BYHOUR=" + ",".join(["9"] * 9000),
]


def rows() -> list[tuple[str, str, str]]:
    found = []
    for name, text in EVERYDAY.items():
        found.append(_against_dateutil(f"when: {name}, new", name, text, NOW - timedelta(minutes=1), "≥ 1 ×"))
        found.append(_against_dateutil(f"when: {name}, 5 years old", name, text, NOW - FIVE_YEARS, "≥ 10 ×"))
    for name, text in EVERYDAY.items():
        found.append(_cold(name, text, NOW - timedelta(minutes=1)))
    return found + _worst()


def _ours(name: str, text: str, start: datetime) -> AnySchedule:
    if name.startswith("cron"):
        return Cron(name.removeprefix("cron "), TORONTO.key, anchor=as_instant(start))
    if name.endswith("every"):
        return Every(30 * MINUTE, as_instant(start))
    return Rrule(text, TORONTO.key, as_instant(start))


def _against_dateutil(what: str, name: str, text: str, start: datetime, target: str) -> tuple[str, str, str]:
    ours, theirs = _ours(name, text, start), rrulestr(text, dtstart=start)
    asked = [NOW + timedelta(seconds=second) for second in range(len(ASKED))]
    answer = theirs.after(asked[0])
    assert answer is not None
    assert ours.next_after(ASKED[0], TORONTO) == as_instant(answer), what

    def one() -> None:
        for instant in ASKED:
            ours.next_after(instant, TORONTO)

    def other() -> None:
        for moment in asked:
            theirs.after(moment)

    once = _seconds(lambda: theirs.after(NOW))
    ours_us = _best(one, 200) / len(ASKED) * 1e6
    theirs_us = (once if once > 0.01 else _best(other, 20 if once > 0.001 else 200) / len(asked)) * 1e6
    return what, f"{theirs_us / ours_us:,.1f} × ({ours_us:.1f} µs, dateutil {theirs_us:,.1f} µs)", target


def _cold(name: str, text: str, start: datetime) -> tuple[str, str, str]:
    def one() -> None:
        _forget()
        _ours(name, text, start).next_after(ASKED[0], TORONTO)

    forgetting = _best(_forget, 300)
    ours_us = (_best(one, 300) - forgetting) * 1e6
    theirs_us = _best(lambda: rrulestr(text, dtstart=start).after(NOW), 300) * 1e6
    return (
        f"when: {name}, new, text read as well",
        f"{theirs_us / ours_us:,.1f} × ({ours_us:.1f} µs, dateutil {theirs_us:,.1f} µs)",
        "-",
    )


def _worst() -> list[tuple[str, str, str]]:
    """The longest of all calls, each taken as the best of five, so that it is the rule and not the machine."""
    now, year = as_instant(NOW), 365 * 86_400_000_000
    call = made = refused = 0.0
    accepted = 0
    for text in NASTY:
        took = _best(partial(_make, text), 5)
        schedule = _make(text)
        if schedule is None:
            refused = max(refused, took)
            continue
        accepted += 1
        made = max(made, took)
        for instant in (now, now - 20 * year, now + 30 * year):
            call = max(call, _best(partial(schedule.next_after, Instant(instant), TORONTO), 5))
    return [
        (f"when: longest call of {accepted} nasty rules", f"{call * 1e3:.2f} ms", "< 5 ms"),
        (f"when: longest making of {accepted} nasty rules", f"{made * 1e3:.2f} ms", "< 5 ms"),
        (f"when: longest refusal of {len(NASTY) - accepted} nasty rules", f"{refused * 1e3:.2f} ms", "-"),
    ]


def _make(text: str) -> Rrule | None:
    _forget()
    try:
        return Rrule(text, TORONTO.key, as_instant(NOW))
    except InvalidScheduleError:
        return None


def _forget() -> None:
    for cached in (
        recurrence.recurrence_of,
        rule_text.read_rule,
        days.rule_days,
        cron._read,
        cron._recurrence,
    ):
        cached.cache_clear()


def _seconds(act: Callable[[], object]) -> float:
    start = perf_counter()
    act()
    return perf_counter() - start


def _best(act: Callable[[], object], batches: int) -> float:
    return min(_seconds(act) for _ in range(batches))


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
