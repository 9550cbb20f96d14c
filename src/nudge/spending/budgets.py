"""An agent's budget in the store: its window, the day it is on, and what may be changed about them.

Nothing here calls a model or waits, so a command can use it without the daemon. Whatever changes money takes the
agent's spending row first (`touch`) and is part of the transaction around it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta, tzinfo
from typing import Any

from nudge.defaults import SPENDING_TIER, SPENDING_WINDOW
from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant, rfc3339
from nudge.queue.timers import Timer
from nudge.spending.allowance import MIDNIGHT_UTC, Allowance, DayTurn, Meter, SpendingDay, day_share
from nudge.spending.burn import CHRONIC_DAYS, DAY_LOOKS_BACK, WINDOW_LOOKS_BACK, Forecast, chronic, used_up_at
from nudge.spending.holds import Account, AccountKey, AccountKind, Change
from nudge.spending.lifecycle import AsleepError, Lifecycle, SpendingState, step
from nudge.spending.money import Amount, Micros, Money, as_micros
from nudge.spending.plan_windows import PLAN, PlanTold
from nudge.spending.store import AccountRow, DaySpent, HoldRow, SpendingRow, SpendingStore, UsageTotal

WAKE = "wake"


def wake_timer(agent: str, at: Instant) -> Timer:
    """An agent's one wake. It has a lane of its own: a turn that runs must not keep the agent asleep."""
    return Timer.at(agent, WAKE, WAKE, at, lane=f"{agent}/wake")


@dataclass(frozen=True, slots=True)
class SpendingPlan:
    """What the configuration grants every agent: money for a window, and the tier that chooses its models."""

    window: Micros = SPENDING_WINDOW
    renews: date | None = None
    tier: str = SPENDING_TIER

    @classmethod
    def of(cls, window: Amount, *, renews: date | None = None, tier: str = SPENDING_TIER) -> SpendingPlan:
        """A plan with so many dollars until it renews, after 30 days unless a date is given.

        >>> SpendingPlan.of(30).window
        30000000
        """
        return cls(as_micros(window), renews, tier)

    def text(self) -> str:
        renews = self.renews.isoformat() if self.renews else ""
        return json.dumps({"window": self.window, "renews": renews, "tier": self.tier})

    @classmethod
    def parse(cls, text: str) -> SpendingPlan:
        """What `text` wrote. Where nothing was written, a plan that no configuration has."""
        told = json.loads(text) if text else {}
        renews = told.get("renews")
        return cls(told.get("window", -1), date.fromisoformat(renews) if renews else None, told.get("tier", ""))


@dataclass(frozen=True, slots=True)
class AgentAccounts:
    """An agent's spending row and its accounts of today, as they were read."""

    row: SpendingRow
    window: AccountRow
    day: AccountRow
    refresh_at: Instant

    @property
    def agent(self) -> str:
        return self.row.agent

    @property
    def chain(self) -> tuple[AccountKey, AccountKey]:
        return self.window.key, self.day.key

    @property
    def rows(self) -> dict[AccountKey, AccountRow]:
        return {self.window.key: self.window, self.day.key: self.day}

    @property
    def today(self) -> SpendingDay:
        account = self.day.account
        return SpendingDay(account.limit, account.committed, self.refresh_at, self.day.used_up, self.row.plan_resets_at)

    @property
    def wakes_at(self) -> Instant:
        """When a sleeping agent looks at its money again: at the end of the day, or when its plan resets."""
        return self.row.refresh_at if self.row.refresh_at is not None else self.refresh_at

    @property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle(self.row.state, self.row.refresh_at, self.row.state_limit)

    def after(self, row: HoldRow, change: Change) -> AgentAccounts:
        """The accounts after something happened to a hold; one of another day or window may touch only some of them."""
        window, day = (
            account.changed(row.hold, change) if account.key in row.chain else account
            for account in (self.window, self.day)
        )
        return AgentAccounts(self.row, window, day, self.refresh_at)


@dataclass(frozen=True, slots=True)
class SpendingStatus:
    """An agent's spending as it is now: the state, the meter that people see, and the dollars behind it.

    `refresh_at` is when the day is over, or, `by_plan`, when the window resets that put the agent to sleep.
    """

    agent: str
    state: SpendingState
    meter: Meter
    refresh_at: Instant
    held: Micros
    used_up: bool
    window: Account
    window_starts: Instant
    window_ends: Instant
    topped_up: Micros
    overrun: Micros
    by_plan: bool = False

    @property
    def asleep(self) -> AsleepError:
        """Why a call is refused now."""
        return AsleepError(self.agent, self.state, self.refresh_at, by_plan=self.by_plan)

    @property
    def banner(self) -> str | None:
        """What is shown in red until it is over."""
        return self.state.banner

    @property
    def text(self) -> str:
        """The meter in words, with what is held for running calls."""
        return self.meter.with_held(self.held)

    def public(self) -> dict[str, Any]:
        """For people and for JSON: percentages, no dollars."""
        return {
            "state": self.state.value,
            "percent": self.meter.percent,
            "held_percent": self.meter.held_percent(self.held),
            "colour": self.meter.colour.value,
            "text": self.text,
            "refresh_at": rfc3339(self.refresh_at),
            "used_up": self.used_up,
            "by_plan": self.by_plan,
            "banner": self.banner,
        }

    @classmethod
    def of(cls, accounts: AgentAccounts, ends: Instant, now: Instant) -> SpendingStatus:
        """The state is the one that the money asks for now, also where nobody has acted on it yet."""
        lifecycle = step(accounts.lifecycle, accounts.today, now).lifecycle
        by_plan = lifecycle.state is SpendingState.ASLEEP and lifecycle.refresh_at != accounts.refresh_at
        return cls(
            agent=accounts.agent,
            state=lifecycle.state,
            meter=accounts.today.meter,
            refresh_at=lifecycle.refresh_at if by_plan and lifecycle.refresh_at else accounts.refresh_at,
            held=accounts.day.account.held,
            used_up=accounts.day.used_up,
            window=accounts.window.account,
            window_starts=accounts.row.window_start,
            window_ends=ends,
            topped_up=accounts.row.topped_up,
            overrun=accounts.window.overrun,
            by_plan=by_plan,
        )


class Budgets:
    """The budgets of all agents of a store."""

    def __init__(self, store: SpendingStore, plan: SpendingPlan | None = None, turn: DayTurn = MIDNIGHT_UTC) -> None:
        self.plan = plan or SpendingPlan()
        self.turn = turn
        self._store = store

    async def status(self, agent: str, now: Instant) -> SpendingStatus:
        """Its state. Reading changes nothing: a day that nobody touched yet reads as it will be."""
        row = await self._store.spending.get(agent)
        if row is None:
            allowance = self._opened(now)
            row = self._row(agent, allowance)
            found: Mapping[AccountKey, AccountRow] = {}
        else:
            window, day = _keys(row)
            found = await self._store.ledger.get((window, day))
            allowance = self._allowance(row, found[window], found[day]).at(now)
        moved = _moved(row, allowance)
        window, day = _keys(moved)
        accounts = AgentAccounts(
            moved,
            found.get(window) or AccountRow(window, Account(allowance.total), agent),
            found.get(day) or AccountRow(day, Account(allowance.limit), agent, moved.day),
            allowance.today(now).refresh_at,
        )
        return SpendingStatus.of(accounts, allowance.end, now)

    async def touch(self, agent: str, now: Instant) -> AgentAccounts:
        """Lock the agent's accounts and bring them to the day of `now`: the first touch of a day computes its share."""
        row = await self._store.spending.lock(agent)
        if row is None:
            await self._open(agent, now)
            row = await self._store.spending.lock(agent)
            if row is None:
                raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Add it first.")
        window, day = _keys(row)
        found = await self._store.ledger.lock((window, day))
        if len(found) < 2:  # a damaged database was recovered without them
            total = row.budget + row.topped_up
            await self._store.ledger.open(window, total, agent=agent)
            await self._store.ledger.open(day, row.state_limit or total, agent=agent, day=row.day)
            found = await self._store.ledger.lock((window, day))
        allowance = self._allowance(row, found[window], found[day]).at(now)
        moved = _moved(row, allowance)
        if moved is not row:
            await self._store.spending.put(moved)
            await self._open_accounts(moved, allowance)
            window, day = _keys(moved)
            found = await self._store.ledger.lock((window, day))
        return AgentAccounts(moved, found[window], found[day], allowance.today(now).refresh_at)

    async def top_up(self, agent: str, amount: Amount, now: Instant) -> None:
        """Add money to the window, and let the wake timer look at once whether the agent can go on."""
        if as_micros(amount) == 0:
            raise UsageError("A top-up needs an amount above 0.", next_step="Give an amount such as 5.00.")
        async with self._store.transaction():
            accounts = await self.touch(agent, now)
            await self._change(accounts, self._of(accounts).top_up(amount, now), now)

    async def forget_plan(self, agent: str, now: Instant) -> None:
        """Forget that a window of the agent's plan is used up, and let the wake timer look at once: the next call finds
        out what the service says now."""
        async with self._store.transaction():
            accounts = await self.touch(agent, now)
            told = await self._store.records.get(agent, PLAN) or PlanTold()
            await self._store.records.set(agent, PLAN, told.with_room())
            await self._store.spending.put(replace(accounts.row, plan_resets_at=None))
            await self._store.timers.set(wake_timer(agent, now))

    async def set_window(
        self, agent: str, now: Instant, *, budget: Amount | None = None, renews: date | None = None
    ) -> None:
        """Set another budget or renewal for this window. What is None stays."""
        async with self._store.transaction():
            accounts = await self.touch(agent, now)
            await self._change(accounts, self._of(accounts).with_window(now, budget=budget, renews=renews), now)

    async def as_configured(self, agent: str, now: Instant) -> None:
        """Replace what was set by command with what the configuration says. What it does not say stays."""
        await self.take_over(self.plan, now)
        renews = self._valid(self.plan.renews, now)
        await self.set_window(agent, now, budget=Money(self.plan.window), renews=renews)

    async def take_over(self, plan: SpendingPlan, now: Instant) -> list[str]:
        """Give agents what the configuration says, as far as it changed there; the names of those it changed for.

        What was set by command since then stays unless the configuration itself changed.
        """
        self.plan = plan
        changed = []
        there = {agent.name for agent in await self._store.agents.all()}
        for stale in await self._store.spending.all():
            if stale.configured == plan.text() or stale.agent not in there:
                continue
            async with self._store.transaction():
                accounts = await self.touch(stale.agent, now)
                before = SpendingPlan.parse(accounts.row.configured)
                accounts = replace(accounts, row=replace(accounts.row, configured=plan.text()))
                budget = Money(plan.window) if plan.window != before.window else None
                renews = self._valid(plan.renews, now) if plan.renews != before.renews else None
                allowance = self._of(accounts).with_window(now, budget=budget, renews=renews)
                await self._change(accounts, allowance, now, other_models=plan.tier != before.tier)
            changed.append(stale.agent)
        return changed

    async def history(self, agent: str, days: int, now: Instant) -> Sequence[DaySpent]:
        """The last `days` spending days that were touched, today included, oldest first."""
        since = self.turn.day_of(now) - timedelta(days=days - 1)
        return await self._store.ledger.days(agent, since)

    async def forecast(self, status: SpendingStatus, now: Instant) -> Forecast:
        """When the agent's money is used up at this rate."""
        day_began = self.turn.start_of(self.turn.day_of(now))
        day_since = Instant(max(now - DAY_LOOKS_BACK, day_began, status.window_starts))
        window_since = Instant(max(now - WINDOW_LOOKS_BACK, status.window_starts))  # a young window has a whole day's
        lately = await self._store.usage.spent(status.agent, day_since)
        of_late = await self._store.usage.spent(status.agent, window_since)
        day, window = status.meter, status.window
        day_ends = self.turn.after(now) if status.by_plan else status.refresh_at
        return Forecast(
            used_up_at(day.limit - day.spent, lately, now - day_since, now, day_ends),
            used_up_at(window.limit - window.committed, of_late, WINDOW_LOOKS_BACK, now, status.window_ends),
        )

    async def chronic_burn(self, accounts: AgentAccounts, now: Instant) -> list[DaySpent]:
        """The last three days, if the agent used up its share on each of them."""
        row = accounts.row
        begins, ends = self.turn.day_of(row.window_start), self._of(accounts).end
        even = day_share(row.budget, (self.turn.day_of(Instant(ends - 1)) - begins).days + 1)
        days = await self.history(accounts.agent, CHRONIC_DAYS, now)
        return chronic(days, row.day, even, topped_up=row.topped_up > 0)

    async def _change(
        self, accounts: AgentAccounts, after: Allowance, now: Instant, *, other_models: bool = False
    ) -> None:
        row = replace(accounts.row, budget=after.budget, topped_up=after.topped_up, renews=after.renews)
        await self._store.spending.put(row)
        if accounts.window.account.limit != after.total:
            await self._store.ledger.set_limit(accounts.window.key, after.total)
        if accounts.day.account.limit != after.limit or other_models:
            await self._store.ledger.set_limit(accounts.day.key, after.limit)
        await self._store.timers.set(wake_timer(accounts.agent, now))

    async def _open(self, agent: str, now: Instant) -> None:
        allowance = self._opened(now)
        row = self._row(agent, allowance)
        if await self._store.spending.create(row):
            await self._open_accounts(row, allowance)

    async def _open_accounts(self, row: SpendingRow, allowance: Allowance) -> None:
        window, day = _keys(row)
        await self._store.ledger.open(window, allowance.total, agent=row.agent)
        await self._store.ledger.open(day, allowance.limit, agent=row.agent, day=row.day)

    def _opened(self, now: Instant) -> Allowance:
        renews = self._valid(self.plan.renews, now)
        return Allowance.open(Money(self.plan.window), start=now, renews=renews, turn=self.turn)

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

    def _of(self, accounts: AgentAccounts) -> Allowance:
        """The window as its own day sees it: what is held is not spent yet."""
        whole = self._allowance(accounts.row, accounts.window, accounts.day)
        return replace(whole, spent_today=accounts.day.account.committed)

    def _allowance(self, row: SpendingRow, of_window: AccountRow, of_day: AccountRow) -> Allowance:
        """The window as a value, as a later day sees it: what calls of earlier days still hold counts as spent, because
        they may cost it yet."""
        window, day = of_window.account, of_day.account
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
        refused_calls=0,
        refused_least=0,
    )


def _keys(row: SpendingRow) -> tuple[AccountKey, AccountKey]:
    """The accounts of the window and of the day that the row is on."""
    begun = rfc3339(row.window_start)
    return (
        AccountKey(AccountKind.WINDOW, f"{row.agent} from {begun}"),
        AccountKey(AccountKind.DAY, f"{row.agent} on {row.day.isoformat()} from {begun}"),
    )


def budget_json(
    status: SpendingStatus, tier: str, totals: Sequence[UsageTotal] | None, zone: tzinfo, forecast: Forecast
) -> dict[str, Any]:
    """`totals` come with the detail: amounts are micro-dollars."""
    shown = {
        "agent": status.agent,
        **status.public(),
        "refresh_at": rfc3339(status.refresh_at, zone),
        "renews_at": rfc3339(status.window_ends, zone),
        "tier": tier,
        "used_up_at": None if forecast.day is None else rfc3339(forecast.day, zone),
        "window_used_up_at": None if forecast.window is None else rfc3339(forecast.window, zone),
    }
    if totals is None:
        return shown
    window = status.window
    return {
        **shown,
        "detail": {
            "unit": "micro-dollars",
            "day": {"limit": status.meter.limit, "spent": status.meter.spent, "held": status.held},
            "window": {
                "limit": window.limit,
                "spent": window.committed,
                "held": window.held,
                "topped_up": status.topped_up,
                "overrun": status.overrun,
                "starts_at": rfc3339(status.window_starts, zone),
            },
            "usage": [
                {
                    "purpose": total.purpose,
                    "model": total.model,
                    "calls": total.calls,
                    "input": total.use.input,
                    "output": total.use.output,
                    "cache_read": total.use.cache_read,
                    "cache_write": total.use.cache_write,
                    "cost": total.cost,
                    "known_price": total.known_price,
                    "assumed": total.assumed,
                }
                for total in totals
            ],
        },
    }


def every_day(days: Sequence[DaySpent], today: date) -> list[DaySpent]:
    """The days from the first that is known to today. One that nobody touched had nothing spent on it."""
    known = {one.day: one for one in days}
    first = min(known, default=today)
    span = (today - first).days + 1
    wanted = [first + timedelta(days=number) for number in range(max(span, 1))]
    return [known.get(day) or DaySpent(day, 0, 0, 0, 0) for day in wanted]


def day_meter(day: DaySpent) -> Meter:
    """A day without an allowance of its own was not used at all, rather than used up."""
    return Meter(day.spent, day.limit) if day.limit or day.spent else Meter(0, 1)


async def stored_status(store: SpendingStore, budgets: Budgets, now: Instant) -> dict[str, Any]:
    """What the store knows of a whole home: agents and their budgets, how much waits, and when the next of it is due.
    What should have fired already is next too."""
    agents = await store.agents.all()
    first = await store.timers.next_due(Instant(0))
    return {
        "now": rfc3339(now),
        "agents": [agent.name for agent in agents],
        "timers": await store.timers.count(),
        "next_due": rfc3339(first) if first is not None else None,
        "spending": {agent.name: (await budgets.status(agent.name, now)).public() for agent in agents},
    }
