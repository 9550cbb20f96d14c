"""Pools in the store: a run's budget shared out among parallel subagents, for any number of processes.

The rules are those of `pool_rules`. The money is in the ledger: the run is an account, each member has one below it,
and a member's calls, made with `run="run-7/research"`, are held on both. Every step is one transaction, or part of the
one around it, that has the run's account locked: whatever moves money of the pool passes there first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from nudge.errors import BudgetExhaustedError, NotFoundError, NudgeError, UsageError
from nudge.instants import SECOND, Instant, Moment, as_instant, from_timedelta, to_datetime
from nudge.progress.pool_rules import (
    CHILD_GETS_PERCENT,
    PARENT_KEEPS_PERCENT,
    RESERVATION_LASTS,
    Holder,
    PoolTree,
    Reservation,
    ReservationState,
    Sharing,
)
from nudge.progress.store import ClosedUse, MemberAccount, MemberRow, PoolRow, ProgressStore
from nudge.queue.firing import Firing
from nudge.queue.timers import Timer
from nudge.spending.holds import AccountKey, AccountKind, lock_order
from nudge.spending.money import Amount, Micros, Money, as_micros, format_money
from nudge.spending.store import AccountRow

POOL = "pool"
OWNER = "parent"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PoolMember:
    """`used` is what the member itself was charged with and what is held for its calls in flight."""

    name: str
    parent: str | None
    granted: Micros
    used: Micros
    state: ReservationState
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """`used` is everything charged and held, `reserved` what subagents have and did not use. Together they pass the
    total only by `overrun`: what calls cost more than was held for them."""

    run: str
    total: Micros
    used: Micros
    reserved: Micros
    overrun: Micros
    members: tuple[PoolMember, ...]


def run_key(run: str) -> AccountKey:
    return AccountKey(AccountKind.RUN, run)


def member_run(run: str, name: str) -> str:
    """The `run` under which a member of a pool makes its calls, its owner too."""
    return f"{run}/{name}"


def member_key(run: str, name: str) -> AccountKey:
    return AccountKey(AccountKind.POOL, member_run(run, name))


class Pools:
    """The pools of a store. Amounts are dollars; what comes back is micro-dollars.

    `lasts` is how long a reservation lives after the last sign of its subagent: a call, `renew`, a subagent of its own.
    It is taken back at the first look after that; in the daemon a timer looks.
    """

    def __init__(
        self,
        store: ProgressStore,
        *,
        keeps_percent: int = PARENT_KEEPS_PERCENT,
        gets_percent: int = CHILD_GETS_PERCENT,
        lasts: timedelta = RESERVATION_LASTS,
    ) -> None:
        self._store = store
        self._sharing = Sharing(keeps_percent, gets_percent, from_timedelta(lasts))

    async def open(self, agent: str, run: str, total: Amount, *, owner: str = OWNER) -> None:
        """Share out the budget of a run, which may have an account already. Opening the same pool again changes
        nothing. The agent at the top makes its calls with `run="run-7/parent"`, as a member of its own pool: what it
        has handed on is then not there for it."""
        _check_name(run)
        _check_name(owner)
        limit = as_micros(total)
        if limit == 0:
            raise UsageError(f"A pool of {format_money(limit)} has nothing to share.", next_step="Use a total above 0.")
        async with self._store.transaction():
            if await self._store.agents.get(agent) is None:
                raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Add it first.")
            await self._store.ledger.open(run_key(run), limit, agent=agent)
            account = (await self._store.ledger.lock([run_key(run)]))[run_key(run)]
            sharing = self._sharing
            row = PoolRow(run, agent, owner, sharing.keeps_percent, sharing.gets_percent, sharing.lasts)
            if await self._store.pools.create(row):
                _check_account(account, agent, limit)
                await self._store.ledger.open(member_key(run, owner), limit, agent=agent)
                await self._store.pools.add(MemberRow(run, owner, None, limit))
                await self._write(await self._locked(run))
                return
            pool = await self._locked(run)
            if (pool.row.agent, pool.row.owner, pool.tree.owner.granted) != (agent, owner, limit):
                raise UsageError(f"{run} already has a pool.", next_step="Give every run its own name.")

    async def reserve(
        self,
        run: str,
        name: str,
        *,
        now: Moment,
        parent: str | None = None,
        cap: Amount | None = None,
        need: Amount = 0,
    ) -> Reservation:
        """Reserve money for a new subagent, out of its parent's (the owner's, if none is named). Refused where the
        share would be below `need`. Reserving again for the same subagent gives the same share, so that a retry is not
        given twice; the name of one that is closed is not used again."""
        _check_name(name)
        most, least = None if cap is None else as_micros(cap), as_micros(need)
        at = as_instant(now)
        return await self._change(run, at, lambda pool: pool.reserve(name, parent, most, least, at), name, parent)

    async def renew(self, run: str, name: str, now: Moment) -> None:
        """Give a sign of life without a call."""
        await self._change(run, as_instant(now), lambda pool: pool.tree.renew(name, as_instant(now)), name)

    async def release(self, run: str, name: str, now: Moment) -> Money:
        """Close the reservation of a subagent that is done: what it did not use goes back to its parent, and that
        amount is returned; what is held for its calls in flight goes back when they end. Whoever it started is stopped
        with it. Nothing is given back twice."""
        return Money(await self._change(run, as_instant(now), lambda pool: pool.tree.release(name), name))

    async def revoke(self, run: str, name: str, now: Moment) -> tuple[str, ...]:
        """Stop a member and everyone below it: their next calls are refused. Returns the names that were open until
        now, the top one first, so that the caller can cancel them. A run whose owner is stopped makes no call."""
        return await self._change(run, as_instant(now), lambda pool: pool.tree.revoke(name), name)

    async def expire(self, run: str, now: Moment) -> tuple[str, ...]:
        """Take back what went stale, with everyone below it; the names. Every other step does this first."""
        return await self._change(run, as_instant(now), lambda pool: pool.expired)

    async def available(self, run: str, name: str, now: Moment) -> Money:
        """What a member may spend now: what it neither spent nor handed on; nothing once it is closed. The agent's day
        may have less. What went stale is taken back first."""
        return Money(await self._change(run, as_instant(now), lambda pool: pool.available(name), name))

    async def status(self, run: str, now: Moment) -> PoolStatus:
        """Its state. Reading changes nothing: what is stale reads as taken back."""
        async with self._store.transaction():
            row, account = await self._lock(run)
            pool = StoredPool(row, account, await self._store.pools.members(run, closed=True))
        pool.expire(as_instant(now))
        return pool.status()

    async def sweep(self, firing: Firing) -> None:
        """Handle the pool timer: take back what is stale, and come back for what is still open."""
        run = str(firing.timer.payload["run"])
        async with self._store.transaction():
            # The money before the timer, as everybody does who changes a pool: the other way round, two could wait for
            # each other.
            pool = await self._locked(run)
            async with firing.settle() as settlement:
                pool.expire(firing.now)
                await self._write(pool)
                if pool.next_expiry is not None:
                    settlement.again(Instant(max(pool.next_expiry, firing.now + SECOND)))

    async def _change(self, run: str, now: Instant, step: Callable[[StoredPool], T], *named: str | None) -> T:
        """One step on the pool as it is at `now`, about the members that are named. A step that is refused changes
        nothing, but what was stale is gone all the same."""
        refusal: NudgeError | None = None
        async with self._store.transaction():
            pool = await self._locked(run)
            for name in named:
                if name and name not in pool.tree and (row := await self._store.pools.member(run, name)):
                    pool.remember(row)
            pool.expire(now)
            try:
                done = step(pool)
            except NudgeError as error:
                refusal = error
            await self._write(pool)
        if refusal is not None:
            raise refusal
        return done

    async def _locked(self, run: str) -> StoredPool:
        row, account = await self._lock(run)
        members, closed = await self._store.pools.members(run), await self._store.pools.closed_use(run)
        return StoredPool(row, account, members, closed)

    async def _lock(self, run: str) -> tuple[PoolRow, AccountRow]:
        key = run_key(run)
        account = (await self._store.ledger.lock([key])).get(key)
        row = await self._store.pools.get(run)
        if row is None or account is None:
            raise NotFoundError(f"The run {run!r} has no pool.", next_step="Open one first.")
        return row, account

    async def _write(self, pool: StoredPool) -> None:
        run, agent = pool.row.run, pool.row.agent
        for row in pool.changed_members():
            await self._store.pools.put(row)
        fresh = list(pool.new_members())
        for row in fresh:
            await self._store.ledger.open(member_key(run, row.name), 0, agent=agent)
            await self._store.pools.add(row)
        limits = pool.changed_limits()
        for key in lock_order(limits):
            await self._store.ledger.set_limit(key, limits[key])
        if fresh and (at := pool.next_expiry) is not None:
            timer = Timer.at(agent, f"{POOL}:{run}", POOL, at, payload={"run": run}, lane=f"{agent}/{POOL}")
            await self._store.timers.ensure(timer)


class StoredPool:
    """One pool, read and perhaps changed, but not yet written.

    A member's account has as its limit what the member used and may still use itself; a closed one has none. So the
    ledger keeps everybody inside the pool, call by call, without knowing of it.
    """

    def __init__(
        self, row: PoolRow, run: AccountRow, members: Sequence[MemberAccount], closed: Sequence[ClosedUse] = ()
    ) -> None:
        """`members` are everybody, or the owner and whoever is open, and then `closed` says what the others used."""
        self.row = row
        self.expired: tuple[str, ...] = ()
        self._run = run
        self._members = {member.row.name: member for member in members}
        own = {name: member.committed + member.held for name, member in self._members.items()}
        below = self._inherited(closed)
        others = sum(own.values()) - own[row.owner] + sum(below.values())
        # Calls that name the run and no member are the owner's as well.
        own[row.owner] = run.account.committed + run.account.held - others
        first, *rest = (
            Holder(
                member.row.name,
                member.row.parent,
                member.row.granted,
                own[member.row.name],
                below[member.row.name],
                member.row.expires_at,
                member.row.state,
            )
            for member in members
        )
        self.tree = PoolTree(first, Sharing(row.keeps_percent, row.gets_percent, row.lasts), format_money)
        for holder in rest:
            self.tree.add(holder)

    def remember(self, row: MemberRow) -> None:
        """Add a closed member that is asked for by name: it has nothing any more, but it was there."""
        self.tree.add(Holder(row.name, self.row.owner, row.granted, state=row.state))

    @property
    def next_expiry(self) -> Instant | None:
        """When the first open reservation is stale if nothing more is heard of it."""
        expiries = [holder.expires_at for holder in self.tree if holder.is_open and holder.expires_at is not None]
        return Instant(min(expiries)) if expiries else None

    def expire(self, now: Instant) -> None:
        """Take back what went stale, with everyone below it; the names are in `expired`. Calls that ended and calls
        in flight are signs of whoever made them."""
        for name, member in self._members.items():
            holder = self.tree.member(name)
            if holder.is_open and member.called_at is not None:
                self.tree.heard_of(holder, member.called_at)
            if holder.is_open and member.held:
                self.tree.heard_of(holder, now)
        self.expired = self.tree.expire(now)

    def reserve(self, name: str, parent: str | None, cap: Micros | None, need: Micros, now: Instant) -> Reservation:
        """Add a member with its share. Reserving again for an open member of the same parent gives the same share."""
        above = self.row.owner if parent is None else parent
        holder = self.tree.member(name) if name in self.tree else None
        if holder is None or not holder.is_open or holder.parent != above:
            holder = self.tree.reserve(name, above, cap, need, now)
        elif holder.granted < need:
            raise BudgetExhaustedError(
                f"{name!r} was given {format_money(holder.granted)} before, and needs {format_money(need)}.",
                next_step="Release it and reserve under a new name.",
            )
        else:
            self.tree.heard_of(holder, now)
        assert holder.expires_at is not None
        expires_at = to_datetime(Instant(holder.expires_at))
        return Reservation(name, above, Money(holder.granted), expires_at, member_run(self.row.run, name))

    def available(self, name: str) -> Micros:
        """What a member may spend itself, as far as the pool still has it."""
        return min(self.tree.free(self.tree.member(name)), self._run.account.available)

    def status(self) -> PoolStatus:
        members = tuple(
            PoolMember(
                holder.name,
                holder.parent,
                holder.granted,
                holder.used,
                holder.state,
                None if holder.expires_at is None else to_datetime(Instant(holder.expires_at)),
            )
            for holder in self.tree
        )
        owner = self.tree.owner
        return PoolStatus(
            self.row.run,
            owner.granted,
            self.tree.consumed(owner),
            self.tree.reserved(owner),
            max(0, -self.tree.room(owner)),
            members,
        )

    def new_members(self) -> Iterator[MemberRow]:
        return (self._row(holder) for holder in self.tree if holder.is_open and holder.name not in self._members)

    def changed_members(self) -> Iterator[MemberRow]:
        rows = (self._row(holder) for holder in self.tree if holder.name in self._members)
        return (row for row in rows if row != self._members[row.name].row)

    def changed_limits(self) -> Mapping[AccountKey, Micros]:
        """The limits that differ from what the accounts have. A run whose owner was stopped takes no call at all."""
        run, owner = self.row.run, self.tree.owner
        wanted = {run_key(run): owner.granted if owner.is_open else 0}
        known = {run_key(run): self._run.account.limit}
        for holder in self.tree:
            key, member = member_key(run, holder.name), self._members.get(holder.name)
            if member is None and not holder.is_open:
                continue
            spent = member.committed + member.held if member else 0
            wanted[key] = spent + self.tree.free(holder) if holder.is_open else 0
            known[key] = member.limit if member else -1
        return {key: limit for key, limit in wanted.items() if limit != known[key]}

    def _row(self, holder: Holder) -> MemberRow:
        expires_at = None if holder.expires_at is None else Instant(holder.expires_at)
        return MemberRow(self.row.run, holder.name, holder.parent, holder.granted, expires_at, holder.state)

    def _inherited(self, closed: Sequence[ClosedUse]) -> Counter[str]:
        """What closed members used, by the nearest one above them that is still there."""
        above = {use.parent: use.above for use in closed}
        inherited: Counter[str] = Counter()
        for use in closed:
            heir = use.parent
            while heir not in self._members:
                heir = above[heir] or self.row.owner
            inherited[heir] += use.used
        return inherited


def _check_name(name: str) -> None:
    """A name is one part of a run's path; nothing in it may be lost on the way through a database."""
    if not name.strip() or "/" in name or not name.isprintable():
        raise UsageError(
            f"{name!r} cannot be the name of a run or of a member of its pool.",
            next_step="Use letters, digits and dashes; no slash.",
        )


def _check_account(account: AccountRow, agent: str, total: Micros) -> None:
    if account.agent != agent or account.account.limit != total:
        raise UsageError(
            f"{account.key.name} already has a budget of {format_money(account.account.limit)} for {account.agent}.",
            next_step="Share out that much, or give every run its own name.",
        )
