"""The turn of the spending day: 00:00 UTC, or the hour and zone that an operator prefers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from nudge.errors import UsageError
from nudge.instants import DAY, Instant, from_timedelta, local_date, start_of_day, zone_of

_WRITTEN = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?:\s+(?P<zone>\S+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayTurn:
    """When a spending day begins: at midnight in `zone`, later by `offset` (under 24 hours).

    The instant of the turn belongs to the new day. Days are counted on the calendar, so a day of 23 or 25 hours is one
    day like the others.
    """

    zone: str = "UTC"
    offset: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        zone_of(self.zone)
        if not 0 <= from_timedelta(self.offset) < DAY:
            raise UsageError("The spending day can turn up to 24 hours after midnight.", next_step="Give 0 to 23:59.")

    @classmethod
    def parse(cls, text: str) -> DayTurn:
        """A time of day and a zone, UTC where none is named.

        >>> DayTurn.parse("04:00 America/Toronto")
        DayTurn(zone='America/Toronto', offset=datetime.timedelta(seconds=14400))
        """
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"{text!r} is not when a day starts.", next_step="Write it like 04:00 America/Toronto.")
        return cls(match["zone"] or "UTC", timedelta(hours=int(match["hour"]), minutes=int(match["minute"])))

    def day_of(self, instant: Instant) -> date:
        return local_date(Instant(instant - from_timedelta(self.offset)), zone_of(self.zone))

    def start_of(self, day: date) -> Instant:
        return Instant(start_of_day(day, zone_of(self.zone)) + from_timedelta(self.offset))

    def after(self, instant: Instant) -> Instant:
        """The next turn: later than `instant` also where a zone left a day out of its calendar."""
        day = self.day_of(instant) + timedelta(days=1)
        while (turn := self.start_of(day)) <= instant:
            day += timedelta(days=1)
        return turn


MIDNIGHT_UTC = DayTurn()
