"""Cron expressions of five fields. cronsim reads them; the search is the same as for RRULE.

Most crons run a job that fires every few minutes by elapsed time through a DST change. Here every wall time counts
once, as for RRULE: in a fold it fires on the first pass only, and a time inside a gap fires at the end of the gap.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final
from zoneinfo import ZoneInfo

from nudge.errors import InvalidScheduleError
from nudge.instants import Instant, rfc3339, zone_of
from nudge.schedules.day_series import DaySeries
from nudge.schedules.days import Days
from nudge.schedules.kinds import (
    AnySchedule,
    Fields,
    Given,
    Making,
    check_instant,
    check_limits,
    limits_in_words,
    limits_to_json,
)
from nudge.schedules.periods import Freq, Times, times_of
from nudge.schedules.recurrence import Recurrence
from nudge.schedules.walls import EARLIEST, FIRST_START, wall_after

if TYPE_CHECKING:
    from cronsim import CronSim

_LONGEST: Final = 256
_EXAMPLE: Final = "Write it like `0 9 * * 1-5` (minute, hour, day of month, month, day of week)."
_SIZES: Final = (60, 24, 31, 12, 7)
_STEP: Final = re.compile(r"/([0-9]+)")
_NO_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cron(AnySchedule):
    """Five fields: minute, hour, day of month, month, weekday (0 and 7 are Sunday).

    As in Debian's cron a day must match both day fields if one of them starts with a star, else either.
    """

    expr: str
    tz: str | None
    count: int | None = None
    """How many times, counted from the anchor."""
    until: Instant | None = None
    """The last instant at which it may still fire."""
    anchor: Instant | None = None
    """Its creation: it does not fire at or before it. A count needs one."""

    kind: ClassVar[str] = "cron"

    def __post_init__(self) -> None:
        check_limits(self.count, self.until)
        if self.anchor is not None:
            check_instant(self.anchor)
        elif self.count is not None:
            raise InvalidScheduleError(
                "A cron schedule with a count needs a time to count from.", next_step="Pass its anchor."
            )
        self._recurrence(self.tz or "UTC")

    @classmethod
    def parse(cls, given: Given, making: Making) -> Cron:
        if not isinstance(given, str):
            raise InvalidScheduleError(f"{given!r} is not a cron expression.", next_step=_EXAMPLE)
        start = making.now if making.count is None else making.start("A count")
        return cls(given, making.tz, making.count, making.until, start)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        return self._recurrence(self.tz or zone.key).next_after(instant)

    def describe(self) -> str:
        return f"cron {' '.join(self.expr.split())}{limits_in_words(self.count, self.until, self.tz)}"

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "cron": self.expr}
        if self.tz is not None:
            data["tz"] = self.tz
        if self.anchor is not None:
            data["anchor"] = rfc3339(self.anchor)
        return data | limits_to_json(self.count, self.until)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cron:
        fields = Fields(data, cls.kind)
        made = cls(
            fields.text("cron"),
            fields.zone(),
            fields.maybe_whole("count"),
            fields.maybe_instant("until"),
            fields.maybe_instant("anchor"),
        )
        fields.done()
        return made

    def in_zone(self, tz: str) -> Cron:
        return replace(self, tz=tz)

    def shown_in(self, default: ZoneInfo) -> ZoneInfo:
        return zone_of(self.tz) if self.tz else default

    def limited(self, count: int | None, until: Instant | None, now: Instant) -> Cron:
        count, until = self.count if count is None else count, self.until if until is None else until
        return replace(self, count=count, until=until, anchor=now if self.anchor is None else self.anchor)

    def begun_before(self, start: Instant) -> Cron:
        if self.count is not None or self.anchor is None:
            return self
        return replace(self, anchor=Instant(min(self.anchor, start - 1)))

    def _recurrence(self, zone_name: str) -> Recurrence:
        return _recurrence(self.expr, zone_name, self.count, self.until, self.anchor)


class CronDays(Days):
    """The days of an expression, by cronsim's own reading of its day fields."""

    __slots__ = ("_cron",)

    def __init__(self, cron: CronSim) -> None:
        self._cron = cron
        day_of_month, month, day_of_week = cron.parts[3:]
        weekdays = range(7) if day_of_week == "*" else [day for day in range(7) if cron.match_dow(_week_of(day))]
        simple = day_of_month == month == "*" and not any(isinstance(day, tuple) for day in cron.weekdays)
        super().__init__(weekdays=weekdays if simple else None, months=frozenset(cron.months))

    def _allowed(self, year: int, month: int) -> Iterable[int]:
        days = range(1, monthrange(year, month)[1] + 1)
        return [day for day in days if self._cron.match_day(date(year, month, day))]


def _week_of(weekday: int) -> date:
    return date(2001, 1, 1 + weekday)  # a Monday first


@lru_cache(maxsize=512)
def _read(expr: str) -> tuple[Days, Times]:
    from cronsim import CronSim, CronSimError

    if len(expr) > _LONGEST or len(expr.split()) != 5:
        raise InvalidScheduleError(f"{expr[:40]!r} is not a cron expression of five fields.", next_step=_EXAMPLE)
    for field, size in zip(expr.split(), _SIZES, strict=True):
        if any(int(step) > size for step in _STEP.findall(field)):
            raise InvalidScheduleError(
                f"cron {expr!r}: the step in {field!r} is longer than the field, where cron starts over.",
                next_step="For a longer interval use every, such as every 90m.",
            )
    try:
        cron = CronSim(expr, _NO_DAY)
    except (CronSimError, AssertionError, TypeError, ValueError) as error:
        why = str(error) or "not a valid expression"
        raise InvalidScheduleError(f"cron {expr!r}: {why[0].lower()}{why[1:]}.", next_step=_EXAMPLE) from error
    return CronDays(cron), times_of(sorted(cron.hours), sorted(cron.minutes), (0,))


@lru_cache(maxsize=2048)
def _recurrence(
    expr: str, zone_name: str, count: int | None, until: Instant | None, anchor: Instant | None
) -> Recurrence:
    days, times = _read(expr)
    zone = zone_of(zone_name)
    start = FIRST_START if anchor is None else wall_after(anchor, zone)
    series = DaySeries(freq=Freq.DAILY, interval=1, start=start, days=days, times=times)
    if series.first(start) is None:
        raise InvalidScheduleError(f"cron {expr!r} never fires: no day matches it.", next_step=_EXAMPLE)
    last_wall = None if count is None else series.nth(count)
    made = Recurrence(series, zone, last_wall=last_wall, last_instant=until)
    if until is not None and made.next_after(EARLIEST) is None:
        raise InvalidScheduleError(f"cron {expr!r} never fires before its end.", next_step="Choose a later end.")
    return made
