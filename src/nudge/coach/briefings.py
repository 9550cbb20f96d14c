"""Briefings: the messages at fixed times, each at most once per period.

Due times follow from the Schedule Targets in the person's zone. A period has a key (a day, a night, a week, a month);
whoever claims the key sends the briefing, so neither a restart nor a changed target sends it twice.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from enum import StrEnum

from nudge.attention import bedtime as bedtimes
from nudge.coach.targets import Targets
from nudge.instants import HOUR, MINUTE, Instant, from_local, to_datetime

MONTHLY_TIME = time(19, 0)
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


def next_due(kind: Briefing, after: Instant, targets: Targets) -> Instant:
    """The first time strictly after `after` at which the briefing is due.

    A wall time inside a DST gap is the first instant after it, one inside a fold is the first of the two. The bedtime
    nudge is a real hour before the bedtime, also in a night in which the clock changes.
    """
    day = to_datetime(after, targets.zone).date() - timedelta(days=1)
    while True:
        if _falls_on(kind, day, targets):
            due = _due_on(kind, day, targets)
            if due > after:
                return due
        day += timedelta(days=1)


def period_key(kind: Briefing, due: Instant, targets: Targets) -> str:
    """The period that a due time belongs to: a day (2026-02-18), the night that begins on that day, an ISO week
    (2026-W08) or a month (2026-02)."""
    if kind is Briefing.BEDTIME:
        return night_of(Instant(due + WIND_DOWN), targets).isoformat()
    day = to_datetime(due, targets.zone).date()
    if kind is Briefing.WEEKLY_REVIEW:
        return week_of(day)
    return day.strftime("%Y-%m") if kind is Briefing.MONTHLY else day.isoformat()


def week_of(day: date) -> str:
    """The ISO week of a day, such as 2026-W08."""
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


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


def _falls_on(kind: Briefing, day: date, targets: Targets) -> bool:
    if kind is Briefing.WEEKLY_REVIEW:
        return day.weekday() == targets.review_weekday
    return day.day == 1 if kind is Briefing.MONTHLY else True


def _due_on(kind: Briefing, day: date, targets: Targets) -> Instant:
    if kind is Briefing.BEDTIME:
        return Instant(bedtime_of(day, targets) - WIND_DOWN)
    clock = {
        Briefing.MORNING: targets.wake_target,
        Briefing.WEEKLY_REVIEW: targets.review_time,
        Briefing.MONTHLY: MONTHLY_TIME,
    }[kind]
    return from_local(datetime.combine(day, clock), targets.zone)
