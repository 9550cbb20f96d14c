"""When: from the words of a definition to a schedule, and to the rhythm in which a chain or a condition asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.durations import parse_duration
from nudge.errors import UsageError
from nudge.instants import Instant, as_instant, from_local, start_of_day, zone_of
from nudge.phrases import Understood, understand, understand_duration
from nudge.reminders.fields import Field, Flag, TextKind, Whole, ZoneName, read_record
from nudge.schedules import WAYS, WAYS_IN_WORDS, AnySchedule, At, Every, Making, Rrule, read_schedule
from nudge.schedules.rrule import utc_stamp
from nudge.schedules.rule_text import with_limits

_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:?\d\d.*", re.ASCII)
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

WHEN: Final = (
    *(Field(way.name, TextKind(empty=False), flag=Flag(way.help, way.metavar, "when")) for way in WAYS.values()),
    Field("tz", ZoneName(), flag=Flag("the time zone, such as Europe/London (default: yours)", "ZONE", "when")),
    Field("count", Whole(1), flag=Flag("end after N times", "N", "when")),
    Field("until", TextKind(empty=False), flag=Flag("end at this time", "TIME", "when")),
)
"""The fields of a schedule in words."""


def read_when(words: Any) -> dict[str, Any]:
    """The words, once their names and kinds are right."""
    return read_record(WHEN, words, ("schedule",))


def read_timing(
    when: Mapping[str, Any], now: Instant, tz: str, *, chain: int | None = None, waits: bool = False
) -> tuple[AnySchedule, int | None]:
    """The schedule, and the rhythm where there is one. `waits` is for a condition of mode once.

    There is one way to say when. Only `every` may stand beside another: it is the rhythm of a chain, or how often a
    `once` condition is checked from a single time on.
    """
    ways = [name for name in WAYS if name in when]
    rhythm = None
    if chain is not None:
        rhythm = _chain_rhythm(when)
        ways = [way for way in ways if way != "every"] or ["every"]
    elif waits and len(ways) == 2 and "every" in ways and any(WAYS[way].kind is At for way in ways):
        rhythm = read_interval(when["every"])
        ways.remove("every")
    if len(ways) != 1:
        problem = f"Only one schedule is allowed; got {' and '.join(ways)}." if ways else "No schedule given."
        raise UsageError(problem, next_step=f"Use exactly one of {WAYS_IN_WORDS}.")
    if chain is not None and ways == ["every"]:
        _refuse_limits(when)
        assert rhythm is not None
        return At(Instant(now + rhythm), tz), rhythm
    return _schedule(when, ways[0], now, tz), rhythm


def _chain_rhythm(when: Mapping[str, Any]) -> int:
    if "every" not in when:
        raise UsageError(
            "A chain needs the time between its questions.", next_step="Write it like --chain 4 --every 30m."
        )
    if "idle" in when:
        raise UsageError(
            "An idle check fires once each time the agent is idle, so it cannot be a chain.",
            next_step="Leave one of them out.",
        )
    return read_interval(when["every"])


def read_interval(text: str) -> int:
    length = parse_duration(text)
    Every(length, Instant(0))  # refuses what is too short or too long to repeat
    return length


def _schedule(when: Mapping[str, Any], way: str, now: Instant, tz: str) -> AnySchedule:
    zone = zone_of(tz)
    until = None if "until" not in when else read_until(when["until"], now, zone)
    making = Making(tz, now, when.get("count"), until)
    if way == "at":
        return _at(when, now, zone, making)
    if way == "in":
        return read_schedule(way, timedelta(microseconds=read_duration(when[way], now, zone)), making)
    return read_schedule(way, when[way], making)


def _at(when: Mapping[str, Any], now: Instant, zone: ZoneInfo, making: Making) -> AnySchedule:
    """A time in digits is taken as it is, also one in the past, which is due at once; words always mean the future."""
    exact = _exact(when["at"], zone)
    if exact is not None:
        _refuse_limits(when)
        return At(exact, zone.key)
    understood = understand(when["at"], now, zone)
    if understood.once is not None:
        _refuse_limits(when)
    return schedule_from(understood, now, zone, making.count, making.until)


def schedule_from(
    understood: Understood, now: Instant, zone: ZoneInfo, count: int | None = None, until: Instant | None = None
) -> AnySchedule:
    """The schedule of a phrase. A rule starts at its first time, so that "every other tuesday" is counted from it."""
    if understood.once is not None:
        return At(understood.once, zone.key)
    if understood.every is not None:
        return Every(understood.every, now, count, until)
    assert understood.dated_rrule is not None
    return Rrule(with_limits(understood.dated_rrule, count, utc_stamp(until)), zone.key, now)


def by_wall_clock(when: Mapping[str, Any], now: Instant, tz: str) -> bool:
    """Whether the words name a time on the clock of the person's own zone, and so follow them to another one."""
    if when.get("tz"):
        return False
    if "cron" in when:
        return True
    if "rrule" in when:
        return not re.search(r"TZID=|DTSTART[^\n]*Z", when["rrule"], re.IGNORECASE)
    if "at" not in when:
        return False
    if _ISO.fullmatch(when["at"].strip()):
        return datetime.fromisoformat(when["at"].strip()).tzinfo is None
    return understand(when["at"], now, zone_of(tz)).by_wall_clock


def _exact(text: str, zone: ZoneInfo) -> Instant | None:
    if not _ISO.fullmatch(text.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return as_instant(moment) if moment.tzinfo else from_local(moment, zone)


def read_until(text: str, now: Instant, zone: ZoneInfo) -> Instant:
    """The last instant at which it may fire. A bare date includes that day."""
    stripped = text.strip()
    if _ISO_DATE.fullmatch(stripped):
        try:
            return Instant(start_of_day(date.fromisoformat(stripped) + timedelta(days=1), zone) - 1)
        except (ValueError, OverflowError):
            raise UsageError(f"{text!r} is not a date.", next_step="Write it like 2026-03-01.") from None
    exact = _exact(stripped, zone)
    if exact is not None:
        return exact
    understood = understand(stripped, now, zone, at_end=True)
    if understood.once is None:
        raise UsageError(f"{text!r} is not a single time.", next_step="Say when it ends, such as 'friday 5pm'.")
    return understood.once


def read_duration(text: str, now: Instant, zone: ZoneInfo) -> int:
    try:
        return parse_duration(text)
    except UsageError:
        return understand_duration(text, now, zone)


def _refuse_limits(when: Mapping[str, Any]) -> None:
    if "count" in when or "until" in when:
        raise UsageError("Only a recurring schedule takes a count or an end.", next_step="Leave them out.")
