"""The fleet on a real Temporal server and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise

from temporalio.client import WorkflowExecutionStatus
from temporalio.testing import ActivityEnvironment

from nudge.fleet.adoption import drain, release
from nudge.fleet.looks import look_at
from nudge.instants import SECOND, Instant
from tests.fleet.conftest import World


async def test_an_adopted_agent_wakes_for_its_timer_and_sleeps_again(world: World) -> None:
    await world.agents("ada")
    await world.store.timers.set(world.note("ada", "soon", 1.5))
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.outcomes("ada"))
        await world.until(lambda: world.asleep("ada"))
        await asyncio.sleep(0.5)  # the workflow hears of it after the store
        state = await world.workflow("ada").query("state")
        assert (state["agent"], state["state"], state["fired"]) == ("ada", "awake", 1)
    [outcome] = await world.outcomes("ada")
    assert outcome.at - outcome.slot_at < 5 * SECOND


async def test_a_timer_that_is_set_while_the_agent_sleeps_pokes_it(world: World) -> None:
    await world.agents("ada")
    await world.store.timers.set(world.note("ada", "in days", 3 * 86_400))
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.asleep("ada"))
        await world.store.timers.set(world.note("ada", "now", 0))
        await world.until(lambda: world.outcomes("ada"))
        [outcome] = await world.outcomes("ada")
        assert outcome.at - outcome.slot_at < 5 * SECOND
        await world.until(lambda: world.asleep("ada"))
        assert not await world.table.take_pokes(10)


async def test_an_agent_that_is_added_later_joins_with_its_first_timer(world: World) -> None:
    await world.adopt()
    async with world.worker():
        await world.agents("late")
        await world.store.timers.set(world.note("late", "now", 0))
        await world.until(lambda: world.outcomes("late"))


async def test_pokes_that_nobody_could_send_are_sent_by_the_next_worker(world: World) -> None:
    await world.agents("ada")
    await world.store.timers.set(world.note("ada", "in days", 3 * 86_400))
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.asleep("ada"))
    await world.store.timers.set(world.note("ada", "now", 0))
    async with world.worker("w2"):
        await world.until(lambda: world.outcomes("ada"))


async def test_a_paused_agent_is_not_visited_until_it_resumes(world: World) -> None:
    await world.agents("ada")
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.asleep("ada"))
        await world.workflow("ada").signal("pause")
        await world.store.timers.set(world.note("ada", "now", 0))
        await asyncio.sleep(1.5)
        assert not await world.outcomes("ada")
        await world.workflow("ada").signal("resume")
        await world.until(lambda: world.outcomes("ada"))


async def test_three_workers_give_every_occurrence_one_outcome(world: World) -> None:
    names = [f"agent{number}" for number in range(12)]
    await world.agents(*names)
    await world.store.timers.set_many([world.note(name, "tick", 1, every=3) for name in names])
    await world.adopt()

    async def twice() -> bool:
        counted = Counter(one.agent for one in await world.outcomes())
        return len(counted) == len(names) and min(counted.values()) >= 2

    async with world.worker("w1"), world.worker("w2"), world.worker("w3"):
        await world.until(twice)
    found = await world.outcomes()
    assert max(Counter((one.agent, one.slot_at) for one in found).values()) == 1
    for name in names:
        slots = sorted(one.slot_at for one in found if one.agent == name)
        assert len(slots) >= 2
        assert {after - before for before, after in pairwise(slots)} == {3 * SECOND}


async def test_the_sweep_wakes_an_agent_whose_workflow_is_gone_and_fires_nothing_itself(world: World) -> None:
    await world.agents("ada", "bob")
    await world.store.timers.set_many([world.note(name, "in days", 3 * 86_400) for name in ("ada", "bob")])
    await world.adopt()
    async with world.worker() as activities:
        await world.until(lambda: world.asleep("ada"))
        await world.until(lambda: world.asleep("bob"))
        await world.workflow("ada").terminate()
        past = Instant(world.clock.now() - 3600 * SECOND)
        await world.store.database.run("fleet_plan", {"agent": "ada", "wakes_at": past, "now": past})
        assert await ActivityEnvironment().run(activities.sweep) == 1
        await world.until(lambda: world.asleep("ada"))
        assert await ActivityEnvironment().run(activities.sweep) == 0
    assert not await world.outcomes()
    assert any("1 without a workflow" in line.text for line in await world.store.feed.recent())


async def test_a_removed_agent_ends_its_workflow(world: World) -> None:
    await world.agents("ada")
    await world.adopt()
    async with world.worker() as activities:
        await world.until(lambda: world.asleep("ada"))
        await world.store.agents.remove("ada", world.clock.now())
        assert await ActivityEnvironment().run(activities.sweep) == 0, "nothing is wrong with that"
        await asyncio.wait_for(world.workflow("ada").result(), 30)
        assert await world.table.member("ada") is None


async def test_a_drained_fleet_starts_nothing_and_a_released_one_is_gone(world: World) -> None:
    await world.agents("ada")
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.asleep("ada"))
        assert await drain(world.store, world.client) == 2  # the coach is always there
        await world.store.timers.set(world.note("ada", "now", 0))
        await asyncio.sleep(1)
        assert not await world.outcomes()
        await drain(world.store, world.client, undo=True)
        await world.until(lambda: world.outcomes("ada"))
        await release(world.store, world.client, world.clock.now())
        await asyncio.wait_for(world.workflow("ada").result(), 30)
    assert await world.table.get() is None
    await world.store.timers.set(world.note("ada", "later", 0))
    assert not await world.table.take_pokes(10)


async def test_the_most_urgent_poke_is_sent_first(world: World) -> None:
    await world.adopt()
    await world.table.take_pokes(10)
    names = ["later", "soon", "now"]
    await world.agents(*names)
    await world.store.timers.set_many([world.note(name, "one", 100 - 50 * at) for at, name in enumerate(names)])
    assert {poke.agent for poke in await world.table.take_pokes(2)} == {"now", "soon"}


async def test_an_adopted_agent_costs_nothing_before_it_is_due_and_can_be_released(world: World) -> None:
    await world.agents("ada")
    await world.store.timers.set(world.note("ada", "in an hour", 3600))
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.there("ada"))
        assert (await world.workflow("ada").describe()).history_length == 2
        look = await look_at(world.store, world.client, "ada", world.clock.now())
        assert "not been visited yet" in look.why(world.clock.now())
        await release(world.store, world.client, world.clock.now())
        assert (await world.workflow("ada").describe()).status is WorkflowExecutionStatus.TERMINATED


async def test_an_agent_that_waits_for_its_first_wake_hears_a_poke(world: World) -> None:
    await world.agents("ada")
    await world.store.timers.set(world.note("ada", "in an hour", 3600))
    await world.adopt()
    async with world.worker():
        await world.until(lambda: world.there("ada"))
        await world.store.timers.set(world.note("ada", "now", 0))
        await world.until(lambda: world.outcomes("ada"))
