"""The forward schedule: which background tasks come next, so that a run can weigh its ping against theirs.

It covers 15 minutes back and 3 hours ahead, or the next three occurrences if they are further away, but nothing later
than 12 hours beyond those 3. All three limits are inclusive. Each occurrence has its own line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from heapq import merge

from nudge.instants import HOUR, MINUTE, Instant, Moment, Zone, as_instant, as_zone, to_datetime

BACK = 15 * MINUTE
AHEAD = 3 * HOUR
BEYOND = 12 * HOUR
AT_LEAST = 3
"""The window reaches further if it has fewer coming occurrences than this."""

BODY_CHARACTERS = 60
MAX_LINES = 100
"""A routine that fires every second would fill the whole prompt. The rest is only mentioned."""

NextAfter = Callable[[Instant], Moment | None]
"""The first occurrence strictly after an instant, or None if there is none."""


@dataclass(frozen=True, slots=True)
class UpcomingTask:
    """A routine or reminder as the schedule shows it.

    `ref` says where to read the whole prompt: a routine's file, a stored reminder's id. `times` are its occurrences
    (an iterator, which may be endless, gives them in order) or a function that finds the next one, such as
    `schedule.next_after`. `chain` is the place in a chain, (2, 4) for the second of four.
    """

    name: str
    ref: str
    times: Iterable[Moment] | NextAfter
    description: str | None = None
    body: str = ""
    allow_ping: bool = True
    chain: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class UpcomingLine:
    """One occurrence in the schedule."""

    due_at: Instant
    task: UpcomingTask
    tag: str = ""

    def render(self, tz: Zone | tzinfo) -> str:
        """The line as a prompt shows it, with the time on the clock of `tz`."""
        task = self.task
        text = f"- {clock(self.due_at, as_zone(tz))}: {_one_line(task.name)}"
        if task.chain is not None:
            text += f" ({task.chain[0]}/{task.chain[1]})"
        if not task.allow_ping:
            text += " (silent)"
        if about := summary(task):
            text += f' -- "{about}"'
        text += f" ({_one_line(task.ref)})"
        return f"{text} [{self.tag}]" if self.tag else text


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The schedule around one instant.

    >>> from datetime import UTC, datetime
    >>> six = datetime(2026, 2, 20, 18, tzinfo=UTC)
    >>> workout = UpcomingTask("Workout nudge", "routines/workout-nudge.md", [six.replace(hour=19, minute=30)],
    ...                        description="Check workout status", allow_ping=False)
    >>> print(upcoming([workout], six).render(UTC, refill_us=90 * MINUTE))
    Upcoming bg tasks (next 3h):
    - 7:30 PM: Workout nudge (silent) -- "Check workout status" (routines/workout-nudge.md)
    ~1 refill before last task.
    """

    now: Instant
    lines: tuple[UpcomingLine, ...]
    more: bool = False

    def refills_before_last(self, refill_us: int) -> int:
        """How many whole pings come back before the last occurrence; 0 if that is not ahead."""
        return max(0, self.lines[-1].due_at - self.now) // refill_us if self.lines else 0

    def render(self, tz: Zone | tzinfo, refill_us: int | None = None) -> str:
        """The block for a prompt. Without a ping budget it says nothing about refills."""
        if not self.lines:
            return "Upcoming bg tasks (next 3h): none."
        text = ["Upcoming bg tasks (next 3h):", *(line.render(tz) for line in self.lines)]
        if self.more:
            text.append("- ... and more")
        if refill_us is not None:
            refills = self.refills_before_last(refill_us)
            text.append(f"~{refills} refill{'' if refills == 1 else 's'} before last task.")
        return "\n".join(text)


def upcoming(
    tasks: Sequence[UpcomingTask], now: Moment, this: tuple[str, Moment] | None = None, limit: int = MAX_LINES
) -> Upcoming:
    """The schedule at `now`. `this` is the ref and the due time of the occurrence that is running.

    A task that is due exactly now and is not running counts as ahead: it will want a ping too. Tasks due at the same
    time keep their order.
    """
    at = as_instant(now)
    running = None if this is None else (this[0], as_instant(this[1]))
    first, end, last = Instant(at - BACK), at + AHEAD, Instant(at + AHEAD + BEYOND)
    lines: list[UpcomingLine] = []
    ahead = 0
    for due, index in merge(*(_numbered(task, index, first, last) for index, task in enumerate(tasks))):
        if due > end and ahead >= AT_LEAST:
            break
        if len(lines) == limit:
            return Upcoming(at, tuple(lines), more=True)
        task = tasks[index]
        if (task.ref, due) == running:
            lines.append(UpcomingLine(due, task, "this task"))
            continue
        ahead += due >= at
        lines.append(UpcomingLine(due, task, "just fired" if due < at else ""))
    return Upcoming(at, tuple(lines))


def _numbered(task: UpcomingTask, index: int, first: Instant, last: Instant) -> Iterator[tuple[Instant, int]]:
    for due in _instants(task.times, first):
        if due > last:
            return
        if due >= first:
            yield due, index


def _instants(times: Iterable[Moment] | NextAfter, first: Instant) -> Iterable[Instant]:
    if callable(times):
        return _following(times, first)
    return sorted(map(as_instant, times)) if isinstance(times, Sequence) else map(as_instant, times)


def _following(next_after: NextAfter, first: Instant) -> Iterator[Instant]:
    before = Instant(first - 1)
    while (found := next_after(before)) is not None and (due := as_instant(found)) > before:
        yield due
        before = due


def clock(instant: Instant, zone: tzinfo) -> str:
    """The time on a 12-hour clock: 12:05 AM, 6:00 PM."""
    local = to_datetime(instant, zone)
    return f"{local.hour % 12 or 12}:{local.minute:02d} {'AM' if local.hour < 12 else 'PM'}"


def summary(task: UpcomingTask) -> str:
    """What a line says about a task: its whole description, or the first 60 characters of its body.

    The body is cut at exactly 60 characters, even inside a word, and "..." marks the cut. A body of 60 characters or
    fewer is shown as it is. Line breaks become spaces and double quotes become single quotes, so that a line stays one
    line and its quotes close.
    """
    if task.description is not None and (described := _one_line(task.description)):
        return described.replace('"', "'")
    body = _one_line(task.body).replace('"', "'")
    return body if len(body) <= BODY_CHARACTERS else f"{body[:BODY_CHARACTERS]}..."


def _one_line(text: str) -> str:
    return " ".join(text.split())
