from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.queue.records import Letter, Priority


class SqlLetters:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, letter: Letter) -> int:
        params = {
            "agent": letter.agent,
            "sender": letter.sender,
            "body": letter.body,
            "priority": int(letter.priority),
            "created_at": letter.created_at,
            "topic": letter.topic,
            "count": letter.count,
            "detail": json.dumps(dict(letter.detail), ensure_ascii=False),
        }
        return int((await self._db.returning("letters_put", params))["id"])

    async def unread(self, agent: str, *, up_to: Priority = Priority.IDLE, limit: int = 100) -> Sequence[Letter]:
        rows = await self._db.all("letters_unread", {"agent": agent, "up_to": int(up_to), "limit": limit})
        return [_letter(row) for row in rows]

    async def count_unread(self, agent: str) -> int:
        row = await self._db.one("letters_count_unread", {"agent": agent})
        return int(row["n"]) if row else 0

    async def mark_read(self, letter_id: int, now: Instant) -> bool:
        return await self._db.run("letters_mark_read", {"id": letter_id, "now": now}) > 0

    async def put_back(self, letter_id: int) -> bool:
        return await self._db.run("letters_put_back", {"id": letter_id}) > 0

    async def get(self, letter_id: int) -> Letter | None:
        row = await self._db.one("letters_get", {"id": letter_id})
        return _letter(row) if row else None


def _letter(row: Row) -> Letter:
    return Letter(
        row["agent"],
        row["sender"],
        row["body"],
        Priority(row["priority"]),
        Instant(row["created_at"]),
        row["topic"],
        row["count"],
        row["read_at"],
        json.loads(row["detail"]),
        row["id"],
    )
