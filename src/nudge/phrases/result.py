"""What a phrase was understood as."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nudge.instants import Instant, Moment, Zone, as_instant, to_datetime, zone_of
from nudge.phrases.echo import absolute, distance


@dataclass(frozen=True, slots=True)
class Understood:
    """One instant, a rule, or an interval: exactly one of `once`, `rrule` and `every` is set.

    `rrule` is evaluated in the zone the phrase was read in. `first` is the first time after now: the instant itself,
    the rule's first time, or now plus the interval. `first_wall` is what the clock on the wall shows at a rule's first
    time; inside a DST gap that is not the local time of `first`.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> from nudge.phrases import understand
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> understand("friday 5pm", now, zone).echo(now, zone)
    'Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 3 h)'
    >>> understand("friday 5pm", now, zone).first_at(zone).isoformat()
    '2026-02-20T17:00:00-05:00'
    >>> understand("every weekday at 9", now, zone).rrule
    'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0'
    """

    first: Instant
    once: Instant | None = None
    rrule: str | None = None
    every: int | None = None
    words: str = "once"
    first_wall: datetime | None = None

    def __post_init__(self) -> None:
        if sum(kind is not None for kind in (self.once, self.rrule, self.every)) != 1:
            raise ValueError("exactly one of once, rrule and every is set")

    @property
    def dated_rrule(self) -> str | None:
        """The rule to store: with a DTSTART where it has an INTERVAL.

        Counted from the moment it is added instead, "every other tuesday" said on a Wednesday would wait two weeks.
        """
        if self.rrule is None or self.first_wall is None or "INTERVAL=" not in self.rrule:
            return self.rrule
        return f"DTSTART:{self.first_wall:%Y%m%dT%H%M%S}\nRRULE:{self.rrule}"

    def first_at(self, zone: Zone) -> datetime:
        """The first time as a datetime."""
        return to_datetime(self.first, zone_of(zone))

    def describe(self) -> str:
        """The schedule in words, such as "every weekday at 9:00 AM"; "once" for a single instant."""
        return self.words

    def echo(self, now: Moment, zone: Zone, first: Instant | None = None) -> str:
        """What to say back: the absolute time with its zone and distance, and for a rule what repeats.

        `first` replaces the time that is shown, for a caller who has computed another one.
        """
        where = zone_of(zone)
        due = self.first if first is None else first
        ahead = f"({distance(due - as_instant(now))})"
        if self.once is not None:
            return f"{absolute(due, where)} {where.key} {ahead}"
        return f"{self.words} ({where.key}), next {absolute(due, where)} {ahead}"
