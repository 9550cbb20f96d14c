"""Times, money and states as the pages say them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from nudge.palette import state_words
from nudge.web.markup import Html, el

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


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
        if when.date() == self.now.date():
            shown = f"{when:%H:%M}"
        elif abs((when.date() - self.now.date()).days) < 7:
            shown = f"{when:%a %H:%M}"
        else:
            shown = f"{when:%Y-%m-%d %H:%M}"
        return el("time", shown, datetime=when.isoformat(), title=f"{when:%A, %d %B %Y, %H:%M:%S %Z}")

    def away(self, stamp: str | None) -> str:
        if not stamp:
            return ""
        seconds = int((self.local(stamp) - self.now).total_seconds())
        return f"in {span(seconds)}" if seconds >= 0 else f"{span(-seconds)} ago"


def span(seconds: int) -> str:
    """
    >>> span(59), span(3700), span(90_000)
    ('59 s', '1 h 1 min', '1 d 1 h')
    """
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min"
    large, small, names = (_DAY, _HOUR, ("d", "h")) if seconds >= _DAY else (_HOUR, _MINUTE, ("h", "min"))
    rest = seconds % large // small
    return f"{seconds // large} {names[0]}" + (f" {rest} {names[1]}" if rest else "")


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
