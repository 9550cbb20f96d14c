"""The tools of a working session: those for files and commands, and those that reach beyond the workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from nudge.errors import LostLeaseError, NudgeError, RetryableError, StoreError
from nudge.model import Tool as ToolDefinition
from nudge.model import ToolUse
from nudge.progress.store import Session
from nudge.progress.tools import ToolKind
from nudge.spending.lifecycle import AsleepError
from nudge.worker.loop import Done
from nudge.worker.sandbox import Sandbox
from nudge.worker.tool import Described, ToolContext, call, definition, mistakes
from nudge.worker.tools import TOOLS
from nudge.worker.workspace import Workspace

_CHANGING = (ToolKind.EDIT, ToolKind.RUN)


class SessionTool(Described, Protocol):
    """A tool that needs to know who calls it. `stands_alone` as in `nudge.worker.loop.Toolbox`."""

    @property
    def stands_alone(self) -> bool: ...

    def offered_to(self, session: Session) -> bool: ...

    async def run(self, args: Mapping[str, Any], session: Session, use_id: str) -> Done: ...


class WorkerTools:
    """`folder_of` is an agent's workspace, `sandbox_of` what its commands run in. `secrets` never reach a model."""

    def __init__(
        self,
        folder_of: Callable[[str], Path],
        sandbox_of: Callable[[str], Sandbox],
        more: Sequence[SessionTool] = (),
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._folder_of = folder_of
        self._sandbox_of = sandbox_of
        self._more = {tool.name: tool for tool in more}
        self._secrets = secrets

    @property
    def kinds(self) -> dict[str, ToolKind]:
        """For the guard."""
        return {name: tool.kind for tools in (TOOLS, self._more) for name, tool in tools.items()}

    def offered(self, session: Session) -> Sequence[ToolDefinition]:
        more = [tool for tool in self._more.values() if tool.offered_to(session)]
        return [definition(tool) for tool in (*TOOLS.values(), *more)]

    def only_reads(self, name: str) -> bool:
        return name in TOOLS and TOOLS[name].reads_only

    def stands_alone(self, name: str) -> bool:
        return name in self._more and self._more[name].stands_alone

    async def run(self, session: Session, use: ToolUse) -> Done:
        if (tool := TOOLS.get(use.name)) is not None:
            with Workspace(self._folder_of(session.agent)) as workspace:
                context = ToolContext(workspace, self._sandbox_of(session.agent), secrets=self._secrets)
                output = await call(tool, use.input, context)
            return Done(output.text, output.is_error, changed=tool.kind in _CHANGING)
        return await self._beyond(session, use)

    async def _beyond(self, session: Session, use: ToolUse) -> Done:
        tool = self._more.get(use.name)
        if tool is None or not tool.offered_to(session):
            there = ", ".join(one.name for one in self.offered(session))
            return Done(f"There is no tool {use.name!r}. Tools: {there}.", is_error=True)
        if problems := list(mistakes(use.input, tool.schema)):
            return Done(f"{use.name}: {' '.join(problems)}", is_error=True)
        try:
            return await tool.run(use.input, session, use.id)
        except (AsleepError, LostLeaseError, RetryableError, StoreError):
            raise  # not the model's to put right: the call is made again
        except NudgeError as error:
            return Done(str(error), is_error=True)
