from __future__ import annotations

import pytest

from nudge.coach.facts import CoachFacts, Purpose
from nudge.coach.intents.talk import FINE
from nudge.coach.small_talk import chat
from tests.times import NOON


@pytest.mark.parametrize("words", ["ok", "OK.", "okay!", "yes yes", "on it", "will do", "later", "ok, going", "👍"])
def test_a_nod_is_taken_as_one(words: str) -> None:
    said, actions = chat(CoachFacts(now=NOON, purpose=Purpose.CONVERSATION, text=words))
    assert said in FINE
    assert actions == []


@pytest.mark.parametrize("words", ["ok what about tomorrow", "later today I will write", "good luck with the bot"])
def test_a_sentence_is_not_a_nod(words: str) -> None:
    said, _ = chat(CoachFacts(now=NOON, purpose=Purpose.CONVERSATION, text=words))
    assert said not in FINE


def test_the_words_under_a_photo_are_read() -> None:
    bare, under = (
        chat(CoachFacts(now=NOON, purpose=Purpose.CONVERSATION, text=text))
        for text in ("what's next?", "[photo] what's next?")
    )
    assert bare == under


def test_the_first_word_of_a_night_does_not_promise_an_hour_that_is_gone() -> None:
    from nudge.coach.briefings import Briefing
    from nudge.coach.facts import CoachState
    from nudge.coach.rules import LATE_CASUAL, answer
    from tests.times import toronto

    now = toronto(2026, 2, 19, 1, 15)
    facts = CoachFacts(
        now=now, purpose=Purpose.BRIEFING, state=CoachState(last_activity=now), briefing=Briefing.BEDTIME
    )
    assert answer(facts) in LATE_CASUAL
