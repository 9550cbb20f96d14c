"""A reminder and a heartbeat at the same minute: the person hears of it once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from nudge.adapters.sql.store import SqlStore
from nudge.adapters.virtual_time import VirtualClock
from nudge.core.instants import HOUR, MINUTE, Instant
from tests.integration.reminder_world import World

InStore = Callable[..., Any]


def test_what_is_due_now_does_not_count_as_waiting_and_what_was_put_off_does(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        one = await world.add("Water the plants", in_="20m", to_person=True)
        await world.down_for(20 * MINUTE)
        assert await world.reminders.due_for_person("coach", world.now) == []
        await world.store.attention.create("coach", 5, 90, world.now, date(2026, 2, 18))
        await world.store.attention.set_quiet("coach", Instant(world.now + HOUR))
        await world.run_for(MINUTE)
        (waiting,) = await world.reminders.due_for_person("coach", world.now)
        assert (waiting.reminder.id, waiting.waiting) == (one.id, True)

    in_store(scenario)
