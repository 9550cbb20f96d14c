"""Bedtime: casual, then direct, then serious, and never a fourth time in one night."""

from __future__ import annotations

from dataclasses import dataclass

from nudge.attention.bedtime import MAX_A_NIGHT, BedtimeTone
from nudge.coach.briefings import WIND_DOWN, bedtime_of, night_of
from nudge.coach.facts import CoachState
from nudge.coach.targets import Targets
from nudge.instants import HOUR, MINUTE, Instant

BETWEEN = 30 * MINUTE
"""The least time between two nudges of a night."""
LAST_CALL = HOUR
"""After this long past the bedtime nothing more is said."""

_TONES = tuple(BedtimeTone)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The tone to take now, or None with the reason."""

    tone: BedtimeTone | None
    reason: str


def bedtime_nudge(now: Instant, targets: Targets, state: CoachState) -> Verdict:
    """Which nudge is due now.

    Casual from an hour before the bedtime, direct from the bedtime, serious from half an hour after it; each only if
    the person was there within the last hour, half an hour apart at least, and none later than an hour after the
    bedtime (exactly an hour is inside). A night always starts casual, whenever its first nudge falls. `state` counts
    the nudges of this night; a delay the person asked for is kept.
    """
    if state.bedtime_nudges >= MAX_A_NIGHT:
        return Verdict(None, "three bedtime messages were sent tonight")
    bedtime = bedtime_of(night_of(now, targets), targets)
    if now > bedtime + LAST_CALL:
        return Verdict(None, "it is more than an hour past bedtime")
    tone = _TONES[state.bedtime_nudges]
    if now < _earliest(tone, bedtime):
        return Verdict(None, f"it is too early for a {tone.value} nudge")
    if state.delayed_until is not None and now < state.delayed_until:
        return Verdict(None, "the person asked for more time")
    last = state.last_bedtime_nudge
    if last is not None and state.bedtime_nudges and 0 <= now - last < BETWEEN:
        return Verdict(None, "the last bedtime message was less than half an hour ago")
    if not state.active(now):
        return Verdict(None, "the person was not active in the last hour")
    return Verdict(tone, f"{tone.value} nudge")


def next_look_at(now: Instant, targets: Targets, state: CoachState) -> Instant | None:
    """When to look again tonight, or None where the night has had its say. It is never in the past."""
    if state.bedtime_nudges >= MAX_A_NIGHT:
        return None
    bedtime = bedtime_of(night_of(now, targets), targets)
    due = int(_earliest(_TONES[state.bedtime_nudges], bedtime))
    if state.last_bedtime_nudge is not None and state.bedtime_nudges:
        due = max(due, state.last_bedtime_nudge + BETWEEN)
    if state.delayed_until is not None:
        due = max(due, state.delayed_until)
    due = max(due, now)
    return Instant(due) if due <= bedtime + LAST_CALL else None


def _earliest(tone: BedtimeTone, bedtime: Instant) -> Instant:
    after = {BedtimeTone.CASUAL: -WIND_DOWN, BedtimeTone.DIRECT: 0, BedtimeTone.SERIOUS: BETWEEN}
    return Instant(bedtime + after[tone])
