from __future__ import annotations

from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.spending.store import UsageRow, UsageTotal
from nudge.tokens import TokenUse

_ALWAYS = Instant(-(2**62))


class SqlUsage:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, row: UsageRow) -> None:
        params = {
            "attempt_id": row.attempt_id,
            "agent": row.agent,
            "run": row.run,
            "at": row.at,
            "purpose": row.purpose,
            "model": row.model,
            "input": row.use.input,
            "output": row.use.output,
            "cache_read": row.use.cache_read,
            "cache_write": row.use.cache_write + row.use.cache_write_1h,
            "cost": row.cost,
            "overrun": row.overrun,
            "known_price": int(row.known_price),
            "ended": row.ended,
        }
        await self._db.run("usage_put", params)

    async def recent(
        self, agent: str | None = None, *, since: Instant | None = None, limit: int = 50
    ) -> Sequence[UsageRow]:
        params = {"agent": agent, "since": _ALWAYS if since is None else since, "limit": limit}
        return [_usage(row) for row in await self._db.all("usage_recent", params)]

    async def totals(self, agent: str, since: Instant, until: Instant) -> Sequence[UsageTotal]:
        rows = await self._db.all("usage_totals", {"agent": agent, "since": since, "until": until})
        return [
            UsageTotal(
                row["purpose"],
                row["model"],
                int(row["calls"]),
                _use(row),
                int(row["cost"]),
                int(row["overrun"]),
                bool(row["known_price"]),
            )
            for row in rows
        ]


def _use(row: Row) -> TokenUse:
    return TokenUse(int(row["input"]), int(row["output"]), int(row["cache_read"]), int(row["cache_write"]))


def _usage(row: Row) -> UsageRow:
    return UsageRow(
        row["attempt_id"],
        row["agent"],
        Instant(row["at"]),
        row["purpose"],
        row["model"],
        _use(row),
        row["cost"],
        row["run"],
        row["overrun"],
        bool(row["known_price"]),
        row["ended"],
    )
