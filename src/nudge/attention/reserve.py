"""The look-ahead reserve: what must stay in the bucket so that the routines which have a claim are served.

A claim is a future instant at which a routine marked `reserve: true` will want one ping. Without the reserve a
chatty afternoon empties the bucket and the evening routines, which matter most, find nothing.

Everything here is counted in microseconds of refilling: one ping is `refill_us`, a gap of that length gives one back.
Walking backwards from the last claim, each claim needs one ping more and each gap needs that much less, never below
nothing and never above a full bucket:

    needed before a claim  = min(full, needed after it + refill_us)
    needed before a gap    = max(0, needed after it - gap)

A ping without a claim is granted when the bucket still holds `needed` after it. This is the same as playing the claims
forward one by one, in one pass and as one number, which a database can compare in the statement that debits.

Three edges:
- Claims that even a full bucket could not meet (six at once on a capacity of five) ask for a full bucket and no more;
  otherwise they would forbid every other ping for ever.
- A claim further away than the horizon (capacity × refill) holds nothing back, unless nearer claims keep the bucket
  from recovering before it.
- A claim in the past is over. One that is due but not yet served is handed in as due now.

The holder of a claim is not held back by later claims: it takes what was kept for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from nudge.instants import MINUTE, Instant, Moment, as_instant

PING = 1_000_000
"""Micro-pings in one ping."""

CLAIM_GRACE = MINUTE
"""How long after a claim somebody who waits for it looks again: by then its routine has had its chance to speak."""


def ordered(claims: Iterable[Moment]) -> list[Instant]:
    """The claims as instants, earliest first."""
    return sorted([as_instant(claim) if isinstance(claim, datetime) else claim for claim in claims])


def held_us(claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> int:
    """How much must be in the bucket at `now` to meet every claim from `now` on; `claims` are in order.

    A claim exactly at `now` counts.
    """
    needs = _needs(claims, now, capacity * refill_us, refill_us)
    if not needs:
        return 0
    first, held = needs[0]
    return max(0, held - (first - now))


def held_pings(claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> int:
    """The same in micro-pings, rounded up: a claim is never short by a fraction."""
    return -(-held_us(claims, now, capacity, refill_us) // (refill_us // PING))


def free_at(level_us: int, claims: Sequence[Instant], now: Instant, capacity: int, refill_us: int) -> Instant:
    """The first instant from `now` on at which a ping without a claim is granted, if only the claims take meanwhile.

    Between two claims waiting helps only until there is one whole ping: from then on what the claims need grows as
    fast as the bucket. So one look per gap is enough.
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
