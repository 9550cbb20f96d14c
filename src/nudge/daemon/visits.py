"""Dispatch what is due for one agent, and come back: the same work as the daemon's loop, in one bounded call.

For machines that are told from outside which agent to look after. A visit may be repeated, and two may overlap on
different machines: leases keep them apart, and every occurrence still ends in one outcome.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.coach.housekeeping import COMMIT, PULL, RETENTION
from nudge.coach.person_documents import DOCUMENTS, documents_timer
from nudge.instants import SECOND, Instant
from nudge.queue.tables import AgentTimers
from nudge.reminders.seeding import ROUTINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nudge.daemon.assemble import Daemon
    from nudge.queue.agents import Agent
    from nudge.queue.dispatch import Dispatcher

_UNEVENTFUL = frozenset({HEARTBEAT, DOCUMENTS, ROUTINES, RETENTION, COMMIT, PULL})
"""After these nothing has changed that a heartbeat would look at. (A worker that meets an agent looks at its files.)"""
LEASE = 20 * SECOND
"""Shorter than a daemon's own: what a killed machine held must be free again soon after its visit is repeated."""
REMEMBERED = 1000
"""Agents whose documents stay in memory. What sleeps longer is read again at its next visit."""


@dataclass(frozen=True, slots=True)
class Visit:
    """How a visit ended. `next_due` is when something is due again; None if nothing waits. It is in the past if the
    time was up before everything was done. `gone` says that there is no such agent any more."""

    agent: str
    fired: int = 0
    next_due: Instant | None = None
    gone: bool = False


class Visits:
    """Visits to the agents of one store. `owner` names this process: unlike any other, also any of this machine."""

    def __init__(self, daemon: Daemon, owner: str, *, lease: int = LEASE, remembered: int = REMEMBERED) -> None:
        self._daemon = daemon
        self._owner = owner
        self._lease = lease
        self._most = remembered
        self._remembered: OrderedDict[str, None] = OrderedDict()
        self._under_way: dict[str, list[Dispatcher]] = {}
        self._stopped = asyncio.Event()

    @property
    def busy(self) -> int:
        return len(self._under_way)

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set()

    async def until_stopped(self) -> None:
        await self._stopped.wait()

    @property
    def remembered(self) -> int:
        return len(self._remembered)

    async def visit(self, agent: str, seconds: float, *, first: bool = False) -> Visit:
        """Fire everything that is due for the agent until nothing is, or for that long. With `first`, start what
        belongs to it before: its heartbeat, its routines, its wake."""
        daemon = self._daemon
        there = await daemon.store.agents.get(agent)
        if there is None:
            self._forget(agent)
            return Visit(agent, gone=True)
        with self._dispatcher(agent) as dispatcher:
            await self._remember(there, first=first)
            if self.stopping:
                dispatcher.stop()
            await dispatcher.run_due(seconds)
            if daemon.is_coach(there) and dispatcher.kinds - _UNEVENTFUL:
                await daemon.coach.heartbeat.ensure(agent, daemon.clock.now())  # one that sleeps through is called back
            timers = AgentTimers(daemon.store.database, agent)
            return Visit(agent, dispatcher.fired, await self._next_due(timers))

    async def _next_due(self, timers: AgentTimers) -> Instant | None:
        """What is due in a lane that somebody else holds is looked at again when the lease ends."""
        first = min((await timers.next_by_kind()).values(), default=None)
        now = self._daemon.clock.now()
        if first is None or first > now:
            return first
        held = await timers.held_until(now)
        following = await timers.next_due(now)
        free = await timers.due_lanes(now, 1)
        if free or held is None:
            return first
        return min(held, following) if following is not None else held

    async def _remember(self, agent: Agent, *, first: bool) -> None:
        daemon, name, now = self._daemon, agent.name, self._daemon.clock.now()
        if first:
            await daemon.take_in(agent, now)
        elif name not in self._remembered:
            await daemon.remember(agent)
        if daemon.documents.changed(name):
            await daemon.store.timers.set(documents_timer(name, now))
        self._remembered[name] = None
        self._remembered.move_to_end(name)
        for old in list(self._remembered)[: max(0, len(self._remembered) - self._most)]:
            if old not in self._under_way:
                self._forget(old)

    def _forget(self, agent: str) -> None:
        self._remembered.pop(agent, None)
        self._daemon.forget(agent)

    @contextmanager
    def _dispatcher(self, agent: str) -> Iterator[Dispatcher]:
        dispatcher = self._daemon.dispatcher_of(agent, owner=self._owner, lease=self._lease)
        together = self._under_way.setdefault(agent, [])
        together.append(dispatcher)
        try:
            yield dispatcher
        finally:
            together.remove(dispatcher)
            if not together:
                del self._under_way[agent]

    def poke(self) -> None:
        """Somebody set a timer: visits that are under way look at once."""
        for together in self._under_way.values():
            for dispatcher in together:
                dispatcher.poke()

    def stop(self) -> None:
        """Start nothing new: visits that are under way end when their handlers have ended."""
        self._stopped.set()
        for together in self._under_way.values():
            for dispatcher in together:
                dispatcher.stop()
