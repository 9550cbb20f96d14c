"""An agent's money in the store: its window, the day it is on, and what may be changed about them.

Nothing here calls a model or waits, so a command can use it without the daemon. Whatever changes money takes the
agent's spending row first (`touch`) and is part of the transaction around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant
from nudge.spending.allowance import MIDNIGHT_UTC, Allowance, DayTurn
from nudge.spending.books import Books, SpendingPlan, SpendingStatus, day_key, wake_timer, window_key
from nudge.spending.holds import Account, AccountKey
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow, DaySpent, SpendingRow, SpendingStore


class Allowances:
    def __init__(self, store: SpendingStore, plan: SpendingPlan | None = None, turn: DayTurn = MIDNIGHT_UTC) -> None:
        self.plan = plan or SpendingPlan()
        self._store = store
        self.turn = turn

    async def status(self, agent: str, now: Instant) -> SpendingStatus:
        """How it stands, without changing anything: a day that nobody touched yet reads as it will be."""
        row = await self._store.spending.get(agent)
        if row is None:
            allowance = self._opened(now)
            row = self._row(agent, allowance)
            accounts: Mapping[AccountKey, AccountRow] = {}
        else:
            accounts = await self._store.ledger.get((window_key(row), day_key(row)))
            allowance = self._allowance(row, accounts).at(now)
        moved = _moved(row, allowance)
        window, day = window_key(moved), day_key(moved)
        books = Books(
            moved,
            accounts.get(window) or AccountRow(window, Account(allowance.total), agent),
            accounts.get(day) or AccountRow(day, Account(allowance.limit), agent, moved.day),
            allowance.today(now).refresh_at,
        )
        return SpendingStatus.of(books, allowance.end, now)

    async def touch(self, agent: str, now: Instant) -> Books:
        """The agent's books, locked and brought to the day of `now`: the first touch of a day computes its share."""
        row = await self._store.spending.lock(agent)
        if row is None:
            await self._open(agent, now)
            row = await self._store.spending.lock(agent)
            if row is None:
                raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Add it first.")
        accounts = await self._store.ledger.lock((window_key(row), day_key(row)))
        allowance = self._allowance(row, accounts).at(now)
        moved = _moved(row, allowance)
        if moved != row:
            await self._store.spending.put(moved)
            await self._open_accounts(moved, allowance)
            accounts = await self._store.ledger.lock((window_key(moved), day_key(moved)))
        refresh_at = allowance.today(now).refresh_at
        return Books(moved, accounts[window_key(moved)], accounts[day_key(moved)], refresh_at)

    async def top_up(self, agent: str, amount: Micros, now: Instant) -> None:
        """Add money to the window, and let the wake timer look at once whether the agent can go on."""
        if amount <= 0:
            raise UsageError("A top-up of nothing changes nothing.", next_step="Give an amount such as 5.00.")
        async with self._store.transaction():
            books = await self.touch(agent, now)
            await self._change(books, self._of(books).top_up(amount, now), now)

    async def set_window(
        self, agent: str, now: Instant, *, budget: Micros | None = None, renews: date | None = None
    ) -> None:
        """Another budget or renewal for this window. What is None stays."""
        async with self._store.transaction():
            books = await self.touch(agent, now)
            await self._change(books, self._of(books).with_window(now, budget=budget, renews=renews), now)

    async def as_configured(self, agent: str, now: Instant) -> None:
        """What the configuration says in place of what was set by command. What it does not say stays."""
        await self.take_over(self.plan, now)
        await self.set_window(agent, now, budget=self.plan.window, renews=self._valid(self.plan.renews, now))

    async def take_over(self, plan: SpendingPlan, now: Instant) -> list[str]:
        """Let agents have what the configuration says, as far as it changed there; the names of those it changed for.

        What was set by command since then stays unless the configuration itself changed.
        """
        self.plan = plan
        changed = []
        there = {agent.name for agent in await self._store.agents.all()}
        for stale in await self._store.spending.all():
            if stale.configured == plan.text() or stale.agent not in there:
                continue
            async with self._store.transaction():
                books = await self.touch(stale.agent, now)
                before = SpendingPlan.parse(books.row.configured)
                books = replace(books, row=replace(books.row, configured=plan.text()))
                renews = self._valid(plan.renews, now) if plan.renews != before.renews else None
                allowance = self._of(books).with_window(
                    now, budget=plan.window if plan.window != before.window else None, renews=renews
                )
                await self._change(books, allowance, now, other_models=plan.tier != before.tier)
            changed.append(stale.agent)
        return changed

    async def history(self, agent: str, days: int, now: Instant) -> Sequence[DaySpent]:
        """The last `days` spending days that were touched, today included, oldest first."""
        since = self.turn.day_of(now) - timedelta(days=days - 1)
        return await self._store.ledger.days(agent, since)

    async def _change(self, books: Books, after: Allowance, now: Instant, *, other_models: bool = False) -> None:
        row = replace(books.row, budget=after.budget, topped_up=after.topped_up, renews=after.renews)
        await self._store.spending.put(row)
        if books.window.account.limit != after.total:
            await self._store.ledger.set_limit(books.window.key, after.total)
        if books.day.account.limit != after.limit or other_models:
            await self._store.ledger.set_limit(books.day.key, after.limit)
        await self._store.timers.set(wake_timer(books.agent, now))

    async def _open(self, agent: str, now: Instant) -> None:
        allowance = self._opened(now)
        row = self._row(agent, allowance)
        if await self._store.spending.create(row):
            await self._open_accounts(row, allowance)

    async def _open_accounts(self, row: SpendingRow, allowance: Allowance) -> None:
        await self._store.ledger.open(window_key(row), allowance.total, agent=row.agent)
        await self._store.ledger.open(day_key(row), allowance.limit, agent=row.agent, day=row.day)

    def _opened(self, now: Instant) -> Allowance:
        plan = self.plan
        return Allowance.open(plan.window, start=now, renews=self._valid(plan.renews, now), turn=self.turn)

    def _row(self, agent: str, allowance: Allowance) -> SpendingRow:
        assert allowance.day is not None
        return SpendingRow(
            agent,
            allowance.budget,
            allowance.start,
            allowance.day,
            renews=allowance.renews,
            configured=self.plan.text(),
        )

    def _valid(self, renews: date | None, now: Instant) -> date | None:
        """A renewal in the configuration that has passed counts no more: windows follow each other by themselves."""
        return renews if renews is not None and self.turn.start_of(renews) > now else None

    def _of(self, books: Books) -> Allowance:
        """The window as its own day sees it: what is held is not spent yet."""
        whole = self._allowance(books.row, {books.window.key: books.window, books.day.key: books.day})
        return replace(whole, spent_today=books.day.account.committed)

    def _allowance(self, row: SpendingRow, accounts: Mapping[AccountKey, AccountRow]) -> Allowance:
        """The window as a value, as a later day sees it: what calls of earlier days still hold counts as spent, because
        they may cost it yet."""
        window, day = accounts[window_key(row)].account, accounts[day_key(row)].account
        return Allowance(
            budget=row.budget,
            start=row.window_start,
            renews=row.renews,
            turn=self.turn,
            topped_up=row.topped_up,
            spent_before=window.committed + window.held - day.committed - day.held,
            day=row.day,
            limit=day.limit,
            spent_today=day.committed + day.held,
        )


def _moved(row: SpendingRow, allowance: Allowance) -> SpendingRow:
    """The row on the allowance's day; the same one where that is the day it is on."""
    if allowance.day == row.day and allowance.start == row.window_start:
        return row
    assert allowance.day is not None
    return replace(
        row,
        window_start=allowance.start,
        renews=allowance.renews,
        topped_up=allowance.topped_up,
        day=allowance.day,
        badge=0,
    )
