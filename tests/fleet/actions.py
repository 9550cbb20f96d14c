"""What Temporal Cloud would bill, counted from histories."""

from __future__ import annotations

from collections import Counter

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

BILLED = (
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    EventType.EVENT_TYPE_TIMER_STARTED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
    EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
    EventType.EVENT_TYPE_MARKER_RECORDED,
)


async def actions(client: Client, workflow: str, first_run: str | None = None) -> tuple[Counter[int | str], int]:
    """Events by kind, and `visits`, over all runs of a workflow from the first (else of the last one alone), and how
    many runs there were."""
    counted: Counter[int | str] = Counter()
    runs, run = 0, first_run
    while True:
        history = await client.get_workflow_handle(workflow, run_id=run).fetch_history()
        runs += 1
        counted.update(event.event_type for event in history.events)
        run = history.events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
        if not run:
            counted["visits"] = counted[EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED]
            return counted, runs
