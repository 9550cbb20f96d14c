"""Which mind answers: the model that is paid for, or the rules that always are there.

Without a key the rules answer. With one, the rules stand in while the agent sleeps on its budget (a person who writes
still gets an answer) and while the service has been away for a whole heartbeat, so that nobody falls silent.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Protocol

from nudge.backoff import Policy, delay, longest
from nudge.coach.facts import CoachFacts
from nudge.coach.store import CoachStore
from nudge.errors import BudgetExhaustedError, LostLeaseError, ModelUnavailableError, NudgeError, StoreError
from nudge.instants import MINUTE, SECOND, Instant
from nudge.model import Model, ModelReply, ModelRequest

log = logging.getLogger("nudge.thinking")

OUTAGE = 45 * MINUTE
"""The service may be away for this long before the rules take over what nobody waits for."""
DOWN_SINCE = "model.down_since"
REST_UNTIL = "model.rest_until"
IN_VAIN = "model.in_vain"
STAND_IN = "stand_in"
"""The detail of a reply that the rules gave in a model's place."""

_SLACK = MINUTE
"""Heartbeats are picked up some seconds late, and not always the same number of seconds."""


class Spender(Protocol):
    """The spending governor, as far as thinking needs it."""

    async def call(self, agent: str, request: ModelRequest, now: Instant) -> ModelReply:
        """Hold, ask, settle. Raises BudgetExhaustedError where the agent sleeps or the call does not fit."""
        ...

    async def asleep(self, agent: str, now: Instant) -> bool: ...


class Thinking:
    """The model and the rules behind one question."""

    def __init__(self, store: CoachStore, rules: Model, spender: Spender | None, *, outage: int = OUTAGE) -> None:
        self._store = store
        self._rules = rules
        self._spender = spender
        self._outage = outage

    async def asleep(self, agent: str, now: Instant) -> bool:
        """Whether the agent may not ask any model now. The rules cost nothing and never sleep."""
        return self._spender is not None and await self._spender.asleep(agent, now)

    async def ask(self, agent: str, request: ModelRequest, now: Instant, *, waited_for: bool) -> ModelReply:
        """The answer. `waited_for`: a person waits, so the rules answer at once where the model cannot.

        Otherwise a short outage raises what went wrong (try at the next heartbeat); one that has lasted for a heartbeat
        lets the rules answer. A key that is refused and a question that is not taken are outages too: they end when
        somebody mends them.
        """
        if self._spender is None:
            return await self._rules.complete(request)
        if waited_for and await self._in_vain(agent, now):
            return await self.by_rules(request)
        try:
            await self._rest(agent, now)
            reply = await self._spender.call(agent, request, now)
        except (StoreError, LostLeaseError):
            raise
        except BudgetExhaustedError:
            if not waited_for:
                raise
            return await self.by_rules(request)
        except NudgeError as error:
            down_since = await self._note_outage(agent, error, now)
            if not waited_for and now - down_since < self._outage - _SLACK:
                raise
            log.warning("the rules answer for %s: %s", agent, error)
            return await self.by_rules(request)
        if await self._store.notes.get(agent, DOWN_SINCE) is not None:
            async with self._store.transaction():
                for name in (DOWN_SINCE, REST_UNTIL, IN_VAIN):
                    await self._store.notes.delete(agent, name)
        return reply

    async def by_rules(self, request: ModelRequest) -> ModelReply:
        """The rules in the model's place: they say so where it matters, and so does the reply."""
        facts = request.facts
        if self._spender is not None and isinstance(facts, CoachFacts):
            request = replace(request, facts=replace(facts, degraded=True))
        reply = await self._rules.complete(request)
        return reply if self._spender is None else replace(reply, details={**reply.details, STAND_IN: True})

    async def _in_vain(self, agent: str, now: Instant) -> bool:
        """Nobody is made to wait for a second call soon after one failed: a call takes minutes of retrying."""
        tried = await self._store.notes.get(agent, IN_VAIN)
        return isinstance(tried, int) and 0 <= (now - tried) / SECOND < delay(0, Policy.MODEL_REST)

    async def _rest(self, agent: str, now: Instant) -> None:
        """Raise while the service wants no calls. A rest that lies further ahead than one can be (the clock was set
        back) is none."""
        until = await self._store.notes.get(agent, REST_UNTIL)
        if isinstance(until, int) and 0 < (until - now) / SECOND <= longest(Policy.MODEL_REST):
            raise ModelUnavailableError("The model's service asked for a rest.", retry_after=(until - now) / SECOND)

    async def _note_outage(self, agent: str, error: NudgeError, now: Instant) -> Instant:
        """Since when the service is away, as far as the store knows; the first failure is written down."""
        async with self._store.transaction():
            wait = error.retry_after if isinstance(error, ModelUnavailableError) else None
            if wait is not None:
                rest = delay(0, Policy.MODEL_REST, wait)
                await self._store.notes.set(agent, REST_UNTIL, int(now + round(rest * SECOND)))
            elif isinstance(error, ModelUnavailableError):
                await self._store.notes.set(agent, IN_VAIN, int(now))
            since = await self._store.notes.get(agent, DOWN_SINCE)
            if not isinstance(since, int) or since > now:
                since = int(now)
                await self._store.notes.set(agent, DOWN_SINCE, since)
        return Instant(since)
