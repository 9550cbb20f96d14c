"""What the store keeps of an agent's sessions: one row that is always whole, and everything that was ever said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nudge.instants import Instant
from nudge.progress.compaction import Message

_NEVER = Instant(0)


@dataclass(frozen=True, slots=True)
class Session:
    """A session as of its last checkpoint.

    `messages` is what the model is sent again: older ones may be replaced by a summary. `said` counts all there ever
    were. `run_budget` is what a RunBudget writes as JSON, and `retries` counts by name whatever is tried again.
    """

    agent: str
    id: str
    iteration: int = 0
    messages: tuple[Message, ...] = ()
    said: int = 0
    sandbox_id: str = ""
    phase: str = ""
    retries: Mapping[str, int] = field(default_factory=dict)
    run_budget: Mapping[str, Any] = field(default_factory=dict)
    last_task: str = ""
    updated_at: Instant = _NEVER


class Sessions(Protocol):
    async def get(self, agent: str, session: str) -> Session | None: ...

    async def of_agent(self, agent: str, limit: int = 50) -> Sequence[Session]:
        """The last used first."""
        ...

    async def save(self, session: Session, known: int, new: Sequence[Message] = ()) -> bool:
        """Write the whole row and append `new` to what was said, or nothing: False if the stored iteration is not
        `known` any more."""
        ...

    async def messages(self, agent: str, session: str, *, after: int = 0, limit: int = 1000) -> Sequence[Message]:
        """Everything that was said, oldest first, from the message after that number."""
        ...

    async def last_task(self, agent: str) -> str | None:
        """What the agent worked on last, in any session."""
        ...
