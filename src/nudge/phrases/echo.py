"""Saying back what was understood, as an absolute time: the one place where a misunderstanding can still be seen."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time
from zoneinfo import ZoneInfo

from nudge.instants import HOUR, MINUTE, SECOND, Instant, as_instant, to_datetime
from nudge.phrases.pieces import Freq, Rule
from nudge.phrases.tokens import MONTH_NAMES, WEEKDAY_NAMES


def absolute(instant: Instant, zone: ZoneInfo) -> str:
    """Weekday, date and time on the wall, such as "Friday 2026-02-20 5:00 PM".

    In the hour that a DST change repeats, the zone's short name says which of the two it is.
    """
    local = to_datetime(instant, zone)
    said = f"{WEEKDAY_NAMES[local.weekday()]} {local.date().isoformat()} {clock_text(local.time())}"
    return f"{said} {local.tzname()}" if _repeated(local) else said


def distance(microseconds: int) -> str:
    """How far ahead, in its two largest units, rounded down: "in 2 days 3 h". Less than a second is "in 1 s"."""
    seconds = max(1, microseconds // SECOND)
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    named = [(days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next(index for index, (count, _) in enumerate(named) if count)
    return "in " + " ".join(f"{count} {unit}" for count, unit in named[first : first + 2] if count)


def clock_text(at: time) -> str:
    seconds = f":{at.second:02}" if at.second or at.microsecond else ""
    fraction = f".{at.microsecond:06}".rstrip("0") if at.microsecond else ""
    return f"{(at.hour - 1) % 12 + 1}:{at.minute:02}{seconds}{fraction} {'AM' if at.hour < 12 else 'PM'}"


def interval_text(microseconds: int) -> str:
    """ "every 30 minutes", in the largest unit that leaves nothing over; never in days, which an interval is not."""
    for unit, name in ((HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second"), (1, "microsecond")):
        count, over = divmod(microseconds, unit)
        if not over:
            return _every(count, name)
    raise AssertionError("a microsecond leaves nothing over")


def rule_text(rule: Rule, times: tuple[time, ...]) -> str:
    """ "every weekday at 9:00 AM", "on the 2nd Tuesday of every month at 10:00 AM"."""
    return f"{_days_text(rule)} at {_listed(clock_text(at) for at in times)}"


def _days_text(rule: Rule) -> str:
    names = _listed(WEEKDAY_NAMES[weekday] for weekday in rule.weekdays) if rule.weekdays else ""
    if rule.freq is Freq.DAILY:
        return _every(rule.interval, "day")
    if rule.freq is Freq.WEEKLY:
        if rule.weekdays == (0, 1, 2, 3, 4):
            names = "weekday"
        if rule.interval == 1:
            return f"every {names}"
        if rule.interval == 2 and len(rule.weekdays) == 1:
            return f"every other {names}"
        return f"{_every(rule.interval, 'week')} on {'weekdays' if names == 'weekday' else names}"
    if rule.freq is Freq.YEARLY:
        assert rule.month is not None
        return f"{_every(rule.interval, 'year')} on {MONTH_NAMES[rule.month - 1]} {rule.monthdays[0]}"
    if rule.nth is not None:
        which = f"{'last' if rule.nth < 0 else nth(rule.nth)} {names}"
    else:
        which = _listed("last day" if day < 0 else nth(day) for day in rule.monthdays)
    skipped = "" if max(rule.monthdays, default=0) < 29 else " that has it"
    return f"on the {which} of {_every(rule.interval, 'month')}{skipped}"


def nth(number: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    return f"{number}{'th' if 10 <= number % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _every(interval: int, unit: str) -> str:
    return f"every {unit}" if interval == 1 else f"every {interval} {unit}s"


def _listed(items: Iterable[str]) -> str:
    names = list(items)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _repeated(local: datetime) -> bool:
    return as_instant(local.replace(fold=0)) != as_instant(local.replace(fold=1))
