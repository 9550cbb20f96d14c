"""Durations as people write them, `2h`, `1h30m`, `90 min`, and as lists show them, `1h 30m`.

Inside a duration is a whole number of microseconds, and every unit is whole seconds, so six decimals are always exact
and nothing is ever rounded.
"""

from __future__ import annotations

import re
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
        raise UsageError(f"{text!r} is negative, and a duration goes forward.", next_step=_EXAMPLES)
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
        raise UsageError(f"{text!r} is no time at all.", next_step=_EXAMPLES)
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
