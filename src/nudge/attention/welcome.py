"""What the coach learns from how its pings are taken: which topic is welcome at which hour.

Each topic has a cell for every hour of the day, on weekdays and at weekends. A cell counts pings that were welcome and
pings that were not, and forgets both by half every `HALF_LIFE`. The estimate for a topic and an hour is a Beta mean: a
little optimism to begin with (`PRIOR`), then what was counted there, and a share of what was counted nearby: at the
hours around it, on the other kind of day, for the same topic at other hours, and for other topics at that hour.

What follows from an estimate can only make the coach quieter or move a message within the day:

- Before a topic has been tried about three times (`ENOUGH`), nothing follows.
- From `GOOD` on it speaks.
- Below that, what may wait comes at an hour of the same day that is clearly better, if there is one.
- Below `TOO_LOW`, without a better hour, it says nothing.
- A topic that has not been tried for `TRY_AGAIN` is tried once more, so that it can recover.

Only the coach's own ideas and briefings are learned about. What the person set is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import Enum

from nudge.attention.quiet import QuietHours
from nudge.instants import DAY, HOUR, MINUTE, Instant, from_local, to_datetime

NEVER = Instant(0)
PING = 1_000_000
"""Counts are whole numbers of micro-pings, so that both databases add them up in the same way."""

HALF_LIFE = 30 * DAY
PRIOR = (1.2, 0.8)
ENOUGH = int(2.5 * PING)
GOOD = 0.55
TOO_LOW = 0.35
CLEARLY_BETTER = 0.08
TRY_AGAIN = 14 * DAY

ANSWER_WITHIN = 2 * HOUR
"""What the person says within this time answers the last ping."""
SILENCE = 4 * HOUR
"""A ping that nobody has answered by then was ignored; so was one that the next ping finds unanswered."""
NEXT_PING = 30 * MINUTE
"""A ping that comes sooner than this after another does not make the other one ignored."""

_NEARBY = {0: 1.0, 1: 0.5, 2: 0.2}
_ANY_HOUR = 0.03
_OTHER_DAYS = 0.4
_OTHER_TOPICS = 0.2


class Reception(Enum):
    """How a ping was taken: how much of it counts as welcome, and how much as not."""

    ANSWERED = ("answered", PING, 0)
    DONE = ("done", PING, 0)
    SNOOZED = ("snoozed", PING // 2, PING // 2)
    SKIPPED = ("skipped", 0, PING)
    REFUSED = ("refused", 0, PING)
    IGNORED = ("ignored", 0, PING)
    CURSED = ("cursed", 0, 3 * PING)

    welcome: int
    unwelcome: int

    def __new__(cls, value: str, welcome: int, unwelcome: int) -> Reception:
        reception = object.__new__(cls)
        reception._value_ = value
        reception.welcome = welcome
        reception.unwelcome = unwelcome
        return reception


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in a week something happens: an hour of the person's clock, on a weekday or at the weekend."""

    hour: int
    weekend: bool = False

    @classmethod
    def of(cls, at: Instant, zone: tzinfo) -> Place:
        local = to_datetime(at, zone)
        return cls(local.hour, local.weekday() >= 5)

    def hours_to(self, other: Place) -> int:
        """The short way round, whatever the day."""
        distance = abs(self.hour - other.hour)
        return min(distance, 24 - distance)

    def is_next_to(self, other: Place) -> bool:
        return self.weekend == other.weekend and self.hours_to(other) <= 1

    def __str__(self) -> str:
        return f"{self.hour:02}:00 {'at weekends' if self.weekend else 'on weekdays'}"


@dataclass(frozen=True, slots=True)
class Cell:
    """What was counted for a topic at a place, in micro-pings as of `at`."""

    topic: str
    place: Place
    welcome: int = 0
    unwelcome: int = 0
    at: Instant = NEVER

    def faded(self, now: Instant) -> Cell:
        """As of now. A clock that went back changes nothing."""
        if now <= self.at:
            return self
        left = 0.5 ** ((now - self.at) / HALF_LIFE)
        return Cell(self.topic, self.place, int(self.welcome * left), int(self.unwelcome * left), now)

    def after(self, reception: Reception, now: Instant) -> Cell:
        faded = self.faded(now)
        welcome, unwelcome = faded.welcome + reception.welcome, faded.unwelcome + reception.unwelcome
        return Cell(self.topic, self.place, welcome, unwelcome, faded.at)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A ping that was sent, and nobody knows yet how it was taken. One that never `arrived` was not ignored."""

    topic: str
    place: Place
    sent_at: Instant
    arrived: bool = True

    def is_over(self, now: Instant) -> bool:
        return now - self.sent_at >= SILENCE

    def is_ignored(self, now: Instant) -> bool:
        return self.arrived and self.is_over(now)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How likely a ping about a topic is welcome at a place, from so many pings (nearby ones count in part)."""

    topic: str
    place: Place
    welcome: float = 0.0
    unwelcome: float = 0.0

    @property
    def share(self) -> float:
        pings = self.welcome + self.unwelcome
        return (PRIOR[0] + self.welcome) / (sum(PRIOR) + pings)

    def __str__(self) -> str:
        pings = self.welcome + self.unwelcome
        return f"{self.topic}, {self.place}: {self.share:.0%} welcome ({self.welcome:.1f} of {pings:.1f} pings)"


@dataclass(frozen=True, slots=True)
class Timing:
    """What the estimates advise: now, at a better time today (`later`), or not at all (`never`)."""

    estimate: Estimate
    later: Instant | None = None
    never: bool = False
    better: Estimate | None = None

    @property
    def numbers(self) -> str:
        return f"{self.estimate}; {self.better}" if self.better is not None else str(self.estimate)


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned about one person.

    >>> ignored = Cell("morning", Place(10), unwelcome=5 * PING)
    >>> Learned((ignored,)).estimate("morning", Place(10), Instant(0)).share
    0.17142857142857143
    >>> Learned().estimate("morning", Place(10), Instant(0)).share
    0.6
    """

    cells: Sequence[Cell] = ()
    waiting: Sequence[Waiting] = ()

    def estimate(self, topic: str, place: Place, now: Instant) -> Estimate:
        welcome = unwelcome = 0.0
        for cell in self._counted(now):
            weight = _weight(cell, topic, place)
            if weight:
                welcome += weight * cell.welcome
                unwelcome += weight * cell.unwelcome
        return Estimate(topic, place, welcome / PING, unwelcome / PING)

    def timing(
        self,
        topic: str,
        now: Instant,
        zone: tzinfo,
        *,
        latest: Instant | None = None,
        quiet_hours: QuietHours | None = None,
    ) -> Timing:
        """When to speak. `latest` is until when it is still useful; without it, it cannot wait."""
        here = self.estimate(topic, Place.of(now, zone), now)
        if here.share >= GOOD or self.known(topic, now) < ENOUGH:
            return Timing(here)
        better = here
        at = now
        for hour in _hours_until(now, latest, zone) if latest is not None else ():
            there = self.estimate(topic, Place.of(hour, zone), now)
            quiet = quiet_hours is not None and quiet_hours.end_if_inside(hour) is not None
            if not quiet and there.share > better.share:
                better, at = there, hour
        if better.share >= max(TOO_LOW, here.share + CLEARLY_BETTER):
            return Timing(here, later=at, better=better)
        tried = self.last_tried(topic)
        if here.share < TOO_LOW and tried is not None and now - tried < TRY_AGAIN:
            return Timing(here, never=True)
        return Timing(here)

    def known(self, topic: str, now: Instant) -> int:
        """How much was counted for a topic at all hours, in micro-pings."""
        return sum(cell.welcome + cell.unwelcome for cell in self._counted(now) if cell.topic == topic)

    def last_tried(self, topic: str) -> Instant | None:
        tried = [cell.at for cell in self.cells if cell.topic == topic]
        tried += [ping.sent_at for ping in self.waiting if ping.topic == topic]
        return max(tried, default=None)

    def _counted(self, now: Instant) -> Iterator[Cell]:
        """The cells as of now, and the pings that have been ignored although nobody has written it down yet."""
        for cell in self.cells:
            yield cell.faded(now)
        for ping in self.waiting:
            if ping.is_ignored(now):
                yield Cell(ping.topic, ping.place, at=now).after(Reception.IGNORED, now)


def _weight(cell: Cell, topic: str, place: Place) -> float:
    near = _NEARBY.get(cell.place.hours_to(place), 0.0)
    if cell.topic == topic:
        weight = max(near, _ANY_HOUR)
    else:
        weight = near * _OTHER_TOPICS
    return weight if cell.place.weekend == place.weekend else weight * _OTHER_DAYS


def _hours_until(now: Instant, latest: Instant, zone: tzinfo) -> Iterator[Instant]:
    """The full hours after now on the person's clock, up to `latest` and within the day."""
    local = to_datetime(now, zone)
    start = datetime(local.year, local.month, local.day, local.hour)  # noqa: DTZ001
    for hours in range(1, 24 - local.hour):
        at = from_local(start + timedelta(hours=hours), zone)
        if at > latest:
            return
        if at > now:
            yield at
