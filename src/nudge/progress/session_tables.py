from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from nudge.database import Database, Row
from nudge.errors import StoreCorruptError
from nudge.instants import Instant
from nudge.progress.compaction import Message
from nudge.progress.session_store import Session


class SqlSessions:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str, session: str) -> Session | None:
        row = await self._db.one("sessions_get", {"agent": agent, "id": session})
        return _session(row) if row else None

    async def of_agent(self, agent: str, limit: int = 50) -> Sequence[Session]:
        return [_session(row) for row in await self._db.all("sessions_of_agent", {"agent": agent, "limit": limit})]

    async def save(self, session: Session, known: int, new: Sequence[Message] = ()) -> bool:
        async with self._db.transaction():
            if not await self._db.run("sessions_save", {**_params(session), "known": known}):
                return False
            first = session.said - len(new) + 1
            lines = [
                {
                    "agent": session.agent,
                    "session": session.id,
                    "number": number,
                    "at": session.updated_at,
                    "message": _text(message),
                }
                for number, message in enumerate(new, first)
            ]
            if lines:
                await self._db.run_many("sessions_append", lines)
        return True

    async def messages(self, agent: str, session: str, *, after: int = 0, limit: int = 1000) -> Sequence[Message]:
        params = {"agent": agent, "session": session, "after": after, "limit": limit}
        return [json.loads(row["message"]) for row in await self._db.all("sessions_messages", params)]

    async def last_task(self, agent: str) -> str | None:
        row = await self._db.one("sessions_last_task", {"agent": agent})
        return row["last_task"] if row else None


def _params(session: Session) -> dict[str, Any]:
    return {
        "agent": session.agent,
        "id": session.id,
        "iteration": session.iteration,
        "messages": json.dumps([dict(message) for message in session.messages]),
        "said": session.said,
        "sandbox_id": session.sandbox_id,
        "phase": session.phase,
        "retries": _text(session.retries),
        "run_budget": _text(session.run_budget),
        "last_task": session.last_task,
        "updated_at": session.updated_at,
    }


def _text(value: Mapping[str, Any]) -> str:
    """As plain ASCII: a half character in what a tool said is kept as it was, and no database refuses it."""
    return json.dumps(dict(value))


def _session(row: Row) -> Session:
    return Session(
        row["agent"],
        row["id"],
        row["iteration"],
        tuple(_read(row, "messages", list)),
        row["said"],
        row["sandbox_id"],
        row["phase"],
        _read(row, "retries", dict),
        _read(row, "run_budget", dict),
        row["last_task"],
        Instant(row["updated_at"]),
    )


def _read(row: Row, name: str, kind: type) -> Any:
    with suppress(ValueError, RecursionError):
        value = json.loads(row[name])
        if isinstance(value, kind):
            return value
    raise StoreCorruptError(
        f"The checkpoint of session {row['id']} of {row['agent']} is damaged ({name}).",
        next_step="Begin a new session; Checkpoints.everything still has all that was said in this one.",
    )
