"""Who answers in a simulation: every question and answer is counted in tokens, and what that costs is noted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from nudge.coach.answering import Ask, ModelFor, Rules, RulesAnswer, answer_by_rules, rules_reply
from nudge.coach.facts import CoachFacts
from nudge.coach.prompts import estimate
from nudge.instants import Instant
from nudge.model import Model, ModelReply, ModelRequest, StreamEvent, replay
from nudge.simulation.timeline import Asked
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes
from nudge.tokens import TokenUse

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


@dataclass(frozen=True, slots=True)
class Answerers:
    """The model that is paid for, or one that is made from the facts of each question, if any; and the rules."""

    model: Model | None = None
    model_for: ModelFor | None = None
    rules: Rules = answer_by_rules


@dataclass(frozen=True, slots=True)
class Counter:
    """Notes every call with its tokens and its price."""

    rates: Rates
    now: Callable[[], Instant]
    note: Callable[[Asked], None]

    def rules(self, facts: CoachFacts, ask: Ask) -> RulesAnswer:
        """The rules' answer, which is free; noted is what a model would have cost."""
        request = ask()
        self._note(request, self.rates.model(request), counted_usage(request, rules_reply(facts)), free=True)
        return answer_by_rules(facts, ask)

    def priced_rules(self, facts: CoachFacts, request: ModelRequest) -> ModelReply:
        """The rules' answer with the tokens that a model would have read and written."""
        reply = rules_reply(facts)
        usage, model = counted_usage(request, reply), self.rates.model(request)
        self._note(request, model, usage)
        return replace(reply, usage=usage, model=model)

    def counted(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """A real model's answer, with the usage that it told."""
        self._note(request, reply.model or self.rates.model(request), reply.usage)
        return reply

    def _note(self, request: ModelRequest, model: str, usage: TokenUse, *, free: bool = False) -> None:
        cost = self.rates.prices.cost(model, usage)
        self.note(Asked(self.now(), request.purpose.value, model, usage.prompt, usage.output, cost, free))


class OneAnswerModel:
    """A model that has one thing to say, and is counted like any other."""

    def __init__(self, name: str, say: Callable[[ModelRequest], ModelReply]) -> None:
        self._name = name
        self._say = say

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: ModelRequest) -> ModelReply:
        return self._say(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        async for event in replay(self._say(request)):
            yield event

    async def close(self) -> None:
        return None


class CountedModel:
    """Another model's answers, with each call noted."""

    def __init__(self, inner: Model, counter: Counter) -> None:
        self._inner = inner
        self._counter = counter

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        return self._counter.counted(request, await self._inner.complete(request))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        async for event in self._inner.stream(request):
            yield self._counter.counted(request, event) if isinstance(event, ModelReply) else event

    async def close(self) -> None:
        await self._inner.close()


def by_rules(counter: Counter) -> Answerers:
    """The rules alone."""
    return Answerers(rules=counter.rules)


def by_priced_rules(counter: Counter) -> Answerers:
    """The rules in the place of a model, at its price."""

    def model_for(facts: CoachFacts) -> Model:
        return OneAnswerModel(SCRIPTED, lambda request: counter.priced_rules(facts, request))

    return Answerers(model_for=model_for)


def by_model(model: Model, counter: Counter) -> Answerers:
    """A real model, which costs money."""
    return Answerers(model=CountedModel(model, counter))


def counted_usage(request: ModelRequest, reply: ModelReply) -> TokenUse:
    """The size of a question and its answer in tokens, estimated from their length; nothing counts as cached."""
    asked = sum(estimate(text) for text in request.texts())
    if request.schema is not None or request.tools:
        asked += SCHEMA_TOKENS
    return TokenUse(input=asked, output=estimate(reply.text))
