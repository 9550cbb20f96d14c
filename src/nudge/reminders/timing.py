"""When: from the words of a spec to a schedule, and to the rhythm in which a chain or a waiting condition asks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from nudge.durations import parse_duration
from nudge.errors import UsageError
from nudge.instants import Instant, as_instant, from_local, start_of_day, to_datetime, zone_of
from nudge.phrases import Understood, understand, understand_duration
from nudge.schedules import AnySchedule, At, Every, Rrule, Schedule
from nudge.schedules.rule_text import with_limits

SCHEDULE_FIELDS: Final = ("at", "in_", "every", "rrule", "cron", "idle", "tz", "count", "until")

_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:?\d\d.*", re.ASCII)
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ONE: Final = "Use exactly one of at, in, every, rrule, cron and idle."


@dataclass(frozen=True, slots=True)
class Timing:
    at: str | None = None
    in_: str | None = None
    every: str | None = None
    rrule: str | None = None
    cron: str | None = None
    idle: str | None = None
    count: int | None = None
    until: str | None = None

    @property
    def kinds(self) -> list[str]:
        return [name for name in SCHEDULE_FIELDS[:6] if getattr(self, name) is not None]


def read_timing(
    timing: Timing, now: Instant, tz: str, *, chain: int | None = None, waits: bool = False
) -> tuple[AnySchedule, int | None]:
    """The schedule, and the rhythm where there is one. `waits` is for a condition of mode once."""
    kinds = timing.kinds
    rhythm = None
    if chain is not None:
        rhythm = _chain_rhythm(timing)
        kinds = [kind for kind in kinds if kind != "every"] or ["every"]
    elif waits and timing.every is not None and len(kinds) == 2 and kinds[0] in ("at", "in_"):
        rhythm = read_interval(timing.every)
        kinds = kinds[:1]
    if len(kinds) != 1:
        given = " and ".join(kind.rstrip("_") for kind in kinds)
        problem = f"{given} are more than one schedule." if kinds else "There is no schedule."
        raise UsageError(problem, next_step=_ONE)
    if chain is not None and kinds == ["every"]:
        _refuse_limits(timing)
        assert rhythm is not None
        return At(Instant(now + rhythm), tz), rhythm
    return _schedule(timing, kinds[0], now, tz), rhythm


def _chain_rhythm(timing: Timing) -> int:
    if timing.every is None:
        raise UsageError("A chain needs the time between its links.", next_step="Write it like --chain 4 --every 30m.")
    if timing.idle is not None:
        raise UsageError("An idle check fires once per idle spell, so it makes no chain.", next_step="Leave one out.")
    return read_interval(timing.every)


def read_interval(text: str) -> int:
    length = parse_duration(text)
    Every(length, Instant(0))  # refuses what is too short or too long to repeat
    return length


def _schedule(timing: Timing, kind: str, now: Instant, tz: str) -> AnySchedule:
    zone = zone_of(tz)
    until = None if timing.until is None else read_until(timing.until, now, zone)
    if timing.at is not None and kind == "at":
        return _at(timing, timing.at, now, zone, until)
    in_ = None
    if timing.in_ is not None and kind == "in_":
        in_ = timedelta(microseconds=read_duration(timing.in_, now, zone))
    return Schedule.parse(
        in_=in_,
        every=timing.every if kind == "every" else None,
        rrule=timing.rrule,
        cron=timing.cron,
        idle=timing.idle,
        tz=tz,
        count=timing.count,
        until=until,
        now=now,
    ).spec


def _at(timing: Timing, text: str, now: Instant, zone: ZoneInfo, until: Instant | None) -> AnySchedule:
    """A time in digits is taken as it is, also one in the past, which is due at once; words always mean the future."""
    exact = _exact(text, zone)
    if exact is not None:
        _refuse_limits(timing)
        return At(exact, zone.key)
    understood = understand(text, now, zone)
    if understood.once is not None:
        _refuse_limits(timing)
    return schedule_from(understood, now, zone, timing.count, until)


def schedule_from(
    understood: Understood, now: Instant, zone: ZoneInfo, count: int | None = None, until: Instant | None = None
) -> AnySchedule:
    """The schedule of a phrase. A rule starts at its first time, so that "every other tuesday" is counted from it."""
    if understood.once is not None:
        return At(understood.once, zone.key)
    if understood.every is not None:
        return Every(understood.every, now, count, until)
    assert understood.dated_rrule is not None
    last = None if until is None else to_datetime(until).strftime("%Y%m%dT%H%M%SZ")
    return Rrule(with_limits(understood.dated_rrule, count, last), zone.key, now)


def _exact(text: str, zone: ZoneInfo) -> Instant | None:
    if not _ISO.fullmatch(text.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return as_instant(moment) if moment.tzinfo else from_local(moment, zone)


def read_until(text: str, now: Instant, zone: ZoneInfo) -> Instant:
    """The last instant at which it may fire. A bare date means to the end of that day."""
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
        raise UsageError(f"{text!r} is not one time.", next_step="Say when it ends, such as 'friday 5pm'.")
    return understood.once


def read_duration(text: str, now: Instant, zone: ZoneInfo) -> int:
    try:
        return parse_duration(text)
    except UsageError:
        return understand_duration(text, now, zone)


def _refuse_limits(timing: Timing) -> None:
    if timing.count is not None or timing.until is not None:
        raise UsageError("What happens once has no count and no end.", next_step="Leave them out.")
