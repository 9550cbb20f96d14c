"""What a gateway keeps in mind between two calls. What is forgotten is looked up, or taken at its bound."""

from __future__ import annotations

from typing import TypeVar

from nudge.gateway.calls import MOST_HISTORY, ModelCall
from nudge.spending.call_log import CallTable
from nudge.spending.plan_windows import PlanWindow

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 10_000


class Remembered(dict[K, V]):
    """The newest entries; older ones are forgotten."""

    def __init__(self, most: int = REMEMBERED) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]


class Memory:
    """Which runs have begun, how long the conversations are that a service keeps, and what it said about its plan."""

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls
        self._begun = Remembered[tuple[str, str], bool]()
        self._windows = Remembered[str, tuple[PlanWindow, ...]]()
        self.lengths = Remembered[str, int]()

    async def begins_task(self, agent: str, run: str, call: ModelCall) -> bool:
        """Whether a call starts something new: a run that never had a call, or a conversation without an answer."""
        if not run:
            return call.opens
        root = run.partition("/")[0]
        return (agent, root) not in self._begun and not await self._calls.run_known(agent, root)

    def begun(self, agent: str, run: str) -> None:
        if run:
            self._begun[agent, run.partition("/")[0]] = True

    def history(self, call: ModelCall) -> int:
        """The length of a conversation that the service keeps."""
        return self.lengths.get(call.follows, MOST_HISTORY) if call.follows else 0

    def is_new(self, agent: str, windows: tuple[PlanWindow, ...]) -> bool:
        """Whether the service says something else about its plan than before."""
        if not windows or self._windows.get(agent) == windows:
            return False
        self._windows[agent] = windows
        return True
