"""Looking ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nudge.attention.forward_schedule import upcoming
from nudge.instants import HOUR, MINUTE, to_datetime
from nudge.reminders.reminder import Source
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World
from tests.times import TORONTO, toronto

InStore = Callable[..., Any]


def play(in_store: InStore, scene: Callable[[World], Any], **world: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await scene(await World(clock, store, **world).prepare())

    in_store(scenario)


def test_the_forward_schedule(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add(
            "Look at the list.", name="Chores", source=Source.FILE, ref="routines/chores.md", cron="0 * * * *"
        )
        chain = await world.add("Started on the pipeline?", name="Pipeline", at="1:05pm", every="30m", chain=4)
        await world.add("Log it.", name="Quiet", in_="2h", allow_ping=False, description="Log")
        await world.add("idle", idle="5m")
        await world.run_for(66 * MINUTE)
        tasks = await world.reminders.upcoming("coach", world.now)
        lines = upcoming(tasks, world.now, ("routines/chores.md", toronto(2026, 2, 18, 13))).render(TORONTO)
        assert lines.splitlines() == [
            "Upcoming bg tasks (next 3h):",
            '- 1:00 PM: Chores -- "Look at the list." (routines/chores.md) [this task]',
            f'- 1:05 PM: Pipeline (1/4) -- "Started on the pipeline?" ({chain.id}) [just fired]',
            f'- 1:35 PM: Pipeline (2/4) -- "Started on the pipeline?" ({chain.id})',
            '- 2:00 PM: Chores -- "Look at the list." (routines/chores.md)',
            '- 2:00 PM: Quiet (silent) -- "Log" (r-000003)',
            f'- 2:05 PM: Pipeline (3/4) -- "Started on the pipeline?" ({chain.id})',
            f'- 2:35 PM: Pipeline (4/4) -- "Started on the pipeline?" ({chain.id})',
            '- 3:00 PM: Chores -- "Look at the list." (routines/chores.md)',
            '- 4:00 PM: Chores -- "Look at the list." (routines/chores.md)',
        ]

    play(in_store, scene)


def test_claims_are_the_coming_times_of_what_has_a_reserve(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        assert await world.reminders.claims("coach", world.now) == ()
        await world.add("a", source=Source.FILE, name="a", cron="0 20 * * *", reserve=True)
        await world.add("b", source=Source.FILE, name="b", cron="0 18,22 * * *", reserve=True)
        await world.add("c", cron="0 19 * * *")

        async def hours() -> list[int]:
            return [to_datetime(one, TORONTO).hour for one in await world.reminders.claims("coach", world.now)]

        assert await hours() == [18, 20, 22]
        await world.run_for(6 * HOUR + MINUTE)
        assert await hours() == [18, 20, 22, 18]  # b is in the inbox and has not spoken: now; tomorrow at 18:00 again
        (letter, *_) = [one for one in await world.store.letters.unread("coach") if one.body == "b"]
        await world.store.letters.mark_read(letter.id, world.now)
        assert await hours() == [20, 22, 18]
        await world.down_for(2 * HOUR)
        assert (await world.reminders.claims("coach", world.now))[0] == world.now  # due and not handled yet

    play(in_store, scene)
