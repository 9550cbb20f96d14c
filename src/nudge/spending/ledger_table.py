from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.spending.holds import Account, AccountKey, AccountKind, Change, Hold, HoldState, lock_order
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow, DaySpent, HoldRow

_KINDS = tuple(AccountKind)
_STATES = {state.value: state for state in HoldState}


class SqlLedger:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def open(self, key: AccountKey, limit: Micros, *, agent: str = "", day: date | None = None) -> None:
        params = {**_key(key), "agent": agent, "day": day.isoformat() if day else "", "money_limit": limit}
        await self._db.run("accounts_open", params)

    async def get(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        return await self._read("accounts_get", keys)

    async def lock(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        return await self._read("accounts_lock", keys)

    async def set_limit(self, key: AccountKey, limit: Micros) -> None:
        await self._db.run("accounts_set_limit", {**_key(key), "money_limit": limit})

    async def use_up(self, key: AccountKey) -> None:
        await self._db.run("accounts_use_up", _key(key))

    async def hold(self, attempt_id: str) -> HoldRow | None:
        row = await self._db.one("holds_get", {"attempt_id": attempt_id})
        return _hold(row) if row else None

    async def lock_hold(self, attempt_id: str) -> HoldRow | None:
        row = await self._db.one("holds_lock", {"attempt_id": attempt_id})
        return _hold(row) if row else None

    async def reserve(self, row: HoldRow) -> bool:
        if not await self._db.run("holds_put", _hold_params(row)):
            return False
        await self._add(row.chain, 0, row.hold.amount, 0)
        return True

    async def change(self, row: HoldRow, change: Change) -> None:
        after = change.hold
        params = {"attempt_id": after.attempt_id, "state": after.state.value, "charged": after.charged}
        await self._db.run("holds_change", params)
        await self._add(row.chain, change.committed, change.held, after.overrun - row.hold.overrun)

    async def expired(self, agent: str, now: Instant, limit: int = 100) -> Sequence[HoldRow]:
        rows = await self._db.all("holds_expired", {"agent": agent, "now": now, "limit": limit})
        return [_hold(row) for row in rows]

    async def next_expiry(self, agent: str) -> Instant | None:
        row = await self._db.one("holds_next_expiry", {"agent": agent})
        return Instant(row["expires_at"]) if row and row["expires_at"] is not None else None

    async def forget(self, agent: str, before: Instant) -> int:
        return await self._db.run("holds_forget", {"agent": agent, "before": before})

    async def days(self, agent: str, since: date) -> Sequence[DaySpent]:
        rows = await self._db.all("accounts_days", {"agent": agent, "since": since.isoformat()})
        return [
            DaySpent(
                date.fromisoformat(row["day"]),
                int(row["money_limit"]),
                int(row["committed"]),
                int(row["held"]),
                int(row["overrun"]),
            )
            for row in rows
        ]

    async def _read(self, block: str, keys: Iterable[AccountKey]) -> dict[AccountKey, AccountRow]:
        found = {}
        for key in lock_order(keys):
            row = await self._db.one(block, _key(key))
            if row:
                found[key] = _account(key, row)
        return found

    async def _add(self, chain: Iterable[AccountKey], committed: Micros, held: Micros, overrun: Micros) -> None:
        amounts = {"committed": committed, "held": held, "overrun": overrun}
        await self._db.run_many("accounts_change", [{**_key(key), **amounts} for key in lock_order(chain)])


def _key(key: AccountKey) -> dict[str, Any]:
    return {"kind": int(key.kind), "name": key.name}


def _account(key: AccountKey, row: Row) -> AccountRow:
    return AccountRow(
        key,
        Account(row["money_limit"], row["committed"], row["held"]),
        row["agent"],
        date.fromisoformat(row["day"]) if row["day"] else None,
        row["overrun"],
        row["used_up_at"],
    )


def _hold_params(row: HoldRow) -> dict[str, Any]:
    hold = row.hold
    return {
        "attempt_id": hold.attempt_id,
        "agent": row.agent,
        "chain": "\n".join([f"{key.kind} {key.name}" for key in row.chain]),
        "amount": hold.amount,
        "input_cost": hold.input_cost,
        "max_tokens": hold.max_tokens,
        "expires_at": hold.expires_at,
        "state": hold.state.value,
        "charged": hold.charged,
        "model": row.model,
        "purpose": row.purpose,
        "run": row.run,
        "made_at": row.made_at,
    }


def _chain(text: str) -> tuple[AccountKey, ...]:
    """One account a line: its kind as a digit, and its name."""
    return tuple([AccountKey(_KINDS[int(line[0])], line[2:]) for line in text.split("\n")])


def _hold(row: Row) -> HoldRow:
    hold = Hold(
        row["attempt_id"],
        row["amount"],
        row["input_cost"],
        row["max_tokens"],
        row["expires_at"],
        _STATES[row["state"]],
        row["charged"],
    )
    return HoldRow(
        hold, row["agent"], _chain(row["chain"]), Instant(row["made_at"]), row["model"], row["purpose"], row["run"]
    )
