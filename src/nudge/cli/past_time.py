"""A time that has been: "15:00", "yesterday 9:30", "2026-02-18 15:00", or RFC 3339."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, tzinfo

from nudge.errors import UsageError
from nudge.instants import Instant, as_instant, from_local, to_datetime

_CLOCK = re.compile(r"(?:(today|yesterday)\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?", re.I)


def parse_past(text: str, now: Instant, zone: tzinfo) -> Instant:
    """A bare time is today's, or yesterday's if today's is still to come."""
    match = _CLOCK.fullmatch(text.strip())
    if match and (match[3] or match[4]):
        hour, minute = int(match[2]), int(match[3] or 0)
        if match[4]:
            hour = hour % 12 + (12 if match[4].lower() == "pm" else 0) if 1 <= hour <= 12 else 24
        if hour < 24 and minute < 60:
            at = time(hour, minute)
            today = to_datetime(now, zone).date()
            day = today - timedelta(days=1) if (match[1] or "").lower() == "yesterday" else today
            instant = from_local(datetime.combine(day, at), zone)
            if match[1] or instant <= now:
                return instant
            return from_local(datetime.combine(today - timedelta(days=1), at), zone)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time.", next_step="Write 15:00, 'yesterday 9:30' or 2026-02-18T15:00."
        ) from None
    return as_instant(moment) if moment.tzinfo else from_local(moment, zone)
