"""What was said, signs of life, briefings that had their turn, and where words were left, in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.coach.store import Saying, Trace
from nudge.database import Database, Row
from nudge.instants import Instant


class ConversationTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, saying: Saying) -> int:
        params = {
            "agent": saying.agent,
            "at": saying.at,
            "role": saying.role,
            "content": saying.content,
            "kind": saying.kind,
            "forwarded": int(saying.forwarded),
        }
        return int((await self._db.returning("conversations_add", params))["id"])

    async def recent(self, agent: str, limit: int = 50) -> Sequence[Saying]:
        """Newest first."""
        return [_saying(row) for row in await self._db.all("conversations_recent", {"agent": agent, "limit": limit})]

    async def redact(self, agent: str, count: int) -> Sequence[Saying]:
        """Delete the newest so many, in the archive too; what was deleted, newest first."""
        async with self._db.transaction():
            rows = await self._db.all("conversations_with_archive", {"agent": agent, "limit": count})
            for row in rows:
                await self._db.run("conversations_delete", {"id": row["id"]})
                await self._db.run("conversations_archive_delete", {"id": row["id"]})
        return [_saying(row) for row in rows]

    async def archive(self, agent: str, before: Instant) -> int:
        """Move what is older into the archive."""
        async with self._db.transaction():
            await self._db.run("conversations_copy_to_archive", {"agent": agent, "before": before})
            return await self._db.run("conversations_delete_old", {"agent": agent, "before": before})


class ActivityTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, agent: str, at: Instant) -> None:
        await self._db.run("activity_add", {"agent": agent, "at": at})

    async def since(self, agent: str, since: Instant) -> Sequence[Instant]:
        return [Instant(row["at"]) for row in await self._db.all("activity_since", {"agent": agent, "since": since})]

    async def prune(self, agent: str, before: Instant) -> int:
        return await self._db.run("activity_prune", {"agent": agent, "before": before})


class PeriodTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def claim(self, agent: str, kind: str, period: str, now: Instant) -> bool:
        """Take the turn of a period; False if it was taken before. Part of the transaction that says the briefing."""
        params = {"agent": agent, "kind": kind, "period": period, "at": now}
        return await self._db.run("periods_claim", params) > 0

    async def taken(self, agent: str, kind: str, period: str) -> Instant | None:
        row = await self._db.one("periods_get", {"agent": agent, "kind": kind, "period": period})
        return Instant(row["at"]) if row else None


def _saying(row: Row) -> Saying:
    return Saying(
        row["agent"],
        Instant(row["at"]),
        row["role"],
        row["content"],
        row["kind"],
        bool(row["forwarded"]),
        row["id"],
    )


_WITH_DETAIL = ("outcomes", "letters")


class TraceTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def since(self, agent: str, since: Instant) -> Sequence[Trace]:
        """Every row of that agent that was written at or after the instant."""
        rows = await self._db.all("traces_since", {"agent": agent, "since": since})
        return [Trace(row["place"], row["id"], row["words"], json.loads(row["detail"])) for row in rows]

    async def rewrite(self, trace: Trace) -> None:
        """Put these words and this detail into the row, whatever it said before."""
        params = {"id": trace.id, "words": trace.words}
        if trace.place in _WITH_DETAIL:
            params["detail"] = json.dumps(dict(trace.detail), ensure_ascii=False)
        await self._db.run(f"traces_rewrite_{trace.place}", params)
