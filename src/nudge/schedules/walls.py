"""Wall clocks as whole seconds, and the two places where they meet instants.

A wall is `ordinal day * 86 400 + second of the day`, what a clock in some zone shows, without the zone. Rules are
arithmetic on walls; the zone comes in only at the start and at the end of a question.

Each wall has one instant: inside a DST gap the first instant after it, inside a fold the first of the two. Read in that
direction walls and instants have the same order, so several walls of one gap share an instant and no wall of a fold
fires twice.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from nudge.instants import SECOND, Instant, as_instant, from_local, to_datetime

DAY_SECONDS: Final = 86_400
LAST_DAY: Final = date(9998, 12, 31).toordinal()
"""No answer lies after this day, so that a zone's offset cannot push one out of the calendar."""

FIRST_START: Final = date(1900, 1, 1).toordinal() * DAY_SECONDS
LAST_START: Final = date(3000, 1, 1).toordinal() * DAY_SECONDS
"""Between these walls a series may start."""

EARLIEST: Final = as_instant(datetime(1, 1, 2, tzinfo=UTC))
LATEST: Final = as_instant(datetime(9999, 1, 1, tzinfo=UTC))

_EPOCH_SECONDS: Final = date(1970, 1, 1).toordinal() * DAY_SECONDS
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME: Final = timedelta(0)


def wall_of(local: datetime) -> int:
    """The wall that a datetime shows; its zone and its microseconds do not matter."""
    return local.toordinal() * DAY_SECONDS + local.hour * 3600 + local.minute * 60 + local.second


def naive(wall: int) -> datetime:
    """The wall as a datetime without a zone."""
    day, second = divmod(wall, DAY_SECONDS)
    return datetime.fromordinal(day) + timedelta(seconds=second)


def wall_at(instant: Instant, zone: tzinfo) -> int:
    """What a clock in `zone` shows at an instant, in whole seconds."""
    return wall_of(to_datetime(instant, zone))


def wall_after(instant: Instant, zone: tzinfo) -> int:
    """The first wall whose instant can lie strictly after `instant`.

    In the second pass of a fold the walls up to its end have had their instant already, so it is the wall at its end.
    """
    if instant < EARLIEST:
        return 0
    second = instant // SECOND
    offset = _steady_offset(zone, second // DAY_SECONDS)
    if offset is not None:
        return second + _EPOCH_SECONDS + offset + 1
    local = to_datetime(instant, zone)
    if local.fold:
        return _end_of_fold(instant, local, zone)
    return wall_of(local) + 1


def instant_of(wall: int, zone: tzinfo) -> Instant:
    """The one instant of a wall in `zone`."""
    second = wall - _EPOCH_SECONDS
    offset = _steady_offset(zone, second // DAY_SECONDS)
    return from_local(naive(wall), zone) if offset is None else Instant((second - offset) * SECOND)


@lru_cache(maxsize=8192)
def _steady_offset(zone: tzinfo, day: int) -> int | None:
    """The zone's offset in seconds around a UTC day, or None if a change is near and a datetime must decide.

    The offset two days before and three after tells, because no zone has ever changed twice within six days. They
    enclose every wall of the day, whatever its offset, and gaps and folds of a whole day.
    """
    try:
        before = (_EPOCH + timedelta(days=day - 2)).astimezone(zone).utcoffset()
        after = (_EPOCH + timedelta(days=day + 3)).astimezone(zone).utcoffset()
    except OverflowError:
        return None
    if before is None or before != after or before.microseconds:
        return None
    return before.days * DAY_SECONDS + before.seconds


def _end_of_fold(instant: Instant, local: datetime, zone: tzinfo) -> int:
    before, after = local.replace(fold=0).utcoffset() or _NO_TIME, local.utcoffset() or _NO_TIME
    overlap = (before - after) // timedelta(microseconds=1)
    low, high = instant - overlap, int(instant)  # the clock went back in (low, high]
    while high - low > 1:
        middle = (low + high) // 2
        if to_datetime(Instant(middle), zone).utcoffset() == after:
            high = middle
        else:
            low = middle
    return wall_at(Instant(high + overlap), zone)
