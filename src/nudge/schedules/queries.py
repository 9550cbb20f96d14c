"""Questions about any schedule, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.errors import InvalidScheduleError
from nudge.instants import Instant, zone_of
from nudge.schedules.cron import Cron
from nudge.schedules.kinds import At, Every, Idle
from nudge.schedules.rrule import Rrule

AnySchedule = At | Every | Rrule | Cron | Idle

_KINDS: Final[Mapping[str, type[AnySchedule]]] = {kind.kind: kind for kind in (At, Every, Rrule, Cron, Idle)}


def schedule_from_json(data: Mapping[str, Any]) -> AnySchedule:
    """What `to_json` of any kind wrote."""
    kind = _KINDS.get(data.get("kind", ""))
    if kind is None:
        raise InvalidScheduleError(
            f"There is no schedule of kind {data.get('kind')!r}.", next_step=f"Use one of {', '.join(_KINDS)}."
        )
    return kind.from_json(data)


def period_after(schedule: AnySchedule, instant: Instant, zone: ZoneInfo | None = None) -> int | None:
    """The microseconds between the next two times after `instant`; None where there are not two.

    An idle check has no period: its next time depends on the agent. `zone` is for schedules without one of their own.
    """
    if isinstance(schedule, At | Idle):
        return None
    two = list(islice(_times(schedule, instant, zone), 2))
    return two[1] - two[0] if len(two) == 2 else None


def occurrences(
    schedule: AnySchedule, after: Instant, until: Instant, limit: int, zone: ZoneInfo | None = None
) -> list[Instant]:
    """The times strictly after `after` and not after `until`, at most `limit` of them.

    Of an idle check only the first: there is a second only after the agent was active again.
    """
    times = islice(_times(schedule, after, zone), 1 if isinstance(schedule, Idle) else limit)
    found = []
    for time in times:
        if time > until:
            break
        found.append(time)
    return found[:limit]


def _times(schedule: AnySchedule, instant: Instant, zone: ZoneInfo | None) -> Iterator[Instant]:
    where = zone or zone_of("UTC")
    found = schedule.next_after(instant, where)
    while found is not None:
        yield found
        found = schedule.next_after(found, where)
