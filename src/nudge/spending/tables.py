"""Accounts, holds, spending states and the usage log in the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.spending.holds import Account, AccountKey, AccountKind, Change, Hold, HoldState, lock_order
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow, DaySpent, HoldRow, SpendingRow, UsageRow, UsageTotal
from nudge.tokens import TokenUse

_KINDS = tuple(AccountKind)
_STATES = {state.value: state for state in HoldState}


class LedgerTable:
    """`reserve` and `change` write several rows: they belong into the transaction that locked the accounts."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def open(self, key: AccountKey, limit: Micros, *, agent: str = "", day: date | None = None) -> None:
        """An account with nothing charged. One that is there stays as it is."""
        params = {**_key(key), "agent": agent, "day": day.isoformat() if day else "", "money_limit": limit}
        await self._db.run("accounts_open", params)

    async def get(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        """Those that exist."""
        found = {}
        for key in lock_order(keys):
            row = await self._db.one("accounts_get", _key(key))
            if row:
                found[key] = _account(key, row)
        return found

    async def lock(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        """Those that exist, locked in `lock_order`, in one round trip."""
        order = lock_order(keys)
        rows = await self._db.all_each("accounts_lock", [_key(key) for key in order])
        return {key: _account(key, found[0]) for key, found in zip(order, rows, strict=True) if found}

    async def set_limit(self, key: AccountKey, limit: Micros) -> None:
        await self._db.run("accounts_set_limit", {**_key(key), "money_limit": limit})

    async def use_up(self, key: AccountKey) -> None:
        """Note that what is left now does not cover a call."""
        await self._db.run("accounts_use_up", _key(key))

    async def hold(self, attempt_id: str) -> HoldRow | None:
        row = await self._db.one("holds_get", {"attempt_id": attempt_id})
        return _hold(row) if row else None

    async def recent_holds(self, agent: str | None, limit: int) -> Sequence[tuple[str, str, str, str]]:
        """The last ones: attempt, agent, state and purpose."""
        rows = await self._db.all("holds_recent", {"agent": agent, "limit": limit})
        return [(row["attempt_id"], row["agent"], row["state"], row["purpose"]) for row in rows]

    async def lock_hold(self, attempt_id: str) -> HoldRow | None:
        row = await self._db.one("holds_lock", {"attempt_id": attempt_id})
        return _hold(row) if row else None

    async def reserve(self, row: HoldRow) -> bool:
        """Write a new hold and hold its amount on its chain; False, and nothing written, if the attempt is known."""
        if not await self._db.run("holds_put", _hold_params(row)):
            return False
        await self._add(row.chain, 0, row.hold.amount, 0)
        return True

    async def change(self, row: HoldRow, change: Change) -> None:
        """Write what happened to a hold, and add it to every account of its chain."""
        after = change.hold
        params = {"attempt_id": after.attempt_id, "state": after.state.value, "charged": after.charged}
        await self._db.run("holds_change", params)
        await self._add(row.chain, change.committed, change.held, after.overrun - row.hold.overrun)

    async def expired(self, agent: str, now: Instant, limit: int = 100) -> Sequence[HoldRow]:
        rows = await self._db.all("holds_expired", {"agent": agent, "now": now, "limit": limit})
        return [_hold(row) for row in rows]

    async def open_of(self, owner: str, agent: str) -> Sequence[HoldRow]:
        """The agent's holds that this owner made and that have not ended."""
        return [_hold(row) for row in await self._db.all("holds_of_owner", {"owner": owner, "agent": agent})]

    async def next_expiry(self, agent: str) -> Instant | None:
        """When the first of the agent's open holds expires."""
        row = await self._db.one("holds_next_expiry", {"agent": agent})
        return Instant(row["expires_at"]) if row and row["expires_at"] is not None else None

    async def forget(self, agent: str, before: Instant) -> int:
        """Remove ended holds that were made earlier. The usage log keeps the calls."""
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
        "owner": row.owner,
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
        hold,
        row["agent"],
        _chain(row["chain"]),
        Instant(row["made_at"]),
        row["model"],
        row["purpose"],
        row["run"],
        row["owner"],
    )


class SpendingTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str) -> SpendingRow | None:
        row = await self._db.one("spending_get", {"agent": agent})
        return _spending(row) if row else None

    async def lock(self, agent: str) -> SpendingRow | None:
        """The row, which nobody else changes until the transaction around this ends."""
        row = await self._db.one("spending_lock", {"agent": agent})
        return _spending(row) if row else None

    async def all(self) -> Sequence[SpendingRow]:
        return [_spending(row) for row in await self._db.all("spending_all", {})]

    async def create(self, row: SpendingRow) -> bool:
        """False, and nothing written, if the agent has one already or is not there."""
        return await self._db.run("spending_create", _spending_params(row)) > 0

    async def put(self, row: SpendingRow) -> None:
        await self._db.run("spending_put", _spending_params(row))

    async def pull(self, agent: str, key: str, now: Instant) -> bool:
        """Let a timer that waits for money look again now."""
        return await self._db.run("spending_pull", {"agent": agent, "key": key, "now": now}) > 0

    async def last_task(self, agent: str) -> str | None:
        """What the agent worked on last, in any session."""
        row = await self._db.one("sessions_last_task", {"agent": agent})
        return row["last_task"] if row else None


def _spending_params(row: SpendingRow) -> dict[str, Any]:
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
        "refused_calls": row.refused_calls,
        "refused_least": row.refused_least,
        "plan_resets_at": row.plan_resets_at,
    }


def _spending(row: Row) -> SpendingRow:
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
        refused_calls=row["refused_calls"],
        refused_least=row["refused_least"],
        plan_resets_at=row["plan_resets_at"],
    )


_ALWAYS = Instant(-(2**62))


class UsageTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, row: UsageRow) -> None:
        """Write what a call used. The same attempt again replaces what was assumed about it, but not its time."""
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
        """Newest first."""
        params = {"agent": agent, "since": _ALWAYS if since is None else since, "limit": limit}
        return [_usage(row) for row in await self._db.all("usage_recent", params)]

    async def of_run(
        self, agent: str, run: str, since: Instant, until: Instant, limit: int = 500
    ) -> Sequence[UsageRow]:
        """The last calls of a run between two times, oldest first."""
        params = {"agent": agent, "run": run, "since": since, "until": until, "limit": limit}
        return [_usage(row) for row in reversed(await self._db.all("usage_of_run", params))]

    async def spent(self, agent: str, since: Instant) -> Micros:
        """What the agent's calls cost that ended since then."""
        row = await self._db.one("usage_spent", {"agent": agent, "since": since})
        assert row is not None
        return int(row["spent"])

    async def totals(self, agent: str, since: Instant, until: Instant) -> Sequence[UsageTotal]:
        """By purpose and model, the highest first."""
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
                int(row["assumed"]),
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
