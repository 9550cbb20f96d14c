"""The first questions: how people answer them, and what becomes of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nudge.coach.onboarding import ASIDE, Ask, hear, is_set_up
from nudge.coach.onboarding_talk import _understood
from nudge.coach.targets import Targets
from nudge.instants import as_instant
from nudge.testing import OfflineModel, live
from nudge.testing.life import COACH, Life

NOON = datetime(2026, 2, 18, 12, tzinfo=UTC)
LISBON = Targets(timezone="Europe/Lisbon")
ELSE, SKIP, UNCLEAR = "else", "skip", "unclear"

ANSWERS: list[tuple[Ask, str, str]] = [
    (Ask.NAME, "Sam", "Sam"),
    (Ask.NAME, "sam", "Sam"),
    (Ask.NAME, "I'm Sam, nice to meet you", "Sam"),
    (Ask.NAME, "call me sam please", "Sam"),
    (Ask.NAME, "my name is Anne-Marie", "Anne-Marie"),
    (Ask.NAME, "José 🙂", "José"),
    (Ask.NAME, "O'Brien", "O'Brien"),
    (Ask.NAME, "Hi, I’m Lena!", "Lena"),
    (Ask.NAME, "people call me Ace", "Ace"),
    (Ask.NAME, "Sam Miller", "Sam Miller"),
    (Ask.NAME, "skip", SKIP),
    (Ask.NAME, "rather not say", SKIP),
    (Ask.NAME, "later", SKIP),
    (Ask.NAME, "hi", ELSE),
    (Ask.NAME, "i'm so tired", ELSE),
    (Ask.NAME, "what's next?", ELSE),
    (Ask.NAME, "remind me to call mum friday 5pm", ELSE),
    (Ask.ZONE, "yes", "Europe/Lisbon"),
    (Ask.ZONE, "yep, that's right", "Europe/Lisbon"),
    (Ask.ZONE, "I live in Lisbon", "Europe/Lisbon"),
    (Ask.ZONE, "no, Berlin", "Europe/Berlin"),
    (Ask.ZONE, "Munich, Germany", "Europe/Berlin"),
    (Ask.ZONE, "near San Francisco", "America/Los_Angeles"),
    (Ask.ZONE, "nyc", "America/New_York"),
    (Ask.ZONE, "São Paulo", "America/Sao_Paulo"),
    (Ask.ZONE, "Asia/Tokyo", "Asia/Tokyo"),
    (Ask.ZONE, "pacific time", "America/Los_Angeles"),
    (Ask.ZONE, "no", UNCLEAR),
    (Ask.ZONE, "Little Whinging", UNCLEAR),
    (Ask.ZONE, "what are my reminders?", ELSE),
    (Ask.ZONE, "skip this one", SKIP),
    (Ask.SLEEP, "11pm and 7", "23:00 07:00"),
    (Ask.SLEEP, "around midnight, up at 8", "00:00 08:00"),
    (Ask.SLEEP, "23:00-07:00", "23:00 07:00"),
    (Ask.SLEEP, "11 to 7", "23:00 07:00"),
    (Ask.SLEEP, "bed at 10:30, wake 6:45", "22:30 06:45"),
    (Ask.SLEEP, "wake at 6, bed by 10", "22:00 06:00"),
    (Ask.SLEEP, "half past eleven and seven", "23:30 07:00"),
    (Ask.SLEEP, "10ish and 6ish", "22:00 06:00"),
    (Ask.SLEEP, "late, like 2am. up at 10", "02:00 10:00"),
    (Ask.SLEEP, "I work nights: 8am and 4pm", "08:00 16:00"),
    (Ask.SLEEP, "I go to bed at 11", "23:00"),
    (Ask.SLEEP, "6 and 2", UNCLEAR),
    (Ask.SLEEP, "it varies", SKIP),
    (Ask.SLEEP, "remind me at 5pm to stretch", ELSE),
    (Ask.GOAL, "run a 10k by spring", "Run a 10k by spring"),
    (Ask.GOAL, "I'd like to get better at chess.", "Get better at chess"),
    (Ask.GOAL, "my goal is to learn French", "Learn French"),
    (Ask.GOAL, "stop smoking", "Stop smoking"),
    (Ask.GOAL, "be a better dad", "Be a better dad"),
    (Ask.GOAL, "no idea", SKIP),
    (Ask.GOAL, "not sure yet", SKIP),
    (Ask.GOAL, "what can you do?", ELSE),
    (Ask.GOAL, "status", ELSE),
    (Ask.GOAL, "remind me to run at 6pm", ELSE),
]


@pytest.mark.parametrize(("ask", "said", "wanted"), ANSWERS, ids=[f"{ask}: {said}" for ask, said, _ in ANSWERS])
def test_people_answer_in_their_own_words(ask: Ask, said: str, wanted: str) -> None:
    understood = _understood(said, ask, as_instant(NOON), LISBON)
    heard = hear(ask, said, {}, LISBON, understood=understood)
    order = ("name", "zone", "bedtime", "wake", "goal")
    values = " ".join(heard.values[name] for name in order if name in heard.values)
    assert (values or heard.reply.value) == wanted


def goals(life: Life) -> str:
    return life.documents.texts["GOALS.md"]


async def greeted(life: Life) -> list[str]:
    await life.daemon.coach.onboarding.greet(COACH, life.clock.now())
    life.daemon.poke()
    return await life.passes(seconds=1)


def test_four_answers_set_the_home_up_and_the_result_is_shown() -> None:
    async def scenario(life: Life) -> None:
        assert "What should I call you?" in (await greeted(life))[0]
        assert (await life.say("Sam"))[0].startswith("Nice to meet you, Sam. I think you're on Toronto time")
        assert "go to bed" in (await life.say("I live in Lisbon"))[0]
        assert "one thing" in (await life.say("around midnight, up at 8"))[0]
        [end] = await life.say("run a 10k by spring")
        assert end.splitlines()[:4] == [
            "All set, Sam. This is how I have it:",
            "• Time zone: Europe/Lisbon",
            "• Bedtime 00:00, up at 08:00; nothing unasked from 01:00 to 08:00",
            "• Goal: Run a 10k by spring",
        ]
        assert '- timezone: "Europe/Lisbon"' in goals(life)
        assert '- quiet_hours: "01:00-08:00"' in goals(life)
        assert "- Sleep: In bed by 00:00, awake by 08:00" in goals(life)
        assert "1. Run a 10k by spring" in goals(life)
        assert "- Goes by Sam" in life.documents.texts["MEMORY.md"]
        assert "You go by Sam." in (await life.say("what do you know about me?"))[0]

    live(scenario, NOON, zone="America/Toronto")


def test_each_answer_can_be_undone() -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        for said in ("Sam", "yes", "11pm and 7", "read 12 books"):
            await life.say(said)
        assert (await life.say("undo"))[0].startswith("Undone: This Quarter")
        assert "Read 12 books" not in goals(life)
        await life.say("undo")
        assert '- bedtime_target: "01:00"' in goals(life)
        assert "- Sleep: In bed by 1am, awake by 10am" in goals(life)
        await life.say("undo")
        assert "Goes by Sam" not in life.documents.texts["MEMORY.md"]

    live(scenario, NOON, zone="America/Toronto")


def test_all_of_it_can_be_skipped() -> None:
    async def scenario(life: Life) -> None:
        before = dict(life.documents.texts)
        await greeted(life)
        for said in ("skip", "later", "pass"):
            await life.say(said)
        [end] = await life.say("no idea")
        assert end.startswith("All set. This is how I have it:")
        assert goals(life) == before["GOALS.md"]
        assert "Goes by" not in life.documents.texts["MEMORY.md"]

    live(scenario, NOON)


def test_something_else_is_carried_out_and_the_question_put_once_more() -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        done, again = await life.say("remind me to stretch at 5pm")
        assert done.startswith("I'll remind you: stretch")
        assert again.endswith("What should I call you?")
        done, aside = await life.say("add write to today")
        assert (done, aside) == ("Today is now: 1. Write", ASIDE)
        assert await life.say("what's next?") == ["Write. What's the first small piece of it?"]
        assert (await life.say("/start"))[0].endswith("What should I call you?")
        assert (await life.say("Sam"))[0].startswith("Nice to meet you, Sam.")

    live(scenario, NOON)


def test_a_greeting_is_said_once_however_often_the_question_is_put() -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        assert await life.say("Sam") == ["Nice to meet you, Sam. Which city are you in, or near? I go by its clock."]
        assert (await life.say("what's next?"))[-1] == "Which city are you in, or near? I go by its clock."
        await life.say("what's next?")
        assert await life.say("/start") == ["Which city are you in, or near? I go by its clock."]

    live(scenario, NOON)


def test_a_question_about_a_reminder_comes_first() -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        assert await life.say("remind me to call mum at 5") == ["5 am or 5 pm?"]
        done, *_ = await life.say("pm")
        assert done.startswith("I'll remind you: call mum")
        assert (await life.say("Sam"))[0].startswith("Nice to meet you, Sam.")

    live(scenario, NOON)


@pytest.mark.parametrize("said", ["leave me alone", "I want to kill myself"], ids=["left alone", "in trouble"])
def test_nobody_who_wants_peace_or_is_in_trouble_is_asked_again(said: str) -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        assert not any("should I call you" in text for text in await life.say(said))
        assert not await life.daemon.coach.onboarding.greet(COACH, life.clock.now())

    live(scenario, NOON)


def test_half_of_the_night_is_asked_for() -> None:
    async def scenario(life: Life) -> None:
        await greeted(life)
        for said in ("skip", "skip"):
            await life.say(said)
        assert await life.say("I go to bed at 11") == ["And when do you get up?"]
        assert "one thing" in (await life.say("7"))[0]
        assert '- quiet_hours: "00:00-07:00"' in goals(life)

    live(scenario, NOON)


def test_a_restart_in_the_middle_goes_on_with_the_same_question(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/nudge.db"

    async def before(life: Life) -> None:
        await greeted(life)
        await life.say("Sam")

    async def later(life: Life) -> None:
        assert (await greeted(life))[0].startswith("Which city")
        assert "go to bed" in (await life.say("Tokyo"))[0]

    live(before, NOON, store=store)
    live(later, NOON.replace(hour=13), store=store)


def test_with_a_model_the_rules_ask_and_the_model_answers_the_rest() -> None:
    model = OfflineModel("Paris is the capital of France.")

    async def scenario(life: Life) -> None:
        await greeted(life)
        answer, again = await life.say("what is the capital of France?")
        assert answer == "Paris is the capital of France."
        assert again.endswith("What should I call you?")
        assert (await life.say("Sam"))[0].startswith("Nice to meet you, Sam.")

    live(scenario, NOON, model=model)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("GOALS.md", "1. [Specific, completable]", "1. Finish the draft", id="a goal is written"),
        pytest.param("GOALS.md", 'wake_target: "10:00"', 'wake_target: "07:00"', id="a target is set"),
        pytest.param("MEMORY.md", "- Prefers casual", "- Goes by Kim\n- Prefers casual", id="the name is known"),
    ],
)
def test_a_home_that_is_set_up_is_never_asked(name: str, old: str, new: str) -> None:
    async def scenario(life: Life) -> None:
        life.documents.texts[name] = life.documents.texts[name].replace(old, new, 1)
        assert await greeted(life) == []
        assert "I'm your coach" in (await life.say("/start"))[0]

    live(scenario, NOON)


def test_somebody_who_has_talked_before_is_not_asked() -> None:
    async def scenario(life: Life) -> None:
        await life.say("add write to today")
        await life.say("undo")
        assert await greeted(life) == []

    live(scenario, NOON)


def test_the_template_alone_is_not_set_up() -> None:
    async def scenario(life: Life) -> bool:
        return is_set_up(life.daemon.documents.goals(COACH), life.daemon.documents.preferences(COACH))

    assert live(scenario, NOON, zone="Asia/Tokyo") is False
