"""The table of intents: each example leads to its intent and effect, /undo takes it back, and the help is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from nudge.coach.answers import ANSWERS, HELP
from nudge.coach.intents.intent import Intent, Rank
from nudge.coach.intents.table import INTENTS, as_document, on_topic
from nudge.coach.rules import in_trouble
from nudge.coach.small_talk import understood
from nudge.coach.wishes import HANDLERS
from nudge.instants import to_datetime
from nudge.testing import live
from tests.coach.test_utterances import AGENT, START, effects, prepare, state
from tests.times import TORONTO

EFFECTS = {
    "remind": r"\+.+ @ .+",
    "correct": r"call (?:bob|rob) @ 2026-02-2[34] 1[78]:00",
    "undo": r"call Mum @ .+",
    "cancel": r"-.+",
    "later": r"(?:call Mum|stretch|take the pills) @ .+",
    "earlier": r"(?:call Mum|stretch|take the pills) @ .+",
    "move": r"(?:call Mum|stretch|take the pills) @ .+",
    "again": r"stretch @ 2026-02-18 1[56]:.+",
    "skip": r"done stretch|",
    "done": r"done stretch|ticked (?:Write the intro|Book the dentist|Finish chapter two)",
    "add": r"today\+Call the bank|week\+Ship the report|quarter\+Learn French",
    "north-star": r"star\+Write a novel|star-.*",
    "drop": r"(?:today|week|quarter)-.+",
    "promise": r"memory\+Active Commitments .*[Ss]end the photos.*",
    "review": r"review",
    "name": r"memory\+Preferences Goes by Sam",
    "remember": r"memory\+Preferences I like tea",
    "forget": r"",
    "not-about": r"memory\+Preferences Don't .+sleep",
    "target": r"bedtime 00:30|(?:call Mum|stretch|take the pills) @ .+|",
    "busy": r"quiet .+",
    "leave-alone": r"alone|quiet .+",
    "back": r"loud",
}
"""What changes, in the words of `tests.coach.utterances`. What is not here changes nothing."""


async def meant(life: Any, words: str) -> str:
    if in_trouble(words):
        return "trouble"
    facts = await life.daemon.coach.facts.for_message(AGENT, words, 10_000, life.clock.now(), forwarded=False)
    return understood(facts).intent


async def try_examples(life: Any, one: Intent) -> list[str]:
    await prepare(life)
    if one.before == "(stretch)":
        await life.passes(hours=3, seconds=2)
    wrong: list[str] = []
    first = await state(life)
    for words in one.examples:
        if one.before and one.before != "(stretch)":
            await life.say(one.before)
        before = await state(life)
        name = await meant(life, words)
        said = "\n".join(await life.say(words))
        happened = effects(before, await state(life))
        expected = re.compile(EFFECTS.get(one.name, ""), re.IGNORECASE)
        if name != one.name:
            wrong.append(f"{words!r} means {name!r}: {said!r}")
        elif not all(expected.fullmatch(effect) for effect in happened) or (
            not happened and not expected.fullmatch("")
        ):
            wrong.append(f"{words!r} led to {sorted(happened)}: {said!r}")
        elif not said:
            wrong.append(f"{words!r} got no answer")
        for _ in range(4):
            if effects(first, await state(life)) == set():
                break
            await life.say("/undo")
        if left := effects(first, await state(life)):
            return [*wrong, f"{words!r} could not be undone: {sorted(left)}"]
    return wrong


@pytest.mark.parametrize("one", INTENTS, ids=[one.name for one in INTENTS])
def test_each_example_leads_to_its_intent_and_effect_and_can_be_undone(one: Intent) -> None:
    async def scenario(life: Any) -> list[str]:
        return await try_examples(life, one)

    assert live(scenario, to_datetime(START, TORONTO), zone="America/Toronto") == []


def test_the_table_is_whole() -> None:
    names = [one.name for one in INTENTS]
    assert len(names) == len(set(names))
    assert {one.name: len(one.examples) for one in INTENTS if len(set(one.examples)) < 20} == {}
    said = [words for one in INTENTS for words in one.examples]
    assert {words for words in said if said.count(words) > 1} == set()


def test_each_intent_is_carried_out_in_one_place() -> None:
    """An intent has an answer by rule or a use case with the store; "done" has one for tasks and one for reminders,
    and of a day only today is known without the store."""
    read_here = {one.name for one in INTENTS if one.ways and one.rank is not Rank.TALK}
    assert read_here <= ANSWERS.keys() | HANDLERS.keys()
    assert ANSWERS.keys() & HANDLERS.keys() == {"done", "on-day"}
    assert {one.name for one in INTENTS if not one.ways} == {
        "remind", "correct", "trouble", "busy", "leave-alone", "back", "offer",
    }  # fmt: skip
    assert all(one.says for one in INTENTS if one.rank is Rank.TALK)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("what can I say about snoozing?", "snooze"),
        ("/help snooze", "snooze"),
        ("help undo", "undo"),
        ("how do I cancel a reminder?", "cancel call mum"),
        ("help with my goals", "what are my goals?"),
        ("/help quiet hours", "what are my quiet hours?"),
        ("/help bedtime", "set my bedtime to 00:30"),
    ],
)
def test_help_on_a_subject_shows_examples(words: str, first: str) -> None:
    async def scenario(life: Any) -> str:
        return "\n".join(await life.say(words))

    said = live(scenario, to_datetime(START, TORONTO), zone="America/Toronto")
    assert f"• {first}\n" in f"{said}\n"
    assert len(said) < 1500


def test_help_on_nothing_known_is_the_whole_help() -> None:
    async def scenario(life: Any) -> tuple[list[str], list[str]]:
        return await life.say("/help xylophones"), await life.say("help")

    commands, words = live(scenario, to_datetime(START, TORONTO), zone="America/Toronto")
    assert "/remind" in commands[0]
    assert words == [HELP]
    assert on_topic("xylophones") == ()


def test_the_page_of_the_documentation_is_the_table() -> None:
    """`python -m nudge.coach.intents.table > docs/what-you-can-say.md` writes it."""
    page = Path(__file__).parents[2] / "docs" / "what-you-can-say.md"
    assert page.read_text(encoding="utf-8") == as_document()
