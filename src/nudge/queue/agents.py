"""Agents: adding, finding and removing them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant
from nudge.queue.outcomes import FeedLine
from nudge.queue.records import Record, instant
from nudge.queue.store import QueueStore

DEFAULT = "coach"
IDLE_SINCE: Record[Instant] = instant("agent.idle_since")
"""When the agent's last turn ended, or will have ended: it is busy until then. Whoever runs an agent writes it; idle
checks count from there."""

AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def bad_name(name: str) -> UsageError:
    return UsageError(
        f"{name!r} cannot be an agent's name.", next_step="Use lowercase letters, digits, '-' and '_', at most 63."
    )


@dataclass(frozen=True, slots=True)
class Agent:
    """A named long-lived actor. A removed one keeps its history and its name can be taken again."""

    name: str
    role: str
    created_at: Instant
    removed_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """A line of the list of agents: `state` is what its money lets it do, empty if nobody has looked yet; `next_at` is
    when something is due for it."""

    name: str
    role: str
    state: str
    next_at: Instant | None


class _Reminders(Protocol):
    async def cancel_all(self, agent: str, reason: str) -> int: ...


class AgentStore(QueueStore, Protocol):
    """Removing an agent ends its reminders too."""

    @property
    def reminders(self) -> _Reminders: ...


class Agents:
    def __init__(self, store: AgentStore) -> None:
        self._store = store

    async def ensure_default(self, now: Instant) -> None:
        """Every home has the coach, unless it was removed on purpose."""
        await self._store.agents.ensure(Agent(DEFAULT, DEFAULT, now))

    async def add(self, name: str, role: str, now: Instant) -> Agent:
        if not AGENT_NAME.fullmatch(name):
            raise bad_name(name)
        agent = Agent(name, role, now)
        async with self._store.transaction():
            if not await self._store.agents.add(agent):
                raise UsageError(f"There is already an agent called {name!r}.", next_step="Run 'nudge agent list'.")
            await self._store.feed.add(FeedLine(now, name, "added", f"Agent {name} added with the role {role}."))
        return agent

    async def remove(self, name: str, now: Instant) -> None:
        """Its timers and reminders go, its history stays."""
        async with self._store.transaction():
            if not await self._store.agents.remove(name, now):
                raise self._unknown(name, await self._names())
            await self._store.reminders.cancel_all(name, "The agent was removed.")
            await self._store.feed.add(FeedLine(now, name, "removed", f"Agent {name} removed; its history is kept."))

    async def require_known(self, name: str | None) -> None:
        """Refuse a name that no agent has or had. No name at all means all of them."""
        if name is not None and not await self._store.agents.known(name):
            raise self._unknown(name, await self._names())

    async def get(self, name: str) -> Agent:
        agent = await self._store.agents.get(name)
        if agent is None:
            raise self._unknown(name, await self._names())
        return agent

    async def _names(self) -> list[str]:
        return [agent.name for agent in await self._store.agents.all()]

    @staticmethod
    def _unknown(name: str, known: list[str]) -> NotFoundError:
        there = ", ".join(known) or "none yet"
        new = f" {name}" if AGENT_NAME.fullmatch(name) else ""
        return NotFoundError(
            f"There is no agent called {name!r}.", next_step=f"Agents: {there}. 'nudge agent add{new}' adds one."
        )
