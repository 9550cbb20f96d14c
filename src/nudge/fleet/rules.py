"""When an agent must be woken. Values and a time in, values out: workflows replay these, so they read nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from nudge.coach.briefing_run import KIND as BRIEFING
from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.coach.housekeeping import COMMIT, PULL, RETENTION
from nudge.instants import DAY, MINUTE, SECOND, Instant
from nudge.progress.stored_pools import POOL
from nudge.queue.timers import LATE_FROM
from nudge.reminders.seeding import ROUTINES
from nudge.spending.agent_ledger import SWEEP
from nudge.spending.budgets import WAKE

NEVER = Instant(2**62)
"""When an agent wakes for which nothing waits. A poke still wakes it."""
SPREAD = 5 * MINUTE
"""How far the wakes of one midnight are spread, unless the operator says otherwise."""
LINGER = 2 * SECOND
"""What is due this soon after a visit is waited for: another wake would cost more."""

_WATCHED_FILES = frozenset({ROUTINES})
"""Looks at files every half minute: done whenever the agent is awake, and no reason to wake it."""
_CHORES = frozenset({RETENTION, COMMIT, PULL, SWEEP, POOL, WAKE})
"""Nobody waits for these: the day turns, money is counted. Whoever writes to a sleeping agent wakes it at once."""
_OWN_RHYTHM = frozenset({HEARTBEAT, BRIEFING})
"""The person did not ask for this second. It stays within what an outcome calls on time."""
_EACH = SECOND // 20
"""Twenty first visits a second are no strain on a small server."""
_ON_TIME = LATE_FROM - 2 * SECOND


def jitter(agent: str, span: int) -> int:
    """A share of `span` that is always the same for an agent, and even over many of them.

    >>> jitter("ada", 60) == jitter("ada", 60), jitter("ada", 0)
    (True, 0)
    """
    if span <= 0:
        return 0
    return int.from_bytes(blake2b(agent.encode(), digest_size=8).digest(), "big") % span


def wake_at(agent: str, kind: str, due_at: Instant, now: Instant, spread: int = SPREAD) -> Instant:
    """When to wake the agent for a timer of this kind. What is due already is not put off.

    >>> wake_at("ada", "reminder", Instant(10), Instant(0))
    10
    >>> wake_at("ada", "routines", Instant(10), Instant(0)) == NEVER
    True
    """
    if kind in _WATCHED_FILES:
        return NEVER
    if due_at <= now:
        return due_at
    if kind in _CHORES:
        return Instant(due_at + jitter(agent, spread))
    if kind in _OWN_RHYTHM:
        return Instant(due_at + jitter(agent, min(spread, _ON_TIME)))
    return due_at


def next_wake(agent: str, due: Mapping[str, Instant], now: Instant, spread: int = SPREAD) -> Instant:
    """When to wake the agent next, from the first due time of each kind."""
    return min((wake_at(agent, kind, due_at, now, spread) for kind, due_at in due.items()), default=NEVER)


def first_wake(agent: str, due: Mapping[str, Instant], now: Instant, spread: int, joining: int) -> Instant:
    """When to wake an agent that joins with so many others. One with something due within a day has been at work, and
    can wait for that. Whether the rest were ever started is not known, so they are visited soon."""
    wake = next_wake(agent, due, now, spread)
    return wake if wake <= now + DAY else Instant(now + jitter(agent, min(spread, joining * _EACH)))


def thinks_only(due: Mapping[str, Instant], wake: Instant) -> bool:
    """Whether a visit at that time is for nothing but what the agent thinks of by itself. Such visits have places of
    their own: they may wait for the model, and a reminder must not wait for them.

    >>> thinks_only({HEARTBEAT: Instant(5), "reminder": Instant(10**9)}, Instant(7))
    True
    >>> thinks_only({HEARTBEAT: Instant(5), "reminder": Instant(6)}, Instant(7))
    False
    """
    kinds = {kind for kind, at in due.items() if at <= wake + LINGER}
    return bool(kinds) and kinds <= _OWN_RHYTHM | _WATCHED_FILES


@dataclass(frozen=True, slots=True)
class Poke:
    """Somebody set a timer that is due before the agent's next wake. `made_at` is the database's own time."""

    agent: str
    kind: str
    due_at: Instant
    made_at: Instant


def together(pokes: Iterable[Poke], now: Instant, spread: int = SPREAD) -> dict[str, tuple[Instant, Instant]]:
    """One wake for each agent: when, and when the last of its pokes was made. Pokes that need no wake are left out."""
    found: dict[str, tuple[Instant, Instant]] = {}
    for poke in pokes:
        at = wake_at(poke.agent, poke.kind, poke.due_at, now, spread)
        if at < NEVER:
            before = found.get(poke.agent, (at, poke.made_at))
            found[poke.agent] = (min(at, before[0]), max(poke.made_at, before[1]))
    return found


def shown_due(wake: Instant) -> Instant:
    """The next due time as a search attribute shows it: to the day. Each change of it costs an action, so an exact one
    would cost as much as half a wake; `nudge fleet agents` has it from the store."""
    return Instant(wake // DAY * DAY)


def workflow_id(task_queue: str, agent: str) -> str:
    """Homes that share a namespace have different task queues."""
    return f"{task_queue}/{agent}"


def poller_id(task_queue: str) -> str:
    return f"{task_queue}:poller"


def sweep_id(task_queue: str) -> str:
    return f"{task_queue}:sweep"


def thinking_queue(task_queue: str) -> str:
    return f"{task_queue}:thinking"
