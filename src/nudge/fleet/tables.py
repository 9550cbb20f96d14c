"""The fleet in the store: whether a home is one, when each agent's workflow looks next, and the pokes to send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nudge.errors import NotConfiguredError
from nudge.fleet.rules import LINGER, NEVER, Poke, first_wake, next_wake, thinks_only
from nudge.instants import Instant
from nudge.queue.tables import AgentTimers
from nudge.reminders.seeding import ROUTINES
from nudge.stores.postgres import PostgresDatabase
from nudge.stores.store import SqlStore

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Fleet:
    """`calls_per_minute` is how often its agents together may ask the model; 0 is without a limit. `webhook` is where
    the channel pushes to, if it does."""

    task_queue: str
    spread: int
    adopted_at: Instant
    calls_per_minute: int = 0
    webhook: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a visit's end wrote: the next wake, and up to which of the database's times pokes have been seen. `member`
    is False if the agent no longer belongs to the fleet. `thinks`: only what the agent thinks of by itself is due
    then."""

    wake_at: Instant
    seen: Instant
    member: bool = True
    thinks: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """One line of the list of agents. `wakes_at` is None for an agent that nobody looks after yet."""

    agent: str
    role: str
    wakes_at: Instant | None
    visited_at: Instant | None


@dataclass(frozen=True, slots=True)
class Counts:
    agents: int
    due: int
    late: int
    fresh: int
    strangers: int
    pokes: int
    oldest_poke: Instant | None
    first_wake: Instant | None


def require_server(url: str) -> None:
    """Refuse a home whose store only one machine can open."""
    if url.startswith("sqlite:"):
        raise NotConfiguredError(
            "A fleet needs PostgreSQL, and this home uses SQLite.",
            next_step="Set NUDGE_DATABASE_URL to postgresql://user:password@host/name.",
        )


class FleetTable:
    def __init__(self, store: SqlStore) -> None:
        assert isinstance(store.database, PostgresDatabase)
        self._db = store.database

    async def get(self) -> Fleet | None:
        row = await self._db.one("fleet_get", {})
        if row is None:
            return None
        return Fleet(
            row["task_queue"], row["spread"], Instant(row["adopted_at"]), row["calls_per_minute"], row["webhook"]
        )

    async def require(self) -> Fleet:
        if (fleet := await self.get()) is None:
            raise NotConfiguredError(
                "This home does not run on a fleet yet.", next_step="Run 'nudge fleet adopt' to move its agents."
            )
        return fleet

    async def begin(self, task_queue: str, spread: int, calls_per_minute: int, now: Instant) -> None:
        """From here on every timer that is due before its agent's next look writes a poke."""
        async with self._db.transaction():
            params = {"task_queue": task_queue, "spread": spread, "calls_per_minute": calls_per_minute, "now": now}
            await self._db.run("fleet_set", params)
            await self._db.run("fleet_pokes_on", {})

    async def end(self) -> None:
        async with self._db.transaction():
            await self._db.run("fleet_pokes_off", {})
            await self._db.run("fleet_leave_all", {})
            await self._db.run("fleet_delete", {})
            await self._db.all("fleet_pokes_take", {"limit": 2**31})

    async def join(self, agents: Iterable[str], now: Instant) -> Sequence[str]:
        """Take agents in; those that were not there already. They are due now, so nobody has to poke before their first
        visit has ended."""
        names = sorted(agents)
        added = await self._db.run_each("fleet_join", [{"agent": name, "wakes_at": now} for name in names])
        return [name for name, count in zip(names, added, strict=True) if count]

    async def join_all(self, now: Instant, spread: int) -> int:
        """Take every agent in, with a poke for each: workers start the workflows, the most urgent first. How many there
        are. A timer that is set meanwhile finds no row of its agent yet, and pokes."""
        row = await self._db.one("fleet_joining", {})
        joining = int(row["n"]) if row else 0
        count, after = 0, ""
        while True:
            async with self._db.transaction():
                due: dict[str, dict[str, Instant]] = {}
                for row in await self._db.all("fleet_first_due", {"after": after, "limit": PAGE}):
                    kinds = due.setdefault(row["agent"], {})
                    if row["kind"] is not None:
                        kinds[row["kind"]] = Instant(row["due_at"])
                if not due:
                    return count
                wakes = [(agent, first_wake(agent, kinds, now, spread, joining)) for agent, kinds in due.items()]
                await self._db.run_many("fleet_join", [{"agent": agent, "wakes_at": at} for agent, at in wakes])
                await self._db.run_many("fleet_pokes_put", [{"agent": agent, "due_at": at} for agent, at in wakes])
            count, after = count + len(due), wakes[-1][0]

    async def leave(self, agent: str) -> None:
        async with self._db.transaction():
            await self._db.run("fleet_leave", {"agent": agent})
            await self._db.run("fleet_pokes_done", {"agent": agent})

    async def awake(self, agent: str, now: Instant) -> None:
        """A visit begins: what is set from here on is seen at its end, and nobody has to poke."""
        await self._db.run("fleet_awake", {"agent": agent, "now": now})

    async def plan(self, agent: str, now: Instant, spread: int, *, until: Instant | None = None) -> Planned:
        """A visit ends: write when the next one is. With `until` the agent has something due that cannot be fired
        before then."""
        async with self._db.transaction():
            row = await self._db.one("fleet_lock", {"agent": agent})
            if row is None:
                return Planned(NEVER, Instant(0), member=False)
            due = await AgentTimers(self._db, agent).next_by_kind()
            if until is not None:
                due = {kind: max(at, until) if at <= now else at for kind, at in due.items()}
            wake = next_wake(agent, due, now, spread)
            await self._db.run("fleet_plan", {"agent": agent, "wakes_at": wake, "now": now})
            await self._db.run("fleet_pokes_done", {"agent": agent})
        return Planned(wake, Instant(row["seen"]), thinks=thinks_only(due, wake))

    async def next_call(self, provider: str, now: Instant, interval: int) -> Instant:
        """When the next call may be made. That moment is taken: the following call comes an interval later."""
        params = {"provider": provider, "now": now, "interval": interval}
        return Instant((await self._db.returning("fleet_next_call", params))["at"])

    async def set_webhook(self, url: str) -> None:
        await self._db.run("fleet_webhook", {"webhook": url})

    async def take_pokes(self, limit: int) -> Sequence[Poke]:
        """Inside a transaction: they are gone when it ends, and back if it fails. What another machine is about to send
        is left to it."""
        rows = await self._db.all("fleet_pokes_take", {"limit": limit})
        return [Poke(row["agent"], row["kind"], Instant(row["due_at"]), Instant(row["made_at"])) for row in rows]

    def pokes(self) -> AsyncIterator[None]:
        return self._db.pokes()

    async def strangers(self, limit: int) -> Sequence[str]:
        return [row["agent"] for row in await self._db.all("fleet_strangers", {"limit": limit})]

    async def unvisited(self) -> frozenset[str]:
        return frozenset(row["agent"] for row in await self._db.all("fleet_unvisited", {}))

    async def removed(self, limit: int) -> Sequence[str]:
        """Agents that were removed and still have a workflow."""
        return [row["agent"] for row in await self._db.all("fleet_removed", {"limit": limit})]

    async def late(self, before: Instant, limit: int) -> Sequence[str]:
        return [row["agent"] for row in await self._db.all("fleet_late", {"before": before, "limit": limit})]

    async def overslept(self, before: Instant, now: Instant, limit: int) -> Sequence[str]:
        params: dict[str, Any] = {"before": before, "now": Instant(now + LINGER), "limit": limit, "patient": ROUTINES}
        return [row["agent"] for row in await self._db.all("fleet_overslept", params)]

    async def counts(self, now: Instant, late: Instant) -> Counts:
        row = await self._db.one("fleet_counts", {"now": now, "late": late})
        pokes = await self._db.one("fleet_pokes_count", {})
        assert row is not None
        assert pokes is not None
        strangers = len(await self.strangers(1000))
        oldest = None if pokes["oldest"] is None else Instant(pokes["oldest"])
        first = None if row["first"] is None else Instant(row["first"])
        return Counts(row["agents"], row["due"], row["late"], row["fresh"], strangers, pokes["n"], oldest, first)

    async def page(self, *, after: str = "", search: str = "", limit: int = 50) -> Sequence[Member]:
        """Agents in the order of their names, from the first behind `after`."""
        rows = await self._db.all("fleet_page", {"after": after, "search": search, "limit": limit})
        return [Member(row["agent"], row["role"], row["wakes_at"], row["visited_at"]) for row in rows]

    async def member(self, agent: str) -> Member | None:
        row = await self._db.one("fleet_agent", {"agent": agent})
        return Member(agent, "", row["wakes_at"], row["visited_at"]) if row else None

    async def spending_states(self) -> dict[str, int]:
        return {row["state"]: row["n"] for row in await self._db.all("fleet_spending_states", {})}

    async def holds_open(self, now: Instant) -> int:
        row = await self._db.one("fleet_holds_open", {"now": now})
        return int(row["n"]) if row else 0

    async def results_since(self, since: Instant) -> dict[str, int]:
        return {row["result"]: row["n"] for row in await self._db.all("fleet_recent_results", {"since": since})}
