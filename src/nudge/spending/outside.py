"""Money for calls that somebody else makes: a program in any language holds, calls, and says what it used.

Nothing here waits. What is not settled within fifteen minutes is charged its worst case, until the truth is told.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial

from nudge.errors import BudgetExhaustedError, NotFoundError
from nudge.instants import Instant
from nudge.model import Purpose
from nudge.spending import holds
from nudge.spending.agent_ledger import AgentLedger
from nudge.spending.budgets import Budgets
from nudge.spending.governor import LEAST_SHARE
from nudge.spending.holds import MIN_TOKENS, Call
from nudge.spending.ledger import Attempt
from nudge.spending.prices import PriceTable
from nudge.spending.store import HoldRow, SpendingStore
from nudge.spending.waiting import NotYet
from nudge.tokens import TokenUse


class OutsideCalls:
    """`waiting` are the keys of timers that wait for money, as the daemon has them."""

    def __init__(self, store: SpendingStore, budgets: Budgets, prices: PriceTable, waiting: Sequence[str] = ()) -> None:
        self._store = store
        self._prices = prices
        self._ledger = AgentLedger(store, budgets, prices, waiting)

    async def hold(
        self,
        agent: str,
        model: str,
        input_tokens: int,
        max_tokens: int,
        now: Instant,
        *,
        run: str = "",
        attempt_id: str = "",
    ) -> HoldRow:
        """Hold the worst case. Raises BudgetExhaustedError if the money or the agent's state does not allow it."""
        attempt = self._attempt(agent, model, input_tokens, max_tokens, run, attempt_id)
        answer = (await self._ledger.hold(attempt, now)).answer
        if isinstance(answer, BudgetExhaustedError):
            raise answer
        if isinstance(answer, NotYet):
            raise answer.refusal
        return answer

    async def settle(self, attempt_id: str, use: TokenUse, now: Instant, *, model: str = "") -> HoldRow:
        """Charge what the call used; the first settlement counts."""
        row = await self._store.ledger.hold(attempt_id)
        if row is None:
            raise NotFoundError(
                f"There is no hold {attempt_id!r}.", next_step="Use the id that 'nudge budget hold' printed."
            )
        cost = self._prices.quote(model or row.model).price.cost(use)
        await self._ledger.end(row, partial(holds.settle, actual=cost), now, use, model)
        ended = await self._store.ledger.hold(attempt_id)
        assert ended is not None
        return ended

    async def record(
        self, agent: str, model: str, use: TokenUse, now: Instant, *, run: str = "", attempt_id: str = ""
    ) -> HoldRow:
        """Charge a call that was made without a hold, whether or not there was money for it. The same id again changes
        nothing."""
        attempt = self._attempt(agent, model, use.prompt, max(1, use.output), run, attempt_id)
        await self._ledger.record(attempt, self._prices.quote(model).price.cost(use), use, now)
        row = await self._store.ledger.hold(attempt.id)
        assert row is not None
        return row

    def _attempt(
        self, agent: str, model: str, input_tokens: int, max_tokens: int, run: str, attempt_id: str
    ) -> Attempt:
        least = min(max_tokens, max(MIN_TOKENS, max_tokens // LEAST_SHARE))
        call = Call(self._prices.quote(model).price, input_tokens, max_tokens, least)
        return Attempt(attempt_id or secrets.token_hex(8), call, agent, model, str(Purpose.WORK), run)
