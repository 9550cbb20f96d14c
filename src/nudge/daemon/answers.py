"""What all answers of the control application share: how a question is read, and whose time and zone it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant, rfc3339

if TYPE_CHECKING:
    from nudge.daemon.assemble import Daemon

Body = Mapping[str, Any]
Answer = Mapping[str, Any]

MOST = 500
"""So many rows are given at a time."""


def text_of(body: Body, name: str, default: str | None = None, *, longest: int = 4000) -> str:
    """A text field of a question. Without a default it must be there."""
    value = body.get(name, default)
    if value is None:
        raise UsageError(f"`{name}` is missing.")
    if not isinstance(value, str) or len(value) > longest:
        raise UsageError(f"`{name}` must be a text of at most {longest:,} characters.")
    return value


def number_of(body: Body, name: str, default: int, most: int = MOST) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise UsageError(f"`{name}` must be a number from 0 to {most:,}.")
    return value


class Answers:
    """`speaker` is the agent who talks to the person; a question that names no agent is about that one."""

    def __init__(self, daemon: Daemon, speaker: str) -> None:
        self._daemon = daemon
        self._store = daemon.store
        self._speaker = speaker

    @property
    def _now(self) -> Instant:
        return self._daemon.clock.now()

    def _zone(self, agent: str) -> ZoneInfo:
        return self._daemon.documents.targets(agent).zone

    def _time(self, instant: Instant, agent: str) -> str:
        return rfc3339(instant, self._zone(agent))

    async def _agent_of(self, body: Body) -> str:
        agent = text_of(body, "agent", "") or self._speaker
        if await self._store.agents.get(agent) is None:
            raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Run 'nudge agent list'.")
        return agent
