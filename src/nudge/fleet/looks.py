"""What an operator sees of the fleet: its state, and why an agent is awake or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from nudge.fleet.activities import GRACE
from nudge.fleet.rules import NEVER, workflow_id
from nudge.fleet.tables import Counts, Fleet, FleetTable, Member
from nudge.instants import HOUR, Instant
from nudge.queue.agents import Agents
from nudge.queue.outcomes import Outcome
from nudge.queue.timers import Lease, Timer
from nudge.stores.store import SqlStore

_ASK = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Standing:
    fleet: Fleet
    counts: Counts
    workers: Sequence[str]
    results: Mapping[str, int]
    states: Mapping[str, int]

    @property
    def trouble(self) -> str | None:
        """What needs somebody's attention, and what to do."""
        if not self.workers:
            return "No worker is running. Start one with 'nudge fleet worker'."
        if self.counts.late:
            one = self.counts.late == 1
            return f"{self.counts.late} agent{'' if one else 's'} should have woken by now. The sweep wakes them."
        if self.counts.pokes > 1000:
            return f"{self.counts.pokes:,} pokes are waiting to be sent. Check the workers' logs."
        return None


async def standing(store: SqlStore, client: Client, now: Instant) -> Standing:
    table = FleetTable(store)
    fleet = await table.require()
    return Standing(
        fleet,
        await table.counts(now, Instant(now - GRACE)),
        await workers_of(client, fleet.task_queue),
        await table.results_since(Instant(now - HOUR)),
        await table.spending_states(),
    )


async def workers_of(client: Client, task_queue: str) -> Sequence[str]:
    """Workers that have asked for visits within the last minutes."""
    asked = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )
    answer = await client.workflow_service.describe_task_queue(asked)
    return sorted({poller.identity for poller in answer.pollers})


@dataclass(frozen=True, slots=True)
class AgentLook:
    """Everything about one agent. `workflow` is what its workflow says of itself: None if there is none, and empty if
    no worker is there to answer."""

    agent: str
    member: Member | None
    workflow: Mapping[str, Any] | None
    timers: Sequence[Timer]
    held: Sequence[Lease]
    outcomes: Sequence[Outcome]

    def why(self, now: Instant) -> str:
        """One sentence: why it is awake, asleep or stuck."""
        if self.member is None:
            return "It has not joined the fleet yet. The sweep adds it within a minute."
        if self.workflow is None:
            return "It has no workflow. The sweep starts one when its next wake is due."
        if self.workflow.get("state") == "paused":
            return "It is paused. 'nudge fleet drain --undo' resumes all agents."
        if self.member.visited_at is None and (self.member.wakes_at or 0) > now:
            return "It has not been visited yet. It waits for its first timer."
        if not self.workflow:
            return "Its workflow does not answer: no worker is running."
        if self.workflow.get("visiting"):
            return "A worker is visiting it now."
        wakes_at = self.member.wakes_at or Instant(0)
        if wakes_at <= now - GRACE:
            return "It should have woken by now. The sweep wakes it."
        if wakes_at >= NEVER:
            return "Nothing is due. It sleeps until a timer is set."
        first = min(self.timers, key=lambda timer: abs(timer.due_at - wakes_at), default=None)
        return "It sleeps until its next timer" + (f" ({first.kind})." if first else ".")


async def look_at(store: SqlStore, client: Client, agent: str, now: Instant) -> AgentLook:
    await Agents(store).get(agent)
    table = FleetTable(store)
    fleet = await table.require()
    lanes = [lease for lease in await store.lanes.held(now) if lease.lane.partition("/")[0] == agent]
    return AgentLook(
        agent,
        await table.member(agent),
        await _workflow(client, workflow_id(fleet.task_queue, agent)),
        await store.timers.of_agent(agent, limit=20),
        lanes,
        await store.outcomes.recent(agent=agent, limit=5),
    )


async def _workflow(client: Client, which: str) -> Mapping[str, Any] | None:
    handle = client.get_workflow_handle(which)
    try:
        if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
            return None
        answer: Mapping[str, Any] = await handle.query("state", rpc_timeout=_ASK)
        return answer
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        if error.status in (
            RPCStatusCode.DEADLINE_EXCEEDED,
            RPCStatusCode.CANCELLED,
            RPCStatusCode.FAILED_PRECONDITION,
        ):
            return {}
        raise
