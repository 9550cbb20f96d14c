"""The model and the conditions of a world that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nudge.clock import Clock
from nudge.coach.answering import rules_reply
from nudge.coach.facts import CoachFacts
from nudge.errors import ModelUnavailableError
from nudge.instants import SECOND
from nudge.model import ModelReply, ModelRequest, text_reply
from nudge.reminders.conditions import Question, Verdict
from nudge.simulation.models import counted_usage
from tests.faults.faults import Fault, Kind
from tests.faults.processes import check_alive

Due = Callable[[Kind, int], Fault | None]
"""The fault of a kind that is drawn for the n-th time, if there is one."""

THINKING_SECONDS = 2.0
BABBLE = 'Sure! {"action": "message", "message": "I am not JSON'


class FaultyModel:
    """The rules' answers, charged like a model's, with faults. It takes time, so that things happen meanwhile."""

    def __init__(self, clock: Clock, due: Due, trace: Callable[[str], None]) -> None:
        self._clock = clock
        self._due = due
        self._trace = trace
        self._calls = 0
        self._away_until = 0.0  # as the loop counts: it lasts, whatever the clock is set to

    def about(self, facts: CoachFacts) -> Any:
        """The model for a question that is about these facts."""
        return _About(self, facts)

    async def answer(self, facts: CoachFacts, request: ModelRequest) -> ModelReply:
        check_alive()
        self._calls += 1
        number = self._calls
        if (away := self._due(Kind.MODEL_AWAY, number)) is not None:
            self._away_until = asyncio.get_running_loop().time() + away.length / SECOND
        if asyncio.get_running_loop().time() < self._away_until:
            self._trace(f"the model is away ({request.purpose.value})")
            raise ModelUnavailableError("The model is away.")
        if (hang := self._due(Kind.MODEL_HANGS, number)) is not None:
            await self._clock.sleep(hang.length / SECOND)
            if not hang.chance:
                raise ModelUnavailableError("The model did not answer in time.", retry_after=30.0)
        await self._clock.sleep(THINKING_SECONDS)
        check_alive()
        reply = rules_reply(facts)
        if self._due(Kind.MODEL_BABBLES, number) is not None:
            reply = text_reply(BABBLE, reply.model)
        return replace(reply, usage=counted_usage(request, reply), model=request.model)


class _About:
    name = "faulty"

    def __init__(self, model: FaultyModel, facts: CoachFacts) -> None:
        self._model, self._facts = model, facts

    async def complete(self, request: ModelRequest) -> ModelReply:
        return await self._model.answer(self._facts, request)


class FaultyConditions:
    """Every second question is met; some take longer than anybody waits for."""

    def __init__(self, clock: Clock, due: Due) -> None:
        self._clock = clock
        self._due = due
        self._asked = 0

    async def ask(self, question: Question) -> Verdict:
        check_alive()
        self._asked += 1
        slow = self._due(Kind.SLOW_CONDITION, self._asked)
        await self._clock.sleep(slow.length / SECOND if slow else 0.5)
        check_alive()
        return Verdict(self._asked % 2 == 0, exit_code=self._asked % 2)
