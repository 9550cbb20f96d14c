"""What workers do for the workflows: visit an agent, and sweep. Each may run twice, on any machine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from nudge.clock import Clock
from nudge.daemon.assemble import Daemon
from nudge.daemon.visits import Visit, Visits
from nudge.fleet.metrics import Metrics
from nudge.fleet.pokes import poke
from nudge.fleet.rules import LINGER, workflow_id
from nudge.fleet.tables import FleetTable
from nudge.fleet.workflows import PAUSED, STATE, VisitAnswer, VisitAsked
from nudge.instants import SECOND, Instant
from nudge.queue.outcomes import FeedLine

log = logging.getLogger("nudge.fleet")

VISIT_SECONDS = 120.0
HEARTBEAT_SECONDS = 5.0
"""The first comes this long after the start: most visits are over by then, and a heartbeat costs an action."""
GRACE = 30 * SECOND
"""An agent that is this late is looked for."""
ELSEWHERE = timedelta(milliseconds=200)
AT_ONCE = 500
"""How many agents one sweep repairs of each kind; the next one goes on."""


@dataclass
class Activities:
    daemon: Daemon
    visits: Visits
    table: FleetTable
    client: Client
    task_queue: str
    spread: int
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def clock(self) -> Clock:
        return self.daemon.clock

    @activity.defn(name="visit")
    async def visit(self, asked: VisitAsked) -> VisitAnswer:
        """Fire what is due for an agent, and say when to come back."""
        refuse_if_stopping(self.visits)
        agent = asked.agent
        async with _alive(self.clock):
            began = self.clock.now()
            await self.table.awake(agent, began)
            visit, fired = await self._visited(agent, first=asked.first)
            if visit.gone:
                await self.table.leave(agent)
                return VisitAnswer(0, 0, fired, "", "", member=False)
            state = await self.daemon.spending.state(agent, self.clock.now())
            now = self.clock.now()
            planned = await self.table.plan(agent, now, self.spread, until=_until(visit, now))
        self.metrics.visited(fired=fired, lasted=now - began)
        tier = self.daemon.spending.budgets.plan.tier
        return VisitAnswer(
            planned.wake_at, planned.seen, fired, state.state.value, tier, planned.member, planned.thinks
        )

    async def _visited(self, agent: str, *, first: bool) -> tuple[Visit, int]:
        """Once, and again for what is due a moment later."""
        fired = 0
        while True:
            visit = await self.visits.visit(agent, VISIT_SECONDS, first=first)
            fired += visit.fired
            now = self.clock.now()
            if self.visits.stopping or visit.next_due is None or not now < visit.next_due < now + LINGER:
                return visit, fired  # what a worker that stops left undone is due at once, elsewhere
            await self.clock.sleep((visit.next_due - now) / SECOND)
            first = False

    @activity.defn(name="sweep")
    async def sweep(self) -> int:
        """Find agents that should have been visited, and poke them. How many there were."""
        async with _alive(self.clock):
            now = self.clock.now()
            strangers = list(await self.table.strangers(AT_ONCE))
            late = list(await self.table.late(Instant(now - GRACE), AT_ONCE))
            overslept = await self.table.overslept(Instant(now - GRACE - self.spread), now, AT_ONCE)
            gone, slow = await self._standing([*late, *overslept])
            await self.table.join(strangers, now)
            removed = await self.table.removed(AT_ONCE)  # their next visit ends their workflow
            for agent in dict.fromkeys([*strangers, *gone, *slow, *removed]):
                await poke(self.client, self.task_queue, agent, now, now, now=now)
        found = {"new": len(strangers), "without a workflow": len(gone), "late": len(slow)}
        if any(found.values()):
            words = ", ".join(f"{count} {what}" for what, count in found.items() if count)
            log.warning("The sweep found agents to wake: %s", words)
            await self.daemon.store.feed.add(FeedLine(now, "", "swept", f"The sweep woke agents: {words}."))
        self.metrics.swept(found)
        return sum(found.values())

    async def _standing(self, agents: list[str]) -> tuple[list[str], list[str]]:
        """Those without a workflow, and those whose workflow is late. One that is paused, or being visited, is not."""
        gone, slow = [], []
        for agent in dict.fromkeys(agents):
            try:
                there = await self.client.get_workflow_handle(workflow_id(self.task_queue, agent)).describe()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                gone.append(agent)
                continue
            if there.status is not WorkflowExecutionStatus.RUNNING:
                gone.append(agent)
            elif there.typed_search_attributes.get(STATE) != PAUSED and not there.raw_description.pending_activities:
                slow.append(agent)
        return gone, slow


def refuse_if_stopping(visits: Visits) -> None:
    """A worker that stops still hears of new work for a moment: another one does it."""
    if visits.stopping:
        raise ApplicationError("This worker stops.", next_retry_delay=ELSEWHERE)


def _until(visit: Visit, now: Instant) -> Instant | None:
    """What is due now and was not fired is held by somebody else, until then."""
    return visit.next_due if visit.next_due is not None and visit.next_due > now else None


@asynccontextmanager
async def _alive(clock: Clock) -> AsyncIterator[None]:
    """Show that the activity lives while the block runs."""

    async def beat() -> None:
        while True:
            await clock.sleep(HEARTBEAT_SECONDS)
            activity.heartbeat()

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
