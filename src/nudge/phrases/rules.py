"""Rules of recurring phrases: their times, their RRULE text, and their first time."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, from_local, local_date
from nudge.phrases.pieces import DEFAULT_TIME, Clock, Freq, Part, Rule
from nudge.phrases.refusal import RULE_EXAMPLES, Refused

_BYDAY: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FURTHEST_DAYS: Final = 8 * 366 + 2
"""From one 29 February to the next there can be eight years."""


def rule_times(rule: Rule, clocks: tuple[Clock, ...], part: Part | None) -> tuple[time, ...]:
    """The times of a rule, sorted. One RRULE can hold several only if they share their minutes."""
    times: set[time] = set()
    for clock in clocks:
        if clock.alone and part is None:
            early = 1 <= clock.at.hour < 6
            ways = f"{clock.said}am or {clock.said}pm" if early else f"at {clock.said}, or {clock.said}:00"
            raise Refused(f"say {ways}", RULE_EXAMPLES)
        if clock.midnight and rule.freq is not Freq.DAILY:
            raise Refused("say 11:59pm on that day or 00:00 on the next", RULE_EXAMPLES)
        if part is None and not clock.marked and clock.at.hour < 6:
            raise Refused(f"say {clock.said}am or {clock.said}pm", RULE_EXAMPLES)
        times.add(clock.at if part is None or clock.midnight else part.fit(clock))
    if not times:
        times.add(DEFAULT_TIME if part is None else part.default)
    if any(at.second or at.microsecond for at in times):
        raise Refused("a rule has whole minutes", RULE_EXAMPLES)
    hours, minutes = {at.hour for at in times}, {at.minute for at in times}
    if len(times) != len(hours) * len(minutes):
        raise Refused("these times do not share their minutes; make one reminder for each", RULE_EXAMPLES)
    return tuple(sorted(times))


def rrule_text(rule: Rule, times: tuple[time, ...]) -> str:
    """The RRULE of RFC 5545, to be evaluated in the person's zone."""
    parts = [f"FREQ={rule.freq.value}"]
    if rule.interval > 1:
        parts.append(f"INTERVAL={rule.interval}")
    if rule.month is not None:
        parts.append(f"BYMONTH={rule.month}")
    if rule.monthdays:
        parts.append(f"BYMONTHDAY={_joined(rule.monthdays)}")
    if rule.weekdays:
        nth = "" if rule.nth is None else str(rule.nth)
        parts.append("BYDAY=" + ",".join(f"{nth}{_BYDAY[weekday]}" for weekday in rule.weekdays))
    parts.append(f"BYHOUR={_joined(sorted({at.hour for at in times}))}")
    parts.append(f"BYMINUTE={_joined(sorted({at.minute for at in times}))}")
    parts.append("BYSECOND=0")
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
