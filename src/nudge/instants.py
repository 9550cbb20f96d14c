"""Instants: UTC microseconds as integers, and the only place where they meet datetimes.

Arithmetic on integers cannot be bent by a DST change, compares fast, and is stored as it is. Local time exists only at
the edges, through `zoneinfo`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NewType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nudge.errors import NaiveDatetimeError, UsageError

Instant = NewType("Instant", int)
"""Microseconds since 1970-01-01T00:00:00Z."""

Moment = Instant | datetime
"""What public functions take for a point in time: an instant, or a datetime that knows its zone."""

MICROSECOND = 1
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_instant(moment: Moment) -> Instant:
    """The instant of a moment. A datetime without a zone is refused: it could mean any of 38 instants."""
    if isinstance(moment, datetime):
        if moment.tzinfo is None or moment.utcoffset() is None:
            raise NaiveDatetimeError
        delta = moment - _EPOCH
        return Instant((delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds)
    if not isinstance(moment, int):  # such as time.time(), whose seconds would count as microseconds
        raise UsageError(f"{moment!r} is not a moment.", next_step="Pass a datetime with tzinfo set.")
    return moment


def to_datetime(instant: Instant, zone: tzinfo = UTC) -> datetime:
    """The instant as a datetime in `zone`."""
    return (_EPOCH + timedelta(microseconds=instant)).astimezone(zone)


def from_timedelta(delta: timedelta) -> int:
    """A duration in microseconds, exactly."""
    if not isinstance(delta, timedelta):
        raise UsageError(f"{delta!r} is not a duration.", next_step="Pass a timedelta.")
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds


def to_timedelta(microseconds: int) -> timedelta:
    return timedelta(microseconds=microseconds)


Zone = str | ZoneInfo
"""What public functions take for a time zone: its IANA name, or the zone itself."""


@lru_cache(maxsize=512)
def zone_of(name: Zone) -> ZoneInfo:
    """The zone of an IANA name, or the zone itself if it has a name. Anything else is a usage error."""
    if isinstance(name, ZoneInfo):
        if name.key is None:
            raise UsageError("That time zone has no name.", next_step="Use ZoneInfo('America/Toronto') or the name.")
        return name
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not a time zone.", next_step="Use an IANA name such as America/Toronto.")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, RecursionError) as error:
        raise UsageError(
            f"There is no time zone called {name[:60]!r}.",
            next_step="Use an IANA name such as America/Toronto or UTC.",
        ) from error


def as_zone(tz: Zone | tzinfo) -> tzinfo:
    """The zone of an IANA name. A zone is returned as it is, also one without a name such as `datetime.UTC`."""
    return tz if isinstance(tz, tzinfo) else zone_of(tz)


def from_local(wall: datetime, zone: tzinfo) -> Instant:
    """The instant at which a wall clock in `zone` shows `wall` (a naive datetime).

    A time inside a DST gap gives the first instant after the gap; one inside a fold gives the first of the two.
    """
    local = wall.replace(tzinfo=zone, fold=0)
    instant = as_instant(local)
    if to_datetime(instant, zone).replace(tzinfo=None) == wall:
        return instant
    # In the gap, fold=0 uses the offset before it, so `instant` lies after the change by as much as `wall` lies into
    # the gap. Step back to the change itself: the largest instant whose local time is still before the gap, plus one.
    return _end_of_gap(instant, zone)


def _end_of_gap(after: Instant, zone: tzinfo) -> Instant:
    offset_after = to_datetime(after, zone).utcoffset()
    low, high = after - DAY, int(after)  # the change is in (low, high]
    while high - low > SECOND:
        middle = (low + high) // 2
        if to_datetime(Instant(middle), zone).utcoffset() == offset_after:
            high = middle
        else:
            low = middle
    return Instant(high // SECOND * SECOND)


def local_date(instant: Instant, zone: tzinfo) -> date:
    """The calendar day that `instant` belongs to in `zone`."""
    return to_datetime(instant, zone).date()


def start_of_day(day: date, zone: tzinfo) -> Instant:
    """The first instant of a calendar day in `zone`, also where midnight falls into a DST gap."""
    return from_local(datetime(day.year, day.month, day.day), zone)  # noqa: DTZ001


def whole_seconds(instant: Instant) -> Instant:
    """The second it falls into. "In 20 minutes" counts from there: nobody wants to be told about microseconds."""
    return Instant(instant // SECOND * SECOND)


def rfc3339(instant: Instant, zone: tzinfo = UTC) -> str:
    """The form of every instant in JSON: RFC 3339 with offset; seconds, and microseconds only where there are any."""
    return to_datetime(instant, zone).isoformat()


def parse_rfc3339(text: str) -> Instant:
    """The instant of an RFC 3339 text; one without an offset is refused."""
    try:
        return as_instant(datetime.fromisoformat(text))
    except ValueError as error:
        raise UsageError(f"{text!r} is not a time.", next_step="Write it like 2026-02-20T15:00:00-05:00.") from error
