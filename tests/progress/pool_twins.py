"""The same pool twice, in the store and in memory: whatever is done to one is done to the other, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from nudge.errors import NudgeError
from nudge.instants import Instant
from nudge.progress.pool import BudgetPool
from nudge.progress.stored_pools import Pools, member_run
from nudge.queue.agents import Agent
from nudge.spending.agent_ledger import run_chain
from nudge.spending.holds import Call
from nudge.spending.ledger import AccountLedger, Attempt
from nudge.spending.money import Money
from nudge.spending.store import UsageRow
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.spending.kit import PENNY, settled
from tests.times import NOON

RUN = "run-7"
TOTAL = 10_000


def costing(amount: int) -> Call:
    """A call whose worst case is so many micro-dollars, and which is not clamped."""
    return Call(PENNY.quote("penny").price, 0, amount, amount)


async def tried(what: Awaitable[Any]) -> Any:
    """What came of it: the value, or the kind of refusal."""
    try:
        return await what
    except NudgeError as error:
        return type(error)


class Twins:
    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.pools = Pools(store)
        self.ledger = AccountLedger(store)
        self.pure = BudgetPool(TOTAL)
        self.now = NOON
        self.names = ["parent"]
        self._attempts = itertools.count()

    async def open(self) -> None:
        await self.store.agents.add(Agent("coach", "coach", NOON))
        await self.pools.open("coach", RUN, Money(TOTAL))

    async def reserve(self, name: str, parent: str | None, cap: int | None, need: int) -> None:
        most = None if cap is None else Money(cap)
        share = await tried(self.pools.reserve(RUN, name, parent=parent, cap=most, need=Money(need), now=self.now))
        granted = share if isinstance(share, type) else share.granted
        assert granted == self._pure(
            lambda: self.pure.reserve(name, parent=parent, cap=cap, need=need, now=self.now).granted
        )
        if not isinstance(granted, type):
            self.names.append(name)

    async def spend(self, name: str, percent: int) -> None:
        """A call that costs so many per cent of what the member has, held and settled."""
        available = await self.pools.available(RUN, name, self.now)
        assert available == self.pure.available(name, self.now)
        if amount := available * percent // 100:
            attempt = f"a{next(self._attempts)}"
            run = member_run(RUN, name)
            held = await self.ledger.reserve(Attempt(attempt, costing(amount), "coach"), run_chain(run), self.now)
            assert held.held is not None, "the ledger grants what the pool says is there"
            await self.ledger.end(attempt, settled(amount))
            await self.store.usage.put(UsageRow(attempt, "coach", self.now, "", "penny", TokenUse(), amount, run))
            assert self.pure.spend(name, amount, self.now).charged == amount

    async def spend_too_much(self, name: str) -> None:
        """The ledger grants no micro-dollar more than the pool says is there."""
        amount = 1 + await self.pools.available(RUN, name, self.now)
        attempt = Attempt(f"a{next(self._attempts)}", costing(amount), "coach")
        refused = await self.ledger.reserve(attempt, run_chain(member_run(RUN, name)), self.now)
        assert refused.held is None
        self.pure.expire(self.now)

    async def renew(self, name: str) -> None:
        assert await tried(self.pools.renew(RUN, name, self.now)) == self._pure(lambda: self.pure.renew(name, self.now))

    async def release(self, name: str) -> None:
        released = await tried(self.pools.release(RUN, name, self.now))
        assert released == self._pure(lambda: self.pure.release(name, self.now))

    async def revoke(self, name: str) -> None:
        revoked = await tried(self.pools.revoke(RUN, name, self.now))
        assert revoked == self._pure(lambda: self.pure.revoke(name, self.now))

    async def wait(self, microseconds: int) -> None:
        self.now = Instant(self.now + microseconds)
        assert await self.pools.expire(RUN, self.now) == self.pure.expire(self.now)

    async def agree(self) -> None:
        status = await self.pools.status(RUN, self.now)
        assert (status.total, status.used, status.reserved) == (TOTAL, self.pure.used, self.pure.reserved)
        assert status.used + status.reserved <= TOTAL
        assert status.overrun == 0
        assert {member.name: member.state for member in status.members} == {
            name: self.pure.state(name) for name in self.names
        }

    def _pure(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except NudgeError as error:
            return type(error)
