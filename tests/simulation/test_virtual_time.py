from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from nudge.instants import DAY, HOUR, SECOND
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from tests.times import NOON


def test_deadlines_are_met_in_order_and_exactly() -> None:
    async def main(clock: VirtualClock) -> list[tuple[str, int]]:
        seen: list[tuple[str, int]] = []

        async def sleeper(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            seen.append((name, clock.now() - NOON))

        await asyncio.gather(sleeper("month", 30 * 86_400), sleeper("second", 1), sleeper("hour", 3600))
        return seen

    assert run_virtual(main, NOON) == [("second", SECOND), ("hour", HOUR), ("month", 30 * DAY)]


def test_waiting_ends_with_the_event_or_with_the_time() -> None:
    async def main(clock: VirtualClock) -> tuple[bool, int, bool, int]:
        event = asyncio.Event()
        asyncio.get_running_loop().call_later(5, event.set)
        came = await clock.wait(event, 60)
        at = clock.now() - NOON
        missed = await clock.wait(asyncio.Event(), 60)
        return came, at, missed, clock.now() - NOON

    assert run_virtual(main, NOON) == (True, 5 * SECOND, False, 65 * SECOND)


def test_a_jump_moves_the_wall_clock_alone() -> None:
    async def main(clock: VirtualClock) -> int:
        sleeping = asyncio.create_task(clock.sleep(100))
        clock.jump(-DAY)
        await sleeping
        return clock.now() - NOON

    assert run_virtual(main, NOON) == 100 * SECOND - DAY


@pytest.mark.process
def test_time_does_not_jump_past_a_process_that_answers() -> None:
    async def main(clock: VirtualClock) -> bytes:
        async with asyncio.timeout(10):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "print('here')", stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
        return out

    assert run_virtual(main, NOON) == b"here\n"


LONG_LIFE = """
from datetime import UTC, datetime
from nudge.simulation.virtual_time import run_virtual

async def main(clock):
    started = clock.now()
    await clock.sleep({days} * 86_400)
    for _ in range(1_000):
        await clock.sleep(0.7)
    return clock.now() - started

print(run_virtual(main, datetime(2026, 1, 1, tzinfo=UTC)))
"""


@pytest.mark.parametrize("days", [100, 365, 3_650])
def test_a_deadline_comes_however_long_the_loop_has_lived(days: int) -> None:
    """In a process of its own: where it does not come, nothing inside the loop could tell."""
    run = subprocess.run(
        [sys.executable, "-c", LONG_LIFE.format(days=days)], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(run.stdout) == pytest.approx(days * DAY + 700 * SECOND, abs=1_000)
