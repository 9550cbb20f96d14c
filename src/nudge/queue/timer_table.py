from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nudge.database import Database, Row
from nudge.instants import MINUTE, Instant
from nudge.queue.timers import Timer

if TYPE_CHECKING:
    from nudge.queue.records import Lease

LONGEST_LEASE = 10 * MINUTE
"""A lease that seems to end later than this from now was written under a clock that has gone back since."""

_WINDOW = 1024
"""How many due timers one look for lanes reads. Those of held lanes do not count, so no lane hides another for long."""

BEYOND = "\U0010ffff"
"""Sorts after every key: `prefix <= key < prefix + BEYOND` is what starts with the prefix, and an index serves it."""


class SqlTimers:
    def __init__(self, database: Database) -> None:
        self._db = database
        self.times_set = 0

    async def set(self, timer: Timer) -> None:
        self.times_set += 1
        await self._db.run("timers_set", _params(timer))

    async def set_many(self, timers: Iterable[Timer]) -> None:
        self.times_set += 1
        await self._db.run_many("timers_set", [_params(timer) for timer in timers])

    async def ensure(self, timer: Timer) -> None:
        self.times_set += 1
        await self._db.run("timers_ensure", _params(timer))

    async def get(self, agent: str, key: str) -> Timer | None:
        row = await self._db.one("timers_get", {"agent": agent, "key": key})
        return _timer(row) if row else None

    async def of_agent(self, agent: str, *, prefix: str = "", limit: int = 1000) -> Sequence[Timer]:
        params = {"agent": agent, "prefix": prefix, "beyond": prefix + BEYOND, "limit": limit}
        return [_timer(row) for row in await self._db.all("timers_of_agent", params)]

    async def cancel(self, agent: str, key: str) -> bool:
        return await self._db.run("timers_cancel", {"agent": agent, "key": key}) > 0

    async def cancel_all(self, agent: str) -> int:
        return await self._db.run("timers_cancel_all", {"agent": agent})

    async def due_lanes(self, now: Instant, limit: int) -> Sequence[str]:
        params = {"now": now, "horizon": now + LONGEST_LEASE, "window": _WINDOW, "limit": limit}
        return [row["lane"] for row in await self._db.all("timers_due_lanes", params)]

    async def due_in_lane(self, lane: str, now: Instant, limit: int) -> Sequence[Timer]:
        rows = await self._db.all("timers_due_in_lane", {"lane": lane, "now": now, "limit": limit})
        return [_timer(row) for row in rows]

    async def next_due(self, after: Instant) -> Instant | None:
        row = await self._db.one("timers_next_due", {"after": after})
        return Instant(row["due_at"]) if row and row["due_at"] is not None else None

    async def take(self, timer: Timer) -> bool:
        return await self._db.run("timers_take", _identity(timer)) > 0

    async def take_held(self, timer: Timer, lease: Lease) -> bool:
        params = {**_identity(timer), "lane": lease.lane, "token": lease.token}
        return await self._db.run("timers_take_held", params) > 0

    async def hurry(self, latest: Instant) -> int:
        return await self._db.run("timers_hurry", {"latest": latest})

    async def count(self) -> int:
        row = await self._db.one("timers_count", {})
        return int(row["n"]) if row else 0


def _identity(timer: Timer) -> dict[str, Any]:
    return {
        "agent": timer.agent,
        "key": timer.key,
        "due_at": timer.due_at,
        "slot_at": timer.slot_at,
        "attempts": timer.attempts,
    }


def _params(timer: Timer) -> dict[str, Any]:
    return {
        "agent": timer.agent,
        "key": timer.key,
        "kind": timer.kind,
        "due_at": timer.due_at,
        "slot_at": timer.slot_at,
        "payload": json.dumps(dict(timer.payload), separators=(",", ":")),
        "lane": timer.lane,
        "attempts": timer.attempts,
    }


def _timer(row: Row) -> Timer:
    return Timer(
        row["agent"],
        row["key"],
        row["kind"],
        Instant(row["due_at"]),
        Instant(row["slot_at"]),
        json.loads(row["payload"]),
        row["lane"],
        row["attempts"],
    )
