"""The ledger: hold the worst case of a call on a chain of accounts, and replace it by what the call cost.

One use case over a small storage of accounts and holds. There are two: tables in a database, for any number of
processes (`tables`), and memory, for one program (`memory_ledger`). The arithmetic is that of `holds`. Each step is one
short transaction, or part of the one around it: the accounts of a chain are locked in one order, looked at, and changed
together with the hold.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant
from nudge.spending import holds
from nudge.spending.holds import (
    AccountKey,
    Answer,
    Call,
    Change,
    Decision,
    End,
    Hold,
    HoldState,
    end_of_block,
    lock_order,
)
from nudge.spending.money import Micros, Money, format_money
from nudge.spending.prices import PriceTable
from nudge.spending.store import AccountRow, HoldRow
from nudge.tokens import TokenUse, UnbelievableUsageError, believable, token_use

log = logging.getLogger("nudge.ledger")

_NO_ROWS: Mapping[AccountKey, AccountRow] = {}
_NO_USE = TokenUse()


class Accounts(Protocol):
    """Where accounts and holds live. `reserve` and `change` write several rows of the transaction around them."""

    async def lock(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        """Those that exist, locked in `lock_order` until the transaction ends."""
        ...

    async def hold(self, attempt_id: str) -> HoldRow | None: ...

    async def lock_hold(self, attempt_id: str) -> HoldRow | None: ...

    async def reserve(self, row: HoldRow) -> bool:
        """Write a new hold and hold its amount on its chain; False, and nothing written, if the attempt is known."""
        ...

    async def change(self, row: HoldRow, change: Change) -> None:
        """Write what happened to a hold, and add it to every account of its chain."""
        ...

    async def expired(self, agent: str, now: Instant, limit: int = 100) -> Sequence[HoldRow]: ...


class LedgerStorage(Protocol):
    @property
    def ledger(self) -> Accounts: ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that wants to start, under an id of its own: what it may cost, and which agent it is for."""

    id: str
    call: Call
    agent: str = ""
    model: str = ""
    purpose: str = ""
    run: str = ""
    owner: str = ""

    def held(self, hold: Hold, chain: tuple[AccountKey, ...], now: Instant) -> HoldRow:
        return HoldRow(hold, self.agent, chain, now, self.model, self.purpose, self.run, self.owner)


@dataclass(frozen=True, slots=True)
class Reserved:
    """The answer to a reservation, with the accounts as they were read for it. `held` is None unless it was granted."""

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


class AccountLedger:
    """Holds and settlements on the accounts of a storage."""

    def __init__(self, store: LedgerStorage) -> None:
        self._store = store

    async def reserve(
        self,
        attempt: Attempt,
        chain: Sequence[AccountKey],
        now: Instant,
        *,
        expires_at: Instant | None = None,
        locked: Mapping[AccountKey, AccountRow] = _NO_ROWS,
    ) -> Reserved:
        """Hold the call's worst case on every account of the chain that exists, clamped where it has to be.

        An account that was never opened is no limit. `locked` are rows of the chain that this transaction has locked
        already. The same attempt again gives the same hold; one that has ended is refused.
        """
        async with self._store.transaction():
            others = [key for key in chain if key not in locked]
            accounts = {**locked, **await self._store.ledger.lock(others)}
            if not accounts:
                raise UsageError("There is no account to hold this call on.", next_step="Open one first.")
            order = lock_order(accounts)
            decision = holds.decide([accounts[key].account for key in order], attempt.call)
            if decision.answer is Answer.GRANTED:
                change = holds.reserve(attempt.id, decision, attempt.call, expires_at)
                held = attempt.held(change.hold, tuple(order), now)
                if await self._store.ledger.reserve(held):
                    return Reserved(decision, held, accounts)
            known = await self._store.ledger.hold(attempt.id)
            return Reserved(decision, None, accounts) if known is None else _again(known, accounts)

    async def charge(
        self,
        attempt: Attempt,
        chain: Sequence[AccountKey],
        cost: Micros,
        now: Instant,
        *,
        locked: Mapping[AccountKey, AccountRow] = _NO_ROWS,
    ) -> Ended:
        """Charge a call that was made without a hold: the money is gone, whether or not it was there. The same attempt
        again changes nothing."""
        async with self._store.transaction():
            others = [key for key in chain if key not in locked]
            accounts = {**locked, **await self._store.ledger.lock(others)}
            granted = Decision(Answer.GRANTED, attempt.call.max_tokens, cost)
            held = attempt.held(holds.reserve(attempt.id, granted, attempt.call).hold, tuple(lock_order(accounts)), now)
            await self._store.ledger.reserve(held)
            return await self.end(attempt.id, partial(holds.settle, actual=cost))

    async def end(self, attempt_id: str, end: End) -> Ended:
        """End a hold, in place of what was charged without knowing. An end that changes nothing writes nothing."""
        async with self._store.transaction():
            row = await self._store.ledger.lock_hold(attempt_id)
            if row is None:
                raise NotFoundError(f"There is no attempt called {attempt_id!r}.", next_step="Reserve it first.")
            change = end(row.hold)
            if change.hold != row.hold:
                await self._store.ledger.change(row, change)
            return Ended(row, change)

    async def sweep(self, agent: str, now: Instant, limit: int = 100) -> list[Ended]:
        """Charge the worst case of the agent's holds whose expiry is `now` or earlier."""
        async with self._store.transaction():
            expired = await self._store.ledger.expired(agent, now, limit)
            return [await self.end(row.hold.attempt_id, partial(holds.expire, now=now)) for row in expired]


def _again(known: HoldRow, accounts: Mapping[AccountKey, AccountRow]) -> Reserved:
    hold = known.hold
    if hold.state is not HoldState.HELD:
        raise UsageError(f"The attempt {hold.attempt_id} has ended.", next_step="Give a new call its own attempt id.")
    return Reserved(Decision(Answer.GRANTED, hold.max_tokens, hold.amount), known, accounts)


Report: TypeAlias = Callable[["HeldCall", End], Hold]
"""Takes note of the end of a held call; gives the hold as it is then."""


class HeldCall:
    """A call whose worst case is held. Send it with `max_tokens`, then `settle` it with the usage of the reply."""

    def __init__(self, hold: Hold, call: Call, model: str, prices: PriceTable, report: Report) -> None:
        self.model = model
        self.clamped = hold.max_tokens < call.max_tokens
        self._answered = model
        self._use = _NO_USE
        self._hold = hold
        self._call = call
        self._prices = prices
        self._report = report

    def __repr__(self) -> str:
        told = f"charged {format_money(self.charged)} of" if self.charged else "for"
        return f"<HeldCall {self.id!r} {self.state.value}: {told} {format_money(self.amount)}, {self.model}>"

    @property
    def id(self) -> str:
        """The attempt id: the caller's own, or one that was made up."""
        return self._hold.attempt_id

    @property
    def known_price(self) -> bool:
        """False where the model is charged at the highest known price because its own is not known."""
        return self._prices.quote(self.model).known

    @property
    def max_tokens(self) -> int:
        """What the call may ask for: fewer than wanted where `clamped` is true."""
        return self._hold.max_tokens

    @property
    def amount(self) -> Money:
        """What is or was held."""
        return Money(self._hold.amount)

    @property
    def charged(self) -> Money:
        """What the call was charged so far; nothing while it is held."""
        return Money(self._hold.charged)

    @property
    def overrun(self) -> Money:
        """By how much the call cost more than was held for it."""
        return Money(self._hold.overrun)

    @property
    def state(self) -> HoldState:
        return self._hold.state

    def settle(self, usage: object, *, model: str | None = None) -> Money:
        """Charge what the reply says it used, and return the charge. The first settlement counts.

        `usage` is a TokenUse, or the usage of an Anthropic or OpenAI reply as it came. One that cannot be true
        (negative, beyond a billion tokens) is not believed: the worst case is charged, as by `assume_worst`. `model` is
        the one that answered, where it was not the one asked. A call that was never sent is settled with `TokenUse()`.
        """
        if self.state is HoldState.SETTLED:
            return self.charged
        try:
            use = believable(token_use(usage))
        except UnbelievableUsageError as error:
            log.warning("Charging %s the highest possible cost: %s", self.id, error)
            return self.assume_worst(model=model)
        self._use, self._answered = use, model or self.model
        price = self._call.price if self._answered == self.model else self._prices.quote(self._answered).price
        self._end(partial(holds.settle, actual=price.cost(use)))
        return self.charged

    def assume_worst(self, use: TokenUse = _NO_USE, *, model: str | None = None) -> Money:
        """Charge the worst case: the call was answered, and nobody knows what it used. `use` is a guess for the log."""
        if self.state is HoldState.HELD:
            self._use, self._answered = use, model or self.model
            self._end(holds.give_up)
        return self.charged

    def produced(self, output_tokens: int) -> None:
        """Note how many tokens a stream has brought so far, all of them counted: what `cancel` charges."""
        if self.state is HoldState.HELD:
            self._use = TokenUse(output=max(self._use.output, output_tokens))

    def cancel(self) -> None:
        """Charge the input, and what a stream has brought: you ended it yourself, and the service stops writing then.
        `settle` replaces that by the truth. A stream that breaks off is charged its worst case."""
        self._end(partial(holds.cancel, produced=self._cost_of_output()))

    def _leave(self, error: BaseException | None) -> None:
        """End what the block did not end itself, by how the block ended."""
        if self.state is HoldState.HELD:
            self._end(end_of_block(error))

    def _became(self, hold: Hold) -> None:
        """Take over what happened to the hold elsewhere."""
        self._hold = hold

    def _end(self, end: End) -> None:
        self._hold = self._report(self, end)

    def _cost_of_output(self) -> Micros:
        return self._call.worst_case(self._use.output) - self._call.input_cost
