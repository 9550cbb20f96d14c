"""Times, money and states as the pages say them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from nudge.durations import distance, short_time
from nudge.instants import as_instant
from nudge.palette import state_words
from nudge.web.markup import Html, el


class Times:
    """One zone and one now for a whole page."""

    def __init__(self, zone: str, now: str) -> None:
        self.zone = ZoneInfo(zone)
        self.now = datetime.fromisoformat(now).astimezone(self.zone)

    def local(self, stamp: str) -> datetime:
        return datetime.fromisoformat(stamp).astimezone(self.zone)

    def at(self, stamp: str | None) -> Html | str:
        """The time today, the weekday within a week, else the date."""
        if not stamp:
            return "–"
        when = self.local(stamp)
        return el(
            "time", short_time(when, self.now), datetime=when.isoformat(), title=f"{when:%A, %d %B %Y, %H:%M:%S %Z}"
        )

    def away(self, stamp: str | None) -> str:
        if not stamp:
            return ""
        return distance(as_instant(self.local(stamp)) - as_instant(self.now))


def dollars(micros: int | None) -> str:
    """
    >>> dollars(1_234_567), dollars(900), dollars(None)
    ('$1.23', '$0.0009', '–')
    """
    if micros is None:
        return "–"
    amount = micros / 1_000_000
    return f"${amount:,.2f}" if amount >= 0.01 or not micros else f"${amount:.4f}"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def state_of(agent: Mapping[str, Any], times: Times) -> str:
    """What an agent does now, in the words of all surfaces."""
    spending = agent["spending"]
    until = spending["refresh_at"]
    return state_words(str(spending["state"]), f"{times.local(until):%H:%M}" if until else None)
