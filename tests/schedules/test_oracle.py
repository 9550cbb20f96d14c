"""Random rules against slow, obviously right answers: every minute tried, every step walked, plain dateutil."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nudge.errors import InvalidScheduleError
from nudge.instants import DAY, SECOND, Instant, from_local, parse_rfc3339, to_datetime
from nudge.schedules import AnySchedule, At, Cron, Every, Idle, Rrule, occurrences, schedule_from_json
from nudge.schedules.periods import Freq
from nudge.schedules.recurrence import series_of
from nudge.schedules.rule_text import read_rule
from nudge.schedules.walls import instant_of, naive, wall_of

ZONES = ["America/Toronto", "Europe/London", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "UTC"]
CHANGES = [
    "2026-03-08T07:00:00Z",
    "2026-11-01T06:00:00Z",
    "2026-03-29T01:00:00Z",
    "2026-10-25T01:00:00Z",
    "2026-10-03T15:30:00Z",
    "2026-04-04T15:00:00Z",
    "2018-11-04T03:00:00Z",
    "2018-02-18T02:00:00Z",
    "2026-02-15T02:00:00Z",
    "2026-03-22T02:00:00Z",
]
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

zones = st.sampled_from(ZONES)
near_changes = st.builds(
    lambda change, away: Instant(parse_rfc3339(change) + away),
    st.sampled_from(CHANGES),
    st.integers(-3 * DAY, 3 * DAY) | st.integers(-7200, 7200).map(lambda seconds: seconds * SECOND),
)
starts = st.datetimes(datetime(2015, 1, 1), datetime(2026, 1, 1)).map(lambda start: start.replace(microsecond=0))


def numbers(low: int, high: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, high), min_size=1, max_size=most, unique=True)


def answers(schedule: AnySchedule, zone: str, after: Instant, until: Instant, limit: int = 40) -> list[Instant]:
    return occurrences(schedule, after, until, limit, ZoneInfo(zone))


@given(
    minutes=st.none() | numbers(0, 59, 4),
    hours=st.none() | numbers(0, 23, 5),
    days=st.none() | numbers(1, 31, 6),
    months=st.none() | numbers(1, 12, 9),
    weekdays=st.none() | numbers(0, 7, 4),
    zone=zones,
    after=near_changes,
)
def test_cron_against_every_minute(
    minutes: list[int] | None,
    hours: list[int] | None,
    days: list[int] | None,
    months: list[int] | None,
    weekdays: list[int] | None,
    zone: str,
    after: Instant,
) -> None:
    fields = [minutes, hours, days, months, weekdays]
    expr = " ".join("*" if field is None else ",".join(map(str, field)) for field in fields)

    def strikes(wall: datetime) -> bool:
        by_month_day = days is None or wall.day in days
        by_weekday = weekdays is None or any(day % 7 == wall.isoweekday() % 7 for day in weekdays)
        both = days is None or weekdays is None
        return (
            (minutes is None or wall.minute in minutes)
            and (hours is None or wall.hour in hours)
            and (months is None or wall.month in months)
            and ((by_month_day and by_weekday) if both else (by_month_day or by_weekday))
        )

    until = Instant(after + 4 * DAY)
    wall = (to_datetime(after, ZoneInfo(zone)) - timedelta(days=2)).replace(tzinfo=None, second=0, microsecond=0)
    walls = (wall + timedelta(minutes=step) for step in range(7 * 1440))
    expected = sorted({from_local(wall, ZoneInfo(zone)) for wall in walls if strikes(wall)})
    try:
        cron = Cron(expr, zone)
    except InvalidScheduleError:
        assert not [instant for instant in expected if after < instant <= until]
        return
    assert answers(cron, zone, after, until) == [instant for instant in expected if after < instant <= until][:40]


@st.composite
def day_rules(draw: st.DrawFn) -> str:
    """Rules of days that fire at least every few years, so that the oracle comes to an end. Weeks have their own."""
    freq = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]))
    parts = [f"FREQ={freq}", f"INTERVAL={draw(st.sampled_from([1, 1, 1, 2, 3, 5]))}"]
    if draw(st.booleans()):
        parts.append("BYMONTH=" + _listed(draw(numbers(1, 12, 6))))
    match draw(st.sampled_from(["nothing", "weekdays", "nth", "month days", "year days"])):
        case "weekdays":
            parts.append("BYDAY=" + _listed(draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True))))
        case "nth" if freq in ("YEARLY", "MONTHLY"):
            nth = st.builds("{}{}".format, st.sampled_from([1, 2, 3, 4, -1, -2]), st.sampled_from(WEEKDAYS))
            parts.append("BYDAY=" + _listed(draw(st.lists(nth, min_size=1, max_size=3, unique=True))))
        case "month days" if freq != "WEEKLY":
            days = st.integers(1, 28) | st.integers(-28, -1)
            parts.append("BYMONTHDAY=" + _listed(draw(st.lists(days, min_size=1, max_size=4, unique=True))))
        case "year days" if freq == "YEARLY" and len(parts) == 2:
            days = st.integers(1, 365) | st.integers(-365, -1)
            parts.append("BYYEARDAY=" + _listed(draw(st.lists(days, min_size=1, max_size=4, unique=True))))
        case _:
            pass
    for name, high in (("BYHOUR", 23), ("BYMINUTE", 59), ("BYSECOND", 59)):
        if draw(st.booleans()):
            parts.append(f"{name}=" + _listed(draw(numbers(0, high, 3))))
    if freq != "WEEKLY" and draw(st.booleans()):
        parts.append("BYSETPOS=" + _listed(draw(st.sampled_from([[1], [-1], [1, -1], [1, 2]]))))
    if draw(st.booleans()):
        parts.append("WKST=" + draw(st.sampled_from(WEEKDAYS)))
    if draw(st.booleans()):
        parts.append(f"COUNT={draw(st.sampled_from([1, 2, 3, 10, 40]))}")
    return ";".join(parts)


def _listed(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


@settings(max_examples=120)
@given(rule=day_rules(), start=starts, zone=zones, ahead=st.integers(0, 20))
def test_rules_of_days_against_dateutil(rule: str, start: datetime, zone: str, ahead: int) -> None:
    walls = list(islice(rrulestr(rule, dtstart=start), 60))
    assume(walls)
    expected = sorted({from_local(wall, ZoneInfo(zone)) for wall in walls})
    text = f"DTSTART:{start:%Y%m%dT%H%M%S}\nRRULE:{rule}"
    schedule = Rrule(text, zone, Instant(0))
    after = Instant(expected[min(ahead, len(expected) - 1)] - 1)
    assert answers(schedule, zone, after, expected[-1]) == [instant for instant in expected if instant > after][:40]
    if "COUNT" in rule and len(walls) < 60:
        assert schedule.next_after(expected[-1], ZoneInfo(zone)) is None


def week_of(day: date, week_start: int) -> tuple[int, int, int]:
    """By the words of RFC 5545: week one is the first with at least four days in the year. With it, the number of weeks
    in that year, for weeks that are counted from the end."""

    def first_week(year: int) -> date:
        fourth = date(year, 1, 4)
        return fourth - timedelta(days=(fourth.weekday() - week_start) % 7)

    year = max(year for year in (day.year - 1, day.year, day.year + 1) if first_week(year) <= day)
    weeks = (first_week(year + 1) - first_week(year)).days // 7
    return year, (day - first_week(year)).days // 7 + 1, weeks


@settings(max_examples=60)
@given(
    weeks=st.lists(st.integers(1, 53) | st.integers(-53, -1), min_size=1, max_size=4, unique=True),
    week_start=st.integers(0, 6),
    weekdays=st.none() | numbers(0, 6, 3),
    interval=st.sampled_from([1, 1, 2, 3]),
    positions=st.sampled_from([[], [1], [-1], [1, -1], [2]]),
    start=starts,
)
def test_rules_of_weeks_against_every_day(
    weeks: list[int], week_start: int, weekdays: list[int] | None, interval: int, positions: list[int], start: datetime
) -> None:
    """dateutil is no oracle here: it takes the first days of 2022 for the week 53 of a year that has 52."""
    found: list[date] = []
    for year in range(start.year, start.year + 30, interval):
        days = [date(year, 1, 1) + timedelta(days=number) for number in range(366 if isleap(year) else 365)]
        named = [(day, *week_of(day, week_start)[1:]) for day in days]
        allowed = [day for day, number, of in named if number in weeks or number - of - 1 in weeks]
        allowed = [day for day in allowed if weekdays is None or day.weekday() in weekdays]
        chosen = {allowed[at - 1 if at > 0 else at] for at in positions if len(allowed) >= abs(at)}
        found += [day for day in allowed if not positions or day in chosen]
    walls = [datetime.combine(day, start.time()) for day in found]
    expected = [from_local(wall, ZoneInfo("UTC")) for wall in walls if wall >= start]
    rule = f"FREQ=YEARLY;INTERVAL={interval};BYWEEKNO={_listed(weeks)};WKST={WEEKDAYS[week_start]}"
    if weekdays is not None:
        rule += ";BYDAY=" + _listed(WEEKDAYS[day] for day in weekdays)
    if positions:
        rule += ";BYSETPOS=" + _listed(positions)
    text = f"DTSTART:{start:%Y%m%dT%H%M%S}\nRRULE:{rule}"
    assume(expected)
    assert answers(Rrule(text, "UTC", Instant(0)), "UTC", Instant(expected[0] - 1), expected[-1]) == expected[:40]


def clock_walls(rule: str, start: datetime, end: datetime) -> Iterator[datetime]:
    """Every step from the start, one by one, with each part of the rule tried on it."""
    parts = dict(part.split("=") for part in rule.split(";"))
    limits = {name: [int(value) for value in values.split(",")] for name, values in parts.items() if name[:2] == "BY"}
    unit = {"HOURLY": "hours", "MINUTELY": "minutes", "SECONDLY": "seconds"}[parts["FREQ"]]
    step = timedelta(**{unit: int(parts["INTERVAL"])})
    period = start.replace(second=0 if unit != "seconds" else start.second)
    period = period.replace(minute=0 if unit == "hours" else period.minute)
    while period <= end:
        allowed = (
            ("BYMONTHDAY" not in limits or period.day in limits["BYMONTHDAY"])
            and ("BYHOUR" not in limits or period.hour in limits["BYHOUR"])
            and (unit == "hours" or "BYMINUTE" not in limits or period.minute in limits["BYMINUTE"])
            and (unit != "seconds" or "BYSECOND" not in limits or period.second in limits["BYSECOND"])
        )
        if allowed:
            minutes = sorted(limits.get("BYMINUTE", [start.minute])) if unit == "hours" else [period.minute]
            seconds = sorted(limits.get("BYSECOND", [start.second])) if unit != "seconds" else [period.second]
            for minute in minutes:
                for second in seconds:
                    wall = period.replace(minute=minute, second=second)
                    if start <= wall <= end:
                        yield wall
        period += step


@settings(max_examples=100)
@given(
    freq=st.sampled_from([("HOURLY", 40), ("MINUTELY", 4), ("SECONDLY", 0.1)]),
    interval=st.sampled_from([1, 2, 5, 7, 15, 25, 30, 45, 50, 90]),
    hours=st.none() | numbers(0, 23, 12),
    minutes=st.none() | numbers(0, 59, 8),
    seconds=st.none() | numbers(0, 59, 8),
    days=st.none() | numbers(1, 31, 20),
    around=near_changes,
    zone=zones,
)
def test_rules_of_the_clock_step_by_step(
    freq: tuple[str, float],
    interval: int,
    hours: list[int] | None,
    minutes: list[int] | None,
    seconds: list[int] | None,
    days: list[int] | None,
    around: Instant,
    zone: str,
) -> None:
    rule = f"FREQ={freq[0]};INTERVAL={interval}"
    for name, values in (("BYHOUR", hours), ("BYMINUTE", minutes), ("BYSECOND", seconds), ("BYMONTHDAY", days)):
        rule += f";{name}={_listed(values)}" if values is not None else ""
    start = to_datetime(Instant(around - int(freq[1] * DAY / 2)), ZoneInfo(zone)).replace(tzinfo=None, microsecond=0)
    end = start + timedelta(days=freq[1])
    expected = sorted({from_local(wall, ZoneInfo(zone)) for wall in clock_walls(rule, start, end)})
    schedule: Rrule | None
    try:
        schedule = Rrule(f"DTSTART:{start:%Y%m%dT%H%M%S}\nRRULE:{rule}", zone, Instant(0))
    except InvalidScheduleError as error:
        too_rare = "too rarely" in str(error)
        schedule = None
    if schedule is None:
        assert too_rare or not expected
        return
    after = Instant(from_local(start, ZoneInfo(zone)) - 1)
    until = from_local(end, ZoneInfo(zone))
    assert answers(schedule, zone, after, until) == [instant for instant in expected if after < instant <= until][:40]


@given(
    interval=st.integers(2, 150) | st.sampled_from([61, 91, 122, 182, 213, 365, 366, 487, 731, 1461, 9999]),
    days=st.none() | numbers(-31, 31, 2).filter(lambda days: 0 not in days),
    months=st.none() | numbers(1, 12, 2),
    weekdays=st.none() | numbers(0, 6, 2),
    start=starts,
)
def test_seldom_days_against_every_due_day(
    interval: int, days: list[int] | None, months: list[int] | None, weekdays: list[int] | None, start: datetime
) -> None:
    """Days that must be due and allowed at once may be centuries apart: try each due day of 400 years."""
    rule = f"FREQ=DAILY;INTERVAL={interval}"
    rule += f";BYMONTHDAY={_listed(days)}" if days else ""
    rule += f";BYMONTH={_listed(months)}" if months else ""
    rule += f";BYDAY={_listed(WEEKDAYS[day] for day in weekdays)}" if weekdays else ""

    def allowed(on: datetime) -> bool:
        length = monthrange(on.year, on.month)[1]
        return (
            (days is None or on.day in days or on.day - length - 1 in days)
            and (months is None or on.month in months)
            and (weekdays is None or on.weekday() in weekdays)
        )

    due = (start + timedelta(days=step * interval) for step in range(146_097 // interval + 1))
    expected = list(islice(filter(allowed, due), 2))
    found: list[datetime] = []
    try:
        series = series_of(read_rule(rule), wall_of(start))
        wall = series.first(wall_of(start))
        while wall is not None and naive(wall) <= start + timedelta(days=146_097) and len(found) < 2:
            found.append(naive(wall))
            wall = series.first(wall + 1)
    except InvalidScheduleError:
        found = []
    assert found == expected


@st.composite
def any_rules(draw: st.DrawFn) -> str:
    """Rules without mercy: intervals that fit nothing, days that hardly exist, all parts at once."""
    freq = draw(st.sampled_from(list(Freq)))
    intervals = [1, 2, 7, 23, 31, 36, 52, 61, 84, 97, 213, 365, 366, 487, 997, 1441, 1461, 8766, 43201, 86399, 604801]
    parts = [f"FREQ={freq.name}", f"INTERVAL={draw(st.sampled_from(intervals))}"]
    choices: list[tuple[str, Sequence[object]]] = [
        ("BYMONTH", [1, 2, 6, 12]),
        ("BYMONTHDAY", [1, 13, 29, 30, 31, -29, -31]),
        ("BYDAY", [f"{nth}{day}" for nth in (5, -5) for day in WEEKDAYS] if freq <= Freq.MONTHLY else WEEKDAYS),
        ("BYYEARDAY", [1, 60, 366, -366]),
        ("BYWEEKNO", [1, 20, 53, -53]),
        ("BYHOUR", [0, 2, 3, 9, 10, 11, 23]),
        ("BYMINUTE", [0, 1, 30, 59]),
        ("BYSECOND", [0, 1, 30, 59]),
        ("BYSETPOS", [1, -1, 5, 53, 366]),
        ("COUNT", [1, 300, 100_000]),
    ]
    for name, values in choices:
        if draw(st.integers(0, 2)) == 0:
            most = 1 if name == "COUNT" else 3
            picked = draw(st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True))
            parts.append(f"{name}={_listed(picked)}")
    return ";".join(parts)


@settings(max_examples=200)
@given(rule=any_rules(), created=st.integers(-(10**15), 2 * 10**15), asked=st.integers(-(10**15), 10**16), zone=zones)
def test_what_is_accepted_is_answered_in_order_for_ever(rule: str, created: int, asked: int, zone: str) -> None:
    try:
        schedule = Rrule(rule, zone, Instant(created))
    except InvalidScheduleError:
        return
    instant = Instant(asked)
    found = schedule.next_after(instant, ZoneInfo("UTC"))
    if found is None:
        return
    assert found > instant
    between = Instant((instant + found) // 2)
    assert schedule.next_after(between, ZoneInfo("UTC")) == found
    assert schedule.next_after(Instant(found - 1), ZoneInfo("UTC")) == found
    second = schedule.next_after(found, ZoneInfo("UTC"))
    assert second is None or second > found


instants = st.integers(-(10**15), 10**16).map(Instant)
limits = st.none() | st.integers(1, 10**6)
any_schedule = st.one_of(
    st.builds(At, instants, st.none() | zones),
    st.builds(Every, st.integers(SECOND, 400 * DAY), instants, limits),
    st.builds(Idle, st.integers(SECOND, 400 * DAY)),
    st.builds(Cron, st.sampled_from(["0 9 * * 1-5", "*/15 9-17 * * *"]), st.none() | zones, st.none(), st.none()),
    st.builds(
        Cron, st.just("30 2 * * *"), zones, st.integers(1, 500), st.none(), instants.filter(lambda i: i < 10**15)
    ),
    st.builds(Rrule, st.sampled_from(["FREQ=DAILY;BYHOUR=9", "FREQ=WEEKLY;COUNT=5"]), st.none() | zones, instants),
)


@given(any_schedule, instants)
def test_json_keeps_a_schedule(schedule: AnySchedule, instant: Instant) -> None:
    again = schedule_from_json(schedule.to_json())
    assert again == schedule
    assert again.next_after(instant, ZoneInfo("UTC")) == schedule.next_after(instant, ZoneInfo("UTC"))
    assert again.describe() == schedule.describe()


@given(
    st.datetimes(datetime(1905, 1, 1), datetime(2040, 1, 1)), zones | st.sampled_from(["Pacific/Apia", "Asia/Kolkata"])
)
def test_a_wall_has_the_instant_that_a_datetime_gives(wall: datetime, zone: str) -> None:
    wall = wall.replace(microsecond=0)
    assert naive(wall_of(wall)) == wall
    assert instant_of(wall_of(wall), ZoneInfo(zone)) == from_local(wall, ZoneInfo(zone))


@pytest.mark.parametrize("rule", ["FREQ=MONTHLY;BYDAY=MO,2TU,-1FR", "FREQ=YEARLY;BYDAY=1MO,TU;BYMONTH=3"])
def test_plain_and_numbered_weekdays_add_up(rule: str) -> None:
    """dateutil keeps only days that are both; the standard lists them, so either is meant."""
    start = datetime(2026, 1, 1, 9)
    series = series_of(read_rule(rule), wall_of(start))
    head, _, days = rule.partition("BYDAY=")
    days, _, rest = days.partition(";")
    expected = set()
    for day in days.split(","):
        expected |= set(islice(rrulestr(f"{head}BYDAY={day};{rest}".rstrip(";"), dtstart=start), 40))
    wall = wall_of(start)
    for expected_wall in sorted(expected)[:20]:
        found = series.first(wall)
        assert found is not None
        assert naive(found) == expected_wall
        wall = found + 1
