from __future__ import annotations

from collections.abc import Sequence

from nudge.adapters.sql.database import Database
from nudge.app.ports.records import Lease
from nudge.core.instants import MINUTE, Instant
from nudge.errors import LostLeaseError

LONGEST_LEASE = 10 * MINUTE
"""A lease that seems to end later than this from now was written under a clock that has gone back since."""


class SqlLanes:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def claim(self, lane: str, owner: str, now: Instant, until: Instant) -> Lease | None:
        import secrets  # not at the top: a command that only reads need not load it

        token = secrets.token_hex(8)
        params = {"lane": lane, "owner": owner, "token": token, "until": until, "now": now}
        changed = await self._db.run("lanes_claim", {**params, "horizon": now + LONGEST_LEASE})
        return Lease(lane, owner, token, until) if changed else None

    async def renew(self, lease: Lease, until: Instant) -> bool:
        return await self._db.run("lanes_renew", {"lane": lease.lane, "token": lease.token, "until": until}) > 0

    async def release(self, lease: Lease) -> None:
        await self._db.run("lanes_release", {"lane": lease.lane, "token": lease.token})

    async def release_owner(self, owner: str) -> int:
        return await self._db.run("lanes_release_owner", {"owner": owner})

    async def assert_held(self, lease: Lease) -> None:
        if not await self._db.run("lanes_assert_held", {"lane": lease.lane, "token": lease.token}):
            raise LostLeaseError(f"Another daemon took {lease.lane} over; nothing was written.")

    async def held(self, now: Instant) -> Sequence[Lease]:
        rows = await self._db.all("lanes_held", {"now": now})
        return [Lease(row["lane"], row["owner"], row["token"], Instant(row["until"])) for row in rows]
