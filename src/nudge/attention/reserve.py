"""The look-ahead reserve: what must stay in the bucket so that routines with a claim get their pings.

A claim is a future time at which a routine marked `reserve: true` will want one ping. Without the reserve a chatty
afternoon empties the bucket, and the evening routines, which matter most, find nothing.

Everything here is counted in microseconds of refill time: one ping is `refill_us`, and a gap that long gives one back.
Going backwards from the last claim, each claim adds one ping and each gap takes off its length, but never below zero
and never above a full bucket:

    needed before a claim  = min(full, needed after it + refill_us)
    needed before a gap    = max(0, needed after it - gap)

A ping without a claim is granted if the bucket still holds `needed` after it. This gives the same result as playing
the claims forward one by one, but in one pass and as one number, which a database can compare in the statement that
takes the ping.

Three edges:
- Claims that even a full bucket cannot meet (six at once with a capacity of five) reserve a full bucket and no more.
  Otherwise they would block every other ping forever.
- A claim further away than the horizon (capacity × refill) holds nothing back, unless nearer claims keep the bucket
  from recovering before it.
- A claim in the past is over. Pass one that is due but not served yet as due now.

A routine with a claim is not held back by later claims: it takes what was kept for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from nudge.instants import MINUTE, Instant, Moment, as_instant

PING = 1_000_000
"""Micro-pings in one ping."""

CLAIM_GRACE = MINUTE
"""Whoever waits for a claim to pass looks again this long after it: by then its routine had its chance to speak."""


def ordered(claims: Iterable[Moment]) -> list[Instant]:
    """The claims as instants, earliest first."""
    return sorted([as_instant(claim) if isinstance(claim, datetime) else claim for claim in claims])


def held_us(claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> int:
    """How much must be in the bucket at `now` to meet every claim from `now` on. `claims` must be in order.

    A claim exactly at `now` counts.
    """
    needs = _needs(claims, now, capacity * refill_us, refill_us)
    if not needs:
        return 0
    first, held = needs[0]
    return max(0, held - (first - now))


def held_pings(claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> int:
    """The same in micro-pings, rounded up, so that no claim is short by a fraction."""
    return -(-held_us(claims, now, capacity, refill_us) // (refill_us // PING))


def free_at(level_us: int, claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> Instant:
    """The first instant from `now` on at which a ping without a claim is granted, if only claims take pings until then.

    Between two claims, waiting helps only until there is one whole ping: from then on the claims need more as fast as
    the bucket fills. So one look per gap is enough.
    """
    grain = refill_us // PING
    full = capacity * refill_us
    start, level, earliest = now, level_us, now
    for claim, needed in _needs(claims, now, full, refill_us):
        look = Instant(max(earliest, start + refill_us - level))
        if look <= claim:
            then = min(full, level + (look - start)) // grain * grain
            if then >= refill_us + max(0, needed - (claim - look)):
                return look
        level = min(full, level + (claim - start))
        if level >= refill_us:
            level -= refill_us
        start, earliest = claim, Instant(claim + CLAIM_GRACE)
    return Instant(max(earliest, start + refill_us - level))


def _needs(claims: Sequence[Instant], now: Instant, full: int, refill_us: int) -> list[tuple[Instant, int]]:
    """The claims from `now` on, earliest first, each with what must be in the bucket just before it."""
    needs: list[tuple[Instant, int]] = []
    held = 0
    later = claims[-1] if claims else now
    for claim in reversed(claims):
        if claim < now:
            break
        gap = later - claim
        held = refill_us + (held - gap if held > gap else 0)
        if held > full:
            held = full
        needs.append((claim, held))
        later = claim
    needs.reverse()
    return needs
