"""The ping budget: a bucket of pings that refills with time.

The arithmetic is exact: a bucket looked at every minute fills as fast as one looked at once. The level is a whole
number of micro-pings, and one micro-ping takes exactly `refill_minutes * 60` microseconds (the grain), so nothing is
ever rounded. Time that has not become a whole micro-ping yet remains as the distance between `last_refill` and now.

A store does the same with integer columns `capacity, refill_minutes, level, last_refill`, in one statement that takes a
ping or changes nothing. With `grain = refill_minutes * 60` and `/` as integer division (MIN and MAX are LEAST and
GREATEST in PostgreSQL):

    filled  = MIN(capacity * 1000000, level + MAX(0, :now - last_refill) / grain)

    UPDATE … SET
      level       = filled - 1000000,
      last_refill = CASE WHEN :now <= last_refill             THEN last_refill
                         WHEN filled = capacity * 1000000     THEN :now
                         ELSE last_refill + (:now - last_refill) / grain * grain END,
      daily_used       = CASE WHEN daily_used_reset < :today THEN 1 ELSE daily_used + 1 END,
      daily_used_reset = MAX(daily_used_reset, :today)
    WHERE filled >= :at_least

`:at_least` is `PingBudget.at_least(now, claims)`, or 1000000 for a routine that has a claim. A critical ping leaves
`level` alone and counts in `critical_used` and `daily_used`. If one row changed, the ping is granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, NamedTuple

from nudge.attention.reserve import PING, free_at, held_pings, ordered
from nudge.defaults import MOST_PING_CAPACITY, MOST_PING_REFILL_MINUTES, PING_CAPACITY, PING_REFILL_MINUTES
from nudge.errors import UsageError
from nudge.instants import (
    MINUTE,
    Instant,
    Moment,
    Zone,
    as_instant,
    as_zone,
    local_date,
    parse_rfc3339,
    rfc3339,
    start_of_day,
    to_timedelta,
)

MAX_CAPACITY = 1_000_000
MAX_REFILL_MINUTES = 525_600
"""Bounds far beyond sense that keep every product inside the 64 bits of a database."""


def level_of(available: object) -> int:
    """A decimal number of pings in micro-pings, without a detour through binary fractions."""
    try:
        pings = Decimal(str(available))
        if -MAX_CAPACITY <= pings <= MAX_CAPACITY:  # compared first: arithmetic on 1e999999999 overflows
            return int((pings * PING).to_integral_value())
    except InvalidOperation:
        pass
    raise UsageError(
        f"{str(available)[:60]!r} is not a number of pings.",
        next_step=f"Give a number such as 4.6, at most {MAX_CAPACITY}.",
    )


def whole_number(data: Mapping[str, object], key: str, default: int) -> int:
    value = data.get(key, default)
    if type(value) is not int:
        raise UsageError(f"The ping budget's {key} is {value!r}.", next_step="Give a whole number.")
    return value


def day_of(data: Mapping[str, object], key: str) -> date | None:
    value = data.get(key)
    try:
        return None if value is None else date.fromisoformat(str(value))
    except ValueError as error:
        raise UsageError(f"The ping budget's {key} is {value!r}.", next_step="Write a date like 2026-02-20.") from error


def iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


FULL: Final = -1
"""As a level: a bucket that nobody has taken from."""


def level_at(level: int, last_refill: Instant, now: Instant, capacity: int, refill_us: int) -> tuple[int, Instant]:
    """The level at `now`, and the instant up to which time has become micro-pings.

    `refill_us` is a whole number of minutes. A `now` before `last_refill` changes nothing: a clock that goes back
    neither fills nor empties the bucket. A full bucket keeps no remainder.
    """
    full = capacity * PING
    if now <= last_refill:
        return min(level, full), last_refill
    grain = refill_us // PING
    gained = (now - last_refill) // grain
    if level + gained >= full:
        return full, now
    return level + gained, Instant(last_refill + gained * grain)


class LevelChange(NamedTuple):
    """A bucket after something changed it, as of `at`."""

    at: Instant
    level: int
    capacity: int
    refill_minutes: int

    def then(self, now: Instant) -> int:
        """The level at `now` if nothing else changes it."""
        return level_at(self.level, self.at, now, self.capacity, self.refill_minutes * MINUTE)[0]

    @property
    def full_at(self) -> Instant:
        """When it is full if nothing else changes it."""
        missing = max(0, self.capacity * PING - self.level)
        return Instant(self.at + missing * (self.refill_minutes * MINUTE // PING))


def level_line(changes: Sequence[LevelChange], since: Instant, until: Instant) -> list[tuple[Instant, int]]:
    """The level from `since` to `until` as the corners of a line: where a ping was taken, and where it was full again.

    >>> taken = LevelChange(Instant(0), PING, 2, 60)
    >>> [(at // MINUTE, level / PING) for at, level in level_line([taken], Instant(0), Instant(90 * MINUTE))]
    [(0, 1.0), (60, 2.0), (90, 2.0)]
    """
    corners: list[tuple[Instant, int]] = []
    for number, change in enumerate(changes, 1):
        end = min(changes[number].at, until) if number < len(changes) else until
        begin = max(change.at, since)
        times = [begin, *([change.full_at] if begin < change.full_at < end else []), end]
        corners += [(at, change.then(at)) for at in times if begin <= end]
    return [corner for number, corner in enumerate(corners) if number == 0 or corner != corners[number - 1]]


class PingUse(NamedTuple):
    """Whether a ping was granted, and the bucket afterwards. A refusal takes nothing."""

    granted: bool
    budget: PingBudget


@dataclass(frozen=True, slots=True, repr=False)
class PingBudget:
    """A bucket of pings: `capacity` at most, one more every `refill_minutes`.

    It never reads a clock: every method takes `now`, as an aware datetime or an instant. A new bucket is full and has
    no `last_refill`.

    >>> from datetime import UTC, datetime, timedelta
    >>> noon = datetime(2026, 2, 20, 12, tzinfo=UTC)
    >>> granted, budget = PingBudget(capacity=2, refill_minutes=90).try_use(noon)
    >>> granted, budget.available, budget.next_refill(noon)
    (True, 1.0, datetime.timedelta(seconds=5400))
    >>> budget.try_use(noon, claims=[noon + timedelta(minutes=30)]).granted
    False
    >>> budget.try_use(noon, critical=True).granted
    True

    `level` is in micro-pings; leave it out for a full bucket. The daily counters turn at midnight in `tz`, which is a
    zone or its name. A bucket never changes: every method returns another one.
    """

    capacity: int = PING_CAPACITY
    refill_minutes: int = PING_REFILL_MINUTES
    level: int = FULL
    last_refill: Instant | None = None
    critical_used: int = 0
    critical_reset_date: date | None = None
    daily_used: int = 0
    daily_used_reset: date | None = None
    tz: Zone | tzinfo = UTC

    def __post_init__(self) -> None:
        if not isinstance(self.tz, tzinfo):
            object.__setattr__(self, "tz", as_zone(self.tz))
        if type(self.capacity) is not int or not 0 < self.capacity <= MOST_PING_CAPACITY:
            raise UsageError(
                f"A ping budget cannot have a capacity of {self.capacity!r}.",
                next_step=f"Give a whole number from 1 to {MOST_PING_CAPACITY}, such as {PING_CAPACITY}.",
            )
        if type(self.refill_minutes) is not int or not 0 < self.refill_minutes <= MOST_PING_REFILL_MINUTES:
            raise UsageError(
                f"A ping budget cannot refill every {self.refill_minutes!r} minutes.",
                next_step=f"Give a whole number of minutes from 1 to {MOST_PING_REFILL_MINUTES}, such as "
                f"{PING_REFILL_MINUTES}.",
            )
        full = self.capacity * PING
        if self.level == FULL or self.level > full:
            object.__setattr__(self, "level", full)
        elif self.level < 0:
            raise UsageError("A ping budget cannot be below zero.", next_step="Give a level of 0 or more.")

    @classmethod
    def at(
        cls,
        now: Moment,
        *,
        available: int | float | str | Decimal | None = None,
        capacity: int = PING_CAPACITY,
        refill_minutes: int = PING_REFILL_MINUTES,
        tz: Zone | tzinfo = UTC,
    ) -> PingBudget:
        """The bucket as of `now`: full, or with `available` pings in it.

        >>> from datetime import UTC, datetime
        >>> noon = datetime(2026, 2, 20, 12, tzinfo=UTC)
        >>> PingBudget.at(noon, available=4.6).next_refill(noon)
        datetime.timedelta(seconds=2160)
        """
        instant = as_instant(now)
        today = local_date(instant, as_zone(tz))
        level = FULL if available is None else level_of(available)
        return cls(capacity, refill_minutes, level, instant, 0, today, 0, today, tz)

    def __repr__(self) -> str:
        as_of = "" if self.last_refill is None else f", as of {rfc3339(self.last_refill, self.zone)}"
        return f"PingBudget({self.available:g} of {self.capacity}, one more every {self.refill_minutes} min{as_of})"

    @property
    def zone(self) -> tzinfo:
        """`tz` as a zone."""
        return as_zone(self.tz)

    @property
    def available(self) -> float:
        """The pings in the bucket as of `last_refill`, as a decimal number for display."""
        return self.level / PING

    @property
    def whole(self) -> int:
        """The whole pings in the bucket as of `last_refill`."""
        return self.level // PING

    @property
    def refill_rate_minutes(self) -> int:
        """The name of `refill_minutes` in JSON."""
        return self.refill_minutes

    @property
    def refill_us(self) -> int:
        """How long one ping takes to come back, in microseconds."""
        return self.refill_minutes * MINUTE

    @property
    def horizon(self) -> timedelta:
        """How long an empty bucket takes to fill: pass all claims at least this far ahead."""
        return to_timedelta(self.capacity * self.refill_us)

    def refill(self, now: Moment) -> PingBudget:
        """Return the bucket at `now`, with the daily counters of that day; this one stays as it is.

        A `now` in the past gives the same bucket.
        """
        instant = as_instant(now)
        level, since = self._filled(instant)
        return self._counted(instant, level, since)

    def try_use(self, now: Moment, critical: bool = False, claims: Iterable[Moment] = ()) -> PingUse:
        """Return whether a ping is granted, and the bucket after it; this one stays as it is.

        `claims` are the coming times of routines with a reserve: a ping they need is not granted. A routine that takes
        its own claim passes none. A critical ping is always granted, takes nothing from the bucket and is counted
        separately.
        """
        instant = as_instant(now)
        level, since = self._filled(instant)
        if critical:
            return PingUse(True, self._counted(instant, level, since, critical=1, used=1))
        refill_us = self.refill_minutes * MINUTE
        held = held_pings(ordered(claims), instant, self.capacity, refill_us) if claims and level >= PING else 0
        if level < PING + held:
            return PingUse(False, self._counted(instant, level, since))
        return PingUse(True, self._counted(instant, level - PING, since, used=1))

    def level_at(self, now: Moment) -> int:
        """The micro-pings in the bucket at `now`."""
        return self._filled(as_instant(now))[0]

    def next_refill(self, now: Moment) -> timedelta | None:
        """How long until there is one more whole ping; None if the bucket is full.

        At exactly three pings that is a whole refill away.
        """
        instant = as_instant(now)
        level, since = self._filled(instant)
        if level >= self.capacity * PING:
            return None
        return to_timedelta(since + (PING - level % PING) * self._grain - instant)

    def held_back(self, now: Moment, claims: Iterable[Moment]) -> int:
        """The micro-pings that are kept for `claims`."""
        return held_pings(ordered(claims), as_instant(now), self.capacity, self.refill_us)

    def at_least(self, now: Moment, claims: Iterable[Moment] = ()) -> int:
        """The level, in micro-pings, from which a ping without a claim is granted at `now`."""
        return PING + self.held_back(now, claims)

    def free_at(self, now: Moment, claims: Iterable[Moment] = ()) -> Instant:
        """When the next ping without a claim would be granted if only the claims take pings until then."""
        instant = as_instant(now)
        level, since = self._filled(instant)
        level_us = level * self._grain + (instant - since)
        return free_at(level_us, ordered(claims), instant, self.capacity, self.refill_us)

    def with_capacity(
        self, capacity: int, refill_minutes: int | None = None, *, now: Moment | None = None
    ) -> PingBudget:
        """Return the bucket with another size and, if given, another rate; this one stays as it is.

        What is in it stays, up to the new capacity.

        With `now`, the time until then counts at the old rate and size; without it, from `last_refill` on at the new.
        """
        budget = self if now is None else self.refill(now)
        minutes = self.refill_minutes if refill_minutes is None else refill_minutes
        return replace(budget, capacity=capacity, refill_minutes=minutes)

    def to_json(self) -> dict[str, object]:
        """The eight fields in JSON: the level as a decimal, the instant as RFC 3339, the days as ISO dates."""
        return {
            "capacity": self.capacity,
            "available": self.available,
            "refill_rate_minutes": self.refill_minutes,
            "last_refill": None if self.last_refill is None else rfc3339(self.last_refill),
            "critical_used": self.critical_used,
            "critical_reset_date": iso(self.critical_reset_date),
            "daily_used": self.daily_used,
            "daily_used_reset": iso(self.daily_used_reset),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object], tz: Zone | tzinfo = UTC) -> PingBudget:
        """The bucket that `to_json` wrote.

        The older format (`daily_limit`, no `capacity`) gives a fresh bucket: part of one day's count is not worth
        keeping.
        """
        if "capacity" not in data:
            return cls(tz=tz)
        last_refill = data.get("last_refill")
        return cls(
            capacity=whole_number(data, "capacity", PING_CAPACITY),
            refill_minutes=whole_number(data, "refill_rate_minutes", PING_REFILL_MINUTES),
            level=level_of(data["available"]) if "available" in data else FULL,
            last_refill=None if last_refill is None else parse_rfc3339(str(last_refill)),
            critical_used=whole_number(data, "critical_used", 0),
            critical_reset_date=day_of(data, "critical_reset_date"),
            daily_used=whole_number(data, "daily_used", 0),
            daily_used_reset=day_of(data, "daily_used_reset"),
            tz=tz,
        )

    @property
    def _grain(self) -> int:
        return self.refill_minutes * MINUTE // PING

    def _filled(self, now: Instant) -> tuple[int, Instant]:
        since = self.last_refill
        return level_at(self.level, now if since is None else since, now, self.capacity, self.refill_minutes * MINUTE)

    def _counted(self, now: Instant, level: int, since: Instant, critical: int = 0, used: int = 0) -> PingBudget:
        zone = self.zone
        critical_used, critical_day = self.critical_used, self.critical_reset_date
        if critical_day is None or now >= _end_of_day(critical_day, zone):
            critical_used, critical_day = _turned(critical_used, critical_day, now, zone)
        daily_used, daily_day = self.daily_used, self.daily_used_reset
        if daily_day != critical_day:
            daily_used, daily_day = _turned(daily_used, daily_day, now, zone)
        return PingBudget(
            self.capacity,
            self.refill_minutes,
            level,
            since,
            critical_used + critical,
            critical_day,
            daily_used + used,
            daily_day,
            zone,
        )


def _turned(used: int, day: date | None, now: Instant, zone: tzinfo) -> tuple[int, date]:
    """A daily counter as of `now`: 0 once its day is over, and unchanged by a clock that goes back."""
    if day is None:
        return used, local_date(now, zone)
    if now < _end_of_day(day, zone):
        return used, day
    return 0, local_date(now, zone)


@lru_cache(maxsize=4096)
def _end_of_day(day: date, zone: tzinfo) -> Instant:
    return start_of_day(day + timedelta(days=1), zone)
