"""Who answers: the model that is paid for, or the coach's own rules, which are always there.

Without a key the rules answer. With one, the rules stand in while the agent sleeps on its budget (a person who writes
still gets an answer) and while the service has been away for a whole heartbeat, so that nobody falls silent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from nudge.backoff import Policy, delay, longest
from nudge.coach.facts import CoachFacts
from nudge.coach.judgment import DECISION_SCHEMA, Action, parse_decision
from nudge.coach.prompts import Prompt, with_tasks
from nudge.coach.rules import answer
from nudge.coach.store import CoachStore
from nudge.errors import BudgetExhaustedError, LostLeaseError, ModelUnavailableError, NudgeError, StoreError
from nudge.instants import MINUTE, SECOND, Instant, as_instant
from nudge.model import (
    Block,
    Model,
    ModelReply,
    ModelRequest,
    Purpose,
    StopReason,
    Text,
    ToolChoice,
    ToolResult,
    ToolUse,
    cached,
    text_reply,
    user,
)
from nudge.queue.records import Record, moment, moment_or_none
from nudge.redaction import screen, screen_all
from nudge.spending.budgets import SpendingStatus
from nudge.spending.governor import Words

log = logging.getLogger("nudge.answering")

RULES = "offline"
"""What logs and simulations call the rules, where they name a model."""
OUTAGE = 45 * MINUTE
"""The service may be away for this long before the rules take over what nobody waits for."""
PERSON_WAITS = 10.0
"""Seconds that a person waits for money which other calls hold. Then the rules answer."""

JUDGMENT_TOKENS = 400
LEAST_ANSWER = 250
"""A person rather gets an answer of so many tokens, where the money covers no more, than none."""
MOST_ROUNDS = 6
"""So often a model is asked for one message: five times it may call tools, then it answers."""
_SLACK = MINUTE
"""Heartbeats are picked up some seconds late, and not always the same number of seconds."""

Ask: TypeAlias = Callable[[], ModelRequest]
"""Puts a question into the words for a model. That takes a look at every document, so it is done only for a model."""
ReadTasks: TypeAlias = Callable[[str, tuple[str, ...], Instant], Awaitable[Mapping[str, str]]]
UseTool: TypeAlias = Callable[[ToolUse], Awaitable[ToolResult]]
RulesAnswer: TypeAlias = Mapping[str, Any] | str
Rules: TypeAlias = Callable[[CoachFacts, Ask], RulesAnswer]
ModelFor: TypeAlias = Callable[[CoachFacts], Model]
"""Makes a model for one question from what it is about: how a simulation answers by rules at a model's price."""


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
    """The spending governor, as far as answering needs it."""

    async def call(
        self,
        agent: str,
        request: ModelRequest,
        now: Instant,
        *,
        model: Model | None = None,
        min_tokens: int | None = None,
        patience: float | None = None,
        words: Words | None = None,
    ) -> ModelReply:
        """Hold, ask, settle. Raises BudgetExhaustedError where the agent sleeps or the call does not fit, now or within
        `patience` seconds."""
        ...

    async def asleep(self, agent: str, now: Instant) -> bool: ...

    async def state(self, agent: str, now: Instant) -> SpendingStatus: ...


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


def answer_by_rules(facts: CoachFacts, ask: Ask) -> RulesAnswer:
    """What the rules answer; they need no question in words."""
    return answer(facts)


def rules_reply(facts: CoachFacts) -> ModelReply:
    """The rules' answer in the form of a model's, for those who put the rules in a model's place. It is free."""
    found = answer(facts)
    if isinstance(found, str):
        return text_reply(found, RULES)
    return text_reply(json.dumps(found, ensure_ascii=False), RULES, data=found)


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
        secrets: Iterable[str] = (),
    ) -> None:
        self._store = store
        self._spender = spender
        self._rules = rules
        self._model_for = model_for
        self._outage = outage
        self._secrets = tuple(secrets)

    @property
    def pays(self) -> bool:
        """Whether a model is asked. The rules need nothing from outside."""
        return self._spender is not None

    async def asleep(self, agent: str, now: Instant) -> bool:
        """Whether the agent may not ask any model now. The rules cost nothing and never sleep."""
        return self._spender is not None and await self._spender.asleep(agent, now)

    async def rests_until(self, agent: str, now: Instant) -> Instant | None:
        """Until when no new task is begun, None if one may be: from 90 % of the day's money on there is none."""
        if self._spender is None:
            return None
        status = await self._spender.state(agent, now)
        return None if status.state.may_start_task else status.refresh_at

    async def answer(
        self,
        agent: str,
        facts: CoachFacts,
        ask: Ask,
        now: Instant,
        *,
        waited_for: bool,
        use: UseTool | None = None,
        words: Words | None = None,
    ) -> Answer:
        """The answer to a question about these facts. `ask` puts it to a model, and is called only if one is asked.
        `waited_for`: a person waits, so the rules answer at once where the model cannot. `use` runs the tools that the
        model calls before it answers; `words` gets the answer while it is written.

        Otherwise a short outage raises what went wrong (try at the next heartbeat); one that has lasted for a heartbeat
        lets the rules answer. A key that is refused and a question that is not taken are outages too: they end when
        somebody fixes them.
        """
        if self._spender is None:
            return self.by_rules(facts, ask)
        outage = await self._store.records.get(agent, MODEL_OUTAGE)
        if waited_for and outage is not None and _tried_lately(outage, now):
            return self.by_rules(facts, ask)
        model = self._model_for(facts) if self._model_for is not None else None
        try:
            _respect_rest(outage, now)
            patience = PERSON_WAITS if waited_for else None
            least = LEAST_ANSWER if waited_for else None
            call = partial(self._spender.call, agent, model=model, patience=patience, words=words, min_tokens=least)
            reply = await self._with_tools(call, ask(), now, use)
        except (StoreError, LostLeaseError):
            raise
        except BudgetExhaustedError as error:
            if not waited_for:
                raise
            wakes_at = None if error.retry_at is None else as_instant(error.retry_at)
            return self.by_rules(replace(facts, broke=True, wakes_at=wakes_at), ask)
        except NudgeError as error:
            down_since = await self._note_outage(agent, error, now)
            if not waited_for and now - down_since < self._outage - _SLACK:
                raise
            log.warning("the rules answer for %s: %s", agent, error)
            return self.by_rules(facts, ask)
        if await self._store.records.get(agent, MODEL_OUTAGE) is not None:
            await self._store.records.delete(agent, MODEL_OUTAGE)
        data = None if reply.data is None else screen_all(reply.data, self._secrets)
        return Answer(screen(reply.text, self._secrets).strip(), data, reply.model, reply.stop_reason)

    async def judgment(
        self,
        agent: str,
        facts: CoachFacts,
        prompt: Callable[[], Prompt],
        tasks: ReadTasks,
        attempt_id: str,
        now: Instant,
    ) -> Answer:
        """The answer to a question that nobody waits for: a decision. A model that wants to read some of its tasks
        first is asked once more, with them."""

        def ask(read: Mapping[str, str] | None = None) -> ModelRequest:
            asked = prompt() if read is None else with_tasks(prompt(), read)
            return ModelRequest(
                Purpose.HEARTBEAT,
                "",
                (cached(asked.system),),
                (user(asked.message),),
                JUDGMENT_TOKENS,
                schema=DECISION_SCHEMA,
                attempt_id=attempt_id if read is None else f"{attempt_id}:read",
            )

        answer = await self.answer(agent, facts, ask, now, waited_for=False)
        wanted = parse_decision(answer.content, now)
        if wanted.action is Action.READ:
            read = await tasks(agent, wanted.refs, now)
            answer = await self.answer(agent, facts, lambda: ask(read), now, waited_for=False)
        return answer

    async def _with_tools(
        self, call: Callable[..., Awaitable[ModelReply]], request: ModelRequest, now: Instant, use: UseTool | None
    ) -> ModelReply:
        """Ask, run the tools that the model calls, and ask again with their results, until it answers. What it says
        beside its calls is part of the answer. In the last round it has to answer."""
        said: list[Text] = []
        turns, rounds = request.turns, MOST_ROUNDS if use is not None else 1
        for number in range(1, rounds + 1):
            choice = ToolChoice.NONE if use is not None and number == rounds else request.tool_choice
            name = request.attempt_id if number == 1 or not request.attempt_id else f"{request.attempt_id}:{number}"
            asked = replace(request, turns=turns, attempt_id=name, tool_choice=choice)
            reply = await call(self._screened(asked), now if number == 1 else None)
            said += [Text(f"{reply.text.strip()}\n\n")] if reply.text.strip() else []
            if use is None or not reply.tool_uses or number == rounds:
                break
            calls = [replace(one, input=screen_all(one.input, self._secrets)) for one in reply.tool_uses]
            results = [await use(one) for one in calls]
            results[-1] = replace(results[-1], cache=True)
            turns = (*turns, reply.turn, user(*results))
        if use is None:
            return reply
        return replace(reply, content=tuple(said))

    def _screened(self, request: ModelRequest) -> ModelRequest:
        """Without secrets, which a document of the person's may hold. What a model never reads it cannot repeat."""

        def clean(block: Block) -> Block:
            if isinstance(block, ToolResult):
                return replace(block, content=screen(block.content, self._secrets))
            return replace(block, text=screen(block.text, self._secrets)) if isinstance(block, Text) else block

        system = tuple(replace(block, text=screen(block.text, self._secrets)) for block in request.system)
        turns = tuple(replace(turn, content=tuple(map(clean, turn.content))) for turn in request.turns)
        return replace(request, system=system, turns=turns)

    def by_rules(self, facts: CoachFacts, ask: Ask) -> Answer:
        """The rules' answer. In a model's place they tell the person so where it matters."""
        stand_in = self._spender is not None
        found = self._rules(replace(facts, degraded=True) if stand_in else facts, ask)
        text, data = (found, None) if isinstance(found, str) else ("", found)
        return Answer(text, data, RULES, stand_in=stand_in)

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
