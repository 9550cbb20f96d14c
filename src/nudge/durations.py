"""Durations as people write them, `2h`, `1h30m`, `90 min`, and how every surface says times and distances.

Inside a duration is a whole number of microseconds, and every unit is whole seconds, so six decimals are always exact
and nothing is ever rounded.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from nudge.errors import UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND

WEEK: Final = 7 * DAY
LONGEST: Final = 36_525 * DAY
"""A hundred years: what is longer is a slip of the finger, and would leave the calendar when added to a time."""

_NAMES: Final = {
    WEEK: ("w", "wk", "wks", "week", "weeks"),
    DAY: ("d", "day", "days"),
    HOUR: ("h", "hr", "hrs", "hour", "hours"),
    MINUTE: ("m", "min", "mins", "minute", "minutes"),
    SECOND: ("s", "sec", "secs", "second", "seconds"),
}
_UNITS: Final = {name: unit for unit, names in _NAMES.items() for name in names}
_PART: Final = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?\s*([a-z]+)\s*", re.ASCII)
_EXAMPLES: Final = "Write it like 45s, 30m, 1h30m, 2 days or 1w."


def parse_duration(text: str) -> int:
    """The microseconds of a duration. Units go from large to small, each once; zero and less are refused.

    >>> parse_duration("1h30m") == parse_duration("90 min") == 90 * 60 * 1_000_000
    True
    """
    words = text.strip().lower()
    if not words or len(words) > 64:
        raise UsageError(f"{text[:64]!r} is not a duration.", next_step=_EXAMPLES)
    if words[0] in "-−":
        raise UsageError(f"{text!r} is negative.", next_step=_EXAMPLES)
    total, position, above = 0, 0, LONGEST
    while position < len(words):
        part = _PART.match(words, position)
        unit = _UNITS.get(part[3]) if part else None
        if part is None or unit is None or unit >= above:
            raise UsageError(f"{text!r} is not a duration.", next_step=_hint(words))
        millionths = int((part[2] or "").ljust(6, "0"))
        total += int(part[1]) * unit + millionths * (unit // 1_000_000)
        position, above = part.end(), unit
    if total == 0:
        raise UsageError(f"{text!r} is zero.", next_step=_EXAMPLES)
    if total > LONGEST:
        raise UsageError(f"{text!r} is longer than a hundred years.", next_step=_EXAMPLES)
    return total


def _hint(words: str) -> str:
    if words.isdigit():
        return f"Say the unit: {words}s, {words}m or {words}h."
    return _EXAMPLES


def format_duration(microseconds: int) -> str:
    """A duration in few characters and without loss: `3d`, `1h 30m`, `45s`; `0s` for none, a minus for the past.

    >>> format_duration(90 * 60 * 1_000_000)
    '1h 30m'
    """
    if microseconds < 0:
        return f"-{format_duration(-microseconds)}"
    parts = []
    rest = microseconds
    for unit, letter in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        amount, rest = divmod(rest, unit)
        if amount:
            parts.append(f"{amount}{letter}")
    seconds, below = divmod(rest, SECOND)
    if below:
        parts.append(f"{seconds}.{below:06d}".rstrip("0") + "s")
    elif seconds or not parts:
        parts.append(f"{seconds}s")
    return " ".join(parts)


def span(microseconds: int) -> str:
    """How long, for people: the two largest units, rounded down. The command line, the web page and the TUI use it.

    >>> span(45 * SECOND), span(61 * MINUTE), span(2 * DAY + 3 * HOUR), span(DAY)
    ('45 s', '1 h 1 min', '2 days 3 h', '1 day')
    """
    days, rest = divmod(abs(microseconds), DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    counts = [(days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"), (rest // SECOND, "s")]
    first = next((index for index, (count, _) in enumerate(counts) if count), None)
    if first is None:
        return "0 s"
    return " ".join(f"{count} {unit}" for count, unit in counts[first : first + 2] if count)


def distance(microseconds: int) -> str:
    """How far from now, at least a second.

    >>> distance(90 * MINUTE), distance(-3 * DAY)
    ('in 1 h 30 min', '3 days ago')
    """
    length = span(max(abs(microseconds), SECOND))
    return f"in {length}" if microseconds >= 0 else f"{length} ago"


def short_time(when: datetime, now: datetime) -> str:
    """The time today, the weekday within a week, else the date. Both are in the reader's zone."""
    if when.date() == now.date():
        return f"{when:%H:%M}"
    if abs((when.date() - now.date()).days) < 7:
        return f"{when:%a %H:%M}"
    return f"{when:%Y-%m-%d %H:%M}"
