"""The spending governor: every model call of an agent goes through `hold`.

Hold the worst case, let the call happen, settle what it cost. The settlement, the usage log, the agent's spending state
and all that follows from it are one transaction. A store that cannot be read raises before a call is made: nothing is
spent on a guess.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import Context
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol

from nudge.backoff import Policy, SetbackError, persevere
from nudge.clock import Clock
from nudge.errors import BudgetExhaustedError, ModelUnavailableError, NotConfiguredError, StoreError, UsageError
from nudge.instants import SECOND, Instant, Moment, as_instant
from nudge.model import (
    Block,
    Model,
    ModelReply,
    ModelRequest,
    Opaque,
    Purpose,
    TextDelta,
    ToolResult,
    ToolUse,
    Turn,
    words_of,
)
from nudge.queue.firing import Firing, Settlement
from nudge.spending.agent_ledger import Advanced, AgentLedger, Write, run_chain, takes_from
from nudge.spending.allowance import MIDNIGHT_UTC, DayTurn, SpendingDay
from nudge.spending.budgets import Budgets, SpendingPlan, SpendingStatus
from nudge.spending.holds import MIN_TOKENS, Call, End, Hold
from nudge.spending.ledger import Attempt, HeldCall
from nudge.spending.lifecycle import AsleepError, SpendingState
from nudge.spending.money import Amount, as_micros
from nudge.spending.plan_windows import PlanTold
from nudge.spending.prices import Caching, PriceTable
from nudge.spending.routing import Routes
from nudge.spending.store import HoldRow, SpendingStore
from nudge.spending.waiting import Line, NotYet
from nudge.tokens import most_tokens

PATIENCE_SECONDS = 600.0
SIBLING_LOOK_SECONDS = 5.0
STARTS_TASK = (Purpose.HEARTBEAT, Purpose.BRIEFING)
"""Calls that are new work by themselves; others are part of a task or answer somebody."""
LEAST_SHARE = 4
"""An answer may be clamped to a fourth of what was asked for; a shorter one is not worth its question."""
MESSAGE_TOKENS = 12
"""For what stands around the text of one message."""
TOOL_TOKENS = 700
"""For what a service, or asking in words, adds to a request with a schema or tools; Anthropic says 290 to 530."""
CALL_TOKENS = 100
"""For what stands around one tool, its use or its result, names included."""
IMAGE_TOKENS = 5_000
"""For an image; Anthropic says at most 4,784."""


def input_bound(request: ModelRequest) -> int:
    """More tokens than the request's input has: about twice as many for English."""
    calls = any(isinstance(block, ToolUse | ToolResult) for turn in request.turns for block in turn.content)
    return frame_bound(request, calls=calls) + turns_bound(request.turns)


def frame_bound(request: ModelRequest, *, calls: bool) -> int:
    """The part of `input_bound` for everything but the turns: instructions, tools and the answer's form. `calls` says
    that the turns have tool calls in them."""
    texts = replace(request, turns=()).texts()
    around = MESSAGE_TOKENS * (len(texts) + 1) + CALL_TOKENS * len(request.tools)
    if request.schema is not None or request.tools or calls:
        around += TOOL_TOKENS
    return around + sum(most_tokens(text) for text in texts)


def turns_bound(turns: Sequence[Turn]) -> int:
    """The part of `input_bound` for turns. It adds up: of a growing conversation each turn is counted once."""
    return sum(_block_bound(block) for turn in turns for block in turn.content)


def _block_bound(block: Block) -> int:
    around = MESSAGE_TOKENS
    if isinstance(block, ToolUse | ToolResult):
        around += CALL_TOKENS
    elif isinstance(block, Opaque) and block.type == "image":
        around += IMAGE_TOKENS
    return around + most_tokens(words_of(block))


class Spending:
    """What the agents of a store may spend, for any number of processes.

    >>> from datetime import UTC, datetime
    >>> from nudge import Agent, SystemClock, as_instant, load_prices, open_store
    >>> async def main():
    ...     store, now = await open_store("sqlite://:memory:"), datetime.now(UTC)
    ...     await store.agents.add(Agent("worker", "worker", as_instant(now)))
    ...     spending = Spending(store, SystemClock(), prices=load_prices(), plan=SpendingPlan.of(30))
    ...     async with spending.hold("worker", model="claude-sonnet-5-5", input_bound=1_000, max_tokens=4_096) as hold:
    ...         hold.settle({"input_tokens": 1_000, "output_tokens": 180})
    ...     status = await spending.state("worker", now)
    ...     await store.close()
    ...     return hold.charged, status.meter.text, status.state.value
    >>> asyncio.run(main())
    (3800, 'Budget: 0% used', 'awake')
    """

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
        owner: str = "",
        waiting: Sequence[str] = (),
    ) -> None:
        """`model` is what `call` asks; `patience` is how many seconds a call waits for money before it is refused.

        `owner` names what makes the holds, if only one process at a time can have that name: `start` then settles what
        a dead one of the same name left behind. `waiting` are the keys of timers that wait for money: they become due
        as soon as there is some, and their handlers see for themselves whether it is enough.
        """
        self.budgets = Budgets(store, plan, turn)
        self.routes = routes or Routes.of()
        self.on_timers: Callable[[], None] = lambda: None
        self._store = store
        self._clock = clock
        self._prices = prices
        self._model = model
        self._ledger = AgentLedger(store, self.budgets, prices, waiting)
        self._line = Line(clock, patience)
        self._owner = owner
        self._in_flight = InFlight(self._watch if store.shared else None)

    def hold(
        self,
        agent: str,
        *,
        input_bound: int,
        max_tokens: int,
        model: str = "",
        purpose: str = Purpose.WORK,
        run: str = "",
        starts_task: bool | None = None,
        min_tokens: int | None = None,
        caching: Caching = Caching.SHORT,
        searches: int = 0,
        attempt_id: str = "",
        now: Moment | None = None,
        patience: float | None = None,
    ) -> HoldBlock:
        """Hold the worst case of a call for an `async with` block, and settle it when the block ends.

        `input_bound` must be no less than the tokens of the input. `max_tokens` is clamped to what the money covers,
        but not below `min_tokens` (by default a fourth of it). `searches` is how many web searches the service may do
        itself. Without a `model` the purpose chooses it. A call that
        starts a task is refused while the agent winds down; heartbeats and briefings do unless `starts_task` says
        otherwise. The same `attempt_id` again gives the same hold.

        Entering waits in line for money that calls in flight hold, for `patience` seconds (those of the governor unless
        given). It raises AsleepError where the agent's state forbids the call, and BudgetExhaustedError where the money
        does not cover it, now or within the patience. If the agent passes 110 % of its day meanwhile, the block is
        cancelled and AsleepError comes out of it.
        """
        asked = model or self.routes.model(self.budgets.plan.tier, purpose)
        least = max(MIN_TOKENS, max_tokens // LEAST_SHARE) if min_tokens is None else min_tokens
        call = Call(self._prices.quote(asked).price, input_bound, max_tokens, least, Caching(caching), searches)
        attempt = Attempt(attempt_id or secrets.token_hex(12), call, agent, asked, str(purpose), run, self._owner)
        starts = purpose in STARTS_TASK if starts_task is None else starts_task
        return HoldBlock(self, attempt, starts, None if now is None else as_instant(now), patience)

    @asynccontextmanager
    async def stoppable(self, agent: str) -> AsyncIterator[None]:
        """A block that costs nothing itself and ends with the agent's money: if the agent passes 110 % of its day
        meanwhile, it is cancelled, and AsleepError comes out of it."""
        flight = self._in_flight.enter(agent)
        try:
            yield
        except asyncio.CancelledError:
            if self._in_flight.leave(flight):
                raise await self._stopped(agent) from None
            raise
        except BaseException:
            self._in_flight.leave(flight)
            raise
        if self._in_flight.leave(flight):
            raise await self._stopped(agent)

    async def call(
        self,
        agent: str,
        request: ModelRequest,
        now: Moment | None = None,
        *,
        model: Model | None = None,
        run: str = "",
        starts_task: bool | None = None,
        min_tokens: int | None = None,
        patience: float | None = None,
        words: Words | None = None,
    ) -> ModelReply:
        """Ask the model inside a `hold`, and pay for it. What it cost is in the reply's details. With `words`, the
        answer's words are given there as they are written.

        An attempt whose answer did not arrive whole is charged its worst case, because it may have been billed. There
        is another one if the row `model-lost` of the back-off table says so, and if the money pays for it: it has a
        hold of its own. A reply whose usage the service did not count, or not so that it can be true, is charged its
        worst case too; `usage_estimated` in its details says so.
        """
        asked = model or self._model
        if asked is None:
            raise NotConfiguredError("No model is set up.", next_step="See docs/models.md.")
        name = request.attempt_id or secrets.token_hex(12)
        tries = 0

        async def attempt() -> ModelReply:
            nonlocal tries
            tries += 1
            async with self.hold(
                agent,
                model=request.model,
                input_bound=input_bound(request),
                max_tokens=request.max_tokens,
                purpose=request.purpose,
                run=run,
                starts_task=starts_task,
                min_tokens=min_tokens,
                attempt_id=name if tries == 1 else f"{name}#{tries}",
                now=now if tries == 1 else None,
                patience=patience,
            ) as hold:
                sent = replace(request, model=hold.model, max_tokens=hold.max_tokens, attempt_id=hold.id)
                try:
                    reply = await asked.complete(sent) if words is None else await _streamed(asked, sent, words)
                except ModelUnavailableError as error:
                    if error.unbilled:
                        raise
                    raise SetbackError(Policy.MODEL_LOST, error) from None
                if reply.details.get("usage_estimated"):
                    cost = hold.assume_worst(reply.usage, model=reply.model)
                else:
                    cost = hold.settle(reply.usage, model=reply.model)
            return replace(reply, details={**reply.details, "cost": cost, "clamped": hold.clamped})

        reply, _ = await persevere(attempt, self._clock)
        return reply

    async def state(self, agent: str, now: Moment) -> SpendingStatus:
        """State and meter as they are now. Reading changes nothing."""
        return await self.budgets.status(agent, as_instant(now))

    async def asleep(self, agent: str, now: Moment) -> bool:
        """Whether the agent may not ask a model for anything. Reading changes nothing."""
        return not (await self.state(agent, now)).state.may_go_on

    async def open_run(self, agent: str, run: str, limit: Amount) -> None:
        """Open a limit for a run, or for a member of its pool ("run-7/reviewer"): calls with that `run` are held on
        it. One that is there stays as it is."""
        await self._store.ledger.open(run_chain(run)[-1], as_micros(limit), agent=agent)

    async def start(self, now: Instant) -> None:
        """Bring the store in line with the configuration, settle what a dead predecessor held, and look at everybody's
        money: a sleeper gets its wake, and what waits goes on if it can."""
        await self.budgets.take_over(self.budgets.plan, now)
        there = {agent.name for agent in await self._store.agents.all()}
        for row in await self._store.spending.all():
            if row.agent in there:
                await self.look_at(row.agent, now)

    async def look_at(self, agent: str, now: Instant) -> None:
        """The same for the money of one agent."""
        if self._owner:
            await self._ledger.settle_dead(agent, self._owner, now)
        await self._ledger.look(agent, now)

    async def note_plan(self, agent: str, told: PlanTold) -> None:
        """Keep what a service says about the agent's plan. A window that is used up puts the agent to sleep until it
        resets."""
        self._after(await self._ledger.plan(agent, told, self._clock.now()), room=True)

    async def reconfigure(self, plan: SpendingPlan, routes: Routes, now: Instant) -> None:
        """Take over a configuration that changed while the process runs."""
        self.routes = routes
        if await self.budgets.take_over(plan, now):
            self._line.ring()
            self.on_timers()

    async def wake(self, firing: Firing) -> None:
        """Handle the wake timer: look at the money, whatever the reason is that it fired."""
        async with self._settling(firing):
            advanced = await self._ledger.look(firing.timer.agent, firing.now)
        self._after(advanced, room=True)

    async def sweep(self, firing: Firing) -> None:
        """Handle the sweep timer: give up what has expired, and come back for what is still open."""
        async with self._settling(firing) as settlement:
            advanced, following = await self._ledger.sweep(firing.timer.agent, firing.now)
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

    async def _begin(
        self, attempt: Attempt, starts_task: bool, now: Instant | None, patience: float | None
    ) -> tuple[HoldRow, SpendingDay]:
        """A hold as soon as there is room for it and everybody before has theirs, and the agent's day as it was then.
        Never waits forever."""

        async def ask() -> tuple[HoldRow, SpendingDay] | NotYet:
            nonlocal now
            at, now = self._clock.now() if now is None else now, None
            result = await self._ledger.hold(attempt, at, starts_task=starts_task)
            self._after(result.advanced)
            if isinstance(result.answer, BudgetExhaustedError):
                raise result.answer
            if isinstance(result.answer, NotYet):
                return result.answer
            return result.answer, result.advanced.accounts.today

        try:
            return await self._line.turn(takes_from(attempt), ask, patience)
        except BudgetExhaustedError:
            self._ledger.refused(attempt.agent)
            raise

    async def _end(self, row: HoldRow, held: HeldCall, end: End, beside: Write | None) -> None:
        advanced = await self._ledger.end(row, end, self._clock.now(), held._use, held._answered, beside)
        self._after(advanced, room=True)

    def _after(self, advanced: Advanced, *, room: bool = False) -> None:
        """What concerns this process, once it is written. With `room`, those in line ask again."""
        if advanced.stopped:
            self._in_flight.stop(advanced.accounts.agent)
        if room:
            self._line.ring()
        if advanced.woke or advanced.alerted:
            self.on_timers()

    async def _stopped(self, agent: str) -> AsleepError:
        status = await self.state(agent, self._clock.now())
        return AsleepError(agent, SpendingState.BUDGET_EXCEEDED, status.refresh_at)

    async def _watch(self, agent: str) -> None:
        """Where other processes share the store, notice a stop that one of them caused."""
        while True:
            await self._clock.sleep(SIBLING_LOOK_SECONDS)
            with suppress(StoreError):  # a call that is paid for does not end because nobody can look
                row = await self._store.spending.get(agent)
                if row is not None and row.state is SpendingState.BUDGET_EXCEEDED:
                    self._in_flight.stop(agent)


class Words(Protocol):
    """Whoever reads an answer while it is written."""

    def begin(self) -> None:
        """An attempt begins. What an attempt before it wrote is void."""
        ...

    def add(self, text: str) -> None: ...


async def _streamed(model: Model, request: ModelRequest, words: Words) -> ModelReply:
    """The whole reply of a stream. One that ends without a reply did not arrive whole."""
    words.begin()
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                words.add(event.text)
            elif isinstance(event, ModelReply):
                return event
    raise ModelUnavailableError("The answer broke off.")


class HoldBlock:
    """What `Spending.hold` gives: enter it once, with `async with`. `day` is the agent's when it was entered. `beside`,
    if the block sets it, writes what is kept or lost together with the settlement."""

    day: SpendingDay
    beside: Write | None = None

    def __init__(
        self, spending: Spending, attempt: Attempt, starts_task: bool, now: Instant | None, patience: float | None
    ) -> None:
        self._spending = spending
        self._attempt = attempt
        self._starts_task = starts_task
        self._now = now
        self._patience = patience
        self._end: End | None = None
        self._left = False

    async def __aenter__(self) -> HeldCall:
        spending, attempt = self._spending, self._attempt
        self._row, self.day = await spending._begin(attempt, self._starts_task, self._now, self._patience)
        self._held = HeldCall(self._row.hold, attempt.call, attempt.model, spending._prices, self._note)
        self._flight = spending._in_flight.enter(attempt.agent)
        return self._held

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what the call is charged, whatever ended the block."""
        stopped = self._spending._in_flight.leave(self._flight)
        self._held._leave(error)
        self._left = True
        assert self._end is not None
        try:
            await _to_the_end(self._spending._end(self._row, self._held, self._end, self.beside))
        except asyncio.CancelledError:
            if not stopped or self._flight.is_cancelled:
                raise  # or else it is what `stop` asked for, delivered late
        if stopped and isinstance(error, asyncio.CancelledError):
            raise await self._spending._stopped(self._attempt.agent) from None

    def _note(self, held: HeldCall, end: End) -> Hold:
        """Keep how the call ends until the block does: that is when it is written."""
        if self._left:
            raise UsageError("This hold has already ended.", next_step="Settle inside its 'async with' block.")
        self._end = end
        return end(held._hold).hold


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work first where the caller is cancelled meanwhile: what a call cost is written all the same."""
    task = asyncio.ensure_future(work)
    interrupted: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interrupted = error
    if interrupted is None:
        task.result()
        return
    if not task.cancelled():
        task.exception()
    raise interrupted


class Flight:
    """A block that holds money now, and the task that runs it."""

    def __init__(self, agent: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.agent = agent
        self._task = task
        self._cancelling = task.cancelling()
        self._stopped = False

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody asked to cancel the task after the block began."""
        return self._task.cancelling() > self._cancelling

    def stop(self) -> None:
        """Cancel the task, once."""
        if not self._stopped:
            self._stopped = True
            self._task.cancel()

    def was_stopped(self) -> bool:
        """Take the cancellation back. True if nobody but `stop` asked for one."""
        if self._stopped:
            self._task.uncancel()
        return self._stopped and not self.is_cancelled


class InFlight:
    """The blocks of this process that hold money now, by agent, so that a stop can cancel them.

    `watch` runs beside the blocks of an agent as long as there are any.
    """

    def __init__(self, watch: Callable[[str], Coroutine[Any, Any, None]] | None = None) -> None:
        self._flights: dict[str, set[Flight]] = {}
        self._watch = watch
        self._watchers: dict[str, asyncio.Task[None]] = {}

    def enter(self, agent: str) -> Flight:
        flight = Flight(agent)
        flights = self._flights.setdefault(agent, set())
        if not flights and self._watch is not None:
            # In a context of its own: it must not take part in a transaction that is open here.
            self._watchers[agent] = asyncio.create_task(self._watch(agent), context=Context())
        flights.add(flight)
        return flight

    def leave(self, flight: Flight) -> bool:
        """Remove a block. True if it was stopped, and its task is cancelled for no other reason."""
        flights = self._flights[flight.agent]
        flights.remove(flight)
        if not flights:
            del self._flights[flight.agent]
            if watcher := self._watchers.pop(flight.agent, None):
                watcher.cancel()
        return flight.was_stopped()

    def stop(self, agent: str) -> None:
        """Cancel the agent's blocks. Each raises AsleepError; their callers are not cancelled with them."""
        for flight in self._flights.get(agent, ()):
            flight.stop()
