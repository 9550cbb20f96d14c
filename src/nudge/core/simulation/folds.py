"""Lines of a day for reading: what only repeats the line before becomes one line with a count.

A quiet night is eleven heartbeats that were all held back for the same reason; nobody wants to read that eleven times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from nudge.core.instants import Instant
from nudge.core.outcome import Result
from nudge.core.simulation.timeline import Asked, Ended, Event, Sent, Signal

_SPAN = re.compile(r"\b\d+ (?:minutes?|hours?|min|h)(?: \d+ (?:minutes?|min))? ago")


@dataclass(frozen=True, slots=True)
class Line:
    """`count` events alike; `event` is the first of them, `last_at` when the last of them happened."""

    event: Event
    last_at: Instant
    count: int = 1


def lines_of(events: Iterable[Event]) -> Iterator[Line]:
    """The lines worth reading. Signals and model calls are counted elsewhere; a firing whose message is shown is not
    shown as well."""
    shown = list(events)
    spoken = {(event.key, event.slot_at) for event in shown if isinstance(event, Sent)}
    open_line: Line | None = None
    for event in shown:
        if isinstance(event, Signal | Asked) or _is_told(event, spoken):
            continue
        if open_line is not None and _alike(open_line.event, event):
            open_line = replace(open_line, last_at=event.at, count=open_line.count + 1)
            continue
        if open_line is not None:
            yield open_line
        open_line = Line(event, event.at)
    if open_line is not None:
        yield open_line


def _is_told(event: Event, spoken: set[tuple[str, Instant | None]]) -> bool:
    return (
        isinstance(event, Ended)
        and event.result in (Result.FIRED, Result.FIRED_LATE)
        and (event.key, event.slot_at) in spoken
    )


def _alike(one: Event, other: Event) -> bool:
    """Equal but for the time: "nothing has changed since … 45 min ago" and "… 90 min ago" say the same."""
    return (
        isinstance(one, Ended)
        and isinstance(other, Ended)
        and (one.subject, one.result) == (other.subject, other.result)
        and plain(one.reason) == plain(other.reason)
    )


def plain(reason: str) -> str:
    """A reason without the distances in time in it."""
    return _SPAN.sub("earlier", reason)
