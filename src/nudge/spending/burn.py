"""Burn rates: when a budget is used up if spending goes on like this, and whether it has gone on like this for days.

A spike is not a burn: the day's limit stops it. An agent that uses up its share day after day needs another budget or
another look, and nobody sees that in a meter that starts at zero every morning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.spending.allowance import RED_FROM, Meter
from nudge.spending.money import Micros
from nudge.spending.store import DaySpent

DAY_LOOKS_BACK = HOUR
"""The present rate of a day is that of its last hour."""
WINDOW_LOOKS_BACK = DAY
"""That of a window is a day's: a night is part of it."""
LEAST_SPAN = 10 * MINUTE
"""A rate is not read from less: one call would be an alarm."""
CHRONIC_DAYS = 3
PACE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the day and the window are used up at this rate. None: not before they refresh, or nothing was spent
    lately."""

    day: Instant | None = None
    window: Instant | None = None


def used_up_at(left: Micros, spent: Micros, span: int, now: Instant, refresh_at: Instant) -> Instant | None:
    """When `left` is used up at the rate of `spent` in the last `span` microseconds; None if `refresh_at` is earlier.

    >>> used_up_at(3_000_000, 1_000_000, HOUR, Instant(0), Instant(DAY)) == 3 * HOUR
    True
    >>> used_up_at(30_000_000, 1_000_000, HOUR, Instant(0), Instant(DAY)) is None
    True
    """
    if spent <= 0 or left <= 0:
        return None
    at = Instant(now + left * max(span, LEAST_SPAN) // spent)
    return at if at < refresh_at else None


@dataclass(frozen=True, slots=True)
class Pace:
    """How a window ends if days go on like the last ones: what is left then, or after how many days it is used up."""

    a_day: Micros
    left: Micros
    left_at_end: Micros
    lasts_days: int | None

    @property
    def lasts(self) -> bool:
        return self.lasts_days is None


def pace_of(spent: Sequence[Micros], left: Micros, now: Instant, ends: Instant) -> Pace:
    """`spent` are the days so far, oldest first; the last seven count.

    >>> pace_of([0, 2_000_000], 30_000_000, Instant(0), Instant(10 * DAY)).left_at_end
    20000000
    >>> pace_of([2_000_000], 3_000_000, Instant(0), Instant(10 * DAY)).lasts_days
    1
    """
    recent = spent[-PACE_DAYS:]
    left, a_day = max(0, left), sum(recent) // len(recent) if recent else 0
    at = used_up_at(left, sum(recent), len(recent) * DAY, now, ends)
    lasts_days = 0 if a_day and not left else None if at is None else (at - now) // DAY
    return Pace(a_day, left, max(0, left - a_day * max(0, (ends - now) // DAY)), lasts_days)


def is_burnt(day: DaySpent, even: Micros, *, topped_up: bool) -> bool:
    """Whether a day was red. Its share is its limit; in a window that was topped up, the even share of its budget where
    that is less, because a top-up that is used up every day is the burn."""
    share = min(day.limit, even) if topped_up else day.limit
    return day.spent > 0 and Meter(day.spent, share).reached(RED_FROM)


def chronic(days: Sequence[DaySpent], today: date, even: Micros, *, topped_up: bool) -> list[DaySpent]:
    """The last three days, if each of them was burnt; empty otherwise."""
    known: Mapping[date, DaySpent] = {one.day: one for one in days}
    wanted = [known.get(today - timedelta(days=back)) for back in reversed(range(CHRONIC_DAYS))]
    burnt = [one for one in wanted if one is not None and is_burnt(one, even, topped_up=topped_up)]
    return burnt if len(burnt) == CHRONIC_DAYS else []
