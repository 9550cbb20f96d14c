"""Holding and settling with everything that belongs to it, each in one transaction.

The agent's spending row is locked first, its day is brought up to date, and its state follows the money before and
after. Nothing here asks a model or waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from nudge.errors import BudgetExhaustedError, UsageError
from nudge.instants import DAY, MINUTE, Instant
from nudge.queue.timers import Timer
from nudge.spending.allowances import Allowances
from nudge.spending.books import Books
from nudge.spending.holds import AccountKey, AccountKind, Answer, Call
from nudge.spending.lifecycle import WINDING_DOWN_FROM
from nudge.spending.meter import Meter
from nudge.spending.money import Micros
from nudge.spending.prices import PriceTable
from nudge.spending.refusals import asleep, does_not_fit
from nudge.spending.sleep_wake import Advanced, SleepWake
from nudge.spending.store import HoldRow, SpendingStore, UsageRow
from nudge.spending.store_ledger import Attempt, Ended, Reserved, StoreLedger
from nudge.tokens import TokenUse

SWEEP = "sweep"
HOLD_LASTS = 15 * MINUTE
"""Longer than a call with all its retries takes. What a dead process held is given up then, at its worst case."""
FORGET_AFTER = 30 * DAY


def run_chain(run: str) -> tuple[AccountKey, ...]:
    """The accounts of a run: "run-7" is one, "run-7/reviewer" that of its pool's child as well."""
    if "\n" in run:
        raise UsageError(f"{run!r} cannot be a run's name.", next_step="Write it in one line.")
    parts = run.split("/") if run else []
    return tuple(
        AccountKey(AccountKind.POOL if depth else AccountKind.RUN, "/".join(parts[: depth + 1]))
        for depth in range(len(parts))
    )


@dataclass(frozen=True, slots=True)
class Asking:
    """A call that wants money: for whom and what, and whether it starts a task or belongs to one."""

    agent: str
    attempt_id: str
    call: Call
    model: str
    purpose: str
    run: str = ""
    starts_task: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """The answer to one that asked: a hold, or why there is none. `wait_for` names the pots that calls under way may
    still fill up; where it is empty, waiting is of no use."""

    advanced: Advanced
    held: HoldRow | None = None
    refusal: BudgetExhaustedError | None = None
    wait_for: frozenset[str] = frozenset()


class Purse:
    def __init__(self, store: SpendingStore, allowances: Allowances, prices: PriceTable) -> None:
        self.prices = prices
        self._store = store
        self._allowances = allowances
        self._ledger = StoreLedger(store)
        self._sleep_wake = SleepWake(store)
        self._sweeps: dict[str, Instant] = {}
        self._forgot: dict[str, Instant] = {}

    async def hold(self, asking: Asking, now: Instant) -> Tried:
        """Hold the worst case of a call, if the agent's state and the money allow it."""
        expires_at = Instant(now + HOLD_LASTS)
        async with self._store.transaction():
            tried = await self._hold(asking, now, expires_at)
            # The timer cannot be gone before it was due, so until then there is no need to set it again.
            swept = tried.held is None or self._sweeps.get(asking.agent, now) > now
            if not swept:
                timer = Timer.at(asking.agent, SWEEP, SWEEP, expires_at, lane=f"{asking.agent}/sweep")
                await self._store.timers.ensure(timer)
        if not swept:
            self._sweeps[asking.agent] = expires_at
        return tried

    async def settle(self, held: HoldRow, use: TokenUse, model: str, now: Instant) -> tuple[Micros, Advanced]:
        """Charge what a call used. `model` is the one that answered."""
        cost = self.prices.cost(model, use)
        async with self._store.transaction():
            books = await self._allowances.touch(held.agent, now)
            ended = await self._ledger.settle(held.hold.attempt_id, cost)
            await self._log(ended, now, use, model)
            return cost, await self._follow(books, ended, now)

    async def cancel(self, held: HoldRow, now: Instant) -> Advanced:
        """Charge the input of a call that was sent and whose answer nobody has."""
        async with self._store.transaction():
            books = await self._allowances.touch(held.agent, now)
            ended = await self._ledger.cancel(held.hold.attempt_id)
            await self._log(ended, now)
            return await self._follow(books, ended, now)

    async def sweep(self, agent: str, now: Instant) -> tuple[Advanced, Instant | None]:
        """Give up the agent's holds that have expired; and when the next one does."""
        async with self._store.transaction():
            await self._allowances.touch(agent, now)
            await self._give_up(agent, now)
            if self._forgot.get(agent, now) <= now:
                await self._store.ledger.forget(agent, Instant(now - FORGET_AFTER))
                self._forgot[agent] = Instant(now + DAY)
            books = await self._allowances.touch(agent, now)
            advanced = await self._sleep_wake.advance(books, now, badge=True)
            return advanced, await self._store.ledger.next_expiry(agent)

    async def look(self, agent: str, now: Instant) -> Advanced:
        """Let the state follow the money, and whoever sleeps on keep a wake."""
        async with self._store.transaction():
            advanced = await self._sleep_wake.advance(await self._allowances.touch(agent, now), now)
            await self._sleep_wake.keep_wake(advanced.books)
            return advanced

    async def _hold(self, asking: Asking, now: Instant, expires_at: Instant) -> Tried:
        advanced = await self._sleep_wake.advance(await self._allowances.touch(asking.agent, now), now)
        allowed = advanced.state.may_start_task if asking.starts_task else advanced.state.may_go_on
        if not allowed:
            return Tried(advanced, refusal=asleep(advanced.books))
        reserved = await self._reserve(asking, advanced.books, now, expires_at)
        if reserved.held is None and await self._give_up(asking.agent, now):
            advanced = await self._sleep_wake.advance(await self._allowances.touch(asking.agent, now), now)
            if not advanced.state.may_go_on:
                return Tried(advanced, refusal=asleep(advanced.books))
            reserved = await self._reserve(asking, advanced.books, now, expires_at)
        if reserved.held is not None:
            return Tried(advanced, reserved.held)
        refusal = does_not_fit(advanced.books, reserved.decision, reserved.short)
        if reserved.decision.answer is Answer.WAIT:
            return Tried(advanced, None, refusal, _pots(asking.agent, reserved.short))
        if any(_nearly_used_up(reserved, key) for key in advanced.books.chain):
            await self._store.ledger.use_up(advanced.books.day.key)
            books = await self._allowances.touch(asking.agent, now)
            advanced = await self._sleep_wake.advance(books, now)
        return Tried(advanced, None, refusal)

    async def _reserve(self, asking: Asking, books: Books, now: Instant, expires_at: Instant) -> Reserved:
        attempt = Attempt(asking.attempt_id, asking.agent, now, expires_at, asking.model, asking.purpose, asking.run)
        locked = {books.window.key: books.window, books.day.key: books.day}
        return await self._ledger.reserve(attempt, asking.call, [*books.chain, *run_chain(asking.run)], locked=locked)

    async def _give_up(self, agent: str, now: Instant) -> int:
        given_up = await self._ledger.sweep(agent, now)
        for ended in given_up:
            await self._log(ended, now)
        return len(given_up)

    async def _follow(self, books: Books, ended: Ended, now: Instant) -> Advanced:
        return await self._sleep_wake.advance(books.after(ended.row, ended.change), now, badge=True)

    async def _log(self, ended: Ended, now: Instant, use: TokenUse | None = None, model: str = "") -> None:
        if ended.hold == ended.row.hold:
            return
        row = ended.row
        answered = model or row.model
        await self._store.usage.put(
            UsageRow(
                attempt_id=ended.hold.attempt_id,
                agent=row.agent,
                at=now,
                purpose=row.purpose,
                model=answered,
                use=use or TokenUse(),
                cost=ended.hold.charged,
                run=row.run,
                overrun=ended.hold.overrun,
                known_price=self.prices.quote(answered).known,
                ended=ended.hold.state.value,
            )
        )


def _pots(agent: str, short: tuple[AccountKey, ...]) -> frozenset[str]:
    """The pots of the line in this process: the agent's own money is one, each account of a run is one."""
    return frozenset(key.name if key.kind in (AccountKind.RUN, AccountKind.POOL) else agent for key in short)


def _nearly_used_up(reserved: Reserved, key: AccountKey) -> bool:
    """Whether the call was refused for lack of money in an account of which hardly any is left. A call that is too
    large for what a day still has plenty of is the call's own problem."""
    account = reserved.accounts[key].account
    return key in reserved.short and Meter(account.committed, account.limit).reached(WINDING_DOWN_FROM)
