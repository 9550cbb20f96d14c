"""Who answers, the model or the rules, and when: outages, rests and budgets, by a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nudge.clock import Clock
from nudge.coach.answering import MODEL_OUTAGE, Answering, Outage, rules_reply
from nudge.coach.conversation import STILL_WAITING
from nudge.coach.facts import CoachFacts
from nudge.coach.facts import Purpose as FactsPurpose
from nudge.errors import (
    BudgetExhaustedError,
    LostLeaseError,
    ModelUnavailableError,
    NotConfiguredError,
    NudgeError,
    StoreError,
)
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.model import Model, ModelReply, ModelRequest, Purpose, cached, text_reply, user
from nudge.spending.governor import Words
from nudge.testing import Life, OfflineModel, live
from nudge.tokens import TokenUse
from tests.coach.proactive_world import MODEL, ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import NOON

AWAY = ModelUnavailableError("The model's service is out of order (503).", unbilled=True)


FACTS = CoachFacts(NOON, FactsPurpose.CONVERSATION, text="how do magnets work")
REQUEST = ModelRequest(Purpose.CONVERSATION, "", (cached("system"),), (user("hmm"),), 100)


def ask() -> ModelRequest:
    return REQUEST


def in_answering(
    folder: Path, script: Callable[[Answering, ScriptedModel, World], Awaitable[None]], *answers: Any
) -> None:
    spender = ScriptedModel(*answers)

    async def scenario(world: World) -> None:
        await script(world.answering, spender, world)

    in_world(folder, scenario, NOON, model=spender)


def at(minutes: float) -> Instant:
    return Instant(NOON + int(minutes * MINUTE))


def test_without_a_spender_the_rules_answer_and_never_sleep(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        reply = await world.answering.answer(AGENT, FACTS, ask, NOON, waited_for=False)
        assert reply.model == "offline"
        assert not reply.stand_in
        assert "can't reach" not in str(reply.data)
        assert not await world.answering.asleep(AGENT, NOON)

    in_world(tmp_path, scenario, NOON)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(AWAY, id="the service is away"),
        pytest.param(NotConfiguredError("The key is refused."), id="the key is refused"),
        pytest.param(NudgeError("The credit balance is too low."), id="the question is not taken"),
        pytest.param(BudgetExhaustedError("spent"), id="the money is spent"),
    ],
)
def test_somebody_who_waits_is_answered_at_once(tmp_path: Path, error: NudgeError) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        reply = await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)
        assert (reply.model, reply.stand_in) == ("offline", True)
        assert isinstance(reply.data, dict)

    in_answering(tmp_path, script, error)


@pytest.mark.parametrize(
    ("minutes", "answered"),
    [
        pytest.param(0, False, id="the first failure"),
        pytest.param(20, False, id="a little later"),
        pytest.param(43.9, False, id="just before the next heartbeat"),
        pytest.param(44.5, True, id="a heartbeat later, picked up some seconds early"),
        pytest.param(45, True, id="a heartbeat later"),
        pytest.param(600, True, id="in the tenth hour"),
    ],
)
def test_what_nobody_waits_for_is_answered_by_the_rules_after_a_heartbeat(
    tmp_path: Path, minutes: float, answered: bool
) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        with pytest.raises(ModelUnavailableError, match="503"):
            await answering.answer(AGENT, FACTS, ask, NOON, waited_for=False)
        if answered:
            assert (await answering.answer(AGENT, FACTS, ask, at(minutes), waited_for=False)).model == "offline"
        else:
            with pytest.raises(ModelUnavailableError):
                await answering.answer(AGENT, FACTS, ask, at(minutes), waited_for=False)
        outage = await world.store.records.get(AGENT, MODEL_OUTAGE)
        assert outage is not None
        assert outage.since == NOON

    in_answering(tmp_path, script, AWAY)


def test_nobody_is_made_to_wait_for_one_call_in_vain_after_the_other(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        for minutes, model, calls in ((0, "offline", 1), (1, "offline", 1), (4.9, "offline", 1), (5, MODEL, 2)):
            reply = await answering.answer(AGENT, FACTS, ask, at(minutes), waited_for=True)
            assert (reply.model, len(spender.calls)) == (model, calls)

    in_answering(tmp_path, script, AWAY, "Hello")


def test_an_answer_ends_the_outage(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)
        assert (await answering.answer(AGENT, FACTS, ask, at(60), waited_for=False)).model == MODEL
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None
        spender.answers = [AWAY]
        with pytest.raises(ModelUnavailableError):  # a new outage begins anew
            await answering.answer(AGENT, FACTS, ask, at(61), waited_for=False)

    in_answering(tmp_path, script, AWAY, "HEARTBEAT_OK")


def test_an_outage_that_began_in_the_future_begins_now(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        await world.store.records.set(AGENT, MODEL_OUTAGE, Outage(at(600)))  # by a clock that was wrong
        with pytest.raises(ModelUnavailableError):
            await answering.answer(AGENT, FACTS, ask, NOON, waited_for=False)
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) == Outage(NOON, tried_at=NOON)

    in_answering(tmp_path, script, AWAY)


@pytest.mark.parametrize(
    ("retry_after", "asked_after", "silent_until"),
    [
        pytest.param(7200.0, 7200 * SECOND, 7199 * SECOND, id="two hours"),
        pytest.param(0.0, SECOND, None, id="at once is a second"),
        pytest.param(365 * 86_400.0, DAY, DAY - SECOND, id="a year is a day"),
    ],
)
def test_a_rest_is_kept_to(tmp_path: Path, retry_after: float, asked_after: int, silent_until: int | None) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        with pytest.raises(ModelUnavailableError):
            await answering.answer(AGENT, FACTS, ask, NOON, waited_for=False)
        if silent_until is not None:
            reply = await answering.answer(AGENT, FACTS, ask, Instant(NOON + silent_until), waited_for=True)
            assert (reply.model, len(spender.calls)) == ("offline", 1)
        reply = await answering.answer(AGENT, FACTS, ask, Instant(NOON + asked_after), waited_for=True)
        assert (reply.model, len(spender.calls)) == (MODEL, 2)
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None

    in_answering(tmp_path, script, ModelUnavailableError("pause", retry_after=retry_after, unbilled=True), "Hello")


def test_a_rest_is_not_prolonged_by_those_who_ask_during_it(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        for minutes in (0, 10, 20):
            await answering.answer(AGENT, FACTS, ask, at(minutes), waited_for=True)
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) == Outage(NOON, rest_until=Instant(NOON + HOUR))

    in_answering(tmp_path, script, ModelUnavailableError("pause", retry_after=3600, unbilled=True))


def test_a_clock_that_was_set_back_does_not_make_a_rest_endless(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        await world.store.records.set(AGENT, MODEL_OUTAGE, Outage(NOON, rest_until=Instant(NOON + 3 * DAY)))
        assert (await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)).model == MODEL

    in_answering(tmp_path, script, "Hello")


def test_no_money_is_no_outage(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        with pytest.raises(BudgetExhaustedError):
            await answering.answer(AGENT, FACTS, ask, NOON, waited_for=False)
        with pytest.raises(BudgetExhaustedError):
            await answering.answer(AGENT, FACTS, ask, at(600), waited_for=False)
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None

    in_answering(tmp_path, script, BudgetExhaustedError("spent"))


@pytest.mark.parametrize("error", [StoreError("full"), LostLeaseError("lost"), ZeroDivisionError("a bug")])
def test_our_own_troubles_are_not_taken_for_the_models(tmp_path: Path, error: Exception) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        with pytest.raises(type(error)):
            await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None

    in_answering(tmp_path, script, error)


def test_rules_that_stand_in_say_so_to_the_person(tmp_path: Path) -> None:
    async def script(answering: Answering, spender: ScriptedModel, world: World) -> None:
        reply = await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)
        assert isinstance(reply.data, dict)
        assert "language model" in reply.data["reply"] or "offline for now" in reply.data["reply"]

    in_answering(tmp_path, script, AWAY)


def test_the_rules_are_free_and_named_offline() -> None:
    reply = rules_reply(FACTS)
    assert (reply.model, reply.usage, reply.data is not None) == ("offline", TokenUse(), True)


def test_a_model_can_be_made_for_each_question(tmp_path: Path) -> None:
    class Governor(ScriptedModel):
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
            assert model is not None
            return await model.complete(request)

    async def scenario(world: World) -> None:
        answering = Answering(world.store, Governor(), model_for=lambda facts: OfflineModel(facts.text.upper()))
        assert (await answering.answer(AGENT, FACTS, ask, NOON, waited_for=True)).content == "HOW DO MAGNETS WORK"

    in_world(tmp_path, scenario, NOON)


class Slow(ScriptedModel):
    """Answers after so many seconds, or gives up."""

    def __init__(self, clock_of: Callable[[], Clock], seconds: float, answer: str | NudgeError) -> None:
        super().__init__()
        self._clock_of, self._seconds, self._answer = clock_of, seconds, answer

    async def complete(self, request: ModelRequest) -> ModelReply:
        await self._clock_of().sleep(self._seconds)
        if isinstance(self._answer, NudgeError):
            raise self._answer
        return text_reply(self._answer, request.model)


@pytest.mark.parametrize(
    ("seconds", "answer", "at_15", "later"),
    [
        pytest.param(5, "Like this.", ["Like this."], [], id="one that answers soon is not called slow"),
        pytest.param(40, "Like this.", [STILL_WAITING], ["Like this."], id="a slow one answers after the sentence"),
        pytest.param(
            120,
            ModelUnavailableError("The model did not answer in time."),
            [STILL_WAITING],
            ["offline for now"],
            id="where one hangs, the rules answer when it is given up",
        ),
    ],
)
def test_a_person_hears_within_fifteen_seconds_that_the_model_is_slow(
    seconds: float, answer: str | NudgeError, at_15: list[str], later: list[str]
) -> None:
    clocks: list[Clock] = []

    async def scenario(life: Life) -> None:
        clocks.append(life.clock)
        first = [*await life.say("What do you think about Kant?"), *await life.passes(seconds=14)]
        assert first == at_15
        rest = await life.passes(seconds=300)
        assert len(rest) == len(later)
        assert [words for words, text in zip(later, rest, strict=True) if words not in text] == [], rest

    live(scenario, NOON, model=Slow(lambda: clocks[0], seconds, answer))
