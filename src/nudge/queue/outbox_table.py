from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.queue.records import Message, Sending

_FOREVER = 2**62


class SqlOutbox:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, message: Message) -> int:
        params = {
            "agent": message.agent,
            "text": message.text,
            "kind": message.kind,
            "created_at": message.created_at,
            "asked": int(message.asked),
            "buttons": json.dumps([list(button) for button in message.buttons], ensure_ascii=False),
            "state": message.state.value,
            "possibly_repeated": int(message.possibly_repeated),
            "topic": message.topic,
            "key": message.key,
            "slot_at": message.slot_at,
        }
        return int((await self._db.returning("outbox_put", params))["id"])

    async def pending(self, agent: str, limit: int = 100) -> Sequence[Message]:
        return [_message(row) for row in await self._db.all("outbox_pending", {"agent": agent, "limit": limit})]

    async def mark(
        self,
        message_id: int,
        state: Sending,
        *,
        sent_at: Instant | None = None,
        error: str = "",
        receipt: Sequence[str] = (),
        possibly_repeated: bool | None = None,
    ) -> None:
        params = {
            "id": message_id,
            "state": state.value,
            "sent_at": sent_at,
            "error": error,
            "receipt": json.dumps(list(receipt)),
            "possibly_repeated": None if possibly_repeated is None else int(possibly_repeated),
        }
        async with self._db.transaction():
            await self._db.run("outbox_mark", params)
            for one in receipt:
                await self._db.run("outbox_receipt", {"id": message_id, "receipt": one})

    async def get(self, message_id: int) -> Message | None:
        row = await self._db.one("outbox_get", {"id": message_id})
        return _message(row) if row else None

    async def by_receipt(self, agent: str, receipt: str) -> Message | None:
        row = await self._db.one("outbox_by_receipt", {"agent": agent, "receipt": receipt})
        return _message(row) if row else None

    async def recent(
        self, agent: str | None = None, *, since: Instant | None = None, limit: int = 50
    ) -> Sequence[Message]:
        params = {"agent": agent, "since": -_FOREVER if since is None else since, "limit": limit}
        return [_message(row) for row in await self._db.all("outbox_recent", params)]


def _message(row: Row) -> Message:
    return Message(
        agent=row["agent"],
        text=row["text"],
        kind=row["kind"],
        created_at=Instant(row["created_at"]),
        asked=bool(row["asked"]),
        buttons=tuple((label, data) for label, data in json.loads(row["buttons"])),
        state=Sending(row["state"]),
        sent_at=row["sent_at"],
        possibly_repeated=bool(row["possibly_repeated"]),
        attempts=row["attempts"],
        error=row["error"],
        receipt=tuple(json.loads(row["receipt"])),
        topic=row["topic"],
        key=row["key"],
        slot_at=row["slot_at"],
        id=row["id"],
    )
