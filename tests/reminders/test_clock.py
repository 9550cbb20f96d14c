"""Reminders under a clock that is set back: nothing is said twice, and nothing is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nudge.instants import HOUR, MINUTE
from nudge.reminders.reminder import Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World

InStore = Callable[..., Any]


def test_a_single_time_that_comes_for_the_second_time_ends_the_reminder(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        one = await world.add("Call Mum", in_="20m", to_person=True)
        await world.run_for(30 * MINUTE)
        clock.jump(-6 * HOUR)
        await world.reminders.snooze(one.id, 30 * MINUTE, world.now)
        await world.run_for(10 * HOUR)
        assert world.channel.texts == ["Call Mum", "Call Mum"]
        assert (await world.state(one)).status is Status.COMPLETED
        assert await world.next_in(one) is None

    in_store(scenario)


def test_what_was_snoozed_is_delivered_though_the_slot_after_it_has_had_its_turn(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        one = await world.add("Lights out", every="2h", to_person=True, late="always")
        await world.run_for(2 * HOUR + MINUTE)
        clock.jump(-90 * MINUTE)
        snoozed = await world.reminders.snooze(one.id, 10 * MINUTE, world.now)
        await world.down_for(2 * HOUR)
        await world.run_for(MINUTE)
        assert len(world.channel.texts) == 2
        assert snoozed.next_at is not None
        row = await store.outcomes.get("coach", one.key, snoozed.next_at)
        assert row is not None
        assert row.result == "fired-late"
        assert await world.next_in(one) == 4 * HOUR

    in_store(scenario)
