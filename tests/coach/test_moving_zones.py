"""Somebody moves to another time zone: what they set by the wall clock follows, and they are told once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nudge.instants import to_datetime, zone_of
from nudge.testing import live
from nudge.testing.life import COACH, Life

NOON = datetime(2026, 2, 18, 17, tzinfo=UTC)  # a Wednesday, noon in Toronto
TOKYO = zone_of("Asia/Tokyo")


async def times(life: Life) -> dict[str, str]:
    """When each reminder comes, on Tokyo's clock."""
    listed = await life.daemon.coach.reminders.active(COACH, 20)
    return {one.message: f"{to_datetime(one.next_at, TOKYO):%d %H:%M}" for one in listed if one.next_at is not None}


async def set_reminders(life: Life) -> None:
    for said in (
        "remind me to stretch every weekday at 8:30",
        "remind me to call mum friday 5pm",
        "remind me to take the pizza out in 5 hours",
    ):
        assert (await life.say(said))[0].startswith("I'll remind you")


@pytest.mark.parametrize(
    "said",
    ["I'm in Tokyo now", "I just landed in Tokyo", "set my time zone to Asia/Tokyo", "/zone tokyo"],
)
def test_reminders_by_the_wall_clock_follow_and_the_next_ones_are_said_once(said: str) -> None:
    async def scenario(life: Life) -> None:
        await set_reminders(life)
        told = [*await life.say(said), *await life.passes(minutes=2)]
        [news] = [text for text in told if "You're on Tokyo time now" in text]
        assert news.splitlines() == [
            "You're on Tokyo time now; it's Thursday 02:00 there. Your reminders keep their time of day. Next:",
            "• stretch: 8:30 AM",
            "• call mum: Fri 5:00 PM",
        ]
        assert await times(life) == {"stretch": "19 08:30", "call mum": "20 17:00", "take the pizza out": "19 07:00"}
        assert (await life.passes(hours=4))[-1:] != [news]

    live(scenario, NOON, zone="America/Toronto")


def test_an_edit_of_the_file_is_announced_as_well() -> None:
    async def scenario(life: Life) -> None:
        await set_reminders(life)
        texts = life.documents.texts
        texts["GOALS.md"] = texts["GOALS.md"].replace('"America/Toronto"', '"Asia/Tokyo"')
        await life.daemon.watch.look()
        [news] = await life.passes(seconds=5)
        assert "stretch: 8:30 AM" in news

    live(scenario, NOON, zone="America/Toronto")


def test_undo_brings_the_person_and_their_reminders_back() -> None:
    async def scenario(life: Life) -> None:
        await set_reminders(life)
        before = await times(life)
        await life.say("I'm in Tokyo now")
        told = [*await life.say("undo"), *await life.passes(seconds=5)]
        assert any("You're on Toronto time now" in text for text in told)
        assert await times(life) == before

    live(scenario, NOON, zone="America/Toronto")


def test_other_targets_are_no_move() -> None:
    async def scenario(life: Life) -> None:
        await set_reminders(life)
        assert len(await life.say("set my bedtime to 00:30")) == 1
        assert await life.passes(seconds=30) == []

    live(scenario, NOON, zone="America/Toronto")


def test_a_time_that_is_past_there_keeps_its_moment() -> None:
    async def scenario(life: Life) -> None:
        await life.say("remind me to water the plants today at 5pm")  # 07:00 of the next day in Tokyo
        await life.say("I'm in Tokyo now")
        assert await times(life) == {"water the plants": "19 07:00"}

    live(scenario, NOON, zone="America/Toronto")


@pytest.mark.parametrize("said", ["I'm in a meeting until 5", "I'm in bed", "I live alone", "I moved the sofa"])
def test_not_every_in_is_a_place(said: str) -> None:
    async def scenario(life: Life) -> None:
        await life.say(said)
        assert life.daemon.documents.targets(COACH).timezone == "America/Toronto"

    live(scenario, NOON, zone="America/Toronto")
