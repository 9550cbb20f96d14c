"""The bedtime escalation: at most three messages a night, each plainer than the one before.

Bedtime may be at midnight, when the day changes, so the count belongs to the *night*. A night has the date of the
evening it begins with and lasts until the person's wake target.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta, tzinfo
from enum import StrEnum

from nudge.instants import Moment, as_instant, to_datetime

MAX_A_NIGHT = 3


class BedtimeTone(StrEnum):
    """How a bedtime message sounds, in the order in which the tones are used."""

    CASUAL = "casual"
    DIRECT = "direct"
    SERIOUS = "serious"


_TONES = tuple(BedtimeTone)


def night_of(now: Moment, zone: tzinfo, wake_target: time) -> date:
    """The night that `now` belongs to: before the wake target it is still the night that began the day before.

    Exactly at the wake target the new day begins.

    >>> from nudge.instants import UTC, parse_rfc3339
    >>> [night_of(parse_rfc3339(text), UTC, time(10)).isoformat()
    ...  for text in ("2026-02-20T23:30:00Z", "2026-02-21T00:00:00Z", "2026-02-21T09:59:00Z", "2026-02-21T10:00:00Z")]
    ['2026-02-20', '2026-02-20', '2026-02-20', '2026-02-21']
    """
    local = to_datetime(as_instant(now), zone)
    return local.date() - timedelta(days=local.time() < wake_target)


@dataclass(frozen=True, slots=True)
class BedtimeCount:
    """How many bedtime messages one night has had.

    >>> night = date(2026, 2, 20)
    >>> count = BedtimeCount()
    >>> for _ in range(3):
    ...     print(count.next_tone(night))
    ...     count = count.sent_in(night)
    casual
    direct
    serious
    >>> count.next_tone(night) is None, count.next_tone(date(2026, 2, 21))
    (True, <BedtimeTone.CASUAL: 'casual'>)
    """

    night: date | None = None
    sent: int = 0

    def in_night(self, night: date) -> int:
        """How many went out in `night`. A clock that goes back to an earlier night does not start a new count."""
        return self.sent if self.night is not None and night <= self.night else 0

    def next_tone(self, night: date) -> BedtimeTone | None:
        """The tone of the next message in `night`; None if there may be no more."""
        sent = self.in_night(night)
        return _TONES[sent] if sent < MAX_A_NIGHT else None

    def sent_in(self, night: date) -> BedtimeCount:
        """Return the count after one more message in `night`; this one stays as it is."""
        sent = self.in_night(night) + 1
        return BedtimeCount(night if self.night is None else max(night, self.night), sent)
