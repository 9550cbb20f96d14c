"""When something is due: schedules as small frozen values that answer `next_after` without reading a clock.

`Schedule` is the public face. Inside, a schedule is one of `At`, `Every`, `Rrule`, `Cron` and `Idle` (`AnySchedule`),
and each can say when it is next, what it is in a few words, and what it is in JSON. No answer takes longer for an older
start or a stranger rule: a rule for which it could is refused when it is made.
"""

from __future__ import annotations

from nudge.schedules.cron import Cron
from nudge.schedules.kinds import At, Every, Idle
from nudge.schedules.rrule import Rrule
from nudge.schedules.schedule import AnySchedule, Schedule, occurrences, period_after, schedule_from_json

__all__ = [
    "AnySchedule",
    "At",
    "Cron",
    "Every",
    "Idle",
    "Rrule",
    "Schedule",
    "occurrences",
    "period_after",
    "schedule_from_json",
]
