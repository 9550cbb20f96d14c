"""Which mind answers: the model that is paid for, or the rules that always are there.

Without a key the rules answer. With one, the rules stand in while the agent sleeps on its budget (a person who writes
still gets an answer) and while the service has been away for longer than a heartbeat, so that nobody falls silent.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Protocol

from nudge.app.ports.model import Model, ModelReply, ModelRequest
from nudge.app.ports.store import Store
from nudge.core.coach.facts import CoachFacts
from nudge.core.instants import MINUTE, SECOND, Instant
from nudge.errors import BudgetExhaustedError, ModelUnavailableError

log = logging.getLogger("nudge.thinking")

OUTAGE = 45 * MINUTE
"""The service may be away for this long before the rules take over what nobody waits for."""
DOWN_SINCE = "model.down_since"
REST_UNTIL = "model.rest_until"


class Spender(Protocol):
    """The spending governor, as far as thinking needs it."""

    async def call(self, agent: str, request: ModelRequest, now: Instant) -> ModelReply:
        """Hold, ask, settle. Raises BudgetExhaustedError where the agent sleeps or the call does not fit."""
        ...

    async def asleep(self, agent: str, now: Instant) -> bool: ...


class Thinking:
    def __init__(self, store: Store, rules: Model, spender: Spender | None) -> None:
        self._store = store
        self._rules = rules
        self._spender = spender

    async def asleep(self, agent: str, now: Instant) -> bool:
        """Whether the agent may not ask any model now. The rules cost nothing and never sleep."""
        return self._spender is not None and await self._spender.asleep(agent, now)

    async def ask(self, agent: str, request: ModelRequest, now: Instant, *, waited_for: bool) -> ModelReply:
        """The answer. `waited_for`: a person waits, so the rules answer at once where the model cannot.

        Otherwise a short outage raises ModelUnavailableError (try at the next heartbeat), and a long one lets the rules
        answer.
        """
        if self._spender is None:
            return await self._rules.complete(request)
        rest_until = await self._store.notes.get(agent, REST_UNTIL)
        try:
            if isinstance(rest_until, int) and now < rest_until:
                raise ModelUnavailableError(
                    "The model's service asked for a rest.", retry_after=(rest_until - now) / SECOND
                )
            reply = await self._spender.call(agent, request, now)
        except ModelUnavailableError as error:
            down_since = await self._note_outage(agent, error, now)
            if not waited_for and now - down_since <= OUTAGE:
                raise
            log.warning("the rules answer for %s: %s", agent, error)
            return await self._by_rules(request)
        except BudgetExhaustedError:
            if not waited_for:
                raise
            return await self._by_rules(request)
        if await self._store.notes.get(agent, DOWN_SINCE) is not None:
            await self._store.notes.delete(agent, DOWN_SINCE)
            await self._store.notes.delete(agent, REST_UNTIL)
        return reply

    async def _by_rules(self, request: ModelRequest) -> ModelReply:
        facts = request.facts
        if isinstance(facts, CoachFacts):
            request = replace(request, facts=replace(facts, degraded=True))
        return await self._rules.complete(request)

    async def _note_outage(self, agent: str, error: ModelUnavailableError, now: Instant) -> Instant:
        async with self._store.transaction():
            if error.retry_after is not None:
                await self._store.notes.set(agent, REST_UNTIL, int(now + error.retry_after * SECOND))
            since = await self._store.notes.get(agent, DOWN_SINCE)
            if not isinstance(since, int):
                since = int(now)
                await self._store.notes.set(agent, DOWN_SINCE, since)
        return Instant(since)
