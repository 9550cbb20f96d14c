"""Pools in the store: a run's budget shared out among parallel subagents, for any number of processes.

The shares are those of `progress.pool.BudgetPool`. The money is in the ledger: the run is an account, each member has
one below it, and a member's calls, made with `run="run-7/research"`, are held on both. Every step is one transaction,
or part of the one around it, that has the run's account locked: whatever moves money of the pool passes there first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nudge.errors import NotFoundError, NudgeError, UsageError
from nudge.instants import MINUTE, SECOND, Instant
from nudge.progress.pool_books import PoolBooks, PoolShare, PoolStatus, member_key, run_key
from nudge.progress.pool_rules import CHILD_GETS_PERCENT, PARENT_KEEPS_PERCENT, check_percents
from nudge.progress.store import MemberRow, PoolRow, ProgressStore
from nudge.queue.dispatch import Firing
from nudge.queue.timers import Timer
from nudge.spending.holds import lock_order
from nudge.spending.money import Amount, Micros, as_micros, format_money
from nudge.spending.store import AccountRow

POOL = "pool"
OWNER = "parent"
LASTS = 10 * MINUTE

T = TypeVar("T")


class Pools:
    """The pools of a store. Amounts are micro-dollars.

    `lasts` is how long a reservation lives after the last sign of its subagent: a call, `renew`, a subagent of its own.
    It is taken back at the first look after that; in the daemon a timer looks.
    """

    def __init__(
        self,
        store: ProgressStore,
        *,
        keeps_percent: int = PARENT_KEEPS_PERCENT,
        gets_percent: int = CHILD_GETS_PERCENT,
        lasts: int = LASTS,
    ) -> None:
        check_percents(keeps_percent, gets_percent)
        if lasts <= 0:
            raise UsageError("A reservation that lasts no time is never open.", next_step="Use a duration above 0.")
        self._store = store
        self._keeps = keeps_percent
        self._gets = gets_percent
        self._lasts = lasts

    async def open(self, agent: str, run: str, total: Amount, *, owner: str = OWNER) -> None:
        """Share out the budget of a run, which may have an account already. Opening the same pool again changes
        nothing. The agent at the top makes its calls with `run="run-7/parent"`, as a member of its own pool: what it
        has handed on is then not there for it."""
        _check_name(run)
        _check_name(owner)
        total = as_micros(total)
        if total <= 0:
            raise UsageError(f"A pool of {total} has nothing to share.", next_step="Use a total above 0.")
        async with self._store.transaction():
            if await self._store.agents.get(agent) is None:
                raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Add it first.")
            await self._store.ledger.open(run_key(run), total, agent=agent)
            account = (await self._store.ledger.lock([run_key(run)]))[run_key(run)]
            if await self._store.pools.create(PoolRow(run, agent, owner, self._keeps, self._gets, self._lasts)):
                _check_account(account, agent, total)
                await self._store.ledger.open(member_key(run, owner), total, agent=agent)
                await self._store.pools.add(MemberRow(run, owner, None, total))
                await self._write(await self._locked(run))
                return
            books = await self._locked(run)
            if (books.pool.agent, books.pool.owner, books.owner.granted) != (agent, owner, total):
                raise UsageError(f"{run} has another pool already.", next_step="Give every run a name of its own.")

    async def reserve(
        self,
        run: str,
        name: str,
        *,
        now: Instant,
        parent: str | None = None,
        cap: Micros | None = None,
        need: Micros = 1,
    ) -> PoolShare:
        """Money for a new subagent, out of its parent's (the owner's, if none is named). Refused where the share would
        be below `need`. Asking again for the same subagent gives the same share, so that a retry is not given twice;
        the name of one that is closed is not used again."""
        _check_name(name)
        return await self._change(run, now, lambda books: books.reserve(name, parent, cap, need, now), name, parent)

    async def renew(self, run: str, name: str, now: Instant) -> None:
        """A sign of life without a call."""
        await self._change(run, now, lambda books: books.renew(name, now), name)

    async def release(self, run: str, name: str, now: Instant) -> Micros:
        """A subagent is done: what it did not use goes back to its parent, and that amount is returned. Whoever it
        started is stopped with it. What was given back already, in whatever way, cannot be given back again."""
        return await self._change(run, now, lambda books: books.release(name), name)

    async def revoke(self, run: str, name: str, now: Instant) -> tuple[str, ...]:
        """Stop a member and everybody below it: their next calls are refused. Returns the names that were open until
        now, the top one first, so that the caller can cancel them. A run whose owner is stopped makes no call."""
        return await self._change(run, now, lambda books: books.revoke(name), name)

    async def expire(self, run: str, now: Instant) -> tuple[str, ...]:
        """Take back what went stale, with everybody below it; the names. Every other step does this first."""
        return await self._change(run, now, lambda books: books.expired)

    async def available(self, run: str, name: str, now: Instant) -> Micros:
        """What a member may spend now: what it neither spent nor handed on; nothing once it is closed. The agent's day
        may have less."""
        return await self._change(run, now, lambda books: books.available(name), name)

    async def status(self, run: str, now: Instant) -> PoolStatus:
        """How it stands. Reading changes nothing: what is stale reads as taken back."""
        async with self._store.transaction():
            pool, account = await self._lock(run)
            books = PoolBooks(pool, account, await self._store.pools.members(run, closed=True))
        books.expire(now)
        return books.status()

    async def sweep(self, firing: Firing) -> None:
        """The pool timer's handler: take back what is stale, and come back for what is still open."""
        run = str(firing.timer.payload["run"])
        async with self._store.transaction():
            # The money before the timer, as everybody does who changes a pool: the other way round, two could wait for
            # each other.
            books = await self._locked(run)
            async with firing.settle() as settlement:
                books.expire(firing.now)
                await self._write(books)
                if books.next_expiry is not None:
                    settlement.again(Instant(max(books.next_expiry, firing.now + SECOND)))

    async def _change(self, run: str, now: Instant, step: Callable[[PoolBooks], T], *named: str | None) -> T:
        """One step on the pool as it is at `now`, about the members that are named. A step that is refused changes
        nothing, but what was stale is gone all the same."""
        refusal: NudgeError | None = None
        async with self._store.transaction():
            books = await self._locked(run)
            for name in named:
                if name and name not in books.tree and (row := await self._store.pools.member(run, name)):
                    books.remember(row)
            books.expire(now)
            try:
                done = step(books)
            except NudgeError as error:
                refusal = error
            await self._write(books)
        if refusal is not None:
            raise refusal
        return done

    async def _locked(self, run: str) -> PoolBooks:
        pool, account = await self._lock(run)
        members, closed = await self._store.pools.members(run), await self._store.pools.closed_use(run)
        return PoolBooks(pool, account, members, closed)

    async def _lock(self, run: str) -> tuple[PoolRow, AccountRow]:
        key = run_key(run)
        account = (await self._store.ledger.lock([key])).get(key)
        pool = await self._store.pools.get(run)
        if pool is None or account is None:
            raise NotFoundError(f"The run {run!r} has no pool.", next_step="Open one first.")
        return pool, account

    async def _write(self, books: PoolBooks) -> None:
        pool = books.pool
        for row in books.changed_members():
            await self._store.pools.put(row)
        fresh = list(books.new_members())
        for row in fresh:
            await self._store.ledger.open(member_key(pool.run, row.name), 0, agent=pool.agent)
            await self._store.pools.add(row)
        limits = books.changed_limits()
        for key in lock_order(limits):
            await self._store.ledger.set_limit(key, limits[key])
        if fresh and books.next_expiry is not None:
            lane = f"{pool.agent}/{POOL}"
            await self._store.timers.ensure(
                Timer.at(
                    pool.agent, f"{POOL}:{pool.run}", POOL, books.next_expiry, payload={"run": pool.run}, lane=lane
                )
            )


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
            f"{account.key.name} has a budget of {format_money(account.account.limit)} for {account.agent} already.",
            next_step="Share out that much, or give every run a name of its own.",
        )
