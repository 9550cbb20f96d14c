"""Which mind answers: the model that is paid for, or the rules that always are there.

Without a key the rules answer. With one, the rules stand in while the agent sleeps on its budget (a person who writes
still gets an answer) and while the service has been away for a whole heartbeat, so that nobody falls silent.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from nudge.backoff import Policy, delay, longest
from nudge.coach.facts import CoachFacts
from nudge.coach.store import CoachStore
from nudge.errors import BudgetExhaustedError, LostLeaseError, ModelUnavailableError, NudgeError, StoreError
from nudge.instants import MINUTE, SECOND, Instant
from nudge.model import Model, ModelReply, ModelRequest
from nudge.queue.records import Record, moment, moment_or_none
from nudge.spending.budgets import SpendingStatus

log = logging.getLogger("nudge.thinking")

OUTAGE = 45 * MINUTE
"""The service may be away for this long before the rules take over what nobody waits for."""
STAND_IN = "stand_in"
"""The detail of a reply that the rules gave in a model's place."""

_SLACK = MINUTE
"""Heartbeats are picked up some seconds late, and not always the same number of seconds."""


@dataclass(frozen=True, slots=True)
class Outage:
    """The model's service is away: since when, until when it asked for a rest, and when a call last got no answer."""

    since: Instant
    rest_until: Instant | None = None
    tried_at: Instant | None = None


MODEL_OUTAGE: Record[Outage] = Record(
    "model.outage",
    lambda data: Outage(moment(data["since"]), moment_or_none(data["rest_until"]), moment_or_none(data["tried_at"])),
    asdict,
)


class Spender(Protocol):
    """The spending governor, as far as thinking needs it."""

    async def call(self, agent: str, request: ModelRequest, now: Instant) -> ModelReply:
        """Hold, ask, settle. Raises BudgetExhaustedError where the agent sleeps or the call does not fit."""
        ...

    async def asleep(self, agent: str, now: Instant) -> bool: ...

    async def state(self, agent: str, now: Instant) -> SpendingStatus: ...


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

    async def rests_until(self, agent: str, now: Instant) -> Instant | None:
        """Until when no new task is begun, None if one may be: from 90 % of the day's money on there is none."""
        if self._spender is None:
            return None
        status = await self._spender.state(agent, now)
        return None if status.state.may_start_task else status.refresh_at

    async def ask(self, agent: str, request: ModelRequest, now: Instant, *, waited_for: bool) -> ModelReply:
        """The answer. `waited_for`: a person waits, so the rules answer at once where the model cannot.

        Otherwise a short outage raises what went wrong (try at the next heartbeat); one that has lasted for a heartbeat
        lets the rules answer. A key that is refused and a question that is not taken are outages too: they end when
        somebody mends them.
        """
        if self._spender is None:
            return await self._rules.complete(request)
        outage = await self._store.records.get(agent, MODEL_OUTAGE)
        if waited_for and outage is not None and _tried_lately(outage, now):
            return await self.by_rules(request)
        try:
            _respect_rest(outage, now)
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
        if await self._store.records.get(agent, MODEL_OUTAGE) is not None:
            await self._store.records.delete(agent, MODEL_OUTAGE)
        return reply

    async def by_rules(self, request: ModelRequest) -> ModelReply:
        """The rules in the model's place: they say so where it matters, and so does the reply."""
        facts = request.facts
        if self._spender is not None and isinstance(facts, CoachFacts):
            request = replace(request, facts=replace(facts, degraded=True))
        reply = await self._rules.complete(request)
        return reply if self._spender is None else replace(reply, details={**reply.details, STAND_IN: True})

    async def _note_outage(self, agent: str, error: NudgeError, now: Instant) -> Instant:
        """Since when the service is away, as far as the store knows; the first failure is written down."""
        async with self._store.transaction():
            outage = await self._store.records.get(agent, MODEL_OUTAGE)
            if outage is None:
                outage = Outage(now)
            elif outage.since > now:
                outage = replace(outage, since=now)
            wait = error.retry_after if isinstance(error, ModelUnavailableError) else None
            if wait is not None:
                rest = delay(0, Policy.MODEL_REST, wait)
                outage = replace(outage, rest_until=Instant(now + round(rest * SECOND)))
            elif isinstance(error, ModelUnavailableError):
                outage = replace(outage, tried_at=now)
            await self._store.records.set(agent, MODEL_OUTAGE, outage)
        return outage.since


def _tried_lately(outage: Outage, now: Instant) -> bool:
    """Nobody is made to wait for a second call soon after one failed: a call takes minutes of retrying."""
    return outage.tried_at is not None and 0 <= (now - outage.tried_at) / SECOND < delay(0, Policy.MODEL_REST)


def _respect_rest(outage: Outage | None, now: Instant) -> None:
    """Raise while the service wants no calls. A rest that lies further ahead than one can be (the clock was set back)
    is none."""
    if outage is None or outage.rest_until is None:
        return
    seconds = (outage.rest_until - now) / SECOND
    if 0 < seconds <= longest(Policy.MODEL_REST):
        raise ModelUnavailableError("The model's service asked for a rest.", retry_after=seconds)
