"""Reserve → commit on accounts in the store, for any number of processes.

The arithmetic is that of `nudge.spending.holds`. Each step is one short transaction, or part of the one around it: the
accounts of a chain are locked in one order, looked at, and changed together with the hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant
from nudge.spending import holds
from nudge.spending.holds import AccountKey, Answer, Call, Change, Decision, Hold, HoldState, lock_order
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow, HoldRow, SpendingStore

_End: TypeAlias = Callable[[Hold], Change]
_NOBODY: Mapping[AccountKey, AccountRow] = {}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that is to be made: an id of its own, for whom and what, and until when its money is kept for it."""

    id: str
    agent: str
    at: Instant
    expires_at: Instant | None = None
    model: str = ""
    purpose: str = ""
    run: str = ""

    def held(self, hold: Hold, chain: tuple[AccountKey, ...]) -> HoldRow:
        return HoldRow(hold, self.agent, chain, self.at, self.model, self.purpose, self.run)


@dataclass(frozen=True, slots=True)
class Reserved:
    """The answer to a reservation, with the accounts as they are after it. `held` is None unless it was granted."""

    decision: Decision
    held: HoldRow | None
    accounts: Mapping[AccountKey, AccountRow]

    @property
    def short(self) -> tuple[AccountKey, ...]:
        """The accounts that lack the money."""
        keys = lock_order(self.accounts)
        return tuple(keys[index] for index in self.decision.short)


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a hold: the row before, and what changed."""

    row: HoldRow
    change: Change

    @property
    def hold(self) -> Hold:
        return self.change.hold


class StoreLedger:
    def __init__(self, store: SpendingStore) -> None:
        self._store = store

    async def reserve(
        self,
        attempt: Attempt,
        call: Call,
        chain: Sequence[AccountKey],
        *,
        locked: Mapping[AccountKey, AccountRow] = _NOBODY,
    ) -> Reserved:
        """Hold the call's worst case on every account of the chain that exists, clamped where that has to be.

        An account that was never opened is no limit. `locked` are rows of the chain that this transaction has locked
        already. The same attempt again gives the same hold; one that has ended is refused.
        """
        async with self._store.transaction():
            others = [key for key in chain if key not in locked]
            accounts = {**locked, **await self._store.ledger.lock(others)}
            if not accounts:
                raise UsageError("A call needs an account to be held on.", next_step="Open one first.")
            order = lock_order(accounts)
            decision = holds.decide([accounts[key].account for key in order], call)
            if decision.answer is Answer.GRANTED:
                change = holds.reserve(attempt.id, decision, call, attempt.expires_at)
                held = attempt.held(change.hold, tuple(order))
                if await self._store.ledger.reserve(held):
                    after = {key: row.changed(change.hold, change) for key, row in accounts.items()}
                    return Reserved(decision, held, after)
            known = await self._store.ledger.hold(attempt.id)
            return Reserved(decision, None, accounts) if known is None else _again(known, accounts)

    async def settle(self, attempt_id: str, cost: Micros) -> Ended:
        """Charge what the call cost, in place of the hold or of what was charged without knowing."""
        return await self._end(attempt_id, lambda hold: holds.settle(hold, cost))

    async def cancel(self, attempt_id: str) -> Ended:
        """Charge the input of a call that was cancelled or failed."""
        return await self._end(attempt_id, holds.cancel)

    async def expire(self, attempt_id: str, now: Instant) -> Ended:
        """Charge the worst case of a call whose time is over."""
        return await self._end(attempt_id, lambda hold: holds.expire(hold, now))

    async def sweep(self, agent: str, now: Instant, limit: int = 100) -> list[Ended]:
        """Give up the agent's holds whose expiry is `now` or earlier."""
        async with self._store.transaction():
            expired = await self._store.ledger.expired(agent, now, limit)
            return [await self.expire(row.hold.attempt_id, now) for row in expired]

    async def _end(self, attempt_id: str, end: _End) -> Ended:
        async with self._store.transaction():
            row = await self._store.ledger.lock_hold(attempt_id)
            if row is None:
                raise NotFoundError(f"There is no attempt called {attempt_id!r}.", next_step="Reserve it first.")
            change = end(row.hold)
            if change.hold != row.hold:
                await self._store.ledger.change(row, change)
            return Ended(row, change)


def _again(known: HoldRow, accounts: Mapping[AccountKey, AccountRow]) -> Reserved:
    hold = known.hold
    if hold.state is not HoldState.HELD:
        raise UsageError(
            f"The attempt {hold.attempt_id} has ended.", next_step="Give a new call an attempt id of its own."
        )
    return Reserved(Decision(Answer.GRANTED, hold.max_tokens, hold.amount), known, accounts)
