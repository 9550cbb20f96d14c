from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from nudge.database import Database, Row
from nudge.progress.pool_store import ClosedUse, MemberBooks, MemberRow, PoolRow
from nudge.progress.pool_tree import ReservationState


class SqlPools:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def create(self, row: PoolRow) -> bool:
        return await self._db.run("pools_create", asdict(row)) == 1

    async def get(self, run: str) -> PoolRow | None:
        row = await self._db.one("pools_get", {"run": run})
        return PoolRow(**{name: row[name] for name in PoolRow.__slots__}) if row else None

    async def add(self, row: MemberRow) -> None:
        await self._db.run("pools_add_member", _params(row))

    async def put(self, row: MemberRow) -> None:
        await self._db.run("pools_put_member", _params(row))

    async def members(self, run: str, *, closed: bool = False) -> Sequence[MemberBooks]:
        return [_books(row) for row in await self._db.all("pools_members", {"run": run, "closed": int(closed)})]

    async def member(self, run: str, name: str) -> MemberRow | None:
        row = await self._db.one("pools_member", {"run": run, "name": name})
        return _member(row) if row else None

    async def closed_use(self, run: str) -> Sequence[ClosedUse]:
        rows = await self._db.all("pools_closed_use", {"run": run})
        return [ClosedUse(row["parent"], row["above"], int(row["used"])) for row in rows]


def _params(row: MemberRow) -> dict[str, Any]:
    return {**asdict(row), "state": row.state.value}


def _member(row: Row) -> MemberRow:
    return MemberRow(
        row["run"],
        row["name"],
        row["parent"],
        row["granted"],
        row["expires_at"],
        ReservationState(row["state"]),
    )


def _books(row: Row) -> MemberBooks:
    return MemberBooks(_member(row), row["money_limit"], row["committed"], row["held"], row["called_at"])
