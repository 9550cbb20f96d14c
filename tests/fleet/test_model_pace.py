"""A thousand agents share one key: what they ask the model for arrives at the pace that the service allows."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from nudge.clock import SystemClock
from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.fleet.pace import PacedModel
from nudge.fleet.tables import FleetTable
from nudge.fleet.worker import CONCURRENCY
from nudge.instants import SECOND, Instant
from nudge.model import ModelRequest, Purpose, cached, user
from nudge.models import open_model
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from nudge.testing.anthropic_server import FakeAnthropic
from tests.fleet.conftest import World

PER_MINUTE = 1200
CALLS = 40


class Counting:
    """A service that counts: at what second each call came."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.server = FakeAnthropic(answer=self._came)

    def _came(self, body: dict[str, Any]) -> str:
        self.times.append(time.monotonic())  # noqa: TID251  (the other side has a clock of its own)
        return "Good morning."

    def refused(self, in_a_second: int) -> int:
        """How many it would refuse if it allowed that many in any second."""
        return sum(sum(at - 1 < other <= at for other in self.times) > in_a_second for at in self.times)


def asked(purpose: Purpose) -> ModelRequest:
    return ModelRequest(purpose, "claude-haiku-4-5", (cached("Be brief."),), (user("Hello."),), 100)


async def test_calls_of_all_workers_come_at_the_common_pace_and_the_person_comes_first(postgres_url: str) -> None:
    counting = Counting()
    with counting.server as server:
        settings = {"ANTHROPIC_API_KEY": server.api_key, "ANTHROPIC_BASE_URL": server.url}
        clock = SystemClock()
        stores = [await open_store(postgres_url) for _ in range(3)]
        models = [
            PacedModel(open_model("anthropic", settings, clock=clock), FleetTable(store), clock, PER_MINUTE)
            for store in stores
        ]
        await models[0].complete(asked(Purpose.CONVERSATION))  # the library is loaded
        briefings = [
            asyncio.create_task(models[number % 3].complete(asked(Purpose.BRIEFING))) for number in range(CALLS)
        ]
        await asyncio.sleep(0.2)
        began = clock.now()
        await models[0].complete(asked(Purpose.CONVERSATION))
        waited = clock.now() - began
        await asyncio.gather(*briefings)
        for model, store in zip(models, stores, strict=True):
            await model.close()
            await store.close()
    assert len(counting.times) == CALLS + 2
    assert counting.refused(PER_MINUTE // 60 + 3) == 0
    assert waited < SECOND, "the person does not wait for briefings"


async def test_a_reminder_does_not_wait_for_agents_that_wait_for_the_model(world: World) -> None:
    names = [f"thinker{number}" for number in range(40)]  # more than a worker has places
    thinking: set[str] = set()
    answered = asyncio.Event()

    async def think(firing: Firing) -> None:
        if waits := firing.timer.payload.get("waits"):
            thinking.add(firing.timer.agent)
            await answered.wait()
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED, "Thought.")
            if not waits:
                settlement.again(Instant(firing.now + 3 * SECOND), {"waits": True})

    await world.agents(*names, "ada")
    world.handlers[HEARTBEAT] = think
    await world.store.timers.set_many([Timer.at(name, HEARTBEAT, HEARTBEAT, world.clock.now()) for name in names])
    await world.adopt()

    async def places_are_taken() -> bool:
        return len(thinking) >= CONCURRENCY

    async with world.worker():
        await world.until(places_are_taken)
        await asyncio.sleep(0.5)
        await world.store.timers.set(world.note("ada", "now", 0))
        await world.until(lambda: world.outcomes("ada"))
        had_a_place = len(thinking)
        answered.set()
    assert had_a_place < len(names)
    [outcome] = await world.outcomes("ada")
    assert outcome.at - outcome.slot_at < 5 * SECOND
