"""What a background run is told about pings, in two parts.

`PING_GUIDANCE` never changes and belongs in the system prompt, where a prompt cache keeps it. `background_preamble`
changes every minute and comes last, so that it spoils no cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, timedelta, tzinfo
from typing import Any, Final

from nudge.attention.bucket import PingBudget
from nudge.attention.forward_schedule import Upcoming
from nudge.attention.reserve import PING, ordered
from nudge.instants import MINUTE, Instant, Moment, Zone, as_instant, from_timedelta, to_datetime

PING_GUIDANCE: Final = """\
Pings are messages the person did not ask for, and they come out of a bucket. The bucket refills over time, one ping
after another up to its capacity. If it is empty, pings come back with time; it is not used up for the day. The line
"Ping budget" says how full it is now.

Below that you see which background tasks come next. They use the same bucket, except those marked (silent), which never
ping. [this task] is you; [just fired] had its turn in the last 15 minutes. To read a task's whole text first, answer
{"action": "read", "read": ["routines/chores.md"]} with the name in its brackets; you are then asked again, once.

Before you ping, compare two regrets: tomorrow, would the person be sorrier that this message did not come, or that a
later task on the list found the bucket empty? Ping only for the first. Health and sleep in the evening usually matter
more than what can wait until the next conversation. Saying nothing is a good result.

A ping marked critical does not use the bucket. It is for what cannot wait and would do harm if unsaid. It is counted,
at most three are believed in a day, and the person sees the count. A refused ping costs nothing: do not look for a way
around it, let it go."""

ONE_PING: Final = "Send at most 1 ping or embed per bg session."


def background_preamble(
    budget: PingBudget | None, schedule: Upcoming, now: Moment, tz: Zone | tzinfo | None = None
) -> str:
    """The part that changes: the bucket, the coming tasks, the limit of this run. Without a `budget` the ping budget is
    off.

    The times are on the clock of `tz`, or of the budget's zone.

    >>> from datetime import UTC, datetime
    >>> from nudge.attention.forward_schedule import upcoming
    >>> six = datetime(2026, 2, 20, 18, tzinfo=UTC)
    >>> print(background_preamble(PingBudget.at(six, available=3.5), upcoming([], six), six))
    Ping budget: 3/5 available (refills 1 every 90 min, next in 45 min).
    Upcoming bg tasks (next 3h): none.
    Send at most 1 ping or embed per bg session.
    """
    if budget is None:
        return f"{schedule.render(tz or UTC)}\n{ONE_PING}"
    return "\n".join(
        (budget_line(budget, now), schedule.render(tz or budget.zone, budget.refill_us), ONE_PING),
    )


def budget_line(budget: PingBudget, now: Moment) -> str:
    """The state of the bucket in one line. It names the next refill unless the bucket is full."""
    current = budget.refill(as_instant(now))
    waiting = current.next_refill(now)
    following = "" if waiting is None else f", next in {_minutes(waiting)} min"
    return (
        f"Ping budget: {current.whole}/{current.capacity} available "
        f"(refills 1 every {current.refill_minutes} min{following})."
    )


def _minutes(waiting: timedelta) -> int:
    """Whole minutes, rounded up: by then the ping is there."""
    return -(-from_timedelta(waiting) // MINUTE)


def ping_status(budget: PingBudget | None, claims: Sequence[Moment], now: Instant) -> str:
    """Status and today's totals.

    >>> from nudge.instants import Instant, HOUR
    >>> print(ping_status(PingBudget.at(Instant(0)), [Instant(HOUR)], Instant(0)))
    Ping budget: 5/5 available (refills 1 every 90 min).
    Today: 0 pings used, 0 of them critical.
    Kept for routines with a reserve: 0.33 (next claim at 1:00 AM).
    """
    if budget is None:
        return "Ping budget: off. All other rules still apply."
    current = budget.refill(now)
    pings = "1 ping" if current.daily_used == 1 else f"{current.daily_used} pings"
    lines = [budget_line(current, now), f"Today: {pings} used, {current.critical_used} of them critical."]
    coming = [claim for claim in ordered(claims) if claim >= now]
    if coming:
        held = current.held_back(now, coming) / PING
        at = to_datetime(min(coming), current.zone).strftime("%I:%M %p").lstrip("0")
        lines.append(f"Kept for routines with a reserve: {held:.2f} (next claim at {at}).")
    return "\n".join(lines)


def ping_status_json(budget: PingBudget | None, claims: Sequence[Moment], now: Instant) -> dict[str, Any]:
    if budget is None:
        return {"ping_budget": "off"}
    current = budget.refill(now)
    waiting = current.next_refill(now)
    return {
        "ping_budget": "on",
        **current.to_json(),
        "next_refill_minutes": None if waiting is None else waiting.total_seconds() / 60,
        "held_back": current.held_back(now, claims) / PING,
        "claims": [to_datetime(claim, current.zone).isoformat() for claim in ordered(claims) if claim >= now],
    }
