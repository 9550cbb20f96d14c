"""What the coach learns in a life: the whole daemon, its pings and a person who answers, or does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nudge.attention.welcome import PING
from nudge.coach.rhythm import PROPOSED
from nudge.queue.outcomes import Outcome, Result
from nudge.testing import Life, live

START = datetime(2026, 2, 16, 9, tzinfo=UTC)
"""A Monday."""


async def mornings(life: Life) -> list[Outcome]:
    """How the morning briefings ended, oldest first."""
    return [row for row in reversed(await life.outcomes(5000)) if row.key == "briefing:morning"]


async def topics(life: Life) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for cell in (await life.store.welcomes.learned("coach")).cells:
        welcome, unwelcome = found.get(cell.topic, (0, 0))
        found[cell.topic] = round(welcome + cell.welcome / PING, 1), round(unwelcome + cell.unwelcome / PING, 1)
    return found


def test_a_briefing_that_is_ignored_looks_for_a_better_hour_and_then_falls_silent() -> None:
    async def ignored(life: Life) -> None:
        await life.passes(days=21)
        rows = await mornings(life)
        assert rows[0].result is Result.FIRED
        assert rows[0].detail["learned"] == "morning, 10:00 on weekdays: 60% welcome (0.0 of 0.0 pings)"
        late = next(row for row in rows if row.result is Result.FIRED_LATE)
        assert "It waited: Messages like this were not welcome at this hour." in late.reason
        silent = [row for row in rows if row.result is Result.SUPPRESSED]
        assert silent
        assert {row.detail["rule"] for row in silent} == {"unwelcome"}
        assert "welcome (0.0 of" in silent[0].detail["learned"]

    live(ignored, START)


def test_a_briefing_that_is_answered_comes_as_ever() -> None:
    async def answered(life: Life) -> None:
        for _ in range(4):
            await life.passes(hours=1, minutes=10)
            await life.say("thanks, on it")
            await life.passes(hours=22, minutes=49, seconds=59)
        assert {row.result for row in await mornings(life)} == {Result.FIRED}
        assert (await topics(life))["morning"][1] == 0

    live(answered, START)


def test_without_learning_nothing_is_noted_and_nothing_held_back() -> None:
    async def ignored(life: Life) -> None:
        await life.passes(days=14)
        assert await topics(life) == {}
        assert await life.store.welcomes.waiting("coach") == []
        assert {row.result for row in await mornings(life)} <= {Result.FIRED, Result.SKIPPED}

    live(ignored, START, learning=False)


def test_a_reminder_comes_although_everything_else_is_unwelcome() -> None:
    async def cursed(life: Life) -> None:
        await life.say("remind me to stretch every day at 10:30am")
        await life.passes(days=14)
        assert life.said.count("stretch") == 14
        assert "stretch" not in await topics(life)

    live(cursed, START)


@pytest.mark.parametrize(
    ("answer", "wake"),
    [pytest.param("yes", "16:00", id="yes changes the targets"), pytest.param("no", "10:00", id="no leaves them")],
)
def test_a_shifted_rhythm_is_asked_about_once(answer: str, wake: str) -> None:
    async def night_worker(life: Life) -> None:
        asked: list[str] = []
        for _ in range(20 * 24):
            if not 8 <= life.now.hour < 16:
                await life.say("/ping")
            before = len(life.said)
            await life.passes(hours=1)
            question = [text for text in life.said[before:] if "usually up" in text]
            if question:
                assert life.now.hour >= 17
                asked += question
                await life.say(answer)
        assert asked == [
            "I see you're usually up from about 16:00 to 08:00, and my times are 10:00 to 01:00. Shall I set "
            "wake_target: 16:00, bedtime_target: 08:00, quiet_hours: 09:00-16:00? Please answer yes or no."
        ]
        assert f'wake_target: "{wake}"' in life.documents.texts["GOALS.md"]
        assert await life.store.records.get("coach", PROPOSED) is not None

    live(night_worker, START)
