"""Quiet hours: the daily stretch in which the person wants no pings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from nudge.errors import UsageError
from nudge.instants import DAY, Instant, Zone, as_zone, from_local, local_date

_MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True, slots=True, repr=False)
class QuietHours:
    """From `start` to `end`, in minutes after local midnight; across midnight if the end comes first.

    The start is inside, the end is not: quiet until 10:00 lets a 10:00 briefing through. The same start and end means
    no quiet hours at all. Around a DST change the hours follow the wall clock. `tz` is a zone or its name.

    >>> from nudge.instants import parse_rfc3339, rfc3339
    >>> night = QuietHours(start=22 * 60, end=7 * 60, tz="America/Toronto")
    >>> night
    QuietHours(22:00-07:00 America/Toronto)
    >>> rfc3339(night.end_if_inside(parse_rfc3339("2026-02-20T23:30:00-05:00")))
    '2026-02-21T12:00:00+00:00'
    >>> night.end_if_inside(parse_rfc3339("2026-02-21T07:00:00-05:00")) is None
    True
    """

    start: int
    end: int
    tz: Zone | tzinfo

    def __post_init__(self) -> None:
        object.__setattr__(self, "tz", as_zone(self.tz))
        if not (0 <= self.start < _MINUTES_A_DAY and 0 <= self.end < _MINUTES_A_DAY):
            raise UsageError(
                f"Quiet hours from minute {self.start} to minute {self.end} are not inside a day.",
                next_step="Give both as times from 00:00 to 23:59.",
            )

    def __repr__(self) -> str:
        return f"QuietHours({_clock(self.start)}-{_clock(self.end)} {self.tz})"

    @property
    def zone(self) -> tzinfo:
        return as_zone(self.tz)

    def end_if_inside(self, now: Instant) -> Instant | None:
        """When the quiet hours around `now` end; None outside quiet hours."""
        for start, end in _windows(self, now // DAY):
            if start <= now < end:
                return end
        return None


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


@lru_cache(maxsize=4096)
def _windows(hours: QuietHours, utc_day: int) -> tuple[tuple[Instant, Instant], ...]:
    """The quiet windows that can touch a UTC day. Cached, so that a decision converts no time zones."""
    if hours.start == hours.end:
        return ()
    midday = local_date(Instant(utc_day * DAY + DAY // 2), hours.zone)
    windows = []
    for days in range(-2, 3):
        midnight = datetime(midday.year, midday.month, midday.day) + timedelta(days=days)  # noqa: DTZ001
        start = midnight + timedelta(minutes=hours.start)
        end = midnight + timedelta(minutes=hours.end) + timedelta(days=hours.end < hours.start)
        windows.append((from_local(start, hours.zone), from_local(end, hours.zone)))
    return tuple(windows)


@dataclass(frozen=True, slots=True)
class Person:
    """When an agent's person lives. `wake` and `bedtime` are minutes after local midnight."""

    zone: ZoneInfo
    quiet_hours: QuietHours | None = None
    wake: int = 10 * 60
    bedtime: int = 60


PersonOf = Callable[[str], Person]
"""Looks a person up by their agent's name. It may change while the daemon runs: look it up every time."""
