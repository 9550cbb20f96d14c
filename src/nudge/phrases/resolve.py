"""From what a phrase says to instants: the only place of this package that looks at the calendar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import DAY, MINUTE, Instant, from_local, local_date, to_datetime
from nudge.phrases.grammar import Reading
from nudge.phrases.pieces import (
    CLOSING_TIME,
    DEFAULT_TIME,
    Clock,
    Day,
    EndOf,
    Freq,
    InDays,
    Moved,
    OfMonth,
    OnDate,
    OnDayOfMonth,
    OnWeekday,
    Part,
    Period,
    Rule,
    Shift,
    StartOfNext,
    Unnamed,
    Week,
    Window,
)
from nudge.phrases.reader import RULE_EXAMPLES, Question, Refused, either, half_day
from nudge.phrases.result import Understood, absolute, clock_text, interval_text, rule_text, window_text
from nudge.phrases.tokens import MONTH_NAMES, NO_TIMES, WEEKDAY_NAMES

_BYDAY: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FURTHEST_DAYS: Final = 8 * 366 + 2
"""From one 29 February to the next there can be eight years."""
_MOST_POSITIONS: Final = 366
"""The greatest BYSETPOS of RFC 5545."""


def rule_times(rule: Rule, clocks: tuple[Clock, ...], part: Part | None) -> tuple[time, ...]:
    """The times of a rule, sorted."""
    times: set[time] = set()
    by_24_hours = any(clock.at.hour > 12 and clock.marked and clock.said[-1:] != "m" for clock in clocks)
    for clock in clocks:
        if clock.alone and part is None:
            if clock.is_clear(rule=True):
                raise Refused(f"say at {clock.said}, or {clock.said}:00", RULE_EXAMPLES)
            raise half_day(clock.said)
        if clock.midnight and rule.freq is not Freq.DAILY:
            raise Refused("say 11:59pm on that day or 00:00 on the next", RULE_EXAMPLES)
        if part is None and not (clock.is_clear(rule=True) or by_24_hours):
            raise half_day(clock.said)
        times.add(clock.at if part is None or clock.midnight else part.fit(clock))
    if not times:
        times.add(DEFAULT_TIME if part is None else part.default)
    if any(at.second or at.microsecond for at in times):
        raise Refused("a recurring time has no seconds, only whole minutes", RULE_EXAMPLES)
    return tuple(sorted(times))


def window_times(window: Window, every: int) -> tuple[time, ...]:
    """The times of an interval inside hours: counted from their beginning on each day."""
    start, end = _window_ends(window)
    if every % MINUTE:
        raise Refused("inside hours an interval has whole minutes", RULE_EXAMPLES)
    first, last = (at.hour * 60 + at.minute for at in (start, end))
    return tuple(time(minute // 60, minute % 60) for minute in range(first, last + 1, every // MINUTE))


def _window_ends(window: Window) -> tuple[time, time]:
    """From 9 to 5 ends in the afternoon: it could not be earlier. From 2 to 4 may be in either half of the day."""
    ends = [_halves(window.start), _halves(window.end)]
    if any(at.second or at.microsecond for halves in ends for at in halves):
        raise Refused("inside hours an interval has whole minutes", RULE_EXAMPLES)
    possible = [(start, end) for start in ends[0] for end in ends[1] if start < end]
    morning = [pair for pair in possible if window.start.is_clear(rule=True) and pair[0].hour < 12]
    if len(morning) == 1 or len(possible) == 1:
        return (morning or possible)[0]
    if not possible:
        raise Refused("the hours have to end on the day they begin, such as from 9am to 5pm", RULE_EXAMPLES)
    raise Refused("say am or pm, such as from 9am to 5pm", RULE_EXAMPLES)


def _halves(clock: Clock) -> tuple[time, ...]:
    if clock.marked:
        return (clock.at,)
    return clock.at.replace(hour=clock.at.hour % 12), clock.at.replace(hour=clock.at.hour % 12 + 12)


def rrule_text(rule: Rule, times: tuple[time, ...]) -> str:
    """The RRULE of RFC 5545, to be evaluated in the person's zone.

    Hours and minutes multiply. Times that are not such a product (7:30 and 19:45) are picked out of it by BYSETPOS,
    which counts within a period: so the period has to be a day.
    """
    hours, minutes = sorted({at.hour for at in times}), sorted({at.minute for at in times})
    product = [time(hour, minute) for hour in hours for minute in minutes]
    picked = len(product) != len(times)
    if picked and ((rule.interval > 1 and rule.freq is not Freq.DAILY) or rule.nth is not None):
        raise Refused("these times have different minutes; set one reminder for each", RULE_EXAMPLES)
    if picked and len(product) > _MOST_POSITIONS:
        raise Refused("that is too often for one rule; say a rounder interval", RULE_EXAMPLES)
    parts = [f"FREQ={Freq.DAILY.value if picked else rule.freq.value}"]
    if rule.interval > 1:
        parts.append(f"INTERVAL={rule.interval}")
    if rule.month is not None:
        parts.append(f"BYMONTH={rule.month}")
    if rule.monthdays:
        parts.append(f"BYMONTHDAY={_joined(rule.monthdays)}")
    if rule.weekdays:
        nth = "" if rule.nth is None else str(rule.nth)
        parts.append("BYDAY=" + ",".join(f"{nth}{_BYDAY[weekday]}" for weekday in rule.weekdays))
    parts.append(f"BYHOUR={_joined(hours)}")
    parts.append(f"BYMINUTE={_joined(minutes)}")
    parts.append("BYSECOND=0")
    if picked:
        parts.append(f"BYSETPOS={_joined([product.index(at) + 1 for at in times])}")
    return ";".join(parts)


def first_wall(rule: Rule, times: tuple[time, ...], now: Instant, zone: ZoneInfo) -> datetime:
    """What the wall clock shows at the first time of the rule that is strictly after now; today counts."""
    today = local_date(now, zone)
    for days in range(_FURTHEST_DAYS):
        day = today + timedelta(days=days)
        if rule.falls_on(day):
            for at in times:
                wall = datetime.combine(day, at)
                if from_local(wall, zone) > now:
                    return wall
    raise Refused("no such day is ahead", RULE_EXAMPLES)


def _joined(numbers: tuple[int, ...] | list[int]) -> str:
    return ",".join(str(number) for number in numbers)


HORIZON: Final = 36_525 * DAY
"""A hundred years: what lies further ahead is a slip of the keyboard."""

JUST_PASSED: Final = 30
"""Days for which a date without a year is refused as past rather than taken for next year's."""


def resolve(reading: Reading, now: Instant, zone: ZoneInfo) -> Understood:
    """The instant, rule or interval of a reading. Everything that is not strictly after `now` is refused."""
    try:
        understood = replace(_resolve(reading, now, zone), corrections=reading.corrections)
        if understood.first - now > HORIZON:
            raise Refused("that is more than 100 years ahead")
        if understood.first <= now:
            raise Refused(f"{absolute(understood.first, zone)} is in the past")
    except (OverflowError, ValueError) as error:
        raise Refused("that is more than 100 years ahead") from error
    return understood


def shifted(shift: Shift, now: Instant, zone: ZoneInfo) -> Instant:
    """Now plus a distance. Months end on the last day of a shorter month; days and months keep the wall clock."""
    if not (shift.months or shift.days):
        return Instant(now + shift.microseconds)
    wall = to_datetime(now, zone).replace(tzinfo=None)
    day = _plus_months(wall.date(), shift.months) + timedelta(days=shift.days)
    return Instant(from_local(datetime.combine(day, wall.time()), zone) + shift.microseconds)


def _resolve(reading: Reading, now: Instant, zone: ZoneInfo) -> Understood:
    if reading.vague in NO_TIMES and reading.clocks:
        if reading.day is None:
            raise Refused(f'"{reading.vague}" does not fit there')
    elif reading.vague is not None:
        raise _ask_for_time(reading.vague, reading.day)
    if isinstance(reading.day, Unnamed):
        raise Question(reading.day.asks, *reading.day.options)
    if reading.window is not None:
        return _inside_hours(reading, reading.window, now, zone)
    if any(clock.now for clock in reading.clocks):
        reading = _at_this_time(reading, now, zone)
    if reading.interval is not None:
        if reading.rule is not None:
            said = interval_text(reading.interval.microseconds)
            raise Refused(f"say between which hours, such as {said} on weekdays from 9am to 5pm", RULE_EXAMPLES)
        if reading.clocks or reading.part:
            said = interval_text(reading.interval.microseconds)
            raise Refused(f"{said} counts from now, so it has no time of day", RULE_EXAMPLES)
        every = reading.interval.microseconds
        return Understood(Instant(now + every), every=every, words=interval_text(every))
    if reading.rule is not None and reading.rule.lacks_days:
        raise Question("On which day?", examples=RULE_EXAMPLES)
    if reading.times_a_day is not None and len(reading.clocks) != reading.times_a_day:
        raise Question("What times?" if reading.times_a_day > 1 else "What time?", examples=RULE_EXAMPLES)
    if reading.rule is not None:
        times = rule_times(reading.rule, reading.clocks, None if reading.part is None else reading.part.part)
        wall = first_wall(reading.rule, times, now, zone)
        return Understood(
            from_local(wall, zone),
            rrule=rrule_text(reading.rule, times),
            words=rule_text(reading.rule, times),
            first_wall=wall,
        )
    once = _instant(reading, now, zone)
    counted = reading.shift is not None and bool(reading.shift.microseconds)
    return Understood(once, once=once, exact=reading.exact is not None or counted)


def _ask_for_time(vague: str, day: Day | None) -> Question:
    if vague.startswith("in ") and (count := vague.removeprefix("in ")).isdigit():
        return either(f"{count} minutes", f"{count} hours")
    if vague not in NO_TIMES:
        return Question(f"What time is “{vague}”?")
    return Question("When?" if day is None else "What time today?" if day == InDays(0) else "What time?")


def _inside_hours(reading: Reading, window: Window, now: Instant, zone: ZoneInfo) -> Understood:
    """An interval inside hours, on some days or on all: one rule."""
    rule = reading.rule or Rule(Freq.DAILY)
    if reading.interval is None:
        raise Refused("say how often within these hours, such as every hour from 9am to 5pm", RULE_EXAMPLES)
    plain = rule.interval == 1 and rule.nth is None and not rule.monthdays
    if reading.clocks or reading.part or reading.day or reading.shift or not plain:
        raise Refused("inside hours an interval takes weekdays only, such as on weekdays", RULE_EXAMPLES)
    every = reading.interval.microseconds
    times = window_times(window, every)
    wall = first_wall(rule, times, now, zone)
    start, end = _window_ends(window)
    words = window_text(every, start, end, rule)
    return Understood(from_local(wall, zone), rrule=rrule_text(rule, times), words=words, first_wall=wall)


def _at_this_time(reading: Reading, now: Instant, zone: ZoneInfo) -> Reading:
    """This reading with the time on the clock now. "This time next week" is seven days from now, not Monday."""
    at = to_datetime(now, zone).time().replace(second=0, microsecond=0)
    clocks = (Clock(at, "this time", marked=True),)
    if isinstance(reading.day, StartOfNext):
        return replace(reading, day=None, shift=_ONE[reading.day.period], clocks=clocks)
    return replace(reading, clocks=clocks)


_ONE: Final = {Period.WEEK: Shift(days=7), Period.MONTH: Shift(months=1), Period.YEAR: Shift(months=12)}


def _instant(reading: Reading, now: Instant, zone: ZoneInfo) -> Instant:
    if reading.exact is not None:
        if reading.clocks or reading.part or reading.day:
            raise Refused("give only one time")
        return reading.exact.instant
    clock = _single_clock(reading)
    part = None if reading.part is None else reading.part.part
    if reading.shift is not None:
        return _shifted_to(reading.shift, clock, part, now, zone)
    if reading.day is None and part is not Part.CLOSE:
        return _next_time(clock, part, now, zone)
    if clock is not None and clock.midnight:
        return _midnight_of(reading, now, zone)
    at = _time_on_a_day(reading, clock, part, now, zone)
    for day in _candidates(reading, local_date(now, zone)):
        instant = _on(day, at, zone)
        if instant > now:
            return instant
    # None is ahead: give the last one, and the caller says that it is past.
    return instant


def _on(day: date, at: time, zone: ZoneInfo) -> Instant:
    return from_local(datetime.combine(day, at), zone)


def _single_clock(reading: Reading) -> Clock | None:
    if len(reading.clocks) > 1:
        raise Refused("give one time, or say every day at each of them")
    if reading.part is not None and reading.part.bare and not (reading.names_a_day or reading.clocks):
        name = reading.part.part.label
        raise Refused(f"say which {name}, such as tomorrow {name} or in the {name}")
    clock = reading.clocks[0] if reading.clocks else None
    if clock is not None and clock.alone and reading.part is None:
        hour = clock.at.hour
        raise half_day(clock.said) if 1 <= hour <= 12 else Refused(f"say {hour:02}:00")
    return clock


def _shifted_to(shift: Shift, clock: Clock | None, part: Part | None, now: Instant, zone: ZoneInfo) -> Instant:
    if clock is None and part is None:
        return shifted(shift, now, zone)
    if shift.microseconds:
        raise Refused("give only one time")
    day = _plus_months(local_date(now, zone), shift.months) + timedelta(days=shift.days)
    at = part.default if part is not None else DEFAULT_TIME
    if clock is not None:
        at = part.fit(clock) if part is not None else unambiguous(clock)
    return _on(day, at, zone)


def _next_time(clock: Clock | None, part: Part | None, now: Instant, zone: ZoneInfo) -> Instant:
    """A time without a day: today, or tomorrow if it has passed."""
    today = local_date(now, zone)
    if part is not None:
        at = part.default if clock is None else part.fit(clock)
    else:
        assert clock is not None
        at = unambiguous(clock)
    instant = _on(today, at, zone)
    if instant > now:
        return instant
    if part is None and clock is not None and not clock.marked:
        later = _on(today, at.replace(hour=(at.hour + 12) % 24), zone)
        if later > now:
            raise either(f"{clock.said} pm today", f"{clock.said} am tomorrow")
    return _on(today + timedelta(days=1), at, zone)


def _time_on_a_day(reading: Reading, clock: Clock | None, part: Part | None, now: Instant, zone: ZoneInfo) -> time:
    if clock is None:
        ends = isinstance(reading.day, EndOf) or (isinstance(reading.day, OfMonth) and reading.day.close)
        at = part.default if part is not None else CLOSING_TIME if ends else DEFAULT_TIME
        if reading.day == InDays(0) and _on(local_date(now, zone), at, zone) <= now:
            raise Refused(f"{clock_text(at)} today is in the past; add a time, such as today 11:59pm")
        return at
    if part is not None:
        return part.fit(clock)
    if isinstance(reading.day, OnDate) and reading.day.numeric:
        return clock.at
    if reading.day == InDays(0) and not clock.marked:
        ahead = [at for at in _halves(clock) if _on(local_date(now, zone), at, zone) > now]
        if len(ahead) == 1:  # the other one is over
            return ahead[0]
    return unambiguous(clock)


def unambiguous(clock: Clock) -> time:
    """The time of a clock without a part of the day; which half of the day it is in must be clear."""
    if not clock.is_clear():
        raise half_day(clock.said)
    return clock.at


def _midnight_of(reading: Reading, now: Instant, zone: ZoneInfo) -> Instant:
    """Midnight of today is the coming one; of another day it could be its first or its last moment."""
    today = local_date(now, zone)
    if reading.day == InDays(0) and (reading.part is None or reading.part.part in (Part.NIGHT, Part.EVENING)):
        return _on(today + timedelta(days=1), time(0), zone)
    day = next(iter(_candidates(reading, today)))
    this, following = (WEEKDAY_NAMES[(day + timedelta(days=step)).weekday()].casefold() for step in (0, 1))
    raise Refused(f"{this} 11:59pm or {following} 00:00?")


def _candidates(reading: Reading, today: date) -> Iterator[date]:
    """The days a phrase can mean, the first one first; the first whose time is ahead is meant."""
    match reading.day:
        case None:  # end of day
            yield today
        case InDays(days):
            yield today + timedelta(days=days)
        case OnWeekday(weekday, week):
            monday = today - timedelta(days=today.weekday())
            soonest = today + timedelta(days=(weekday - today.weekday()) % 7)
            yield monday + timedelta(days=7 + weekday) if week is Week.NEXT else soonest
            if week is Week.SOONEST:
                yield soonest + timedelta(days=7)
        case OnDate():
            yield from _years_of(reading.day, today)
        case OnDayOfMonth(number, weekday):
            for months in range(4):
                found = _plus_months(today.replace(day=1), months) + timedelta(days=number - 1)
                if found.day == number and found >= today:
                    yield _checked_weekday(found, weekday)
        case StartOfNext(Period.WEEK):
            yield today + timedelta(days=7 - today.weekday())
        case StartOfNext(Period.MONTH):
            yield _plus_months(today.replace(day=1), 1)
        case StartOfNext(Period.YEAR):
            yield date(today.year + 1, 1, 1)
        case EndOf(Period.WEEK, ahead):
            yield today + timedelta(days=4 - today.weekday() + 7 * ahead)
        case EndOf(Period.MONTH, ahead):
            yield _plus_months(today.replace(day=1), 1 + ahead) - timedelta(days=1)
        case EndOf(Period.YEAR, ahead):
            yield date(today.year + ahead, 12, 31)
        case OfMonth():
            yield from _days_of_month(reading.day, today)
        case Moved(day, shift):
            for found in _candidates(replace(reading, day=day), today):
                yield _plus_months(found, shift.months) + timedelta(days=shift.days)
        case _:  # pragma: no cover
            raise AssertionError(reading.day)


def _days_of_month(day: OfMonth, today: date) -> Iterator[date]:
    """The day in that month of this year and the next, or only in the one month that was counted."""
    first = today.replace(day=1)
    months = [_plus_months(first, day.ahead)]
    if day.month is not None:
        months = [date(today.year + years, day.month, 1) for years in (0, 1)]
    for month in months:
        following = _plus_months(month, 1)
        days = [month + timedelta(days=step) for step in range((following - month).days)]
        fitting = [one for one in days if day.weekday in (None, one.weekday())]
        if abs(day.nth) > len(fitting):
            raise Refused(f"{MONTH_NAMES[month.month - 1]} {month.year} has no such day")
        yield fitting[day.nth - 1 if day.nth > 0 else day.nth]


def _years_of(day: OnDate, today: date) -> Iterator[date]:
    years = range(today.year, today.year + 9) if day.year is None else (day.year,)
    leap_day = (day.month, day.day) == (2, 29)
    for year in years:
        if leap_day and not _is_leap(year):
            continue
        found = date(year, day.month, day.day)
        yield _checked_weekday(found, day.weekday)
        if day.year is None and not day.holiday and (today - found).days in range(JUST_PASSED + 1):
            raise Refused(f"{found.isoformat()} is in the past; add the year if you mean {year + 1}")


def _checked_weekday(day: date, weekday: int | None) -> date:
    if weekday not in (None, day.weekday()):
        said, true = WEEKDAY_NAMES[weekday or 0], WEEKDAY_NAMES[day.weekday()]
        raise Refused(f"{day.isoformat()} is a {true}, not a {said}")
    return day


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _plus_months(day: date, months: int) -> date:
    total = day.year * 12 + day.month - 1 + months
    year, month = divmod(total, 12)
    longest = (date(year + month // 11, (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, longest))
