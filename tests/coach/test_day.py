"""What a day costs when nothing happens: few questions to a model, and small ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nudge.coach.prompts import HEARTBEAT_CAP, estimate
from nudge.instants import MINUTE, Instant
from nudge.model import ModelRequest
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import toronto

DAY = 24 * 3600
MOST_CALLS = 8
MOST_TOKENS = 20_000


def tokens(request: ModelRequest) -> int:
    """What a call sends: texts, and the form of the answer."""
    form = estimate(json.dumps(request.schema)) if request.schema is not None else 0
    return estimate(request.system_text) + sum(estimate(turn.text) for turn in request.turns) + form


@pytest.mark.parametrize("phase", [0, 7, 15, 22, 30, 37, 44])
def test_a_quiet_day_has_at_most_8_calls_and_20000_tokens(tmp_path: Path, phase: int) -> None:
    """Whenever in its 45 minutes the heartbeat falls, on the shipped documents, with nobody there."""
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(DAY)  # the day of the start has a first judgment too many
            spender.calls.clear()
            await world.clock.sleep(DAY)

    in_world(tmp_path, scenario, Instant(toronto(2026, 2, 17, 4) + phase * MINUTE), model=spender)
    assert 4 <= len(spender.calls) <= MOST_CALLS
    assert sum(tokens(call) for call in spender.calls) <= MOST_TOKENS
    assert max(tokens(call) for call in spender.calls) <= 2_100


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(toronto(2026, 7, 31, 4), id="a Saturday that is the first of a month"),
        pytest.param(toronto(2026, 3, 7, 4), id="the day on which the clock goes forward"),
        pytest.param(toronto(2026, 10, 31, 4), id="the day on which it goes back"),
    ],
)
def test_special_days_keep_to_it_too(tmp_path: Path, start: Instant) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(DAY)
            spender.calls.clear()
            await world.clock.sleep(DAY)

    in_world(tmp_path, scenario, start, model=spender)
    assert len(spender.calls) <= MOST_CALLS
    assert sum(tokens(call) for call in spender.calls) <= MOST_TOKENS


def test_the_first_day_keeps_to_it_too(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.run_for(DAY)

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 9), model=spender)
    assert len(spender.calls) <= MOST_CALLS


def test_documents_without_end_are_cut_to_the_cap(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        for name in ("GOALS.md", "MEMORY.md", "HEARTBEAT.md", "AGENTS.md"):
            path = world.files.path(AGENT, name)
            path.write_text(path.read_text() + "\n## Notes\n" + "- a line of the person's own\n" * 3_000)
        await world.run_for(46 * 60)

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 12), model=spender)
    (call,) = spender.calls
    assert estimate(call.system_text) + estimate(call.turns[0].text) <= HEARTBEAT_CAP
