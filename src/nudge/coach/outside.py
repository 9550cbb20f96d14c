"""The coach's doors to the outside world. Each is optional: a coach without them talks and reminds all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

DecisionLog = Callable[[Mapping[str, Any]], None]
"""Takes one line per heartbeat, for whoever wants to know later what the coach decided and why."""


class SignOfLife(Protocol):
    async def report(self) -> None:
        """Tell whoever watches that we are alive. Raises RetryableError if nobody answers."""
        ...


class TextHistory(Protocol):
    """The version history of an agent's documents. Each method says in one sentence what it did."""

    async def commit(self, agent: str) -> str | None:
        """Keep the present texts; None if there is no repository or nothing has changed."""
        ...

    async def pull(self, agent: str) -> str:
        """Bring in what others changed; on a conflict nothing is changed at all."""
        ...

    async def pull_if_clean(self, agent: str) -> str | None: ...

    async def push(self, agent: str) -> str: ...


class Redactor(Protocol):
    """Files that may hold what was said."""

    def remove(self, texts: Sequence[str]) -> int:
        """Take these texts out of the files, for good; how many places there were."""
        ...

    def purge(self) -> None:
        """Remove copies that may hold what was deleted."""
        ...


@dataclass(frozen=True)
class Outside:
    history: TextHistory | None = None
    sign_of_life: SignOfLife | None = None
    redactor: Redactor | None = None
    decision_log: DecisionLog = lambda line: None
