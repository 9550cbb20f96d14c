"""The guard: one object between a run and the world.

It has the run budget, the loop detector, the phase tracker with its reserves and the injection budget, and it can hold
money on a ledger. Your loop tells it about every model call and every tool call, before and after, and does what it
answers. It makes no call itself, so it fits any loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nudge.errors import BudgetExhaustedError
from nudge.instants import Moment
from nudge.progress.guard_holds import AsyncHolds, AsyncLedgerHolds, Holds, LedgerHolds, no_cost, wanted
from nudge.progress.guard_rules import GuardRules
from nudge.progress.guard_values import CallAllowed, CallRefused, CallSettled
from nudge.progress.run_calls import MIN_TOKENS
from nudge.spending.money import Amount

if TYPE_CHECKING:
    from nudge.spending.memory_ledger import Ledger


class Guard(GuardRules[Holds]):
    """Guards one run in your own loop: budgets, loops, phases, nudges and, with a ledger, money.

    Ask `before_call` and `before_tool`, and tell `after_call` and `after_tool`:

    >>> from nudge import Guard, most_tokens
    >>> def ask(max_tokens, tools, note):  # stands in for client.messages.create(…)
    ...     return {"input_tokens": 3_000, "output_tokens": 500}, ("read_file", {"path": "app.py"})
    >>> guard = Guard(max_tokens=200_000)
    >>> for turn in range(9):
    ...     call = guard.before_call("claude-sonnet-5-5", guard.context_tokens + most_tokens("Fix it."), 4_096)
    ...     if not call:
    ...         break
    ...     usage, (tool, args) = ask(call.max_tokens, guard.offer(["read_file", "edit_file"]), call.text)
    ...     settled = guard.after_call(usage)
    ...     if verdict := guard.before_tool(tool, args):
    ...         nudges = guard.after_tool(tool, args, result="the file")
    ...     else:
    ...         break
    >>> turn, verdict.reason[:55]
    (4, "Doom loop detected: 'read_file' called 5 times with ide")
    >>> guard
    <Guard in exploration, level NONE: <RunBudget strict: 5,500 of 200,000 tokens, $0.00, 5 calls>>

    With a `ledger` each call holds its worst case before it is made, and a call that does not fit now is refused. In
    asynchronous code `AsyncGuard` waits in line instead.
    """

    def before_call(
        self,
        model: str,
        input_bound: int,
        max_tokens: int,
        *,
        min_tokens: int = MIN_TOKENS,
        starts_task: bool = False,
        now: Moment | None = None,
    ) -> CallAllowed | CallRefused:
        """Open a model call, or refuse it. Make it as the answer says, then tell `after_call` or `call_failed`.

        `input_bound` is at least as many tokens as the whole input has. `max_tokens` is clamped to what the run and the
        ledger have left, but not below `min_tokens`. Calls may overlap.
        """
        at = self._now(now)
        call = self._open(model, input_bound, max_tokens, min_tokens, at)
        if isinstance(call, CallRefused):
            return call
        covered = call.max_tokens
        if self._holds is not None:
            try:
                covered = self._holds.hold(wanted(call, min_tokens, starts_task))
            except BudgetExhaustedError as error:
                return self._not_held(call, error, at)
            except BaseException:
                self._fail(call, 0, at)
                raise
        return self._allow(call, covered, max_tokens)

    def after_call(
        self,
        usage: object,
        *,
        call: CallAllowed | str | None = None,
        model: str | None = None,
        cost: Amount | None = None,
        kept_output: int | None = None,
        iteration: bool = True,
        now: Moment | None = None,
    ) -> CallSettled:
        """Count a model call that came back, and settle it with the ledger.

        `usage` is that of the reply, as Anthropic or OpenAI sent it, or a TokenUse; None is counted at the bound of the
        call. `call` names the call if several are open, `model` the one that answered if it was another. `cost` is for
        a guard that has neither prices nor a ledger. `kept_output` is how much of the output stays in the conversation,
        if not all of it. A call that is not a turn of the loop passes `iteration=False`.
        """
        at = self._now(now)
        opened, use, answered = self._came_back(call, usage, model)
        if self._holds is None:
            charged = self._cost(use, answered, cost)
        else:
            no_cost(cost)
            charged = self._holds.settle(opened.id, use, answered)
        return self._settle(opened, use, charged, kept_output, iteration, at)

    def call_failed(
        self,
        error: BaseException | None = None,
        *,
        call: CallAllowed | str | None = None,
        now: Moment | None = None,
    ) -> None:
        """Close a model call that brought no usage. Without an `error` it was never sent; with one, the ledger decides
        what it is charged."""
        opened = self._find(call)
        charged = self._holds.release(opened.id, error) if self._holds is not None else 0
        self._fail(opened, charged, self._now(now))

    def _adapted(self, ledger: Ledger | Holds) -> Holds:
        from nudge.spending.memory_ledger import Ledger as MemoryLedger

        return LedgerHolds(ledger) if isinstance(ledger, MemoryLedger) else ledger


class AsyncGuard(GuardRules[AsyncHolds]):
    """A `Guard` for asynchronous code: `await` its `before_call`, `after_call` and `call_failed`.

    A call that has to wait for money waits in line for it. Everything else is as with `Guard`.

    >>> import asyncio
    >>> from nudge import AsyncGuard, Ledger, load_prices
    >>> async def main():
    ...     prices = load_prices()
    ...     guard = AsyncGuard(max_tokens=100_000, ledger=Ledger(1, prices=prices))
    ...     call = await guard.before_call("claude-sonnet-5-5", 1_000, max_tokens=2_000)
    ...     return await guard.after_call({"prompt_tokens": 900, "completion_tokens": 100})
    >>> asyncio.run(main()).level.name
    'NONE'
    """

    async def before_call(
        self,
        model: str,
        input_bound: int,
        max_tokens: int,
        *,
        min_tokens: int = MIN_TOKENS,
        starts_task: bool = False,
        now: Moment | None = None,
    ) -> CallAllowed | CallRefused:
        """Open a model call, waiting in line for money if need be, or refuse it. See `Guard.before_call`."""
        at = self._now(now)
        call = self._open(model, input_bound, max_tokens, min_tokens, at)
        if isinstance(call, CallRefused):
            return call
        covered = call.max_tokens
        if self._holds is not None:
            try:
                covered = await self._holds.hold(wanted(call, min_tokens, starts_task))
            except BudgetExhaustedError as error:
                return self._not_held(call, error, at)
            except BaseException:
                self._fail(call, 0, at)
                raise
        return self._allow(call, covered, max_tokens)

    async def after_call(
        self,
        usage: object,
        *,
        call: CallAllowed | str | None = None,
        model: str | None = None,
        cost: Amount | None = None,
        kept_output: int | None = None,
        iteration: bool = True,
        now: Moment | None = None,
    ) -> CallSettled:
        """Count a model call that came back, and settle it with the ledger. See `Guard.after_call`."""
        opened, use, answered = self._came_back(call, usage, model)
        if self._holds is None:
            charged = self._cost(use, answered, cost)
        else:
            no_cost(cost)
            charged = await self._holds.settle(opened.id, use, answered)
        return self._settle(opened, use, charged, kept_output, iteration, self._now(now))

    async def call_failed(
        self,
        error: BaseException | None = None,
        *,
        call: CallAllowed | str | None = None,
        now: Moment | None = None,
    ) -> None:
        """Close a model call that brought no usage. See `Guard.call_failed`.

        Raises AsleepError if the call was cancelled because its agent passed its budget.
        """
        opened = self._find(call)
        charged = 0
        try:
            if self._holds is not None:
                charged = await self._holds.release(opened.id, error)
        finally:
            self._fail(opened, charged, self._now(now))

    def _adapted(self, ledger: Ledger | AsyncHolds) -> AsyncHolds:
        from nudge.spending.memory_ledger import Ledger as MemoryLedger

        return AsyncLedgerHolds.of(ledger) if isinstance(ledger, MemoryLedger) else ledger
