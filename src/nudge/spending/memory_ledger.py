"""A ledger in memory: guards any model calls of one program with a limit in dollars, without a daemon or a database.

The rules, the ledger and the waiting line are those of the daemon. This adds where the numbers live, and `with`. It
belongs to one thread; on an event loop any number of tasks may share it, because nothing here awaits between reading
an account and changing it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from types import TracebackType
from weakref import WeakValueDictionary

from nudge.errors import BudgetExhaustedError
from nudge.inline import run_inline
from nudge.instants import Instant, Moment, as_instant
from nudge.spending import holds
from nudge.spending.allowance import Meter
from nudge.spending.holds import (
    MIN_TOKENS,
    Account,
    AccountKey,
    AccountKind,
    Answer,
    Call,
    Change,
    End,
    Hold,
    HoldState,
)
from nudge.spending.ledger import AccountLedger, Attempt, HeldCall
from nudge.spending.money import Amount, Micros, Money, as_micros, format_money
from nudge.spending.prices import Caching, PriceTable
from nudge.spending.store import AccountRow, HoldRow
from nudge.spending.waiting import Line, NotYet

REMEMBERED = 10_000
"""How many ended attempts a ledger still knows: one of those is not made again, and its charge can be corrected."""

_UNNAMED = "unnamed call "


class MemoryAccount:
    """An account with a name. It lives as long as a ledger or a held call refers to it: a program may open one for
    every run."""

    __slots__ = ("__weakref__", "name", "row")

    def __init__(self, key: AccountKey, limit: Micros, name: str) -> None:
        self.name = name
        self.row = AccountRow(key, Account(limit))


class MemoryAccounts:
    """Accounts and holds in dictionaries: the storage of a ledger that ends with the program."""

    def __init__(self) -> None:
        self._accounts: WeakValueDictionary[AccountKey, MemoryAccount] = WeakValueDictionary()
        self._open: dict[str, HoldRow] = {}
        self._ended: dict[str, HoldRow] = {}

    @property
    def ledger(self) -> MemoryAccounts:
        return self

    def transaction(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def open(self, key: AccountKey, limit: Micros, name: str) -> MemoryAccount:
        account = self._accounts[key] = MemoryAccount(key, limit, name)
        return account

    def get(self, key: AccountKey) -> MemoryAccount:
        return self._accounts[key]

    def forget(self, attempt_id: str) -> None:
        """Let go of an attempt that has ended."""
        self._ended.pop(attempt_id, None)

    async def lock(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        return {key: self._accounts[key].row for key in keys}

    async def hold(self, attempt_id: str) -> HoldRow | None:
        return self._open.get(attempt_id) or self._ended.get(attempt_id)

    lock_hold = hold

    async def reserve(self, row: HoldRow) -> bool:
        if row.hold.attempt_id in self._open or row.hold.attempt_id in self._ended:
            return False
        self._open[row.hold.attempt_id] = row
        self._add(row, Change(row.hold, held=row.hold.amount))
        return True

    async def change(self, row: HoldRow, change: Change) -> None:
        after = change.hold
        self._open.pop(after.attempt_id, None)
        self._ended[after.attempt_id] = HoldRow(after, row.agent, row.chain, row.made_at, row.model)
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self._add(row, change)

    async def expired(self, agent: str, now: Instant, limit: int = 100) -> Sequence[HoldRow]:
        due = (row for row in self._open.values() if row.hold.expires_at is not None and row.hold.expires_at <= now)
        return list(itertools.islice(due, limit))

    def _add(self, row: HoldRow, change: Change) -> None:
        for key in row.chain:
            account = self._accounts[key]
            account.row = account.row.changed(row.hold, change)


class Ledger:
    """A limit on what model calls may cost, even when many run at once.

    Each call holds its worst case before it starts. If that does not fit, its `max_tokens` is lowered; if even that
    does not fit, `async with` waits in line until other calls have settled, and plain `with`, which cannot wait, raises
    BudgetExhaustedError. So does a call that the money that is left can never cover.

    A block that raises is charged the input's cost; one that ends without `settle` is charged the worst case.

    >>> from types import SimpleNamespace
    >>> def create(**request):  # stands in for anthropic.Anthropic().messages.create
    ...     return SimpleNamespace(usage=SimpleNamespace(input_tokens=1_000, output_tokens=180))
    >>> from nudge.home.prices import load_prices
    >>> ledger = Ledger(1.00, prices=load_prices())
    >>> with ledger.hold(model="claude-sonnet-5-5", input_tokens=1_000, max_tokens=4_096) as hold:
    ...     reply = create(model=hold.model, max_tokens=hold.max_tokens, messages=[])
    ...     charged = hold.settle(reply.usage)
    >>> charged, ledger.spent, ledger.held, ledger.meter.text
    (3800, 3800, 0, 'Budget: 0% used')
    >>> ledger
    <Ledger 'the ledger': $0.0038 spent and $0.00 held of $1.00>
    """

    def __init__(self, limit: Amount, *, prices: PriceTable, name: str = "the ledger") -> None:
        """`limit` is in dollars: 5, "$5.00" or Decimal("5")."""
        self._begin(_Tree(prices), (), as_micros(limit), name)

    def _begin(self, tree: _Tree, above: tuple[MemoryAccount, ...], limit: Micros, name: str) -> None:
        self._tree = tree
        self._account = tree.opened(above, limit, name)
        self._chain = (*above, self._account)

    def __repr__(self) -> str:
        spent, held, limit = map(format_money, (self.spent, self.held, self.limit))
        return f"<Ledger {self._account.name!r}: {spent} spent and {held} held of {limit}>"

    def child(self, limit: Amount, *, name: str) -> Ledger:
        """A new ledger inside this one, for a run or a member of a pool: its calls need room in it and in all above."""
        inner = Ledger.__new__(Ledger)
        inner._begin(self._tree, self._chain, as_micros(limit), name)
        return inner

    @property
    def limit(self) -> Money:
        return Money(self._account.row.account.limit)

    @property
    def spent(self) -> Money:
        """Charged so far. Above the limit only by what the estimates of calls in flight were too low."""
        return Money(self._account.row.account.committed)

    @property
    def held(self) -> Money:
        return Money(self._account.row.account.held)

    @property
    def available(self) -> Money:
        """What a new call may hold, here and in the ledgers above."""
        return Money(holds.available([account.row.account for account in self._chain]))

    @property
    def overrun(self) -> Money:
        """The sum of what calls cost more than was held for them."""
        return Money(self._account.row.overrun)

    @property
    def waiting(self) -> int:
        """How many calls wait in line, in the whole tree of ledgers."""
        return len(self._tree.line)

    @property
    def meter(self) -> Meter:
        return Meter(self.spent, self.limit)

    def hold(
        self,
        *,
        model: str,
        input_tokens: int,
        max_tokens: int,
        min_tokens: int = MIN_TOKENS,
        caching: Caching = Caching.SHORT,
        attempt_id: str | None = None,
        expires_at: Moment | None = None,
    ) -> Reservation:
        """Hold a call's worst case for a `with` or `async with` block.

        The limit is kept as long as `input_tokens` is not too low. `max_tokens` is lowered to no less than
        `min_tokens`. Holding an `attempt_id` again gives the same hold, so that a retry is not held twice; once it has
        ended, it is refused. A hold with an expiry is given up by `sweep`.
        """
        price = self._tree.prices.quote(model).price
        call = Call(price, input_tokens, max_tokens, min_tokens, Caching(caching))
        attempt = Attempt(self._tree.named(attempt_id), call, model=model)
        return Reservation(self._tree, self._chain, attempt, None if expires_at is None else as_instant(expires_at))

    def top_up(self, amount: Amount) -> None:
        """Raise the limit of this ledger; calls that wait for money continue."""
        row = self._account.row
        account = replace(row.account, limit=row.account.limit + as_micros(amount))
        self._account.row = replace(row, account=account)
        self._tree.line.ring()

    def sweep(self, now: Moment) -> int:
        """Give up the holds of the whole tree whose expiry is `now` or earlier, at their worst case; how many.

        A settlement that comes later still corrects the charge.
        """
        return self._tree.sweep(as_instant(now))


class Reservation:
    """What `Ledger.hold` gives: enter it once, with `with` or `async with`."""

    def __init__(
        self, tree: _Tree, chain: tuple[MemoryAccount, ...], attempt: Attempt, expires_at: Instant | None
    ) -> None:
        self._tree = tree
        self._chain = chain
        self._keys = tuple(account.row.key for account in chain)
        self._attempt = attempt
        self._expires_at = expires_at
        self._held: HeldCall | None = None

    def __enter__(self) -> HeldCall:
        if self._tree.line.blocks(self._keys) and self._attempt.id not in self._tree.calls:
            raise self._would_pass()
        answer = run_inline(self._ask())
        if isinstance(answer, NotYet):
            raise answer.refusal
        self._held = answer
        return answer

    async def __aenter__(self) -> HeldCall:
        self._held = await self._tree.line.turn(self._keys, self._ask)
        return self._held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._held is not None
        self._held._leave(error)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    async def _ask(self) -> HeldCall | NotYet:
        """Hold the call now, or say what it waits for. Raises where waiting does not help."""
        tree, attempt = self._tree, self._attempt
        if attempt.id in tree.calls:
            return tree.calls[attempt.id]
        reserved = await tree.ledger.reserve(attempt, self._keys, Instant(0), expires_at=self._expires_at)
        if reserved.held is None:
            refusal = self._refusal(reserved.decision.answer, tree.accounts.get(reserved.short[-1]))
            if reserved.decision.answer is Answer.REFUSED:
                raise refusal
            return NotYet(frozenset(reserved.short), refusal)
        held = HeldCall(reserved.held.hold, attempt.call, attempt.model, tree.prices, self._ended)
        tree.calls[attempt.id] = held
        return held

    def _ended(self, held: HeldCall, end: End) -> Hold:
        """Write the end of the call at once. This also keeps its accounts as long as the held call itself."""
        hold = run_inline(self._tree.ledger.end(held.id, end)).hold
        if hold.state is not HoldState.HELD:
            self._tree.ended(hold)
        return hold

    def _would_pass(self) -> BudgetExhaustedError:
        """The refusal of a call that cannot wait while others stand in line for what it takes from."""
        hopeless = holds.decide([account.row.account for account in self._chain], self._attempt.call)
        answer = Answer.REFUSED if hopeless.answer is Answer.REFUSED else Answer.WAIT
        return self._refusal(answer, self._chain[hopeless.short[-1] if hopeless.short else 0])

    def _refusal(self, answer: Answer, short: MemoryAccount) -> BudgetExhaustedError:
        call, account = self._attempt.call, short.row.account
        message = (
            f"The call needs {format_money(call.worst_case(call.least_tokens))} at least, and {short.name} has "
            f"{format_money(account.available)} left of {format_money(account.limit)}"
        )
        if answer is Answer.REFUSED:
            return BudgetExhaustedError(f"{message}.", next_step="Top up, shorten the input, or use a cheaper model.")
        return BudgetExhaustedError(
            f"{message}, with {format_money(account.held)} held for running calls or calls ahead of it.",
            next_step="Try again when they are done, or use `async with`, which waits.",
        )


class _Tree:
    """What all ledgers of a tree share: prices, accounts, the line, and the calls that are held."""

    def __init__(self, prices: PriceTable) -> None:
        self.prices = prices
        self.accounts = MemoryAccounts()
        self.ledger = AccountLedger(self.accounts)
        self.line = Line()
        self.calls: dict[str, HeldCall] = {}
        self._numbers = itertools.count(1)

    def opened(self, above: tuple[MemoryAccount, ...], limit: Micros, name: str) -> MemoryAccount:
        """A new account. Names may repeat, keys do not; those of inner accounts come later in the lock order."""
        kind, path = AccountKind.RUN, str(next(self._numbers))
        if above:
            kind, path = AccountKind.POOL, f"{above[-1].row.key.name}/{path}"
        return self.accounts.open(AccountKey(kind, path), limit, name)

    def named(self, attempt_id: str | None) -> str:
        return f"{_UNNAMED}{next(self._numbers)}" if attempt_id is None else attempt_id

    def ended(self, hold: Hold) -> None:
        """A hold has ended: others may have room now. One that nobody can ask for again is forgotten."""
        self.calls.pop(hold.attempt_id, None)
        if hold.state is HoldState.SETTLED and hold.attempt_id.startswith(_UNNAMED):
            self.accounts.forget(hold.attempt_id)
        self.line.ring()

    def sweep(self, now: Instant) -> int:
        swept = 0
        while given_up := run_inline(self.ledger.sweep("", now)):
            for ended in given_up:
                self.calls[ended.hold.attempt_id]._became(ended.hold)
                self.ended(ended.hold)
            swept += len(given_up)
        return swept
