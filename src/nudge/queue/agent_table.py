from __future__ import annotations

from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.queue.records import Agent


class SqlAgents:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, agent: Agent) -> bool:
        params = {"name": agent.name, "role": agent.role, "created_at": agent.created_at}
        return await self._db.run("agents_add", params) > 0

    async def ensure(self, agent: Agent) -> bool:
        params = {"name": agent.name, "role": agent.role, "created_at": agent.created_at}
        return await self._db.run("agents_ensure", params) > 0

    async def known(self, name: str) -> bool:
        return await self._db.one("agents_known", {"name": name}) is not None

    async def get(self, name: str) -> Agent | None:
        row = await self._db.one("agents_get", {"name": name})
        return _agent(row) if row else None

    async def all(self) -> Sequence[Agent]:
        return [_agent(row) for row in await self._db.all("agents_all", {})]

    async def remove(self, name: str, now: Instant) -> bool:
        async with self._db.transaction():
            await self._db.run("timers_cancel_all", {"agent": name})
            return await self._db.run("agents_remove", {"name": name, "now": now}) > 0


def _agent(row: Row) -> Agent:
    return Agent(row["name"], row["role"], Instant(row["created_at"]), row["removed_at"])
