"""Restarts: at every minute of a day that has all four briefings, none comes twice and none is lost."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from nudge.instants import MINUTE
from nudge.queue.outcomes import Result
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import toronto

FRIDAY = toronto(2026, 7, 31, 20)
"""The evening before a Saturday that is also the first of a month."""
TARGETS = {
    "bedtime_target": "01:00",
    "wake_target": "10:00",
    "quiet_hours": "02:00-10:00",
    "weekly_review": "Saturday 10:00",
}


async def a_minute(world: World, seconds: float, *, gently: bool) -> None:
    """A whole process: made, started, run for a while, and ended."""
    world.assemble()
    await world.start()
    running = asyncio.create_task(world.dispatcher.run())
    await world.clock.sleep(seconds)
    if gently:
        world.dispatcher.stop()
    else:
        world.dispatcher.abort()
    await asyncio.gather(running, return_exceptions=True)
    if not gently:
        await world.store.lanes.release_owner("test")  # as the next process does with the dead one's lanes


async def the_day(world: World) -> tuple[list[str], list[str]]:
    """What was said as a briefing, and how each occurrence ended."""
    rows = await world.outcomes("briefing")
    said = [f"{row.key.removeprefix('briefing:')}: {row.reason}" for row in rows if row.result in SAID]
    assert [row for row in rows if not row.final] == []
    return said, [row.result.value for row in rows if row.result not in (*SAID, Result.SKIPPED)]


SAID = (Result.FIRED, Result.FIRED_LATE)
EVERYTHING = [
    "bedtime: Bedtime, casual.",
    "bedtime: Bedtime, direct.",
    "bedtime: Bedtime, serious.",
    "weekly_review: The weekly review.",
    "monthly: The monthly goal check.",
]
TIMES = ["01 00:00", "01 01:00", "01 01:30", "01 10:00", "01 19:00"]


def test_1440_restarts_a_minute_apart(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**TARGETS)
        for minute in range(1440):
            if minute % 10 == 0 and minute < 6 * 60:  # up until two
                await world.active()
            await a_minute(world, 60, gently=True)
        assert (world.clock.now() - FRIDAY) // MINUTE == 1440
        assert await the_day(world) == (EVERYTHING, [])
        assert world.channel.times() == TIMES
        assert len(world.reviews) == 1
        assert "Write the draft" in world.reviews[0][1]  # the morning briefing is in it

    in_world(tmp_path, scenario, FRIDAY, model=ScriptedModel())


@pytest.mark.parametrize("seed", [1, 3])
def test_processes_that_die_at_any_moment_of_the_day(tmp_path: Path, seed: int) -> None:
    """They are cut off in the middle of a thought too: a call takes 20 s, and a process lives for 1 to 240 s."""
    lives = random.Random(seed)
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        async def thinking() -> None:
            await world.clock.sleep(20)

        spender.before_answer = thinking
        world.goals(**TARGETS)
        while world.clock.now() < toronto(2026, 8, 1, 20):
            if world.clock.now() < toronto(2026, 8, 1, 2):
                await world.active()
            await a_minute(world, lives.uniform(1, 240), gently=False)
        assert await the_day(world) == (EVERYTHING, [])
        assert (len(world.reviews), len(world.channel.texts)) == (1, 5)

    in_world(tmp_path, scenario, FRIDAY, model=spender)


def test_a_process_that_dies_between_the_outbox_and_the_channel_loses_nothing(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**TARGETS)
        await a_minute(world, 1, gently=True)
        world.clock.jump(toronto(2026, 8, 1, 19) - world.clock.now())
        world.assemble()
        await world.start()
        world.dispatcher.handlers.pop("deliver")  # it never comes to sending
        running = asyncio.create_task(world.dispatcher.run())
        await world.clock.sleep(1)
        world.dispatcher.abort()
        await asyncio.gather(running, return_exceptions=True)
        await world.store.lanes.release_owner("test")
        assert world.channel.texts == []
        for _ in range(3):
            await a_minute(world, 60, gently=True)
        assert len(world.channel.texts) == 2  # the review of the morning, late, and the month
        assert await world.store.outbox.pending(AGENT) == []

    in_world(tmp_path, scenario, FRIDAY)
