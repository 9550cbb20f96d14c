""" "Leave me alone" says what it holds back and how it ends; after a day the next briefing asks whether to go on."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.coach.briefing_run import GO_ON
from nudge.coach.conversation import GOING_ON, STILL_QUIET
from nudge.testing import Life, live
from tests.coach.rig import Scripted, says

START = datetime(2026, 2, 18, 11, 49, tzinfo=ZoneInfo("America/Toronto"))


async def left_alone(life: Life) -> None:
    await life.say("remind me to stretch every day at 3pm")
    (said,) = await life.say("leave me alone")
    for part in ("until you write again", "no briefings", "your reminders wait", "Any word from you ends it"):
        assert part in said


def spent(scenario: Any, model: Scripted | None = None) -> Any:
    return live(scenario, START, zone="America/Toronto", model=model)


def test_for_a_day_nothing_comes_and_then_one_question() -> None:
    async def scenario(life: Life) -> None:
        await left_alone(life)
        assert await life.passes(hours=23, minutes=50) == []
        assert await life.passes(days=5) == [GO_ON]

    spent(scenario)


@pytest.mark.parametrize("answer", ["yes", "Yes please!", "sure", "ok", "go on", "carry on", "yes, go ahead"])
def test_yes_in_any_words_and_everything_comes_as_usual(answer: str) -> None:
    async def scenario(life: Life) -> None:
        await left_alone(life)
        assert await life.passes(days=2) == [GO_ON]
        assert GOING_ON in await life.say(answer)
        assert "stretch" in await life.passes(days=1)

    spent(scenario)


@pytest.mark.parametrize("answer", ["no", "nope", "not yet", "No, thanks.", "don't"])
def test_no_in_any_words_and_it_stays_quiet_without_asking_again(answer: str) -> None:
    async def scenario(life: Life) -> None:
        await left_alone(life)
        await life.passes(days=2)
        assert await life.say(answer) == [STILL_QUIET]
        assert await life.passes(days=4) == []
        assert "stretch" in [*await life.say("hi"), *await life.passes(days=1)]

    spent(scenario)


def test_no_can_be_taken_back() -> None:
    async def scenario(life: Life) -> None:
        await left_alone(life)
        await life.passes(days=2)
        await life.say("no")
        await life.say("/undo")
        assert "stretch" in await life.passes(days=1)

    spent(scenario)


def test_another_message_ends_it_and_the_next_time_is_asked_about_again() -> None:
    async def scenario(life: Life) -> None:
        await left_alone(life)
        assert await life.passes(days=2) == [GO_ON]
        assert "stretch" in "\n".join(await life.say("what are my reminders?"))
        await life.passes(hours=3)
        await life.say("leave me alone")
        assert (await life.passes(days=3)).count(GO_ON) == 1

    spent(scenario)


def test_with_a_model_the_question_and_its_answer_are_the_same() -> None:
    async def scenario(life: Life) -> None:
        await life.say("leave me alone")
        assert [one for one in await life.passes(days=2) if one == GO_ON] == [GO_ON]
        assert await life.say("no") == [STILL_QUIET]
        assert await life.passes(days=2) == []

    spent(scenario, Scripted(says("Of course.")))
