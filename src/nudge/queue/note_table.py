from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nudge.database import Database
from nudge.queue.timer_table import BEYOND


class SqlNotes:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str, name: str) -> Any:
        row = await self._db.one("notes_get", {"agent": agent, "name": name})
        return json.loads(row["value"]) if row else None

    async def lock(self, agent: str, name: str) -> Any:
        row = await self._db.one("notes_lock", {"agent": agent, "name": name})
        return json.loads(row["value"]) if row else None

    async def set(self, agent: str, name: str, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False)
        await self._db.run("notes_set", {"agent": agent, "name": name, "value": text})

    async def delete(self, agent: str, name: str) -> None:
        await self._db.run("notes_delete", {"agent": agent, "name": name})

    async def all(self, agent: str, prefix: str = "") -> Mapping[str, Any]:
        rows = await self._db.all("notes_all", {"agent": agent, "prefix": prefix, "beyond": prefix + BEYOND})
        return {row["name"]: json.loads(row["value"]) for row in rows}
