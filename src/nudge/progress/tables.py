"""Pools, sessions and guards in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from nudge.database import Database, Row
from nudge.errors import StoreCorruptError
from nudge.instants import Instant
from nudge.progress.compaction import Message, begins_with
from nudge.progress.pool_rules import ReservationState
from nudge.progress.store import ClosedUse, MemberAccount, MemberRow, PoolRow, Said, Session, SessionStatus

_MOST_HISTORIES = 50


class PoolTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def create(self, row: PoolRow) -> bool:
        """False, and nothing written, if the run has one already."""
        return await self._db.run("pools_create", asdict(row)) == 1

    async def get(self, run: str) -> PoolRow | None:
        row = await self._db.one("pools_get", {"run": run})
        return PoolRow(**{name: row[name] for name in PoolRow.__slots__}) if row else None

    async def add(self, row: MemberRow) -> None:
        """A new member, whose account is open already."""
        await self._db.run("pools_add_member", _member_params(row))

    async def put(self, row: MemberRow) -> None:
        """Write a member's state and expiry."""
        await self._db.run("pools_put_member", _member_params(row))

    async def members(self, run: str, *, closed: bool = False) -> Sequence[MemberAccount]:
        """The owner and whoever is open, with `closed` everybody, each parent before its children."""
        return [
            _member_account(row) for row in await self._db.all("pools_members", {"run": run, "closed": int(closed)})
        ]

    async def member(self, run: str, name: str) -> MemberRow | None:
        row = await self._db.one("pools_member", {"run": run, "name": name})
        return _member(row) if row else None

    async def closed_use(self, run: str) -> Sequence[ClosedUse]:
        """The closed members in sums, so that a pool that has had many is not slower for it."""
        rows = await self._db.all("pools_closed_use", {"run": run})
        return [ClosedUse(row["parent"], row["above"], int(row["used"])) for row in rows]


def _member_params(row: MemberRow) -> dict[str, Any]:
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


def _member_account(row: Row) -> MemberAccount:
    return MemberAccount(_member(row), row["money_limit"], row["committed"], row["held"], row["called_at"])


class _Histories:
    """The messages of sessions as they were last written. Of a history that only grew, the new end alone is turned into
    JSON: a long session would be slower with every step otherwise."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Sequence[Message], str]] = {}

    def text(self, session: Session) -> str:
        key, messages = (session.agent, session.id), session.messages
        before, text = self._known.pop(key, ((), "[]"))
        if not begins_with(messages, before):
            before, text = (), "[]"
        new = ", ".join(_text(message) for message in messages[len(before) :])
        if new:
            text = f"{text[:-1]}{', ' if before else ''}{new}]"
        if session.status.is_open:
            while len(self._known) >= _MOST_HISTORIES:
                del self._known[next(iter(self._known))]
            self._known[key] = (messages, text)
        return text


class SessionTable:
    def __init__(self, database: Database) -> None:
        self._db = database
        self._histories = _Histories()

    async def get(self, agent: str, session: str) -> Session | None:
        row = await self._db.one("sessions_get", {"agent": agent, "id": session})
        return _session(row) if row else None

    async def of_agent(self, agent: str, limit: int = 50) -> Sequence[Session]:
        """The last used first."""
        return [_session(row) for row in await self._db.all("sessions_of_agent", {"agent": agent, "limit": limit})]

    async def current(self, agent: str) -> Session | None:
        """The open session of an agent that no other session started: the one that it works in."""
        row = await self._db.one("sessions_current", {"agent": agent})
        return _session(row) if row else None

    async def family(self, agent: str, session: str) -> Sequence[Session]:
        """A session and all that it started, with what those started."""
        return [_session(row) for row in await self._db.all("sessions_family", {"agent": agent, "id": session})]

    async def recent(self, limit: int = 50) -> Sequence[Session]:
        """Of all agents, the last used first."""
        return [_session(row) for row in await self._db.all("sessions_recent", {"limit": limit})]

    async def find(self, text: str) -> Sequence[Session]:
        """Those whose id begins with this text."""
        return [_session(row) for row in await self._db.all("sessions_find", {"id": text, "end": text + "\uffff"})]

    async def save(self, session: Session, known: int, new: Sequence[Message] = ()) -> bool:
        """Write the whole row and append `new` to what was said, or nothing: False if the stored iteration is not
        `known` any more."""
        async with self._db.transaction():
            params = {**_session_params(session), "messages": self._histories.text(session), "known": known}
            if not await self._db.run("sessions_save", params):
                return False
            first = session.said - len(new) + 1
            lines = [
                {
                    "agent": session.agent,
                    "session": session.id,
                    "number": number,
                    "at": session.updated_at,
                    "message": _text(message),
                    "phase": session.phase,
                }
                for number, message in enumerate(new, first)
            ]
            if lines:
                await self._db.run_many("sessions_append", lines)
        return True

    async def messages(self, agent: str, session: str, *, after: int = 0, limit: int = 1000) -> Sequence[Message]:
        """Everything that was said, oldest first, from the message after that number."""
        return [one.message for one in await self.said(agent, session, after=after, limit=limit)]

    async def said(self, agent: str, session: str, *, after: int = 0, limit: int = 1000) -> Sequence[Said]:
        """The same, each with its number and its time."""
        params = {"agent": agent, "session": session, "after": after, "limit": limit}
        rows = await self._db.all("sessions_messages", params)
        return [Said(row["number"], Instant(row["at"]), json.loads(row["message"])) for row in rows]

    async def phases(self, agent: str, session: str, limit: int = 500) -> Sequence[tuple[Instant, str]]:
        """When each phase began, in order. Nothing about what was said before phases were noted."""
        rows = await self._db.all("sessions_phases", {"agent": agent, "session": session, "limit": limit})
        return [(Instant(row["at"]), str(row["phase"])) for row in rows]


class GuardTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def lock(self, agent: str, session: str, now: Instant) -> str:
        """The stored state of a session's guard, locked until the transaction ends; empty if the session is new."""
        key = {"agent": agent, "session": session}
        row = await self._db.one("guards_lock", key)
        if row is None:
            await self._db.run("guards_create", {**key, "updated_at": now})
            row = await self._db.one("guards_lock", key)
            assert row is not None
        return str(row["state"])

    async def get(self, agent: str, session: str) -> str:
        """The stored state without a lock; empty if there is none."""
        row = await self._db.one("guards_get", {"agent": agent, "session": session})
        return str(row["state"]) if row else ""

    async def save(self, agent: str, session: str, state: str, now: Instant) -> None:
        """Write the state of a guard that this transaction has locked."""
        await self._db.run("guards_save", {"agent": agent, "session": session, "state": state, "updated_at": now})

    async def forget(self, agent: str, before: Instant) -> int:
        """Delete the guards of an agent that were last used before then; how many."""
        return await self._db.run("guards_forget", {"agent": agent, "before": before})


def _session_params(session: Session) -> dict[str, Any]:
    return {
        "agent": session.agent,
        "id": session.id,
        "iteration": session.iteration,
        "said": session.said,
        "sandbox_id": session.sandbox_id,
        "phase": session.phase,
        "retries": _text(session.retries),
        "guard": _text(session.guard),
        "last_task": session.last_task,
        "updated_at": session.updated_at,
        "status": session.status.value,
        "asked_by": session.asked_by,
        "letter": session.letter,
        "parent": session.parent,
        "snapshot": session.snapshot,
        "report": session.report,
        "reason": session.reason,
        "started_at": session.started_at,
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
        _read(row, "guard", dict),
        row["last_task"],
        Instant(row["updated_at"]),
        SessionStatus(row["status"]),
        row["asked_by"],
        row["letter"],
        row["parent"],
        row["snapshot"],
        row["report"],
        row["reason"],
        Instant(row["started_at"]),
    )


def _read(row: Row, name: str, kind: type) -> Any:
    with suppress(ValueError, RecursionError):
        value = json.loads(row[name])
        if isinstance(value, kind):
            return value
    raise StoreCorruptError(
        f"The checkpoint of session {row['id']} of {row['agent']} is damaged ({name}).",
        next_step="Start a new session; Checkpoints.everything still has all that was said in this one.",
    )
