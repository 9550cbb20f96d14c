"""Instants that many tests share."""

from __future__ import annotations

from datetime import datetime

from nudge.instants import Instant, from_local, zone_of

TORONTO = zone_of("America/Toronto")


def toronto(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> Instant:
    return from_local(datetime(year, month, day, hour, minute, second), TORONTO)


NOON = toronto(2026, 2, 18, 12)
"""A Wednesday in winter, noon in Toronto."""
