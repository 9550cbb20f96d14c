"""Models for a simulation: they count what every question and answer is long, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from nudge.coach.prompt_text import estimate
from nudge.instants import Instant
from nudge.model import Model, ModelReply, ModelRequest, Usage
from nudge.simulation.timeline import Asked
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes

SCRIPTED = "scripted"
SCHEMA_TOKENS = 400
"""What a service adds to a question that asks for an answer of a certain form; Anthropic says 290 to 530."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What calls are priced by: the configured table, and which model a purpose goes to."""

    prices: PriceTable
    routes: Routes
    tier: str

    def model(self, request: ModelRequest) -> str:
        return request.model or self.routes.model(self.tier, request.purpose)


class CountingModel:
    """Another model's answers, with each call noted.

    `estimated` ones are the rules' answers with the tokens that a model would have read and written; a real model's
    usage is taken as it says. `free` ones cost nothing, and their price is what a model would have asked for.
    """

    def __init__(
        self,
        inner: Model,
        rates: Rates,
        now: Callable[[], Instant],
        note: Callable[[Asked], None],
        *,
        name: str,
        estimated: bool = True,
        free: bool = False,
    ) -> None:
        self._inner = inner
        self._rates = rates
        self._now = now
        self._note = note
        self._name = name
        self._estimated = estimated
        self._free = free

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await self._inner.complete(request)
        model = self._rates.model(request)
        if self._estimated:
            counted = counted_usage(request, reply)
            if not self._free:
                reply = replace(reply, usage=counted, model=model)
        else:
            counted, model = reply.usage, reply.model or model
        cost = self._rates.prices.cost(model, counted)
        tokens_in = counted.input + counted.cache_read + counted.cache_write
        self._note(Asked(self._now(), request.purpose.value, model, tokens_in, counted.output, cost, self._free))
        return reply

    async def close(self) -> None:
        await self._inner.close()


def counted_usage(request: ModelRequest, reply: ModelReply) -> Usage:
    """The size of a question and its answer in tokens, estimated from their length; nothing counts as cached."""
    asked = estimate(request.system) + sum(estimate(turn.text) for turn in request.turns)
    if request.schema is not None:
        asked += estimate(json.dumps(dict(request.schema), default=str)) + SCHEMA_TOKENS
    return Usage(input=asked, output=estimate(reply.text))
