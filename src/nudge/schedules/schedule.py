"""The public face of the schedules: make one from what a person typed, ask when it is next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.durations import parse_duration
from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import Instant, Moment, as_instant, from_timedelta, parse_rfc3339, to_datetime, zone_of
from nudge.schedules.cron import Cron
from nudge.schedules.kinds import At, Every, Idle
from nudge.schedules.rrule import Rrule
from nudge.schedules.rule_text import read_rule, with_limits
from nudge.schedules.walls import LATEST

AnySchedule = At | Every | Rrule | Cron | Idle

_KINDS: Final[Mapping[str, type[AnySchedule]]] = {kind.kind: kind for kind in (At, Every, Rrule, Cron, Idle)}


def schedule_from_json(data: Mapping[str, Any]) -> AnySchedule:
    """What `to_json` of any kind wrote."""
    kind = _KINDS.get(data.get("kind", ""))
    if kind is None:
        raise InvalidScheduleError(
            f"There is no schedule of kind {data.get('kind')!r}.", next_step=f"Use one of {', '.join(_KINDS)}."
        )
    return kind.from_json(data)


def period_after(schedule: AnySchedule, instant: Instant, zone: ZoneInfo | None = None) -> int | None:
    """The microseconds between the next two times after `instant`; None where there are not two.

    An idle check has no period: its next time depends on the agent. `zone` is for schedules without one of their own.
    """
    if isinstance(schedule, At | Idle):
        return None
    two = list(islice(_times(schedule, instant, zone), 2))
    return two[1] - two[0] if len(two) == 2 else None


def occurrences(
    schedule: AnySchedule, after: Instant, until: Instant, limit: int, zone: ZoneInfo | None = None
) -> list[Instant]:
    """The times strictly after `after` and not after `until`, at most `limit` of them.

    Of an idle check only the first: there is a second only after the agent was active again.
    """
    times = islice(_times(schedule, after, zone), 1 if isinstance(schedule, Idle) else limit)
    found = []
    for time in times:
        if time > until:
            break
        found.append(time)
    return found[:limit]


def _times(schedule: AnySchedule, instant: Instant, zone: ZoneInfo | None) -> Iterator[Instant]:
    where = zone or zone_of("UTC")
    found = schedule.next_after(instant, where)
    while found is not None:
        yield found
        found = schedule.next_after(found, where)


_NO_START: Final = Instant(0)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: once, every so often, by a rule, or after idleness.

    >>> from datetime import UTC, datetime
    >>> weekdays = Schedule.parse(rrule="FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9", tz="America/Toronto")
    >>> friday = datetime(2026, 2, 20, 15, 0, tzinfo=UTC)
    >>> weekdays.next_after(friday).isoformat()
    '2026-02-23T09:00:00-05:00'
    >>> weekdays.describe()
    'RRULE(daily on weekdays at 09:00)'

    Times go in as aware datetimes (or instants) and come out as datetimes in the schedule's zone. Nothing here reads a
    clock: what counts from its creation (`in_`, `every`, a count) needs `now`.
    """

    spec: AnySchedule
    tz: str = "UTC"

    @classmethod
    def parse(
        cls,
        *,
        at: Moment | str | None = None,
        in_: str | timedelta | None = None,
        every: str | timedelta | None = None,
        rrule: str | None = None,
        cron: str | None = None,
        idle: str | timedelta | None = None,
        tz: str = "UTC",
        count: int | None = None,
        until: Moment | str | None = None,
        now: Moment | None = None,
    ) -> Schedule:
        """Exactly one of `at`, `in_`, `every`, `rrule`, `cron` and `idle`.

        `count` and `until` (the last moment at which it may fire) limit a recurring one. A schedule that never fires is
        refused; one that only fired before `now` is as well, except `at`: a time in the past is due at once.
        """
        given = {"at": at, "in_": in_, "every": every, "rrule": rrule, "cron": cron, "idle": idle}
        kinds = [name for name, value in given.items() if value is not None]
        if len(kinds) != 1:
            raise UsageError(
                f"A schedule is exactly one of {', '.join(given)}; {' and '.join(kinds) or 'none'} was given.",
                next_step="Keep one, such as every='30m'.",
            )
        if kinds[0] in ("at", "in_", "idle") and (count is not None or until is not None):
            raise UsageError(
                f"{kinds[0].rstrip('_')!r} does not recur, so it takes no count and no end.",
                next_step="Leave them out.",
            )
        zone = zone_of(tz)
        start = None if now is None else as_instant(now)
        end = None if until is None else _moment(until)
        spec: AnySchedule
        if at is not None:
            spec = At(_moment(at), tz)
        elif in_ is not None:
            spec = At(Instant(_needed(start, "in_") + _duration(in_)), tz)
        elif every is not None:
            spec = Every(_duration(every), _needed(start, "every"), count, end)
        elif rrule is not None:
            spec = _rrule(rrule, tz, start, count, end)
        elif cron is not None:
            spec = Cron(cron, tz, count, end, start if count is None else _needed(start, "A count"))
        else:
            assert idle is not None
            spec = Idle(_duration(idle))
        if start is not None and isinstance(spec, Rrule | Cron) and spec.next_after(start, zone) is None:
            raise InvalidScheduleError(
                f"{spec.describe()} never fires again: all its times are past.", next_step="Choose a later end."
            )
        return cls(spec, tz)

    @property
    def kind(self) -> str:
        """`at`, `every`, `rrule`, `cron` or `idle`."""
        return self.spec.kind

    def next_after(self, now: Moment) -> datetime | None:
        """The first time strictly after `now`, in the schedule's zone, or None if there is none any more.

        For an idle check `now` is when the agent became idle.
        """
        zone = zone_of(self.tz)
        found = self.spec.next_after(as_instant(now), zone)
        if found is None or found >= LATEST:
            return None
        return to_datetime(found, self.spec.zone(zone) if isinstance(self.spec, Rrule) else zone)

    def describe(self) -> str:
        """A few words for a list: `every 30m`, `at 2026-02-20 15:00 America/Toronto`, `idle 5m`."""
        return self.spec.describe()

    def to_json(self) -> dict[str, Any]:
        return self.spec.to_json() | {"tz": self.tz}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schedule:
        fields = dict(data)
        tz = fields.get("tz", "UTC")
        if not isinstance(tz, str):
            raise InvalidScheduleError("The field 'tz' of a schedule is not a text.", next_step="Use a zone's name.")
        if fields.get("kind") in (Every.kind, Idle.kind):
            fields.pop("tz", None)
        return cls(schedule_from_json(fields), zone_of(tz).key)


def _rrule(text: str, tz: str, start: Instant | None, count: int | None, end: Instant | None) -> Rrule:
    text = with_limits(text, count, None if end is None else to_datetime(end).strftime("%Y%m%dT%H%M%SZ"))
    rule = read_rule(text)
    if start is None and rule.start is None and rule.depends_on_start:
        raise UsageError(
            "This rule counts from its start, or takes its day or time from it, and there is none.",
            next_step="Pass now=, add a DTSTART line, or name day and time in the rule.",
        )
    return Rrule(text, tz, _NO_START if start is None else start)


def _needed(start: Instant | None, what: str) -> Instant:
    if start is None:
        raise UsageError(f"{what.rstrip('_')} counts from now, and now was not given.", next_step="Pass now=.")
    return start


def _duration(given: str | timedelta) -> int:
    return from_timedelta(given) if isinstance(given, timedelta) else parse_duration(given)


def _moment(given: Moment | str) -> Instant:
    return parse_rfc3339(given) if isinstance(given, str) else as_instant(given)
