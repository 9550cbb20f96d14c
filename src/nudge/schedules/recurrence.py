"""A rule in a zone: walls become instants, and exceptions, extra dates and the end are applied."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, zone_of
from nudge.schedules.clock_series import ClockSeries, Gate
from nudge.schedules.day_series import DaySeries
from nudge.schedules.days import Days, rule_days
from nudge.schedules.periods import PERIOD_SECONDS, Freq, Listed, Times, times_of
from nudge.schedules.rule_text import RuleText, Stamp, read_rule, refuse
from nudge.schedules.walls import (
    DAY_SECONDS,
    EARLIEST,
    FIRST_START,
    LAST_DAY,
    LAST_START,
    LATEST,
    instant_of,
    wall_after,
    wall_at,
)

_ZERO: Final = (0,)
_ODD_WALLS: Final = 200
_FOR_EVER: Final = LAST_DAY * DAY_SECONDS


Series = DaySeries | ClockSeries


class Recurrence:
    """Something that strikes at walls of a zone, up to an end, with exceptions."""

    __slots__ = ("_excluded_days", "_excluded_walls", "_extra", "_last_instant", "_last_wall", "_series", "zone")

    def __init__(
        self,
        series: Series,
        zone: ZoneInfo,
        *,
        last_wall: int | None = None,
        last_instant: Instant | None = None,
        excluded_walls: Iterable[int] = (),
        excluded_days: Iterable[int] = (),
        extra: Iterable[Instant] = (),
    ) -> None:
        self._series = series
        self.zone = zone
        self._last_wall = last_wall
        self._last_instant = last_instant
        self._excluded_walls = frozenset(excluded_walls)
        self._excluded_days = frozenset(excluded_days)
        self._extra = tuple(sorted(set(extra)))

    def next_after(self, instant: Instant) -> Instant | None:
        """The first time strictly after `instant`."""
        if instant >= LATEST:
            return None
        index = bisect_right(self._extra, instant)
        extra = self._extra[index] if index < len(self._extra) else None
        found = self._next_of_series(instant)
        if found is None or extra is None:
            return extra if found is None else found
        return min(found, extra)

    def _next_of_series(self, instant: Instant) -> Instant | None:
        wall = wall_after(instant, self.zone)
        # Each turn but the last steps over an excluded date, or over a wall of a zone that changed twice within hours.
        for _ in range(len(self._excluded_walls) + len(self._excluded_days) + _ODD_WALLS):
            found = self._series.first(wall)
            if found is None or (self._last_wall is not None and found > self._last_wall):
                return None
            if found in self._excluded_walls:
                wall = found + 1
                continue
            if found // DAY_SECONDS in self._excluded_days:
                wall = (found // DAY_SECONDS + 1) * DAY_SECONDS
                continue
            strikes = instant_of(found, self.zone)
            if strikes > instant:
                return strikes if self._last_instant is None or strikes <= self._last_instant else None
            wall = found + 1
        return None


@lru_cache(maxsize=2048)
def recurrence_of(text: str, zone_name: str, anchor: Instant) -> Recurrence:
    """The recurrence of an RFC 5545 text. `anchor` is the start where the text has no DTSTART.

    The zone of a DTSTART (a TZID, or UTC for a Z) is the rule's own and goes before `zone_name`.
    """
    rule = read_rule(text)
    zone = zone_of((rule.start and rule.start.zone) or zone_name)
    start = rule.start.wall if rule.start else _start_at(rule, wall_at(anchor, zone))
    if not FIRST_START <= start <= LAST_START:
        refuse("The rule starts before 1900 or after 2999.", "Give a DTSTART nearer to today.")
    series = series_of(rule, start)
    if series.first(start) is None and not rule.extra:
        refuse(
            "This rule never fires: no day in 400 years matches it.",
            "Check BYMONTH, BYMONTHDAY and BYDAY.",
        )
    last_wall = None
    if rule.count is not None:
        last_wall = series.nth(rule.count + (0 if rule.start else _before_creation(series, wall_at(anchor, zone))))
    last_instant = None
    if rule.until is not None and rule.until.wall < _FOR_EVER:
        if rule.until.zone is None:
            end = rule.until.wall + (DAY_SECONDS - 1 if rule.until.whole_day else 0)
            last_wall = end if last_wall is None else min(end, last_wall)
        else:
            last_instant = instant_of(rule.until.wall, zone_of(rule.until.zone))
    excluded_walls, excluded_days = _excluded(rule.excluded, zone)
    made = Recurrence(
        series,
        zone,
        last_wall=last_wall,
        last_instant=last_instant,
        excluded_walls=excluded_walls,
        excluded_days=excluded_days,
        extra=_extra(rule.extra, zone, start, excluded_walls, excluded_days),
    )
    if (rule.until or rule.excluded) and made.next_after(EARLIEST) is None:
        refuse("This rule never fires: it ends before its first time.", "Check UNTIL and EXDATE.")
    return made


def series_of(rule: RuleText, start: int) -> Series:
    """The walls of a rule that starts at the wall `start`, which also gives what the rule leaves open."""
    day, second = divmod(start, DAY_SECONDS)
    on = date.fromordinal(day)
    months, month_days, weekdays = rule.months, rule.month_days, rule.weekdays
    if not rule.says_which_days:
        if rule.freq is Freq.WEEKLY:
            weekdays = ((0, on.weekday()),)
        else:
            month_days = (on.day,)
            months = months or ((on.month,) if rule.freq is Freq.YEARLY else None)
    days = rule_days(
        months,
        rule.week_numbers,
        rule.year_days,
        month_days,
        weekdays,
        rule.week_start,
        rule.freq is Freq.YEARLY and rule.months is None,
    )
    hours = rule.hours or (second // 3600,)
    minutes = rule.minutes or (second // 60 % 60,)
    seconds = rule.seconds or (second % 60,)
    if rule.freq <= Freq.DAILY:
        return DaySeries(
            freq=rule.freq,
            interval=rule.interval,
            start=start,
            days=days,
            times=times_of(hours, minutes, seconds),
            week_start=rule.week_start,
            positions=rule.positions,
        )
    gate = _gate(rule, start, days)
    within = times_of(
        _ZERO,
        minutes if rule.freq is Freq.HOURLY else _ZERO,
        seconds if rule.freq <= Freq.MINUTELY else _ZERO,
    )
    period = rule.interval * PERIOD_SECONDS[rule.freq]
    if period % DAY_SECONDS == 0:
        begins = start % DAY_SECONDS // PERIOD_SECONDS[rule.freq] * PERIOD_SECONDS[rule.freq]
        return DaySeries(
            freq=Freq.DAILY,
            interval=period // DAY_SECONDS,
            start=start,
            days=days,
            times=Listed([begins + within.nth(index) for index in range(within.size)]),
            positions=rule.positions,
        )
    return ClockSeries(
        freq=rule.freq,
        interval=rule.interval,
        start=start,
        days=days,
        gate=gate,
        times=within,
        positions=rule.positions,
    )


def _gate(rule: RuleText, start: int, days: Days) -> Times | None:
    gate = Gate(rule.freq, (rule.hours, rule.minutes, rule.seconds))
    unit = PERIOD_SECONDS[rule.freq]
    period = rule.interval * unit
    if gate.never_opens(start // unit * unit, period):
        refuse("This rule never fires: its INTERVAL skips every time that matches.", "Change INTERVAL or DTSTART.")
    if gate.opens_too_rarely(period, every_day=days.every_day):
        refuse("This rule fires too rarely to find its next time quickly.", "Use an INTERVAL that divides a day.")
    return gate.times


def _start_at(rule: RuleText, wall: int) -> int:
    """The start of a rule without DTSTART: its creation, but sharp where the rule names a coarser part of the time."""
    if rule.freq <= Freq.HOURLY and rule.minutes is None and rule.hours is not None:
        wall -= wall % 3600
    if rule.freq <= Freq.MINUTELY and rule.seconds is None and (rule.hours is not None or rule.minutes is not None):
        wall -= wall % 60
    return wall


def _before_creation(series: Series, created: int) -> int:
    """How many times of a rule without DTSTART are not after its creation: they never fire, so they do not count."""
    passed = 0
    found = series.first(series.start)
    while found is not None and found <= created:
        passed += 1
        found = series.first(found + 1)
    return passed


def _excluded(stamps: Iterable[Stamp], zone: ZoneInfo) -> tuple[set[int], set[int]]:
    walls, days = set(), set()
    for stamp in stamps:
        if stamp.whole_day:
            days.add(stamp.wall // DAY_SECONDS)
        elif stamp.zone is None:
            walls.add(stamp.wall)
        else:
            walls.add(wall_at(instant_of(stamp.wall, zone_of(stamp.zone)), zone))
    return walls, days


def _extra(
    stamps: Iterable[Stamp], zone: ZoneInfo, start: int, excluded_walls: set[int], excluded_days: set[int]
) -> Iterator[Instant]:
    for stamp in stamps:
        if not FIRST_START <= stamp.wall <= LAST_START:
            refuse("RDATE has a date before 1900 or after 2999.", "Give dates nearer to today.")
        wall = stamp.wall + (start % DAY_SECONDS if stamp.whole_day else 0)
        instant = instant_of(wall, zone_of(stamp.zone) if stamp.zone else zone)
        local = wall_at(instant, zone)
        if local not in excluded_walls and local // DAY_SECONDS not in excluded_days:
            yield instant
