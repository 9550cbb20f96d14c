"""Write the plan down, and keep it up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.progress.tools import ToolKind
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text

_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]"}


class Plan:
    name = "plan"
    kind = ToolKind.PLAN
    reads_only = False
    description = "Write down the plan for the task, or update it. Give all steps each time."
    schema = inputs(
        {
            "steps": {
                "type": "array",
                "description": "All steps, in order.",
                "items": inputs(
                    {"step": text("What to do.")},
                    {"status": {"type": "string", "enum": list(_MARKS), "description": "Left out: pending."}},
                ),
            }
        }
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        steps = [{"step": one["step"], "status": one.get("status", "pending")} for one in args["steps"]]
        lines = [f"{_MARKS[one['status']]} {one['step']}" for one in steps]
        return ToolOutput("\n".join(lines) or "The plan is empty.")
