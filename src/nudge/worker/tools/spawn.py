"""Start subagents, side by side, each with a share of the run's budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any

from nudge.progress.store import Session
from nudge.progress.tools import ToolKind
from nudge.worker.loop import Done
from nudge.worker.tool import inputs, text

MOST_TASKS = 4
DEEPEST = 2
"""A subagent may start subagents, and those may not."""

RunChild = Callable[[Session, str, str], Awaitable[Session]]
"""Works on a task as a subagent of a session, under a name of its own, to the end. Going on with one that has begun."""


class Spawn:
    """`run_child` is set by whoever runs sessions."""

    name = "spawn"
    kind = ToolKind.RUN
    stands_alone = True
    description = (
        f"Let up to {MOST_TASKS} subagents work on parts of the task in parallel, in the same workspace. Each sees "
        "only what you write here, and its report comes back to you."
    )
    schema = inputs({"tasks": {"type": "array", "description": "One task each.", "items": text("A whole task.")}})

    def __init__(self) -> None:
        self.run_child: RunChild | None = None

    def offered_to(self, session: Session) -> bool:
        return session.id.count(".") < DEEPEST

    async def run(self, args: Mapping[str, Any], session: Session, use_id: str) -> Done:
        tasks = [task.strip() for task in args["tasks"] if task.strip()]
        if not 0 < len(tasks) <= MOST_TASKS:
            return Done(f"Give 1 to {MOST_TASKS} tasks.", is_error=True)
        assert self.run_child is not None
        mark = sha256(use_id.encode()).hexdigest()[:4]
        try:
            async with asyncio.TaskGroup() as group:
                started = [
                    group.create_task(self._one(session, f"{mark}-{number}", task))
                    for number, task in enumerate(tasks, 1)
                ]
        except BaseExceptionGroup as errors:  # the others were cancelled with the first, and go on with it later
            raise errors.exceptions[0] from None
        return Done("\n\n".join(one.result() for one in started), changed=True)

    async def _one(self, session: Session, name: str, task: str) -> str:
        assert self.run_child is not None
        child = await self.run_child(session, name, task)
        why = f" ({child.reason})" if child.reason else ""
        return f"## {child.last_task}\n{child.status.value}{why}\n{child.report}".rstrip()
