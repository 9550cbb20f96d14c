"""The model calls of this process that have not come back, by agent, so that a stop can cancel them."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

Answering: TypeAlias = "asyncio.Task[Any]"


class UnderWay:
    def __init__(self) -> None:
        self._tasks: dict[str, set[Answering]] = {}
        self._stopped: set[Answering] = set()

    def add(self, agent: str, task: Answering) -> None:
        self._tasks.setdefault(agent, set()).add(task)

    def remove(self, agent: str, task: Answering) -> None:
        left = self._tasks.get(agent, set())
        left.discard(task)
        self._stopped.discard(task)
        if not left:
            self._tasks.pop(agent, None)

    def count(self, agent: str) -> int:
        return len(self._tasks.get(agent, ()))

    def stop(self, agent: str) -> None:
        """Cancel the agent's calls. Each is told that it was the budget, and its caller is not cancelled with it."""
        for task in self._tasks.get(agent, ()):
            if not task.done():
                self._stopped.add(task)
                task.cancel()

    def was_stopped(self, task: Answering) -> bool:
        return task in self._stopped
