"""Lateness: how long after its time a reminder is still of use, and what it says when it comes late."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from nudge.attention.forward_schedule import clock
from nudge.durations import format_duration, parse_duration
from nudge.errors import UsageError
from nudge.instants import HOUR, MINUTE, Instant, to_datetime

TOLERANCE: Final = MINUTE
"""From here on it is late: exactly a minute after its time is. Nobody notices less, and a busy machine is no news."""

LONGEST_DEFAULT: Final = 2 * HOUR


@dataclass(frozen=True, slots=True)
class Late:
    """A limit; None is `always` (never too late), 0 is `never` (only on time).

    >>> str(Late.parse("90 min")), str(Late.parse("always")), Late.parse("never").too_late(59 * 1_000_000)
    ('1h 30m', 'always', False)
    """

    limit_us: int | None

    @classmethod
    def parse(cls, text: str) -> Late:
        word = text.strip().lower()
        if word in ("always", "never"):
            return cls(None if word == "always" else 0)
        try:
            return cls(parse_duration(text))
        except UsageError as error:
            raise UsageError(
                f"{text!r} does not say how late is too late.", next_step="Use always, never, or a duration such as 2h."
            ) from error

    def __str__(self) -> str:
        if self.limit_us is None:
            return "always"
        return format_duration(self.limit_us) if self.limit_us else "never"

    def too_late(self, late_us: int) -> bool:
        """Exactly the limit is not too late."""
        if self.limit_us is None:
            return False
        return late_us >= TOLERANCE if self.limit_us == 0 else late_us > self.limit_us


def default_limit(gap_us: int | None) -> Late:
    """The limit of a recurring reminder: half the gap to its next time, at most two hours.

    In the second half of the gap the next time is nearer, and says the same.
    """
    return Late(LONGEST_DEFAULT if gap_us is None else min(gap_us // 2, LONGEST_DEFAULT))


def late_label(due_at: Instant, now: Instant, zone: tzinfo) -> str:
    """`[late: was due 3:00 PM]`, with the day where it was not today."""
    return f"[late: was due {time_in_words(due_at, now, zone)}]"


def time_in_words(instant: Instant, now: Instant, zone: tzinfo) -> str:
    """`3:00 PM` today, `Mon 3:00 PM` within six days, else with the date."""
    day, today = to_datetime(instant, zone).date(), to_datetime(now, zone).date()
    if day == today:
        return clock(instant, zone)
    if abs((day - today).days) < 7:
        return f"{day:%a} {clock(instant, zone)}"
    return f"{day.isoformat()} {clock(instant, zone)}"
