"""The table of schedules, and their public face: make one from what a person typed, look up when it is next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import Instant, Moment, Zone, as_instant, to_datetime, zone_of
from nudge.schedules.cron import Cron
from nudge.schedules.kinds import AnySchedule, At, Every, Given, Idle, Making, read_moment
from nudge.schedules.rrule import Rrule
from nudge.schedules.walls import LATEST


class Way(NamedTuple):
    """One way to write a schedule: its name as a flag and in a file, and how it is read. `help` is its flag's."""

    name: str
    kind: type[AnySchedule]
    read: Callable[[Given, Making], AnySchedule]
    metavar: str
    help: str


WAYS: Final[Mapping[str, Way]] = {
    way.name: way
    for way in (
        Way("at", At, At.parse, "TIME", "'3pm', 'tomorrow 9am', 'every weekday at 9', 2026-02-20T15:00"),
        Way("in", At, At.after, "DURATION", "once, after this long: 2h, 30m"),
        Way("every", Every, Every.parse, "DURATION", "again and again: 30m, 1h"),
        Way("rrule", Rrule, Rrule.parse, "RULE", "an RFC 5545 rule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0'"),
        Way("cron", Cron, Cron.parse, "FIELDS", "five fields: '0 9 * * 1-5'"),
        Way("idle", Idle, Idle.parse, "DURATION", "when the agent has had nothing to do for this long"),
    )
}
"""Every way there is, in the order in which help shows them. Flags, files, JSON and `Schedule.parse` read this."""

WAYS_IN_WORDS: Final = f"{', '.join(list(WAYS)[:-1])} or {list(WAYS)[-1]}"
_KINDS: Final = {way.kind.kind: way.kind for way in WAYS.values()}


def read_schedule(way: str, given: Given, making: Making) -> AnySchedule:
    """The schedule written in one way. One that can never fire, or never again after `making.now`, is refused; except
    `at`: a time in the past is due at once."""
    chosen = WAYS[way]
    if not chosen.kind.recurs and (making.count is not None or making.until is not None):
        raise UsageError(f"{way!r} does not recur, so it takes no count and no end.", next_step="Leave them out.")
    made = chosen.read(given, making)
    if making.now is not None and made.recurs and made.next_after(making.now, zone_of(making.tz)) is None:
        raise InvalidScheduleError(
            f"{made.describe()} never fires again: all its times have passed.", next_step="Choose a later end."
        )
    return made


def schedule_from_json(data: Mapping[str, Any]) -> AnySchedule:
    """What `to_json` of any kind wrote."""
    kind = _KINDS.get(data.get("kind", ""))
    if kind is None:
        raise InvalidScheduleError(
            f"There is no schedule of kind {data.get('kind')!r}.", next_step=f"Use one of {', '.join(_KINDS)}."
        )
    return kind.from_json(data)


def period_after(schedule: AnySchedule, instant: Instant, zone: Zone = "UTC") -> int | None:
    """The microseconds between the next two times after `instant`; None if there are not two.

    An idle check has no period: its next time depends on the agent. `zone` is for schedules without one of their own.
    """
    if not schedule.recurs:
        return None
    two = list(islice(_times(schedule, instant, zone), 2))
    return two[1] - two[0] if len(two) == 2 else None


def occurrences(schedule: AnySchedule, after: Instant, until: Instant, limit: int, zone: Zone = "UTC") -> list[Instant]:
    """The times strictly after `after` and not after `until`, at most `limit` of them.

    Of an idle check only the first: there is a second only after the agent was active again.
    """
    found = []
    for time in islice(_times(schedule, after, zone), limit if schedule.recurs else min(limit, 1)):
        if time > until:
            break
        found.append(time)
    return found


def _times(schedule: AnySchedule, instant: Instant, zone: Zone) -> Iterator[Instant]:
    where = zone_of(zone)
    found = schedule.next_after(instant, where)
    while found is not None:
        yield found
        found = schedule.next_after(found, where)


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
    clock: what counts from its creation (`in_`, `every`, a count) needs `now`. A zone is a name or a `ZoneInfo`.
    """

    spec: AnySchedule
    tz: str = "UTC"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tz", zone_of(self.tz).key)

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
        tz: Zone = "UTC",
        count: int | None = None,
        until: Moment | str | None = None,
        now: Moment | None = None,
    ) -> Schedule:
        """Exactly one of `at`, `in_`, `every`, `rrule`, `cron` and `idle`.

        `count` and `until` (the last moment at which it may fire) limit a recurring one. A schedule that never fires is
        refused; one that only fired before `now` is as well, except `at`: a time in the past is due at once.
        """
        given = {"at": at, "in": in_, "every": every, "rrule": rrule, "cron": cron, "idle": idle}
        ways = [name for name, value in given.items() if value is not None]
        if len(ways) != 1:
            raise UsageError(
                f"Only one schedule is allowed; got {' and '.join(ways)}." if ways else "No schedule given.",
                next_step=f"Use exactly one of {WAYS_IN_WORDS}, such as every='30m'.",
            )
        value = given[ways[0]]
        assert value is not None
        making = Making(
            zone_of(tz).key,
            None if now is None else as_instant(now),
            count,
            None if until is None else read_moment(until),
        )
        return cls(read_schedule(ways[0], value, making), making.tz)

    @property
    def kind(self) -> str:
        """`at`, `every`, `rrule`, `cron` or `idle`."""
        return self.spec.kind

    def next_after(self, now: Moment) -> datetime | None:
        """The first time strictly after `now`, in the schedule's zone, or None if it never fires again.

        For an idle check `now` is when the agent became idle.
        """
        zone = zone_of(self.tz)
        found = self.spec.next_after(as_instant(now), zone)
        if found is None or found >= LATEST:
            return None
        return to_datetime(found, self.spec.shown_in(zone))

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
            raise InvalidScheduleError("'tz' of a schedule must be text.", next_step="Use the name of a zone.")
        kind = _KINDS.get(fields.get("kind", ""))
        if kind is not None and not kind.has_zone:
            fields.pop("tz", None)
        return cls(schedule_from_json(fields), tz)
