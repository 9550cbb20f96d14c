"""A ledger in memory: guards any model calls of one program with a limit in dollars, without a daemon or a database.

The rules are those of `spending.holds`. This adds the accounts themselves, a line for calls that do not fit yet, and
`with`. It belongs to one thread; on an event loop any number of tasks may share it, because nothing here awaits between
reading an account and changing it.
"""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType

from nudge.errors import UsageError
from nudge.instants import Instant, Moment, as_instant
from nudge.spending.hold_queue import HoldQueue, Pot, Request
from nudge.spending.holds import (
    MIN_TOKENS,
    Call,
    Change,
    Decision,
    Hold,
    HoldState,
    cancel,
    expire,
    give_up,
    reserve,
    settle,
)
from nudge.spending.meter import Meter
from nudge.spending.money import Amount, Micros, as_micros
from nudge.spending.prices import PriceTable
from nudge.spending.rates import Caching
from nudge.tokens import token_use

REMEMBERED = 10_000
"""How many ended attempts a ledger still knows by the id that a caller gave them."""

_UNNAMED = "unnamed call "


class HeldCall:
    """A call whose worst case is held. Send it with `max_tokens`, then `settle` it with the usage of the reply."""

    def __init__(self, tree: _Tree, chain: tuple[Pot, ...], hold: Hold, model: str, wanted: int) -> None:
        self._tree = tree
        self._chain = chain
        self._hold = hold
        self.model = model
        self.clamped = hold.max_tokens < wanted
        self._change(Change(hold, held=hold.amount))

    @property
    def attempt_id(self) -> str:
        return self._hold.attempt_id

    @property
    def known_price(self) -> bool:
        """False where the model is charged at the dearest known price because its own is not known."""
        return self._tree.prices.quote(self.model).known

    @property
    def max_tokens(self) -> int:
        """What the call may ask for: fewer than wanted where `clamped` is true."""
        return self._hold.max_tokens

    @property
    def amount(self) -> Micros:
        """What is or was held, in micro-dollars."""
        return self._hold.amount

    @property
    def charged(self) -> Micros:
        return self._hold.charged

    @property
    def overrun(self) -> Micros:
        """By how much the call cost more than was held for it."""
        return self._hold.overrun

    @property
    def state(self) -> HoldState:
        return self._hold.state

    def settle(self, usage: object, *, model: str | None = None) -> Micros:
        """Charge what the reply says it used, and return the charge. The first settlement counts.

        `usage` is a TokenUse, or the usage of an Anthropic reply as it came. `model` is the one that answered, where it
        was not the one asked. A call that was never sent is settled with `TokenUse()`.
        """
        return self.settle_at(self._tree.prices.cost(model or self.model, token_use(usage)))

    def settle_at(self, cost: Amount) -> Micros:
        """Charge a cost that is already known."""
        self._change(settle(self._hold, as_micros(cost)))
        return self.charged

    def cancel(self) -> None:
        """Charge the input's cost: the call was sent, and its answer will not be used."""
        self._change(cancel(self._hold))

    def _leave(self, failed: bool) -> None:
        self._change(cancel(self._hold) if failed else give_up(self._hold))

    def _expire(self, now: Instant) -> bool:
        before = self.state
        self._change(expire(self._hold, now))
        return self.state is not before

    def _change(self, change: Change) -> None:
        overrun = change.hold.overrun - self._hold.overrun
        self._hold = change.hold
        for pot in self._chain:
            pot.apply(change, overrun)
        if change.hold.state is not HoldState.HELD:
            self._tree.ended(self)
            self._tree.queue.advance()


class Ledger:
    """A limit on what model calls may cost, also when many run at once.

    Each call holds its worst case before it starts. If that does not fit, its `max_tokens` is lowered; if even that
    does not fit, `async with` waits in line until other calls have settled, and plain `with`, which cannot wait, raises
    BudgetExhaustedError. So does a call that the money that is left can never cover.

    An exception in the block charges the input's cost. A block that ends without `settle` is charged the worst case.

    >>> from types import SimpleNamespace
    >>> def create(**request):  # stands in for anthropic.Anthropic().messages.create
    ...     return SimpleNamespace(usage=SimpleNamespace(input_tokens=1_000, output_tokens=180))
    >>> from nudge.home.prices import load_prices
    >>> ledger = Ledger("$1.00", prices=load_prices())
    >>> with ledger.hold(model="claude-sonnet-5-5", input_tokens=1_000, max_tokens=4_096) as hold:
    ...     reply = create(model=hold.model, max_tokens=hold.max_tokens, messages=[])
    ...     charged = hold.settle(reply.usage)
    >>> charged, ledger.spent, ledger.held, ledger.meter.text
    (3800, 3800, 0, 'Budget: 0% used')
    """

    def __init__(self, limit: Amount, *, prices: PriceTable, name: str = "the ledger") -> None:
        self._pot = Pot(name, as_micros(limit))
        self._chain: tuple[Pot, ...] = (self._pot,)
        self._tree = _Tree(prices)

    def child(self, limit: Amount, *, name: str) -> Ledger:
        """A ledger inside this one, for a run or a member of a pool: its calls need room in it and in all above."""
        inner = Ledger(limit, prices=self._tree.prices, name=name)
        inner._chain = (*self._chain, inner._pot)
        inner._tree = self._tree
        return inner

    @property
    def limit(self) -> Micros:
        return self._pot.account.limit

    @property
    def spent(self) -> Micros:
        """Charged so far. Above the limit only by what the estimates of calls in flight were too low."""
        return self._pot.account.committed

    @property
    def held(self) -> Micros:
        return self._pot.account.held

    @property
    def available(self) -> Micros:
        """What a new call may hold, here and in the ledgers above."""
        return min(pot.account.available for pot in self._chain)

    @property
    def overrun(self) -> Micros:
        """The sum of what calls cost more than was held for them."""
        return self._pot.overrun

    @property
    def waiting(self) -> int:
        """How many calls stand in line, in the whole tree of ledgers."""
        return len(self._tree.queue)

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
        """Reserve a call's worst case for a `with` or `async with` block.

        The limit is kept as far as `input_tokens` is no underestimate. `max_tokens` is lowered to no less than
        `min_tokens`. Reserving an `attempt_id` again gives the same hold, so that a retry is not held twice; once it
        has ended, it is refused. A hold with an expiry is given up by `sweep`.
        """
        price = self._tree.prices.quote(model).price
        call = Call(price, input_tokens, max_tokens, min_tokens, Caching(caching))
        expiry = None if expires_at is None else as_instant(expires_at)
        return Reservation(self._tree, self._chain, call, model, attempt_id, expiry)

    def top_up(self, amount: Amount) -> None:
        """Raise the limit; calls that wait for money go on."""
        self._pot.account = replace(self._pot.account, limit=self.limit + as_micros(amount))
        self._tree.queue.advance()

    def sweep(self, now: Moment) -> int:
        """Give up the holds of the whole tree whose expiry is `now` or earlier, at their worst case; how many.

        A settlement that comes later still corrects the charge.
        """
        return sum(held._expire(as_instant(now)) for held in list(self._tree.open.values()))


class Reservation:
    """What `Ledger.hold` gives: enter it once, with `with` or `async with`."""

    def __init__(
        self,
        tree: _Tree,
        chain: tuple[Pot, ...],
        call: Call,
        model: str,
        attempt_id: str | None,
        expires_at: Instant | None,
    ) -> None:
        self._tree = tree
        self._chain = chain
        self._model = model
        self._attempt_id = attempt_id
        self._expires_at = expires_at
        self._request = Request(chain, call, self._grant, self._release)
        self._held: HeldCall | None = None
        self._made: HeldCall | None = None

    def __enter__(self) -> HeldCall:
        self._held = self._tree.known(self._attempt_id) or self._tree.queue.take(self._request)
        return self._held

    async def __aenter__(self) -> HeldCall:
        self._held = self._tree.known(self._attempt_id) or await self._tree.queue.wait(self._request)
        return self._held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._held is not None
        self._held._leave(failed=kind is not None)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _grant(self, decision: Decision) -> HeldCall:
        if known := self._tree.known(self._attempt_id):
            return known
        name = self._tree.named(self._attempt_id)
        hold = reserve(name, decision, self._request.call, self._expires_at).hold
        self._made = HeldCall(self._tree, self._chain, hold, self._model, self._request.call.max_tokens)
        self._tree.open[name] = self._made
        return self._made

    def _release(self, held: HeldCall) -> bool:
        if held is not self._made:
            return False
        self._tree.open.pop(held.attempt_id)
        held.settle_at(0)
        return True


class _Tree:
    """What all ledgers of a tree share: prices, the line, and the attempts by id."""

    def __init__(self, prices: PriceTable) -> None:
        self.prices = prices
        self.queue: HoldQueue[HeldCall] = HoldQueue()
        self.open: dict[str, HeldCall] = {}
        self._ended: dict[str, None] = {}
        self._names = 0

    def named(self, attempt_id: str | None) -> str:
        if attempt_id is not None:
            return attempt_id
        self._names += 1
        return f"{_UNNAMED}{self._names}"

    def known(self, attempt_id: str | None) -> HeldCall | None:
        if attempt_id in self._ended:
            raise UsageError(
                f"The attempt {attempt_id} has ended.", next_step="Give a new call an attempt id of its own."
            )
        return None if attempt_id is None else self.open.get(attempt_id)

    def ended(self, held: HeldCall) -> None:
        if self.open.pop(held.attempt_id, None) is None or held.attempt_id.startswith(_UNNAMED):
            return
        if len(self._ended) >= REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self._ended[held.attempt_id] = None
