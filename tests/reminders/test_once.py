"""The person hears of a reminder once, and again when they said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from nudge.attention.bucket import PingBudget
from nudge.attention.restraint import Requests
from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import Source
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World

InStore = Callable[..., Any]


def test_what_is_due_now_does_not_count_as_waiting_and_what_was_put_off_does(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        one = await world.add("Water the plants", in_="20m", to_person=True)
        await world.down_for(20 * MINUTE)
        assert await world.reminders.open_for_person("coach", world.now) == []
        await world.store.attention.create("coach", 5, 90, world.now, date(2026, 2, 18))
        await world.store.attention.set_requests("coach", Requests(quiet_until=Instant(world.now + HOUR)))
        await world.run_for(MINUTE)
        (waiting,) = await world.reminders.open_for_person("coach", world.now)
        assert (waiting.reminder.id, waiting.due_at) == (one.id, one.created_at + 20 * MINUTE)

    in_store(scenario)


def test_a_time_that_the_person_chose_by_snoozing_is_kept_to(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store, quiet=(12, 18)).prepare()
        one = await world.add("Wind down", Source.ROLE, every="8h", to_person=True)
        await world.run_for(8 * HOUR + MINUTE)
        await store.attention.set_bucket("coach", PingBudget.at(world.now, available=0))
        await world.reminders.snooze(one.id, 30 * MINUTE, world.now)
        await world.run_for(HOUR)
        assert world.channel.texts == ["Wind down", "Wind down"]
        rows = await world.outcomes()
        assert [row.detail.get("snoozed") for row in rows if row.kind == "reminder"] == [None, True]
        assert rows[-1].result is Result.FIRED
        await store.attention.set_requests("coach", Requests(quiet_until=Instant(world.now + 2 * HOUR)))
        await world.reminders.snooze(one.id, 30 * MINUTE, world.now)
        await world.run_for(3 * HOUR)
        assert len(world.channel.texts) == 3
        assert (await world.outcomes())[-1].detail["snoozed"]
        assert await world.next_in(one) == 16 * HOUR

    in_store(scenario)
