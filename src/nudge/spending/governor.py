"""The spending governor: every model call of an agent goes through here.

Hold the worst case, ask the model, settle what it cost. The settlement, the usage log, the agent's spending state and
all that follows from it are one transaction. A store that cannot be read raises before a call is made: nothing is spent
on a guess.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from nudge.clock import Clock
from nudge.errors import BudgetExhaustedError, NotConfiguredError, StoreError
from nudge.instants import SECOND, Instant
from nudge.model import Model, ModelReply, ModelRequest, Purpose
from nudge.queue.dispatch import Firing, Settlement
from nudge.spending.allowance import MIDNIGHT_UTC, DayTurn
from nudge.spending.allowances import Allowances
from nudge.spending.books import SpendingPlan, SpendingStatus, wake_timer
from nudge.spending.call_bounds import least_output_tokens, most_input_tokens
from nudge.spending.holds import Call
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Amount, Micros, as_micros
from nudge.spending.prices import PriceTable
from nudge.spending.purse import Asking, Purse, run_chain
from nudge.spending.refusals import AsleepError
from nudge.spending.routing import Routes
from nudge.spending.sleep_wake import Advanced
from nudge.spending.store import HoldRow, SpendingStore, UsageRow
from nudge.spending.under_way import Answering, UnderWay
from nudge.spending.waiting import Line
from nudge.tokens import TokenUse

PATIENCE_SECONDS = 600.0
SIBLING_LOOK_SECONDS = 5.0
FREE_MODELS = ("offline",)
STARTS_TASK = (Purpose.HEARTBEAT, Purpose.BRIEFING)
"""Calls that are new work by themselves; others are part of a task or answer somebody."""


class Spending:
    def __init__(
        self,
        store: SpendingStore,
        clock: Clock,
        *,
        prices: PriceTable,
        routes: Routes | None = None,
        plan: SpendingPlan | None = None,
        model: Model | None = None,
        turn: DayTurn = MIDNIGHT_UTC,
        patience: float = PATIENCE_SECONDS,
        on_timers: Callable[[], None] = lambda: None,
    ) -> None:
        self.allowances = Allowances(store, plan, turn)
        self.routes = routes or Routes.of()
        self.on_timers = on_timers
        self._store = store
        self._clock = clock
        self._model = model
        self._patience = patience
        self._purse = Purse(store, self.allowances, prices)
        self._line = Line()
        self._under_way = UnderWay()

    async def state(self, agent: str, now: Instant) -> SpendingStatus:
        """State and meter as they are now. Reading changes nothing."""
        return await self.allowances.status(agent, now)

    async def asleep(self, agent: str, now: Instant) -> bool:
        """Whether the agent may not ask a model for anything."""
        return not (await self.state(agent, now)).state.may_go_on

    async def may_call(self, agent: str, purpose: Purpose, now: Instant) -> bool:
        """Whether a call for this purpose may be made, as far as the state goes. The call itself decides anew."""
        state = (await self.state(agent, now)).state
        return state.may_start_task if purpose in STARTS_TASK else state.may_go_on

    async def open_run(self, agent: str, run: str, limit: Amount) -> None:
        """A limit for a run, or for a child of its pool ("run-7/reviewer"), that calls with that `run` are held on."""
        await self._store.ledger.open(run_chain(run)[-1], as_micros(limit), agent=agent)

    async def call(
        self,
        agent: str,
        request: ModelRequest,
        now: Instant | None = None,
        *,
        model: Model | None = None,
        run: str = "",
        starts_task: bool | None = None,
        min_tokens: int | None = None,
    ) -> ModelReply:
        """Ask the model, and pay for it. What it cost is in the reply's details.

        Raises AsleepError where the state forbids it, and BudgetExhaustedError where the money does not suffice, now or
        within the patience. A call that starts a task is refused while the agent winds down; heartbeats and briefings
        do unless `starts_task` says otherwise. A clamped answer has no fewer than `min_tokens`, by default a fourth of
        what was asked for. The offline model is free: it needs no hold and never sleeps.
        """
        asked = model or self._model
        if asked is None:
            raise NotConfiguredError(
                "There is no model to ask.",
                next_step="Set ANTHROPIC_API_KEY, or see docs/models.md for other models.",
            )
        request = replace(
            request,
            model=request.model or self.routes.model(self.allowances.plan.tier, request.purpose),
            attempt_id=request.attempt_id or secrets.token_hex(12),
        )
        if asked.name in FREE_MODELS:
            return await self._ask_for_free(agent, asked, request, run)
        held = await self._hold(
            Asking(
                agent,
                request.attempt_id,
                self._worst_case(request, min_tokens),
                request.model,
                request.purpose.value,
                run,
                request.purpose in STARTS_TASK if starts_task is None else starts_task,
            ),
            self._clock.now() if now is None else now,
        )
        reply = await self._ask(held, asked, replace(request, max_tokens=held.hold.max_tokens))
        cost = await asyncio.shield(self._settle(held, reply.usage, reply.model or request.model))
        clamped = held.hold.max_tokens < request.max_tokens
        return replace(reply, details={**reply.details, "cost": cost, "clamped": clamped})

    async def start(self, now: Instant) -> None:
        """Bring the store in line with the configuration, and see to it that every sleeper has its wake."""
        await self.allowances.take_over(self.allowances.plan, now)
        there = {agent.name for agent in await self._store.agents.all()}
        for row in await self._store.spending.all():
            if not row.state.may_go_on and row.agent in there:
                await self._store.timers.ensure(wake_timer(row.agent, row.refresh_at or now))

    async def reconfigure(self, plan: SpendingPlan, routes: Routes, now: Instant) -> None:
        """Take over a configuration that changed while the process runs."""
        self.routes = routes
        if await self.allowances.take_over(plan, now):
            self._line.ring()
            self.on_timers()

    async def wake(self, firing: Firing) -> None:
        """The wake timer's handler: look at the money, whatever the reason is that it fired."""
        async with self._settling(firing):
            advanced = await self._purse.look(firing.timer.agent, firing.now)
        self._after(advanced, room=True)

    async def sweep(self, firing: Firing) -> None:
        """The sweep timer's handler: give up what has expired, and come back for what is still open."""
        async with self._settling(firing) as settlement:
            advanced, following = await self._purse.sweep(firing.timer.agent, firing.now)
            if following is not None:
                settlement.again(Instant(max(following, firing.now + SECOND)))
        self._after(advanced, room=True)

    @asynccontextmanager
    async def _settling(self, firing: Firing) -> AsyncIterator[Settlement]:
        """A firing's settlement that locks the agent's money before its timer, as everybody does who spends: the other
        way round, the two could wait for each other."""
        async with self._store.transaction():
            await self._store.spending.lock(firing.timer.agent)
            async with firing.settle() as settlement:
                yield settlement

    def _worst_case(self, request: ModelRequest, min_tokens: int | None) -> Call:
        price = self._purse.prices.quote(request.model).price
        least = least_output_tokens(request.max_tokens) if min_tokens is None else min_tokens
        return Call(price, most_input_tokens(request), request.max_tokens, least)

    async def _hold(self, asking: Asking, now: Instant) -> HoldRow:
        """A hold as soon as there is room for it and everybody before has theirs. Never waits for ever."""
        began = self._clock.now()
        refusal: BudgetExhaustedError | None = None
        with self._line.place([asking.agent, *(key.name for key in run_chain(asking.run))]) as place:
            while True:
                if not self._line.blocked(place):
                    tried = await self._purse.hold(asking, now)
                    self._after(tried.advanced)
                    if tried.held is not None:
                        return tried.held
                    assert tried.refusal is not None
                    refusal, place.short = tried.refusal, tried.wait_for
                    if not place.short:
                        raise refusal
                left = self._patience - (self._clock.now() - began) / SECOND
                if left <= 0:
                    raise refusal or BudgetExhaustedError(
                        "Other calls waited for money before this one, and it was not its turn in time.",
                        next_step="Try again later, or run 'nudge budget top-up AMOUNT'.",
                    )
                await place.wait(self._clock, left)
                now = self._clock.now()

    async def _ask(self, held: HoldRow, model: Model, request: ModelRequest) -> ModelReply:
        """The model's answer. Whatever else happens, the hold is ended with it."""
        task = asyncio.ensure_future(model.complete(request))
        self._under_way.add(held.agent, task)
        try:
            return await self._answer(held.agent, task)
        except asyncio.CancelledError:
            stopped = self._under_way.was_stopped(task)
            await asyncio.shield(self._end(held, task))
            if stopped:
                raise await self._stopped(held.agent) from None
            raise
        except NotConfiguredError:  # the service took neither the call nor money for it
            await asyncio.shield(self._settle(held, TokenUse(), request.model))
            raise
        except BaseException:
            await asyncio.shield(self._cancel(held))
            raise
        finally:
            self._under_way.remove(held.agent, task)

    async def _answer(self, agent: str, task: Answering) -> ModelReply:
        """Wait for a call. Where other processes share the store, a stop that one of them caused is noticed as well."""
        try:
            while True:
                done, _ = await asyncio.wait({task}, timeout=SIBLING_LOOK_SECONDS if self._store.shared else None)
                if done:
                    reply: ModelReply = task.result()
                    return reply
                with suppress(StoreError):  # a call that is paid for does not end because nobody can look
                    row = await self._store.spending.get(agent)
                    if row is not None and row.state is SpendingState.BUDGET_EXCEEDED:
                        self._under_way.stop(agent)
        except asyncio.CancelledError:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
            raise

    async def _end(self, held: HoldRow, task: Answering) -> None:
        """After a cancellation: an answer that came in that moment is paid for, else the input is."""
        if task.cancelled() or task.exception() is not None:
            await self._cancel(held)
        else:
            reply: ModelReply = task.result()
            await self._settle(held, reply.usage, reply.model or held.model)

    async def _settle(self, held: HoldRow, use: TokenUse, model: str) -> Micros:
        cost, advanced = await self._purse.settle(held, use, model, self._clock.now())
        self._after(advanced, room=True)
        return cost

    async def _cancel(self, held: HoldRow) -> None:
        self._after(await self._purse.cancel(held, self._clock.now()), room=True)

    def _after(self, advanced: Advanced, *, room: bool = False) -> None:
        """What concerns this process, once it is written. With `room`, those in line look again."""
        if advanced.stopped:
            self._under_way.stop(advanced.books.agent)
        if room:
            self._line.ring()
        if advanced.woke or advanced.alerted:
            self.on_timers()

    async def _stopped(self, agent: str) -> AsleepError:
        status = await self.state(agent, self._clock.now())
        return AsleepError(agent, SpendingState.BUDGET_EXCEEDED, status.refresh_at)

    async def _ask_for_free(self, agent: str, model: Model, request: ModelRequest, run: str) -> ModelReply:
        reply = await model.complete(request)
        await self._store.usage.put(
            UsageRow(
                attempt_id=request.attempt_id,
                agent=agent,
                at=self._clock.now(),
                purpose=request.purpose.value,
                model=model.name,
                use=reply.usage,
                cost=0,
                run=run,
            )
        )
        return replace(reply, details={**reply.details, "cost": 0, "clamped": False})
