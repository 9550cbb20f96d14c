"""Small doors to the outside world: a sign of life, and the repository that the person's texts may live in."""

from __future__ import annotations

from typing import Protocol


class SignOfLife(Protocol):
    async def report(self) -> None:
        """Tell whoever watches that we are alive. Raises RetryableError where nobody answers."""
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
