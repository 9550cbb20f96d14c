from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.records import FeedLine

_FOREVER = 2**62


class SqlOutcomes:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def record(self, outcome: Outcome) -> bool:
        params = {
            "agent": outcome.agent,
            "key": outcome.key,
            "kind": outcome.kind,
            "slot_at": outcome.slot_at,
            "at": outcome.at,
            "result": outcome.result.value,
            "reason": outcome.reason,
            "detail": json.dumps(dict(outcome.detail), ensure_ascii=False),
            "final": int(outcome.final),
        }
        return await self._db.run("outcomes_record", params) > 0

    async def amend(self, agent: str, key: str, slot_at: Instant, result: Result, reason: str) -> bool:
        params = {"agent": agent, "key": key, "slot_at": slot_at, "result": result.value, "reason": reason}
        return await self._db.run("outcomes_amend", params) > 0

    async def get(self, agent: str, key: str, slot_at: Instant) -> Outcome | None:
        row = await self._db.one("outcomes_get", {"agent": agent, "key": key, "slot_at": slot_at})
        return _outcome(row) if row else None

    async def by_id(self, outcome_id: int) -> Outcome | None:
        row = await self._db.one("outcomes_by_id", {"id": outcome_id})
        return _outcome(row) if row else None

    async def recent(
        self,
        *,
        agent: str | None = None,
        key: str | None = None,
        kind: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        limit: int = 50,
    ) -> Sequence[Outcome]:
        params = {
            "agent": agent,
            "key": key,
            "kind": kind,
            "since": -_FOREVER if since is None else since,
            "until": _FOREVER if until is None else until,
            "limit": limit,
        }
        return [_outcome(row) for row in await self._db.all("outcomes_recent", params)]

    async def around(
        self, since: Instant, until: Instant, *, agent: str | None = None, limit: int = 50
    ) -> Sequence[Outcome]:
        params = {"since": since, "until": until, "agent": agent, "limit": limit}
        return [_outcome(row) for row in await self._db.all("outcomes_around", params)]

    async def revision(self) -> int:
        row = await self._db.one("outcomes_revision", {})
        return int(row["revision"]) if row else 0

    async def changed_after(self, revision: int, limit: int = 500) -> Sequence[Outcome]:
        rows = await self._db.all("outcomes_changed_after", {"revision": revision, "limit": limit})
        return [_outcome(row) for row in rows]

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[Outcome]:
        rows = await self._db.all("outcomes_after_id", {"last": last, "agent": agent, "limit": limit})
        return [_outcome(row) for row in rows]


class SqlFeed:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, line: FeedLine) -> None:
        params = {"at": line.at, "agent": line.agent, "kind": line.kind, "text": line.text}
        await self._db.run("feed_add", params)

    async def recent(
        self, *, agent: str | None = None, since: Instant | None = None, limit: int = 50
    ) -> Sequence[FeedLine]:
        params = {"agent": agent, "since": -_FOREVER if since is None else since, "limit": limit}
        return [_line(row) for row in await self._db.all("feed_recent", params)]

    async def last_id(self) -> int:
        row = await self._db.one("feed_last_id", {})
        return int(row["id"]) if row else 0

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[FeedLine]:
        rows = await self._db.all("feed_after_id", {"last": last, "agent": agent, "limit": limit})
        return [_line(row) for row in rows]


def _outcome(row: Row) -> Outcome:
    return Outcome(
        row["agent"],
        row["key"],
        row["kind"],
        Instant(row["slot_at"]),
        Instant(row["at"]),
        Result(row["result"]),
        row["reason"],
        json.loads(row["detail"]),
        bool(row["final"]),
        row["id"],
        row["revision"],
    )


def _line(row: Row) -> FeedLine:
    return FeedLine(Instant(row["at"]), row["agent"], row["kind"], row["text"], row["id"])
