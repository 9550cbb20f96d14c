"""The whole daemon in a test, as our users write one."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.queue.outcomes import Result
from nudge.testing import Life, OfflineModel, live

TORONTO = ZoneInfo("America/Toronto")
MONDAY = datetime(2026, 2, 16, 12, tzinfo=TORONTO)


def test_a_week_in_ten_lines() -> None:
    async def week(life: Life) -> list[str]:
        await life.say("remind me every weekday at 14:00 to stretch")
        await life.passes(days=7)
        return [text for text in life.said if text == "stretch"]

    assert live(week, MONDAY, zone="America/Toronto") == ["stretch"] * 5


def test_time_passes_only_when_it_is_told_to() -> None:
    async def scenario(life: Life) -> tuple[datetime, datetime]:
        before = life.now
        await life.passes(hours=30)
        return before, life.now

    before, after = live(scenario, MONDAY, zone="America/Toronto")
    assert before == MONDAY
    assert (after - before).total_seconds() == 30 * 3600


def test_a_button_is_pressed_by_its_label() -> None:
    async def scenario(life: Life) -> list[str]:
        await life.say("remind me to stretch in 20 minutes")
        await life.passes(minutes=20, seconds=1)
        await life.press("Snooze 30 min")
        return await life.passes(minutes=31)

    assert live(scenario, MONDAY, zone="America/Toronto") == ["stretch"]


def test_every_occurrence_has_an_outcome() -> None:
    async def scenario(life: Life) -> list[Result]:
        await life.say("remind me to stretch in 20 minutes")
        await life.passes(hours=1)
        return [row.result for row in await life.outcomes() if row.kind == "reminder"]

    assert live(scenario, MONDAY, zone="America/Toronto") == [Result.FIRED]


def test_a_model_can_answer_instead_of_the_rules() -> None:
    model = OfflineModel({"reply": "Hello, you.", "actions": [], "recent_context": ""})

    async def scenario(life: Life) -> list[str]:
        return await life.say("hello")

    assert live(scenario, MONDAY, zone="America/Toronto", model=model) == ["Hello, you."]
    assert len(model.requests) == 1


def test_an_option_of_the_daemon_counts() -> None:
    async def level(life: Life) -> int:
        return (await life.daemon.gate.row("coach", life.clock.now())).budget.capacity

    assert live(level, MONDAY, zone="America/Toronto", capacity=3) == 3


def test_a_mistake_in_the_scenario_comes_out() -> None:
    async def scenario(life: Life) -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        live(scenario, MONDAY)
