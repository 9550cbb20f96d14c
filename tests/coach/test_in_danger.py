"""After words of danger nothing unasked reaches the person until their next morning, except what they set."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.coach.rhythm import PROPOSED, Proposed
from nudge.instants import HOUR, Instant
from nudge.model import ModelReply, ModelRequest, Purpose
from nudge.queue.timers import Timer
from nudge.testing import Life, live
from tests.coach.rig import Scripted, says

NOON = datetime(2026, 2, 20, 12, 0, tzinfo=ZoneInfo("America/Toronto"))
GOALS = {"[Single most important task]": "Write the intro", "1. [Specific, completable]": "1. Finish chapter two"}


class Pushy(Scripted):
    """A model that has something to say whenever it is asked."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        if request.purpose is Purpose.CONVERSATION:
            self.answers = [says("What's the plan for your goals?")]
        elif request.purpose is Purpose.HEARTBEAT:
            self.answers = [{"action": "message", "message": "How is the intro going?", "state_updates": {}}]
        else:
            self.answers = ["Time to look at your goals!"]
        return await super().complete(request)


async def a_full_day(life: Life) -> None:
    """Tasks that a heartbeat asks about, a promise that is overdue, a routine reminder, and a proposal that is due."""
    texts = life.documents.texts
    for blank, line in GOALS.items():
        texts["GOALS.md"] = texts["GOALS.md"].replace(blank, line, 1)
    promise = "## Active Commitments\n- Send Mary the photos (due: 2026-02-19)\n"
    texts["MEMORY.md"] = texts["MEMORY.md"].replace("## Active Commitments\n", promise, 1)
    await life.say("/remind stretch today at 3pm")
    proposal = {"ask": PROPOSED.write(Proposed(14, 6))}
    due = Instant(life.clock.now() + 5 * HOUR)
    await life.store.timers.set(replace(Timer.at("coach", "rhythm", "rhythm", due), payload=proposal))


@pytest.mark.parametrize("model", [None, "pushy"], ids=["by rules", "with a model that always speaks"])
def test_nothing_but_their_own_reminder_comes_until_the_next_morning(model: str | None) -> None:
    async def scenario(life: Life) -> tuple[list[str], list[str], set[str]]:
        await a_full_day(life)
        (said,) = await life.say("I want to die")
        assert "you are not alone" in said
        day = []
        for _ in range(16):  # they use their phone all evening, so that bedtime and heartbeats have a reason
            day += await life.passes(minutes=30)
            await life.store.attention.activity("coach", life.clock.now())
            day += await life.passes(minutes=30)
        held = {row.key for row in await life.outcomes(500) if row.detail.get("rule") == "care"}
        return day, await life.passes(hours=8), held

    day, morning, held = live(scenario, NOON, zone="America/Toronto", model=Pushy() if model else None)
    assert day == ["stretch"]
    assert any(key.startswith("heartbeat") for key in held) or not model
    assert "rhythm" in held
    assert "briefing:bedtime" in held
    assert morning, "the next day is a day as any other"


def test_without_those_words_the_same_day_is_not_silent() -> None:
    async def scenario(life: Life) -> list[str]:
        await a_full_day(life)
        return await life.passes(hours=16)

    assert len(live(scenario, NOON, zone="America/Toronto", model=Pushy())) > 1


@pytest.mark.parametrize("words", ["thanks", "what's next?", "I feel a bit better"])
def test_other_talk_does_not_end_the_care(words: str) -> None:
    async def scenario(life: Life) -> list[str]:
        await a_full_day(life)
        await life.say("I want to kill myself")
        await life.say(words)
        return await life.passes(hours=16)

    found: Any = live(scenario, NOON, zone="America/Toronto", model=Pushy())
    assert found == ["stretch"]
