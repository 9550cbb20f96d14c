"""Lines of a day for reading: what only repeats the line before becomes one line with a count.

A quiet night is eleven heartbeats that were all held back for the same reason; nobody wants to read that eleven times.
Heartbeats that came to nothing are one line too, whether a model was asked or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nudge.instants import Instant
from nudge.queue.outcomes import Result
from nudge.simulation.timeline import Asked, Ended, Event, Noted, Sent, Signal

HEARTBEAT = "heartbeat"
METER = "budget"
"""The feed's line for another percent of the budget; a day's last line says how far it came."""
_SPOKE = (Result.FIRED, Result.FIRED_LATE)
_SPAN = re.compile(r"\b(?:\d+ (?:days?|h|min)(?: \d+ min)? ago|just now)")


@dataclass(frozen=True, slots=True)
class Line:
    """Events that read as one."""

    events: tuple[Event, ...]

    @property
    def event(self) -> Event:
        return self.events[0]

    @property
    def last_at(self) -> Instant:
        return self.events[-1].at

    @property
    def count(self) -> int:
        return len(self.events)

    @property
    def silent(self) -> bool:
        return is_silent(self.event)


def lines_of(events: Iterable[Event]) -> Iterator[Line]:
    """The lines worth reading, in the order in which they begin. Signals, model calls and the meter are counted
    elsewhere; a firing whose message is shown is not shown as well.

    Between two events that stand for themselves (somebody said something), outcomes that read alike are one line, also
    where others happened in between.
    """
    shown = list(events)
    spoken = {(event.key, event.slot_at) for event in shown if isinstance(event, Sent)}
    stretch: dict[tuple[str, ...], list[Event]] = {}
    for event in shown:
        if isinstance(event, Signal | Asked) or _is_told(event, spoken) or _is_meter(event):
            continue
        if isinstance(event, Ended):
            stretch.setdefault(_reads_as(event), []).append(event)
            continue
        yield from (Line(tuple(alike)) for alike in stretch.values())
        stretch = {}
        yield Line((event,))
    yield from (Line(tuple(alike)) for alike in stretch.values())


def is_silent(event: Event) -> bool:
    """A heartbeat that came to nothing: judged and found nothing to say, or nothing had changed."""
    return isinstance(event, Ended) and event.kind == HEARTBEAT and event.result in (*_SPOKE, Result.SKIPPED)


def _is_told(event: Event, spoken: set[tuple[str, Instant | None]]) -> bool:
    return isinstance(event, Ended) and event.result in _SPOKE and (event.key, event.slot_at) in spoken


def _is_meter(event: Event) -> bool:
    return isinstance(event, Noted) and event.kind == METER


def _reads_as(event: Ended) -> tuple[str, ...]:
    """Equal but for the time: "nothing has changed since … 45 min ago" and "… 90 min ago" say the same."""
    return ("silent",) if is_silent(event) else (event.subject, event.result.value, plain(event.reason))


def plain(reason: str) -> str:
    """A reason without the distances in time in it."""
    return _SPAN.sub("earlier", reason)
