"""Guards that live in the store: for hooks and for a gateway, where every event may come to another process.

A guard is found by its agent and the client's own session id. Each step loads it, changes it and writes it back in one
transaction that has locked its row, so parallel hooks take turns and none loses what another wrote. Money is held and
settled between two such steps, never inside one: nobody waits for money while others wait for the row.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from nudge.clock import Clock
from nudge.errors import BudgetExhaustedError, StoreCorruptError, UsageError
from nudge.instants import DAY, Instant
from nudge.progress.guard import Guard
from nudge.progress.guard_holds import AsyncHolds, no_cost, wanted
from nudge.progress.guard_values import CallAllowed, CallRefused, CallSettled, GuardTuning
from nudge.progress.run_calls import MIN_TOKENS
from nudge.progress.run_limits import BudgetEnforcementMode, RunLimits
from nudge.progress.store import GuardStore
from nudge.spending.money import Amount

if TYPE_CHECKING:
    from nudge.spending.prices import PriceTable

KEPT = 30 * DAY
"""How long the guard of a session that is not used stays."""


class StoredGuards:
    """The guards of a store, one per agent and session.

    >>> import asyncio
    >>> from nudge.clock import SystemClock
    >>> from nudge.testing import memory_store
    >>> async def main():
    ...     store = memory_store()
    ...     guards = StoredGuards(store, SystemClock())
    ...     for _ in range(3):  # three hooks, each perhaps in a process of its own
    ...         async with guards.session("builder", "session-1").open() as guard:
    ...             nudges = guard.after_tool("Bash", {"command": "make"}, error="no rule to make target")
    ...     await store.close()
    ...     return nudges[0].text
    >>> asyncio.run(main())
    'You appear to be repeating the same actions.'
    """

    def __init__(
        self,
        store: GuardStore,
        clock: Clock,
        *,
        limits: RunLimits | None = None,
        mode: BudgetEnforcementMode | str = BudgetEnforcementMode.STRICT,
        tuning: GuardTuning | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        """`limits` and `mode` are for new sessions; a session that is there keeps its own."""
        self.store = store
        self.clock = clock
        self._limits = limits or RunLimits()
        self._mode = mode
        self._tuning = tuning
        self._prices = prices

    def session(self, agent: str, session: str, *, ledger: AsyncHolds | None = None) -> StoredGuard:
        """The guard of one session. With a `ledger`, its model calls are held there. Changes nothing."""
        return StoredGuard(self, agent, session, ledger)

    def guard(self, stored: str) -> Guard:
        """The guard of a stored state; a new one if there is none."""
        if not stored:
            return Guard.within(
                self._limits, mode=self._mode, tuning=self._tuning, prices=self._prices, clock=self.clock
            )
        return Guard.from_state(
            json.loads(stored), running=True, tuning=self._tuning, prices=self._prices, clock=self.clock
        )


class StoredGuard:
    """One guard in the store. Its model calls are awaited as with `AsyncGuard`; everything else happens to the `Guard`
    inside `open`."""

    def __init__(self, guards: StoredGuards, agent: str, session: str, ledger: AsyncHolds | None) -> None:
        self.agent = agent
        self.session = session
        self._guards = guards
        self._store = guards.store
        self._holds = ledger

    def __repr__(self) -> str:
        return f"<StoredGuard of session {self.session!r} of {self.agent}>"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Guard]:
        """Lock the guard for the block, and write it back when the block ends well. Keep the block short: it must not
        wait for a model, a tool or a person."""
        now = self._now()
        async with self._store.transaction():
            stored = await self._store.guards.lock(self.agent, self.session, now)
            if not stored:
                await self._store.guards.forget(self.agent, Instant(now - KEPT))
            guard = self._read(stored)
            yield guard
            await self._store.guards.save(self.agent, self.session, json.dumps(guard.state()), now)

    async def look(self) -> Guard:
        """A copy of the guard to read. What you do to it is not written."""
        return self._read(await self._store.guards.get(self.agent, self.session))

    async def before_call(
        self,
        model: str,
        input_bound: int,
        max_tokens: int,
        *,
        min_tokens: int = MIN_TOKENS,
        starts_task: bool = False,
    ) -> CallAllowed | CallRefused:
        """Open a model call, waiting in line for money if need be, or refuse it. See `Guard.before_call`."""
        async with self.open() as guard:
            call = guard._open(model, input_bound, max_tokens, min_tokens, self._now())
            if isinstance(call, CallRefused):
                return call
            allowed = guard._allow(call, call.max_tokens, max_tokens)
        if self._holds is None:
            return allowed
        try:
            covered = await self._holds.hold(wanted(call, min_tokens, starts_task))
        except BudgetExhaustedError as error:
            async with self.open() as guard:
                return guard._not_held(call, error, self._now(), allowed.nudges)
        except BaseException:
            async with self.open() as guard:
                guard._fail(call, 0, self._now())
            raise
        if covered == allowed.max_tokens:
            return allowed
        async with self.open() as guard:
            guard._calls.clamp(call.id, covered)
        return replace(allowed, max_tokens=covered, clamped=True)

    async def after_call(
        self,
        usage: object,
        *,
        call: CallAllowed | str | None = None,
        model: str | None = None,
        cost: Amount | None = None,
        kept_output: int | None = None,
        iteration: bool = True,
    ) -> CallSettled:
        """Count a model call that came back, after its money is settled. See `Guard.after_call`."""
        if self._holds is None:
            async with self.open() as guard:
                opened, use, answered = guard._came_back(call, usage, model)
                charged = guard._cost(use, answered, cost)
                return guard._settle(opened, use, charged, kept_output, iteration, self._now())
        no_cost(cost)
        opened, use, answered = (await self.look())._came_back(call, usage, model)
        charged = await self._holds.settle(opened.id, use, answered)
        async with self.open() as guard:
            return guard._settle(guard._find(opened.id), use, charged, kept_output, iteration, self._now())

    async def call_failed(self, error: BaseException | None = None, *, call: CallAllowed | str | None = None) -> None:
        """Close a model call that brought no usage. See `AsyncGuard.call_failed`."""
        opened, charged = (await self.look())._find(call), 0
        try:
            if self._holds is not None:
                charged = await self._holds.release(opened.id, error)
        finally:
            async with self.open() as guard:
                guard._fail(guard._find(opened.id), charged, self._now())

    def _read(self, stored: str) -> Guard:
        try:
            return self._guards.guard(stored)
        except (UsageError, ValueError, RecursionError) as error:
            raise StoreCorruptError(
                f"The guard of session {self.session} of {self.agent} is damaged.", next_step="Start a new session."
            ) from error

    def _now(self) -> Instant:
        return self._guards.clock.now()
