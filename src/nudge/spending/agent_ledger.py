"""The ledger of the agents: hold and settle with everything that follows, each in one transaction.

The agent's spending row is locked first, its day is brought up to date, and its state follows the money before and
after: usage log, feed, sleep and wake. Nothing here asks a model or waits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from nudge.errors import BudgetExhaustedError, UsageError
from nudge.instants import DAY, MINUTE, Instant, to_datetime
from nudge.queue import outcomes
from nudge.queue.records import Record, text
from nudge.queue.timers import Timer
from nudge.spending.alerts import mail_timer
from nudge.spending.allowance import Meter
from nudge.spending.budgets import WAKE, AgentAccounts, Budgets, wake_timer
from nudge.spending.holds import AccountKey, AccountKind, Answer, Decision, End, give_up
from nudge.spending.ledger import AccountLedger, Attempt, Ended, Reserved
from nudge.spending.lifecycle import (
    PAUSED,
    STOPPED,
    WINDING_DOWN_FROM,
    Alert,
    AsleepError,
    CancelSiblings,
    ClearWake,
    FeedLine,
    SetWake,
    SpendingState,
    step,
)
from nudge.spending.money import Micros
from nudge.spending.plan_windows import PLAN, PlanTold, asleep_until
from nudge.spending.prices import PriceTable
from nudge.spending.store import HoldRow, SpendingRow, SpendingStore, UsageRow
from nudge.spending.waiting import NotYet
from nudge.tokens import TokenUse

SWEEP = "sweep"
Write = Callable[[], Awaitable[None]]
HOLD_LASTS = 15 * MINUTE
"""Longer than a call with all its retries takes. What a dead process held is given up then, at its worst case."""
FORGET_AFTER = 30 * DAY
USED_UP_AFTER = 2
"""Calls refused in a row, after which what is left of a day counts as used up."""

BURN_TOLD = Record("spending.burn", text, text)
"""The last day on which a burn went on that was told."""

_FEED_KINDS = {PAUSED: "asleep", STOPPED: "budget_exceeded"}


def run_chain(run: str) -> tuple[AccountKey, ...]:
    """The accounts of a run: "run-7" is one, "run-7/reviewer" that of its pool's member as well."""
    if "\n" in run:
        raise UsageError(f"{run!r} cannot be a run's name.", next_step="Write it in one line.")
    parts = run.split("/") if run else []
    return tuple(
        AccountKey(AccountKind.POOL if depth else AccountKind.RUN, "/".join(parts[: depth + 1]))
        for depth in range(len(parts))
    )


def takes_from(attempt: Attempt) -> frozenset[Hashable]:
    """What a call waits for in the line: the agent's own money is one thing, each account of a run is another."""
    return frozenset((attempt.agent, *run_chain(attempt.run)))


@dataclass(frozen=True, slots=True)
class Advanced:
    """An agent's accounts after a step. What concerns this process comes back as flags, to be done once it is
    committed."""

    accounts: AgentAccounts
    woke: bool = False
    stopped: bool = False
    alerted: bool = False

    @property
    def state(self) -> SpendingState:
        return self.accounts.row.state


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """The answer to a call that wants money: a hold, what it has to wait for, or why waiting does not help."""

    advanced: Advanced
    answer: HoldRow | NotYet | BudgetExhaustedError


class AgentLedger:
    """`waiting` are the keys of timers that wait for money: whenever there is some they look again."""

    def __init__(self, store: SpendingStore, budgets: Budgets, prices: PriceTable, waiting: Sequence[str] = ()) -> None:
        self._store = store
        self._waiting = waiting
        self._refused: set[str] = set()
        self._budgets = budgets
        self._prices = prices
        self._ledger = AccountLedger(store)
        self._sweeps: dict[str, Instant] = {}
        self._forgot: dict[str, Instant] = {}

    async def hold(self, attempt: Attempt, now: Instant, *, starts_task: bool = False) -> HoldAnswer:
        """Hold the worst case of a call, if the agent's state and the money allow it."""
        agent, expires_at = attempt.agent, Instant(now + HOLD_LASTS)
        async with self._store.transaction():
            result = await self._hold(attempt, now, expires_at, starts_task)
            # The timer cannot be gone before it was due, so until then there is no need to set it again.
            swept = not isinstance(result.answer, HoldRow) or self._sweeps.get(agent, now) > now
            if not swept:
                await self._store.timers.ensure(Timer.at(agent, SWEEP, SWEEP, expires_at, lane=f"{agent}/sweep"))
        if not swept:
            self._sweeps[agent] = expires_at
        return result

    async def end(
        self,
        held: HoldRow,
        end: End,
        now: Instant,
        use: TokenUse | None = None,
        model: str = "",
        beside: Write | None = None,
    ) -> Advanced:
        """End a hold, log what its call used, and let the agent's state follow. `model` is the one that answered;
        `beside` writes what belongs into the same transaction."""
        async with self._store.transaction():
            accounts = await self._budgets.touch(held.agent, now)
            ended = await self._ledger.end(held.hold.attempt_id, end)
            await self._log(ended, now, use, model)
            if beside is not None:
                await beside()
            advanced = await self._advance(accounts.after(ended.row, ended.change), now, badge=True)
            if held.agent in self._refused and advanced.state.may_start_task:
                advanced = await self._resume(advanced, now)
            return advanced

    async def record(self, attempt: Attempt, cost: Micros, use: TokenUse, now: Instant) -> Advanced:
        """Charge a call that nobody held money for, log it, and let the agent's state follow."""
        async with self._store.transaction():
            accounts = await self._budgets.touch(attempt.agent, now)
            chain = [*accounts.chain, *run_chain(attempt.run)]
            ended = await self._ledger.charge(attempt, chain, cost, now, locked=accounts.rows)
            await self._log(ended, now, use)
            return await self._advance(await self._budgets.touch(attempt.agent, now), now, badge=True)

    def refused(self, agent: str) -> None:
        """A call of the agent was refused because others held the money: what waits now looks again when one ends."""
        self._refused.add(agent)

    async def sweep(self, agent: str, now: Instant) -> tuple[Advanced, Instant | None]:
        """Give up the agent's holds that have expired; and when the next one does."""
        async with self._store.transaction():
            await self._budgets.touch(agent, now)
            await self._give_up(agent, now)
            if self._forgot.get(agent, now) <= now:
                await self._store.ledger.forget(agent, Instant(now - FORGET_AFTER))
                self._forgot[agent] = Instant(now + DAY)
            advanced = await self._advance(await self._budgets.touch(agent, now), now, badge=True)
            return advanced, await self._store.ledger.next_expiry(agent)

    async def settle_dead(self, agent: str, owner: str, now: Instant) -> int:
        """Charge the worst case of what the agent's calls held when a process died that nobody else can be: they may
        have been billed, and nobody will report on them any more. How many there were."""
        dead = await self._store.ledger.open_of(owner, agent)
        if not dead:
            return 0
        async with self._store.transaction():
            await self._budgets.touch(agent, now)
            for row in dead:
                await self._log(await self._ledger.end(row.hold.attempt_id, give_up), now)
            calls = "a call" if len(dead) == 1 else f"{len(dead)} calls"
            text = f"nudge stopped during {calls}. That may have been billed, so the highest possible cost is charged."
            await self._feed(agent, "budget", text, now)
            await self._advance(await self._budgets.touch(agent, now), now, badge=True)
        return len(dead)

    async def look(self, agent: str, now: Instant) -> Advanced:
        """Let the state follow the money. An agent that sleeps on keeps a wake: whoever took the timer to look may have
        found nothing to do, and without it the agent would never wake. Whatever brought the money, what waits for it
        looks again."""
        async with self._store.transaction():
            advanced = await self._touched(agent, now)
            if not advanced.state.may_go_on:
                await self._store.timers.set(wake_timer(agent, advanced.accounts.wakes_at))
            return await self._resume(advanced, now) if advanced.state.may_start_task else advanced

    async def plan(self, agent: str, told: PlanTold, now: Instant) -> Advanced:
        """Keep what the service says about the agent's plan, and let the state follow: a window that is used up puts
        the agent to sleep until it resets."""
        async with self._store.transaction():
            accounts = await self._budgets.touch(agent, now)
            await self._store.records.set(agent, PLAN, told)
            resets_at = asleep_until(told.windows, now)
            if accounts.row.plan_resets_at != resets_at:
                accounts = replace(accounts, row=replace(accounts.row, plan_resets_at=resets_at))
                await self._store.spending.put(accounts.row)
            return await self._advance(accounts, now)

    async def _hold(self, attempt: Attempt, now: Instant, expires_at: Instant, starts_task: bool) -> HoldAnswer:
        advanced = await self._touched(attempt.agent, now)
        if _is_smaller(attempt, advanced.accounts):
            day = advanced.accounts.day
            await self._store.ledger.set_limit(day.key, day.account.limit)  # it is not used up, after all
            advanced = await self._touched(attempt.agent, now)
        allowed = advanced.state.may_start_task if starts_task else advanced.state.may_go_on
        if not allowed:
            return HoldAnswer(advanced, _asleep(advanced.accounts))
        reserved = await self._reserve(attempt, advanced.accounts, now, expires_at)
        if reserved.held is None and await self._give_up(attempt.agent, now):
            advanced = await self._touched(attempt.agent, now)
            if not advanced.state.may_go_on:
                return HoldAnswer(advanced, _asleep(advanced.accounts))
            reserved = await self._reserve(attempt, advanced.accounts, now, expires_at)
        if reserved.held is not None:
            if advanced.accounts.row.refused_calls:
                await self._store.spending.put(replace(advanced.accounts.row, refused_calls=0, refused_least=0))
            return HoldAnswer(advanced, reserved.held)
        refusal = _does_not_fit(advanced.accounts, reserved.decision, reserved.short)
        if reserved.decision.answer is Answer.WAIT:
            return HoldAnswer(advanced, NotYet(_waits_for(attempt.agent, reserved.short), refusal))
        if _rest(advanced.accounts) < attempt.call.least_cost:
            advanced = await self._too_large(attempt, advanced.accounts, now)
        return HoldAnswer(advanced, refusal)

    async def _too_large(self, attempt: Attempt, accounts: AgentAccounts, now: Instant) -> Advanced:
        """A call was refused because the rest of the agent's money does not cover it. Once may be the call's own
        problem, if there is plenty left; after the second in a row the rest counts as used up."""
        least = attempt.call.least_cost
        row = replace(
            accounts.row,
            refused_calls=accounts.row.refused_calls + 1,
            refused_least=min(accounts.row.refused_least or least, least),
        )
        await self._store.spending.put(row)
        nearly = any(
            Meter(one.account.committed, one.account.limit).reached(WINDING_DOWN_FROM)
            for one in (accounts.day, accounts.window)
            if one.account.settled_room < least
        )
        if nearly or row.refused_calls >= USED_UP_AFTER:
            await self._store.ledger.use_up(accounts.day.key)
        return await self._touched(attempt.agent, now)

    async def _resume(self, advanced: Advanced, now: Instant) -> Advanced:
        """Let what waits for money look again."""
        agent = advanced.accounts.agent
        pulled = [await self._store.spending.pull(agent, key, now) for key in self._waiting]
        if any(pulled):
            self._refused.discard(agent)
        return replace(advanced, woke=advanced.woke or any(pulled))

    async def _reserve(self, attempt: Attempt, accounts: AgentAccounts, now: Instant, expires_at: Instant) -> Reserved:
        chain = [*accounts.chain, *run_chain(attempt.run)]
        return await self._ledger.reserve(attempt, chain, now, expires_at=expires_at, locked=accounts.rows)

    async def _give_up(self, agent: str, now: Instant) -> int:
        given_up = await self._ledger.sweep(agent, now)
        for ended in given_up:
            await self._log(ended, now)
        return len(given_up)

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
                known_price=self._prices.quote(answered).known,
                ended=ended.hold.state.value,
            )
        )

    async def _touched(self, agent: str, now: Instant) -> Advanced:
        return await self._advance(await self._budgets.touch(agent, now), now)

    async def _advance(self, accounts: AgentAccounts, now: Instant, *, badge: bool = False) -> Advanced:
        """Write the state that the money asks for, with all that follows from it. The same reading again changes
        nothing and costs no write.

        With `badge`, a meter that shows another whole percentage than before is told to the feed.
        """
        agent, before = accounts.agent, accounts.lifecycle
        awake = before.state.may_go_on
        last_task = None if awake else await self._store.spending.last_task(agent)
        taken = step(before, accounts.today, now, last_task)
        after = taken.lifecycle
        row = replace(accounts.row, state=after.state, refresh_at=after.refresh_at, state_limit=after.limit)
        if badge:
            row = await self._badged(row, accounts, now)
        if row != accounts.row:
            await self._store.spending.put(row)
        for effect in taken.effects:
            match effect:
                case FeedLine(text):
                    await self._feed(agent, _FEED_KINDS.get(text, "awake"), text, now)
                case SetWake(at):
                    await self._store.timers.set(wake_timer(agent, at))
                case ClearWake():
                    await self._store.timers.cancel(agent, WAKE)
                case Alert():
                    await self._store.timers.set(mail_timer(agent, effect, now))
                case CancelSiblings():
                    pass
        advanced = Advanced(
            replace(accounts, row=row),
            woke=not awake and row.state.may_go_on,
            stopped=CancelSiblings() in taken.effects,
            alerted=any(isinstance(effect, Alert) for effect in taken.effects),
        )
        if row.state.may_start_task and not before.state.may_start_task:
            return await self._resume(advanced, now)
        return advanced

    async def _badged(self, row: SpendingRow, accounts: AgentAccounts, now: Instant) -> SpendingRow:
        meter = accounts.today.meter
        if meter.percent == row.badge:
            return row
        if meter.percent > row.badge:
            await self._feed(row.agent, "budget", meter.with_held(accounts.day.account.held), now)
            await self._told_of_burn(accounts, now)
        return replace(row, badge=meter.percent)

    async def _told_of_burn(self, accounts: AgentAccounts, now: Instant) -> None:
        """Report an agent that used up its share on three days in a row. Once: again only after a day that was not."""
        agent, today = accounts.agent, accounts.row.day
        days = await self._budgets.chronic_burn(accounts, now)
        if not days:
            return
        told = await self._store.records.lock_or_add(agent, BURN_TOLD, "")
        await self._store.records.set(agent, BURN_TOLD, today.isoformat())
        if told and date.fromisoformat(told) >= today - timedelta(days=1):
            return
        percents = ", ".join(f"{Meter(one.spent, one.limit).percent}%" for one in days)
        text = (
            f"{agent} used up its share of the budget {len(days)} days in a row ({percents}). "
            "'nudge budget --detail' shows what for; 'nudge budget set --window DOLLARS' gives it more."
        )
        await self._feed(agent, "burn", text, now)

    async def _feed(self, agent: str, kind: str, text: str, now: Instant) -> None:
        await self._store.feed.add(outcomes.FeedLine(now, agent, kind, text))


def _waits_for(agent: str, short: tuple[AccountKey, ...]) -> frozenset[Hashable]:
    """The part of `takes_from` that lacks the money."""
    return frozenset(key if key.kind in (AccountKind.RUN, AccountKind.POOL) else agent for key in short)


def _rest(accounts: AgentAccounts) -> Micros:
    """What the agent's day and window still have, if calls under way turn out to cost nothing."""
    return min(accounts.day.account.settled_room, accounts.window.account.settled_room)


def _is_smaller(attempt: Attempt, accounts: AgentAccounts) -> bool:
    """Whether the day counts as used up, but only for larger calls than this one."""
    least = attempt.call.least_cost
    return accounts.day.used_up and least < accounts.row.refused_least and least <= _rest(accounts)


def _asleep(accounts: AgentAccounts) -> AsleepError:
    by_plan = accounts.row.state is SpendingState.ASLEEP and accounts.wakes_at != accounts.refresh_at
    return AsleepError(accounts.agent, accounts.row.state, accounts.wakes_at, by_plan=by_plan)


def _does_not_fit(accounts: AgentAccounts, decision: Decision, short: tuple[AccountKey, ...]) -> BudgetExhaustedError:
    """Why a call may not be made now, in words for people: percentages, not dollars."""
    own = [key for key in short if key.kind in (AccountKind.RUN, AccountKind.POOL)]
    meter = accounts.today.meter.text
    where = f"the budget of {own[-1].name}" if own else f"today's budget of {accounts.agent} ({meter})"
    if decision.answer is Answer.REFUSED:
        otherwise = "or end the run here" if own else "wait for the refresh, or run 'nudge budget top-up AMOUNT'"
        return BudgetExhaustedError(
            f"The rest of {where} does not cover this call.",
            next_step=f"Shorten the input,  {otherwise}.",
            retry_at=None if own else to_datetime(accounts.refresh_at),
            permanent=bool(own),
        )
    return BudgetExhaustedError(
        f"Running calls hold the rest of {where}, and none of them ended in time.",
        next_step="Try again when they are done" + ("." if own else ", or run 'nudge budget top-up AMOUNT'."),
    )
