"""Run a command in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nudge.progress.tools import ToolKind
from nudge.worker.hooks import GitHooks
from nudge.worker.sandbox import Ending, Job, Limits, Ran
from nudge.worker.tool import ToolContext, ToolOutput, inputs, text, whole

_MOST_SECONDS = 600


class Bash:
    name = "bash"
    kind = ToolKind.RUN
    reads_only = False
    description = (
        "Run a shell command in the workspace. It has no network, sees nothing outside the workspace but the system's "
        "programs, and everything it started ends with it."
    )
    schema = inputs(
        {"command": text("The command.")},
        {"timeout": whole("After how many seconds it is stopped.", 1, _MOST_SECONDS)},
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        limits = replace(context.limits, seconds=float(args.get("timeout", context.limits.seconds)))
        hooks = GitHooks(context.workspace)
        ran = await context.sandbox.run(Job(args["command"], context.workspace.path, limits))
        notes = [_ending(ran, limits), *hooks.put_back()]
        output = ran.output.rstrip("\n")
        told = "\n".join([*([output] if output else []), *(f"[{note}]" for note in notes if note)])
        return ToolOutput(told or "[exit 0, no output]", is_error=ran.code != 0)


def _ending(ran: Ran, limits: Limits) -> str:
    if ran.ending is Ending.TIMED_OUT:
        return f"Stopped after {limits.seconds:g} s. Everything it started was stopped too."
    if ran.ending is Ending.TOO_MANY_PROCESSES:
        return f"Stopped: it had more than {limits.processes} processes."
    if ran.ending is Ending.TOO_MUCH_MEMORY:
        return f"Stopped: it used more than {limits.memory_bytes // 2**20:,} MiB of memory."
    if ran.code is not None and ran.code < 0:
        return f"ended by signal {-ran.code}"
    return f"exit {ran.code}" if ran.code else ""
