"""When something is due: schedules as small frozen values that answer `next_after` without reading a clock.

`Schedule` is the public face. Inside, a schedule is one of `At`, `Every`, `Rrule`, `Cron` and `Idle`, each an
`AnySchedule`: it can say when it is next, what it is in a few words, and what it is in JSON. An old start or a strange
rule takes no longer than others: a rule that could take long is refused when it is made.
"""

from __future__ import annotations

from nudge.schedules.cron import Cron
from nudge.schedules.kinds import AnySchedule, At, Every, Idle, Making
from nudge.schedules.rrule import Rrule
from nudge.schedules.schedule import (
    WAYS,
    WAYS_IN_WORDS,
    Schedule,
    Way,
    occurrences,
    period_after,
    read_schedule,
    schedule_from_json,
)

__all__ = [
    "WAYS",
    "WAYS_IN_WORDS",
    "AnySchedule",
    "At",
    "Cron",
    "Every",
    "Idle",
    "Making",
    "Rrule",
    "Schedule",
    "Way",
    "occurrences",
    "period_after",
    "read_schedule",
    "schedule_from_json",
]
