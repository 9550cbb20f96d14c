"""Set a reminder to itself, instead of waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.clock import Clock
from nudge.progress.store import Session
from nudge.progress.tools import ToolKind
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.worker.loop import Done
from nudge.worker.store import WorkerStore
from nudge.worker.tool import inputs, text


class RemindMe:
    name = "remind_me"
    kind = ToolKind.PLAN
    stands_alone = False
    description = (
        "Have a task come back to you later, once, instead of sleeping or polling. Report after setting it; the "
        "reminder starts a new task."
    )
    schema = inputs(
        {"message": text("What to do then, with all you will need to know."), "in": text("When: 30m, 2h, 1d.")}
    )

    def __init__(self, store: WorkerStore, clock: Clock, reminders: Reminders) -> None:
        self._store = store
        self._clock = clock
        self._reminders = reminders

    def offered_to(self, session: Session) -> bool:
        return not session.parent

    async def run(self, args: Mapping[str, Any], session: Session, use_id: str) -> Done:
        name = f"{session.id}-{use_id}"[:60]
        if not await self._store.reminders.named(name, session.agent):
            definition = {"name": name, "message": args["message"], "schedule": {"in": args["in"]}}
            await self._reminders.add(session.agent, definition, self._clock.now(), Source.MODEL)
        return Done(f"Set. It comes back in {args['in']}.")
