"""Who answers: the model that is paid for, or the coach's own rules, which are always there.

Without a key the rules answer. With one, the rules stand in while the agent sleeps on its budget (a person who writes
still gets an answer) and while the service has been away for a whole heartbeat, so that nobody falls silent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from nudge.coach.facts import CoachFacts
from nudge.coach.rules import answer
from nudge.coach.store import CoachStore
from nudge.errors import BudgetExhaustedError, LostLeaseError, ModelUnavailableError, NudgeError, StoreError
from nudge.instants import DAY, MINUTE, SECOND, Instant
from nudge.model import Model, ModelReply, ModelRequest, StopReason, text_reply

log = logging.getLogger("nudge.answering")

RULES = "offline"
"""What logs and simulations call the rules, where they name a model."""
OUTAGE = 45 * MINUTE
"""The service may be away for this long before the rules take over what nobody waits for."""
LONGEST_REST = DAY
"""A service that says "in a year" is asked again tomorrow."""
DOWN_SINCE = "model.down_since"
REST_UNTIL = "model.rest_until"
IN_VAIN = "model.in_vain"
SPARED = 5 * MINUTE
"""After a failed call nobody waits for another one for this long: a call takes minutes of retries."""

_SLACK = MINUTE
"""Heartbeats are picked up some seconds late, and not always the same number of seconds."""

Rules: TypeAlias = Callable[[CoachFacts, ModelRequest], ModelReply]
ModelFor: TypeAlias = Callable[[CoachFacts], Model]
"""Makes a model for one question from what it is about: how a simulation answers by rules at a model's price."""


class Spender(Protocol):
    """The spending governor, as far as answering needs it."""

    async def call(self, agent: str, request: ModelRequest, now: Instant, *, model: Model | None = None) -> ModelReply:
        """Hold, ask, settle. Raises BudgetExhaustedError where the agent sleeps or the call does not fit."""
        ...

    async def asleep(self, agent: str, now: Instant) -> bool: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` is set where the answer has the form that was asked for. A `stand_in` is the rules' in a model's place."""

    text: str
    data: Mapping[str, Any] | None
    model: str
    stop_reason: StopReason = StopReason.END_TURN
    stand_in: bool = False

    @property
    def content(self) -> Mapping[str, Any] | str:
        return self.text if self.data is None else self.data


def answer_by_rules(facts: CoachFacts, request: ModelRequest) -> ModelReply:
    """The rules' answer to a request that is about these facts. It is free."""
    found = answer(facts)
    if isinstance(found, Mapping):
        return text_reply(json.dumps(found, ensure_ascii=False), RULES, data=found)
    return text_reply(found, RULES)


class Answering:
    """Asks the model through the spending governor, or answers by rules from the facts."""

    def __init__(
        self,
        store: CoachStore,
        spender: Spender | None,
        *,
        rules: Rules = answer_by_rules,
        model_for: ModelFor | None = None,
        outage: int = OUTAGE,
    ) -> None:
        self._store = store
        self._spender = spender
        self._rules = rules
        self._model_for = model_for
        self._outage = outage

    async def asleep(self, agent: str, now: Instant) -> bool:
        """Whether the agent may not ask any model now. The rules cost nothing and never sleep."""
        return self._spender is not None and await self._spender.asleep(agent, now)

    async def answer(
        self, agent: str, facts: CoachFacts, request: ModelRequest, now: Instant, *, waited_for: bool
    ) -> Answer:
        """The answer to a request that is about these facts. `waited_for`: a person waits, so the rules answer at once
        where the model cannot.

        Otherwise a short outage raises what went wrong (try at the next heartbeat); one that has lasted for a heartbeat
        lets the rules answer. A key that is refused and a question that is not taken are outages too: they end when
        somebody fixes them.
        """
        if self._spender is None:
            return self.by_rules(facts, request)
        if waited_for and await self._in_vain(agent, now):
            return self.by_rules(facts, request)
        model = self._model_for(facts) if self._model_for is not None else None
        try:
            await self._rest(agent, now)
            reply = await self._spender.call(agent, request, now, model=model)
        except (StoreError, LostLeaseError):
            raise
        except BudgetExhaustedError:
            if not waited_for:
                raise
            return self.by_rules(facts, request)
        except NudgeError as error:
            down_since = await self._note_outage(agent, error, now)
            if not waited_for and now - down_since < self._outage - _SLACK:
                raise
            log.warning("the rules answer for %s: %s", agent, error)
            return self.by_rules(facts, request)
        if await self._store.notes.get(agent, DOWN_SINCE) is not None:
            async with self._store.transaction():
                for name in (DOWN_SINCE, REST_UNTIL, IN_VAIN):
                    await self._store.notes.delete(agent, name)
        return Answer(reply.text, reply.data, reply.model, reply.stop_reason)

    def by_rules(self, facts: CoachFacts, request: ModelRequest) -> Answer:
        """The rules' answer. In a model's place they tell the person so where it matters."""
        stand_in = self._spender is not None
        reply = self._rules(replace(facts, degraded=True) if stand_in else facts, request)
        return Answer(reply.text, reply.data, reply.model, reply.stop_reason, stand_in)

    async def _in_vain(self, agent: str, now: Instant) -> bool:
        tried = await self._store.notes.get(agent, IN_VAIN)
        return isinstance(tried, int) and 0 <= now - tried < SPARED

    async def _rest(self, agent: str, now: Instant) -> None:
        """Raise while the service wants no calls. A rest that lies further ahead than one can be (the clock was set
        back) is none."""
        until = await self._store.notes.get(agent, REST_UNTIL)
        if isinstance(until, int) and 0 < until - now <= LONGEST_REST:
            raise ModelUnavailableError("The model's service asked for a rest.", retry_after=(until - now) / SECOND)

    async def _note_outage(self, agent: str, error: NudgeError, now: Instant) -> Instant:
        """Since when the service is away, as far as the store knows; the first failure is written down."""
        async with self._store.transaction():
            wait = error.retry_after if isinstance(error, ModelUnavailableError) else None
            if wait is not None:
                rest = min(max(0, round(wait * SECOND)), LONGEST_REST)
                await self._store.notes.set(agent, REST_UNTIL, int(now + rest))
            elif isinstance(error, ModelUnavailableError):
                await self._store.notes.set(agent, IN_VAIN, int(now))
            since = await self._store.notes.get(agent, DOWN_SINCE)
            if not isinstance(since, int) or since > now:
                since = int(now)
                await self._store.notes.set(agent, DOWN_SINCE, since)
        return Instant(since)
