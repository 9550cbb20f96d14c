"""Briefings: messages at fixed times, each at most once per period.

To add one, give it a name in `Briefing`, a row in `PLANS`, and words for when no model writes them in `rules.py`.

Due times follow from the Schedule Targets in the person's zone. A period has a key (a day, a night, a week, a month).
Whoever claims the key sends the briefing, so neither a restart nor a changed target sends it twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from nudge.attention import bedtime as bedtimes
from nudge.attention.bedtime import MAX_A_NIGHT, BedtimeTone
from nudge.coach.facts import CoachState
from nudge.coach.targets import Targets
from nudge.instants import DAY, HOUR, MINUTE, Instant, from_local, local_date, start_of_day, to_datetime

WIND_DOWN = HOUR
"""The first bedtime nudge comes this long before the bedtime target."""
FOLD = 30 * MINUTE
"""A weekly review that comes this soon after waking is one message with the morning briefing."""


class Briefing(StrEnum):
    """The kinds of briefing."""

    MORNING = "morning"
    BEDTIME = "bedtime"
    WEEKLY_REVIEW = "weekly_review"
    MONTHLY = "monthly"


@dataclass(frozen=True, slots=True)
class Plan:
    """One kind of briefing. `title` names it in outcomes and in the feed, `task` asks a model for it. It is due at
    `clock` on the days that `falls_on` accepts, and missed when it is later than `too_late`. `period` gives the first
    day of a day's period, and the period's key."""

    title: str
    task: str
    clock: Callable[[Targets], time]
    too_late: int
    falls_on: Callable[[date, Targets], bool] = lambda day, targets: True
    period: Callable[[date], tuple[date, str]] = lambda day: (day, day.isoformat())


def week_of(day: date) -> str:
    """The ISO week of a day, such as 2026-W08."""
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


PLANS = {
    Briefing.MORNING: Plan(
        "morning briefing",
        "Write the morning briefing, two to four short lines: the one thing that matters most today and why it is "
        "first, then what else is on the list, then what is due or overdue today. If the list for today is empty, ask "
        "for the one thing today is about, with a suggestion from this week's goals. Leave out what is done.",
        clock=lambda targets: targets.wake_target,
        too_late=6 * HOUR,
    ),
    Briefing.BEDTIME: Plan(
        "bedtime message",
        "Write one bedtime message. It is {tone}: one or two sentences, no lecture, other words than the last ones. If "
        "something is on their mind for tomorrow, offer to keep it until then.",
        clock=lambda targets: targets.bedtime_target,
        too_late=0,
    ),
    Briefing.WEEKLY_REVIEW: Plan(
        "weekly review",
        "Write two or three sentences that open the day and the weekly review: one thing from this week that you saw "
        "and they may be glad about, then that the review follows. Ask nothing: the first question comes next.",
        clock=lambda targets: targets.review_time,
        too_late=DAY,
        falls_on=lambda day, targets: day.weekday() == targets.review_weekday,
        period=lambda day: (day - timedelta(days=day.weekday()), week_of(day)),
    ),
    Briefing.MONTHLY: Plan(
        "monthly goal check",
        "It is the first of the month. Name this quarter's goals in a line and ask whether they still fit, or which "
        "one to let go. One question.",
        clock=lambda targets: time(19, 0),
        too_late=3 * DAY,
        falls_on=lambda day, targets: day.day == 1,
        period=lambda day: (day.replace(day=1), day.strftime("%Y-%m")),
    ),
}


def next_due(kind: Briefing, after: Instant, targets: Targets) -> Instant:
    """The first time strictly after `after` at which the briefing is due.

    A wall time inside a DST gap is the first instant after it, one inside a fold is the first of the two. The bedtime
    nudge is a real hour before the bedtime, also in a night in which the clock changes.
    """
    plan = PLANS[kind]
    day = to_datetime(after, targets.zone).date() - timedelta(days=1)
    while True:
        if plan.falls_on(day, targets):
            due = _due_on(kind, day, targets)
            if due > after:
                return due
        day += timedelta(days=1)


def period_key(kind: Briefing, due: Instant, targets: Targets) -> str:
    """The period that a due time belongs to: a day (2026-02-18), the night that begins on that day, an ISO week
    (2026-W08) or a month (2026-02)."""
    if kind is Briefing.BEDTIME:
        return night_of(Instant(due + WIND_DOWN), targets).isoformat()
    return PLANS[kind].period(local_date(due, targets.zone))[1]


def start_of_period(kind: Briefing, due: Instant, targets: Targets) -> Instant:
    """The first instant of the period that a due time belongs to."""
    return start_of_day(PLANS[kind].period(local_date(due, targets.zone))[0], targets.zone)


def night_of(now: Instant, targets: Targets) -> date:
    """The evening that the night around `now` belongs to: a night lasts until the wake target, so an hour before a
    bedtime of 01:00 and an hour after it are the same night although midnight lies between."""
    return bedtimes.night_of(now, targets.zone, targets.wake_target)


def bedtime_of(night: date, targets: Targets) -> Instant:
    """The bedtime of the night that begins on that evening."""
    day = night + timedelta(days=targets.bedtime_target < targets.wake_target)
    return from_local(datetime.combine(day, targets.bedtime_target), targets.zone)


def folds_into_review(due: Instant, targets: Targets) -> bool:
    """Whether the morning briefing due then is told by the weekly review instead, because both come together. The
    review opens with it; the person gets one message."""
    review = next_due(Briefing.WEEKLY_REVIEW, Instant(due - 1), targets)
    return review - due <= FOLD


def opens_with_morning(due: Instant, targets: Targets) -> bool:
    """Whether the weekly review due then stands for the morning briefing of its day."""
    morning = next_due(Briefing.MORNING, Instant(due - FOLD - 1), targets)
    return morning <= due


def _due_on(kind: Briefing, day: date, targets: Targets) -> Instant:
    if kind is Briefing.BEDTIME:
        return Instant(bedtime_of(day, targets) - WIND_DOWN)
    return from_local(datetime.combine(day, PLANS[kind].clock(targets)), targets.zone)


BETWEEN = 30 * MINUTE
"""The least time between two nudges of a night."""
LAST_CALL = HOUR
"""After this long past the bedtime nothing more is said."""

_TONES = tuple(BedtimeTone)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The tone to take now or None, and the reason as a sentence for the outcome."""

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
        return Verdict(None, "You've had three bedtime messages tonight.")
    bedtime = bedtime_of(night_of(now, targets), targets)
    if now > bedtime + LAST_CALL:
        return Verdict(None, "It's more than an hour past bedtime.")
    tone = _TONES[state.bedtime_nudges]
    if now < _earliest(tone, bedtime):
        return Verdict(None, f"Too early for a {tone.value} nudge.")
    if state.delayed_until is not None and now < state.delayed_until:
        return Verdict(None, "You asked for more time.")
    last = state.last_bedtime_nudge
    if last is not None and state.bedtime_nudges and 0 <= now - last < BETWEEN:
        return Verdict(None, "The last bedtime message was less than half an hour ago.")
    if not state.active(now):
        return Verdict(None, "You hadn't been active for an hour.")
    return Verdict(tone, f"Bedtime, {tone.value}.")


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
