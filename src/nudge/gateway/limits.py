"""Limits of a run besides money: what may clamp or refuse a call before money is held for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nudge.errors import BudgetExhaustedError
from nudge.gateway.calls import ModelCall
from nudge.progress.guard import Guard
from nudge.tokens import TokenUse


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call as a limit of the run allows it. `ended` is told what it used."""

    max_tokens: int
    ended: Callable[[TokenUse | None], None] = lambda use: None


Limit = Callable[[ModelCall], Awaitable[Allowed]]


class TokenLimit:
    """So many tokens for all calls of a run together, counted as a guard counts them: each once."""

    def __init__(self, max_tokens: int) -> None:
        self._guard = Guard(max_tokens=max_tokens)

    async def __call__(self, call: ModelCall) -> Allowed:
        allowed = self._guard.before_call(call.model, call.input_bound, call.max_tokens, min_tokens=call.least_tokens)
        if not allowed:
            raise BudgetExhaustedError(allowed.reason, next_step="Run it again with a larger --max-tokens.")

        def ended(use: TokenUse | None) -> None:
            if use is None:
                self._guard.call_failed(call=allowed)
            else:
                self._guard.after_call(use, call=allowed)

        return Allowed(allowed.max_tokens, ended)
