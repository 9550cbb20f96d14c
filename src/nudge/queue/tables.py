"""Timers, lanes, outcomes and the feed in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nudge.database import Database, Row
from nudge.errors import LostLeaseError
from nudge.instants import MINUTE, Instant
from nudge.queue.outcomes import FeedLine, HourCount, Outcome, Result, StateChange
from nudge.queue.timers import Lease, Timer

if TYPE_CHECKING:
    from nudge.queue.timers import Lease

LONGEST_LEASE = 10 * MINUTE
"""A lease that seems to end later than this from now was written under a clock that has gone back since."""

_WINDOW = 1024
"""How many due timers one look for lanes reads. Those of held lanes do not count, so no lane hides another for long."""

_EVER = Instant(-(2**62))

BEYOND = "\U0010ffff"
"""Sorts after every key: `prefix <= key < prefix + BEYOND` is what starts with the prefix, and an index serves it."""


class TimerTable:
    def __init__(self, database: Database) -> None:
        self._db = database
        self.times_set = 0
        """How often timers were set through this object: whoever sees it grow looks again for what is due."""

    async def set(self, timer: Timer) -> None:
        """Set or move the timer of that agent and key."""
        self.times_set += 1
        await self._db.run("timers_set", _timer_params(timer))

    async def set_many(self, timers: Iterable[Timer]) -> None:
        self.times_set += 1
        await self._db.run_many("timers_set", [_timer_params(timer) for timer in timers])

    async def ensure(self, timer: Timer) -> None:
        """Set it unless there is one of that agent and key; one that is there stays as it is."""
        self.times_set += 1
        await self._db.run("timers_ensure", _timer_params(timer))

    async def hasten(self, timer: Timer) -> None:
        """Set it unless there is one that is due as soon; one that fires at this moment stays as it is."""
        self.times_set += 1
        await self._db.run("timers_hasten", _timer_params(timer))

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

    async def due_lanes(self, now: Instant, limit: int, *, after: Instant = _EVER) -> Sequence[str]:
        """Lanes with a due timer that nobody holds, the longest due first; only timers due later than `after` count.

        One look is bounded, so it may name fewer lanes than there are: claim these and look again until none is named.
        """
        params = {"now": now, "after": after, "horizon": now + LONGEST_LEASE, "window": _WINDOW, "limit": limit}
        return [row["lane"] for row in await self._db.all("timers_due_lanes", params)]

    async def due_in_lane(self, lane: str, now: Instant, limit: int) -> Sequence[Timer]:
        """The due timers of a lane, the longest due first."""
        rows = await self._db.all("timers_due_in_lane", {"lane": lane, "now": now, "limit": limit})
        return [_timer(row) for row in rows]

    async def due_in_lanes(self, lanes: Sequence[str], now: Instant, limit: int) -> Sequence[Sequence[Timer]]:
        """The same of each lane."""
        params = [{"lane": lane, "now": now, "limit": limit} for lane in lanes]
        return [[_timer(row) for row in rows] for rows in await self._db.all_each("timers_due_in_lane", params)]

    async def next_due(self, after: Instant) -> Instant | None:
        """When the next timer later than `after` is due."""
        row = await self._db.one("timers_next_due", {"after": after})
        return Instant(row["due_at"]) if row and row["due_at"] is not None else None

    async def take(self, timer: Timer) -> bool:
        """Remove exactly this timer; False if it was moved or cancelled meanwhile."""
        return await self._db.run("timers_take", _identity(timer)) > 0

    async def take_held(self, timer: Timer, lease: Lease, *, surely: bool = False) -> bool:
        """The same if the lease still holds; inside a transaction it holds until the end. False otherwise; with
        `surely`, the transaction around it fails instead."""
        params = {**_identity(timer), "lane": lease.lane, "token": lease.token}
        if surely:
            await self._db.run_surely("timers_take_held", params)
            return True
        return await self._db.run("timers_take_held", params) > 0

    async def hurry(self, latest: Instant) -> int:
        """Let no timer that failed wait for its next attempt longer than until then; how many would have."""
        return await self._db.run("timers_hurry", {"latest": latest})

    async def count(self) -> int:
        row = await self._db.one("timers_count", {})
        return int(row["n"]) if row else 0


class AgentTimers(TimerTable):
    """The timers of one agent, for a process that works for it alone: what is due for others is not its business."""

    def __init__(self, database: Database, agent: str) -> None:
        super().__init__(database)
        self._agent = agent

    async def due_lanes(self, now: Instant, limit: int, **_: Any) -> Sequence[str]:
        params = {"agent": self._agent, "now": now, "horizon": now + LONGEST_LEASE, "limit": limit}
        return [row["lane"] for row in await self._db.all("timers_due_lanes_of_agent", params)]

    async def next_due(self, after: Instant) -> Instant | None:
        row = await self._db.one("timers_next_due_of_agent", {"agent": self._agent, "after": after})
        return Instant(row["due_at"]) if row and row["due_at"] is not None else None

    async def hurry(self, latest: Instant) -> int:
        return await self._db.run("timers_hurry_of_agent", {"agent": self._agent, "latest": latest})

    async def next_by_kind(self) -> Mapping[str, Instant]:
        """When the first timer of each kind is due; what is due already and could not be fired is part of it."""
        rows = await self._db.all("timers_next_by_kind", {"agent": self._agent})
        return {row["kind"]: Instant(row["due_at"]) for row in rows}

    async def held_until(self, now: Instant) -> Instant | None:
        """When the first lane ends to be held by somebody else in which something is due."""
        params = {"agent": self._agent, "now": now, "horizon": now + LONGEST_LEASE}
        row = await self._db.one("timers_held_until", params)
        return Instant(row["until"]) if row and row["until"] is not None else None


def _identity(timer: Timer) -> dict[str, Any]:
    return {
        "agent": timer.agent,
        "key": timer.key,
        "due_at": timer.due_at,
        "slot_at": timer.slot_at,
        "attempts": timer.attempts,
    }


def _timer_params(timer: Timer) -> dict[str, Any]:
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


class LaneTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def claim(self, lane: str, owner: str, now: Instant, until: Instant) -> Lease | None:
        claimed = await self.claim_many([lane], owner, now, until)
        return claimed[0] if claimed else None

    async def claim_many(self, lanes: Iterable[str], owner: str, now: Instant, until: Instant) -> Sequence[Lease]:
        """Claim those that are free, in one transaction."""
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
        """Give back everything a process held that is known to be dead."""
        return await self._db.run("lanes_release_owner", {"owner": owner})

    async def assert_held(self, lease: Lease) -> None:
        """Raise LostLeaseError unless the lease still holds; inside a transaction it stays so until the end."""
        if not await self._db.run("lanes_assert_held", {"lane": lease.lane, "token": lease.token}):
            raise LostLeaseError(f"Another daemon took over {lease.lane}; nothing was written.")

    async def held(self, now: Instant) -> Sequence[Lease]:
        rows = await self._db.all("lanes_held", {"now": now})
        return [Lease(row["lane"], row["owner"], row["token"], Instant(row["until"])) for row in rows]


_FOREVER = 2**62


class OutcomeTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def record(self, outcome: Outcome, *, surely: bool = False) -> bool:
        """Write the outcome of an occurrence; False (and nothing written) if it already has a final one. With `surely`,
        the transaction around it fails instead."""
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
        if surely:
            await self._db.run_surely("outcomes_record", params)
            return True
        return await self._db.run("outcomes_record", params) > 0

    async def amend(
        self,
        agent: str,
        key: str,
        slot_at: Instant,
        result: Result,
        reason: str,
        detail: Mapping[str, Any] | None = None,
    ) -> bool:
        """Correct an outcome after the fact: the sending of what had fired turned out otherwise. Without a `detail`,
        the one that is there stays."""
        params = {
            "agent": agent,
            "key": key,
            "slot_at": slot_at,
            "result": result.value,
            "reason": reason,
            "detail": None if detail is None else json.dumps(dict(detail), ensure_ascii=False),
        }
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
        """Newest first."""
        block = "outcomes_recent" if agent is None else "outcomes_of_agent" if key is None else "outcomes_of_key"
        params = {
            "agent": agent,
            "key": key,
            "kind": kind,
            "since": -_FOREVER if since is None else since,
            "until": _FOREVER if until is None else until,
            "limit": limit,
        }
        return [_outcome(row) for row in await self._db.all(block, params)]

    async def around(
        self, since: Instant, until: Instant, *, agent: str | None = None, limit: int = 50
    ) -> Sequence[Outcome]:
        """What was due or ended between the two, ends included; newest first."""
        params = {"since": since, "until": until, "agent": agent, "limit": limit}
        return [_outcome(row) for row in await self._db.all("outcomes_around", params)]

    async def search(
        self,
        words: str = "",
        *,
        agent: str | None = None,
        result: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        limit: int = 50,
    ) -> Sequence[Outcome]:
        """Newest first, with the words in the reason, the key or what else is known of it, in any case."""
        escaped = words.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        params = {
            "words": f"%{escaped}%",
            "agent": agent,
            "result": result,
            "since": -_FOREVER if since is None else since,
            "until": _FOREVER if until is None else until,
            "limit": limit,
        }
        return [_outcome(row) for row in await self._db.all("outcomes_search", params)]

    async def slice_start(self, since: Instant, until: Instant, size: int) -> Instant | None:
        """Where the last `size` rows before `until` begin; None if there are no more than these."""
        row = await self._db.one("outcomes_slice", {"since": since, "until": until, "size": size})
        return Instant(row["at"]) if row else None

    async def hourly(self, agent: str, since: Instant, until: Instant) -> Sequence[HourCount]:
        """How many ended how in each hour from `since` on, by kind; hours without any are left out."""
        rows = await self._db.all("outcomes_hourly", {"agent": agent, "since": since, "until": until})
        return [
            HourCount(Instant(row["since"]), Result(row["result"]), row["kind"], int(row["count"]), row["reason"])
            for row in rows
        ]

    async def revision(self) -> int:
        """The number of the last change."""
        row = await self._db.one("outcomes_revision", {})
        return int(row["revision"]) if row else 0

    async def changed_after(self, revision: int, limit: int = 500) -> Sequence[Outcome]:
        """Rows that are new or changed since, in the order of their changes, for whoever follows. On a server that
        others write to as well, a lower revision may still turn up for a moment after a higher one."""
        rows = await self._db.all("outcomes_changed_after", {"revision": revision, "limit": limit})
        return [_outcome(row) for row in rows]

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[Outcome]:
        """Oldest first."""
        rows = await self._db.all("outcomes_after_id", {"last": last, "agent": agent, "limit": limit})
        return [_outcome(row) for row in rows]


class FeedTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, line: FeedLine) -> None:
        params = {"at": line.at, "agent": line.agent, "kind": line.kind, "text": line.text}
        await self._db.run("feed_add", params)

    async def recent(
        self, *, agent: str | None = None, since: Instant | None = None, limit: int = 50
    ) -> Sequence[FeedLine]:
        """Newest first."""
        params = {"agent": agent, "since": -_FOREVER if since is None else since, "limit": limit}
        return [_line(row) for row in await self._db.all("feed_recent", params)]

    async def last_id(self) -> int:
        row = await self._db.one("feed_last_id", {})
        return int(row["id"]) if row else 0

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[FeedLine]:
        """Oldest first, for whoever follows."""
        rows = await self._db.all("feed_after_id", {"last": last, "agent": agent, "limit": limit})
        return [_line(row) for row in rows]


class ChangeTable:
    """The last change of everything that has no log of its own. Triggers of the database write it."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def revision(self) -> int:
        row = await self._db.one("changes_revision", {})
        return int(row["revision"]) if row else 0

    async def after(self, revision: int, limit: int = 500) -> Sequence[StateChange]:
        rows = await self._db.all("changes_after", {"revision": revision, "limit": limit})
        return [StateChange(row["kind"], row["agent"], row["key"], row["revision"]) for row in rows]


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
