from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.spending.lifecycle import SpendingState
from nudge.spending.store import SpendingRow


class SqlSpending:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str) -> SpendingRow | None:
        row = await self._db.one("spending_get", {"agent": agent})
        return _row(row) if row else None

    async def lock(self, agent: str) -> SpendingRow | None:
        row = await self._db.one("spending_lock", {"agent": agent})
        return _row(row) if row else None

    async def all(self) -> Sequence[SpendingRow]:
        return [_row(row) for row in await self._db.all("spending_all", {})]

    async def create(self, row: SpendingRow) -> bool:
        return await self._db.run("spending_create", _params(row)) > 0

    async def put(self, row: SpendingRow) -> None:
        await self._db.run("spending_put", _params(row))

    async def pull_deferred(self, agent: str, refresh_at: Instant, now: Instant) -> int:
        params = {"agent": agent, "refresh_at": refresh_at, "now": now}
        return await self._db.run("spending_pull_deferred", params)


def _params(row: SpendingRow) -> dict[str, Any]:
    return {
        "agent": row.agent,
        "budget": row.budget,
        "topped_up": row.topped_up,
        "window_start": row.window_start,
        "renews": row.renews,
        "day": row.day.isoformat(),
        "state": row.state.value,
        "refresh_at": row.refresh_at,
        "state_limit": row.state_limit,
        "badge": row.badge,
        "configured": row.configured,
    }


def _row(row: Row) -> SpendingRow:
    return SpendingRow(
        agent=row["agent"],
        budget=row["budget"],
        window_start=Instant(row["window_start"]),
        day=date.fromisoformat(row["day"]),
        topped_up=row["topped_up"],
        renews=row["renews"],
        state=SpendingState(row["state"]),
        refresh_at=row["refresh_at"],
        state_limit=row["state_limit"],
        badge=row["badge"],
        configured=row["configured"],
    )
