from __future__ import annotations

from collections.abc import Iterable, Sequence

from nudge.database import Database
from nudge.errors import LostLeaseError
from nudge.instants import Instant
from nudge.queue.records import Lease
from nudge.queue.timer_table import LONGEST_LEASE


class SqlLanes:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def claim(self, lane: str, owner: str, now: Instant, until: Instant) -> Lease | None:
        claimed = await self.claim_many([lane], owner, now, until)
        return claimed[0] if claimed else None

    async def claim_many(self, lanes: Iterable[str], owner: str, now: Instant, until: Instant) -> Sequence[Lease]:
        import secrets  # not at the top: a command that only reads need not load it

        token = secrets.token_hex(8)
        same = {"owner": owner, "token": token, "until": until, "now": now, "horizon": now + LONGEST_LEASE}
        # In one order everywhere: two daemons that claim the same lanes must not wait for each other in a ring.
        ordered = sorted(set(lanes))
        changed = await self._db.run_each("lanes_claim", [{"lane": lane, **same} for lane in ordered])
        return [Lease(lane, owner, token, until) for lane, rows in zip(ordered, changed, strict=True) if rows]

    async def renew(self, lease: Lease, until: Instant) -> bool:
        return await self._db.run("lanes_renew", {"lane": lease.lane, "token": lease.token, "until": until}) > 0

    async def release(self, lease: Lease) -> None:
        await self.release_many([lease])

    async def release_many(self, leases: Iterable[Lease]) -> None:
        ordered = sorted(leases, key=lambda lease: lease.lane)
        await self._db.run_many("lanes_release", [{"lane": lease.lane, "token": lease.token} for lease in ordered])

    async def release_owner(self, owner: str) -> int:
        return await self._db.run("lanes_release_owner", {"owner": owner})

    async def assert_held(self, lease: Lease) -> None:
        if not await self._db.run("lanes_assert_held", {"lane": lease.lane, "token": lease.token}):
            raise LostLeaseError(f"Another daemon took {lease.lane} over; nothing was written.")

    async def held(self, now: Instant) -> Sequence[Lease]:
        rows = await self._db.all("lanes_held", {"now": now})
        return [Lease(row["lane"], row["owner"], row["token"], Instant(row["until"])) for row in rows]
