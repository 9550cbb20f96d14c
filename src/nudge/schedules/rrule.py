"""Recurrence rules of RFC 5545, evaluated in a zone and bounded in time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import time
from itertools import pairwise
from typing import Any, ClassVar, Final
from zoneinfo import ZoneInfo

from nudge.errors import UsageError
from nudge.instants import Instant, rfc3339, to_datetime, zone_of
from nudge.schedules.kinds import AnySchedule, Fields, Given, Making, check_instant
from nudge.schedules.periods import Freq
from nudge.schedules.recurrence import recurrence_of
from nudge.schedules.rule_text import RuleText, read_rule, refuse, with_limits
from nudge.schedules.walls import naive

_ONCE: Final = {
    Freq.YEARLY: "yearly",
    Freq.MONTHLY: "monthly",
    Freq.WEEKLY: "weekly",
    Freq.DAILY: "daily",
    Freq.HOURLY: "hourly",
    Freq.MINUTELY: "every minute",
    Freq.SECONDLY: "every second",
}
_UNITS: Final = {
    Freq.YEARLY: "years",
    Freq.MONTHLY: "months",
    Freq.WEEKLY: "weeks",
    Freq.DAILY: "days",
    Freq.HOURLY: "hours",
    Freq.MINUTELY: "minutes",
    Freq.SECONDLY: "seconds",
}
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS: Final = tuple((0, day) for day in range(5))
_WEEKEND: Final = ((0, 5), (0, 6))
_NO_START: Final = Instant(0)
_SHOWN: Final = 7
_TIMES_SHOWN: Final = 4


def rule_in_words(rule: RuleText) -> str:
    """The rule's parts in the order people say them; long lists are cut with an ellipsis."""
    words = [_ONCE[rule.freq] if rule.interval == 1 else f"every {rule.interval} {_UNITS[rule.freq]}"]
    if rule.weekdays is not None:
        words.append(f"on {_weekdays(rule)}")
    if rule.month_days is not None:
        words.append(f"on the {_listed(_day(day) for day in rule.month_days)}")
    if rule.year_days is not None:
        words.append(f"on the {_listed(ordinal(day) for day in rule.year_days)} day of the year")
    if rule.week_numbers is not None:
        words.append(f"in week {_listed(map(str, rule.week_numbers))}")
    if rule.months is not None:
        words.append(f"in {_listed(_MONTHS[month - 1] for month in rule.months)}")
    if rule.positions and not _picks_times(rule):
        words.append(f"({_listed(ordinal(position) for position in rule.positions)})")
    words += _times(rule)
    return " ".join(words) + _limits(rule)


def ordinal(number: int) -> str:
    """`2nd`, and from the back `last`, `2nd last`."""
    if number == -1:
        return "last"
    if number < 0:
        return f"{ordinal(-number)} last"
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _weekdays(rule: RuleText) -> str:
    if rule.weekdays == _WEEKDAYS:
        return "weekdays"
    if rule.weekdays == _WEEKEND:
        return "weekends"
    return _listed(f"the {ordinal(nth)} {_DAYS[day]}" if nth else _DAYS[day] for nth, day in rule.weekdays or ())


def _day(number: int) -> str:
    return f"{ordinal(number)} day" if number < 0 else ordinal(number)


def _times(rule: RuleText) -> list[str]:
    hours, minutes, seconds = rule.hours, rule.minutes, rule.seconds
    if hours is not None and rule.freq <= Freq.DAILY:
        exact = [(h, m, s) for h in hours for m in minutes or (0,) for s in seconds or (0,)]
        picked = _picks_times(rule)
        if picked:
            exact = [exact[position - 1] for position in rule.positions if position <= len(exact)]
        shown = [f"{h:02}:{m:02}" + (f":{s:02}" if s else "") for h, m, s in exact]
        gaps = {(h - a) * 60 + m - b for (a, b, _), (h, m, _) in pairwise(exact)}
        if minutes is not None and len(gaps) == 1 and len(exact) > _TIMES_SHOWN and not any(s for _, _, s in exact):
            return [f"every {gaps.pop()} min from {shown[0]} to {shown[-1]}"]
        if picked or len(exact) <= _TIMES_SHOWN:
            return ["at " + _listed(shown)]
    words = []
    if minutes is not None:
        words.append(f"at minute {_listed(map(str, minutes))}")
    if seconds is not None:
        words.append(f"at second {_listed(map(str, seconds))}")
    if hours is not None:
        words.append(f"in hour {_listed(map(str, hours))}")
    return words


def _picks_times(rule: RuleText) -> bool:
    """Whether BYSETPOS picks times of a day out of hours and minutes: a day offers no other choice."""
    positions = rule.positions or (-1,)
    return rule.freq is Freq.DAILY and rule.hours is not None and all(position > 0 for position in positions)


def _limits(rule: RuleText) -> str:
    words = ""
    if rule.count is not None:
        words += f", {rule.count} time{'' if rule.count == 1 else 's'}"
    if rule.until is not None:
        shape = "%Y-%m-%d" if rule.until.whole_day else "%Y-%m-%d %H:%M"
        words += f", until {naive(rule.until.wall).strftime(shape)}" + (" UTC" if rule.until.zone else "")
    if rule.excluded:
        words += f", without {len(rule.excluded)} date{'' if len(rule.excluded) == 1 else 's'}"
    if rule.extra:
        words += f", plus {len(rule.extra)} date{'' if len(rule.extra) == 1 else 's'}"
    return words


def _listed(words: Iterable[str]) -> str:
    shown = list(words)
    return ", ".join(shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], "…"])


_HOUR: Final = re.compile(r"BYHOUR=\d+(?=;|$|\n)")
_MINUTE: Final = re.compile(r"BYMINUTE=\d+(?=;|$|\n)")
_START: Final = re.compile(r"(?<=^DTSTART:\d{8})T\d{6}")


@dataclass(frozen=True, slots=True)
class Rrule(AnySchedule):
    """An RRULE, with DTSTART, EXDATE and RDATE lines where wanted.

    Without a DTSTART line the rule starts at `dtstart`, its creation, and takes from it what it leaves open:
    `FREQ=DAILY` keeps the time of day at which it was made. A rule that never fires, or that cannot be answered quickly
    whatever the instant, is refused when it is made.
    """

    text: str
    tz: str | None
    dtstart: Instant

    kind: ClassVar[str] = "rrule"

    def __post_init__(self) -> None:
        check_instant(self.dtstart)
        recurrence_of(self.text, self.tz or "UTC", self.dtstart)

    @classmethod
    def parse(cls, given: Given, making: Making) -> Rrule:
        if not isinstance(given, str):
            refuse(f"{given!r} is not a recurrence rule.")
        text = with_limits(given, making.count, utc_stamp(making.until))
        rule = read_rule(text)
        if making.now is None and rule.start is None and rule.depends_on_start:
            raise UsageError(
                "This rule counts from its start, or takes its day or time from it, but it has no start.",
                next_step="Pass now=, add a DTSTART line, or put the day and time into the rule.",
            )
        return cls(text, making.tz, _NO_START if making.now is None else making.now)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        return recurrence_of(self.text, self.tz or zone.key, self.dtstart).next_after(instant)

    def at_time(self, at: time) -> str | None:
        """The text with another time of day; None where it has none of its own, or several."""
        if not (_HOUR.search(self.text) and _MINUTE.search(self.text)):
            return None
        text = _START.sub(f"T{at:%H%M}00", self.text)
        return _MINUTE.sub(f"BYMINUTE={at.minute}", _HOUR.sub(f"BYHOUR={at.hour}", text))

    def describe(self) -> str:
        return f"RRULE({rule_in_words(read_rule(self.text))})"

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "rrule": self.text, "dtstart": rfc3339(self.dtstart)}
        return data if self.tz is None else data | {"tz": self.tz}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rrule:
        fields = Fields(data, cls.kind)
        made = cls(fields.text("rrule"), fields.zone(), fields.instant("dtstart"))
        fields.done()
        return made

    def in_zone(self, tz: str) -> Rrule:
        return replace(self, tz=tz)

    def limited(self, count: int | None, until: Instant | None, now: Instant) -> Rrule:
        return replace(self, text=with_limits(self.text, count, utc_stamp(until), instead=True))

    def shown_in(self, default: ZoneInfo) -> ZoneInfo:
        """The zone the rule is evaluated in: its DTSTART's, else its own, else the default."""
        start = read_rule(self.text).start
        name = (start and start.zone) or self.tz
        return zone_of(name) if name else default


def utc_stamp(instant: Instant | None) -> str | None:
    """An instant as a rule writes it, for its UNTIL."""
    return None if instant is None else to_datetime(instant).strftime("%Y%m%dT%H%M%SZ")
