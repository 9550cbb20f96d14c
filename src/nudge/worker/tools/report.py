"""End the task with a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.progress.store import Session
from nudge.progress.tools import ToolKind
from nudge.worker.loop import Done
from nudge.worker.tool import inputs, text


class Report:
    name = "report"
    kind = ToolKind.FINISH
    stands_alone = False
    description = "End the task. Say what was asked, what you did, what you did not do, and what is left."
    schema = inputs({"text": text("The report, for the person who asked.")})

    def offered_to(self, session: Session) -> bool:
        return True

    async def run(self, args: Mapping[str, Any], session: Session, use_id: str) -> Done:
        return Done("Reported.", ends=args["text"])
