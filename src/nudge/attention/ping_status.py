"""The ping budget in words and as JSON, the same on the command line and in a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nudge.attention.bucket import PingBudget
from nudge.attention.preamble import budget_line
from nudge.attention.reserve import PING
from nudge.instants import Instant, to_datetime


def ping_status(budget: PingBudget | None, claims: Sequence[Instant], now: Instant) -> str:
    """Status and today's totals.

    >>> from nudge.instants import Instant, HOUR
    >>> print(ping_status(PingBudget.at(Instant(0)), [Instant(HOUR)], Instant(0)))
    Ping budget: 5/5 available (refills 1 every 90 min).
    Today: 0 pings used, 0 of them critical.
    Kept for routines with a reserve: 0.33 (next claim at 1:00 AM).
    """
    if budget is None:
        return "Ping budget: off. Every rule of restraint but the bucket still holds."
    current = budget.refill(now)
    pings = "1 ping" if current.daily_used == 1 else f"{current.daily_used} pings"
    lines = [budget_line(current, now), f"Today: {pings} used, {current.critical_used} of them critical."]
    coming = [claim for claim in claims if claim >= now]
    if coming:
        held = current.held_back(now, coming) / PING
        at = to_datetime(min(coming), current.zone).strftime("%I:%M %p").lstrip("0")
        lines.append(f"Kept for routines with a reserve: {held:.2f} (next claim at {at}).")
    return "\n".join(lines)


def ping_status_json(budget: PingBudget | None, claims: Sequence[Instant], now: Instant) -> dict[str, Any]:
    if budget is None:
        return {"ping_budget": "off"}
    current = budget.refill(now)
    waiting = current.next_refill(now)
    return {
        "ping_budget": "on",
        **current.to_json(),
        "next_refill_minutes": None if waiting is None else waiting.total_seconds() / 60,
        "held_back": current.held_back(now, claims) / PING,
        "claims": [to_datetime(claim, current.zone).isoformat() for claim in claims if claim >= now],
    }
