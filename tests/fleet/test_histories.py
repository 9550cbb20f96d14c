"""A change of the workflows' code is safe for agents that sleep while it is rolled out.

The histories were recorded from real runs. A workflow that takes another path through one of them fails here, as it
would for every sleeping agent; `workflow.patched` lets old histories keep the old path. Record new ones for new paths,
and keep the old: NUDGE_RECORD=1 pytest tests/fleet/test_fleet.py
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import WorkflowHistory
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer, Worker
from temporalio.workflow import NondeterminismError

from nudge.fleet.rules import workflow_id
from nudge.fleet.workflows import LONGEST_HISTORY, AgentStart, AgentWorkflow, SweepWorkflow, VisitAnswer, VisitAsked
from nudge.instants import SECOND
from tests.fleet.actions import BILLED, actions
from tests.fleet.conftest import HISTORIES

RECORDED = sorted(HISTORIES.glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
async def test_a_recorded_history_replays(path: Path) -> None:
    replayer = Replayer(workflows=[AgentWorkflow, SweepWorkflow])
    await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, path.read_text()))


async def test_a_history_that_the_code_does_not_fit_is_noticed() -> None:
    path = next(path for path in RECORDED if path.stem.endswith("-ada"))
    history = WorkflowHistory.from_json(path.stem, path.read_text().replace("visit", "other"))
    with pytest.raises(NondeterminismError):
        await Replayer(workflows=[AgentWorkflow]).replay_workflow(history)


def test_there_are_histories_to_replay() -> None:
    assert len(RECORDED) >= 5


@activity.defn(name="visit")
async def every_45_minutes(asked: VisitAsked) -> VisitAnswer:
    """A visit as the store would answer it, in the server's time."""
    now = activity.info().scheduled_time.timestamp()
    wake = int((now // 2700 + 1) * 2700) * SECOND
    return VisitAnswer(wake, round(now * SECOND), 1, "awake", "standard")


async def test_ten_days_of_an_agent_cost_at_most_2_2_actions_a_wake(temporal_skipping: WorkflowEnvironment) -> None:
    client = temporal_skipping.client
    start = await temporal_skipping.get_current_time()
    async with Worker(
        client, task_queue="days", workflows=[AgentWorkflow], activities=[every_45_minutes], max_cached_workflows=10
    ):
        handle = await client.start_workflow(
            AgentWorkflow.run,
            AgentStart("ada", longest_history=LONGEST_HISTORY),
            id=workflow_id("days", "ada"),
            task_queue="days",
        )
        for _ in range(10):
            await temporal_skipping.sleep(timedelta(days=1))
        state = await handle.query("state")
        counted, runs = await actions(client, handle.id, handle.first_execution_run_id)
        await client.get_workflow_handle(handle.id).signal("cancel")
    assert datetime.fromtimestamp(state["wake_at"] / SECOND, UTC) >= start + timedelta(days=10)
    assert 318 <= state["visits"] <= 324
    per_wake = sum(counted[one] for one in BILLED) / state["visits"]
    print(f"{per_wake:.3f} actions per wake, {state['visits']} wakes, {runs} runs")
    assert per_wake <= 2.2
