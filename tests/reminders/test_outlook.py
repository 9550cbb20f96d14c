"""Looking ahead, and moving reminders to another home."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nudge.attention.forward_schedule import upcoming
from nudge.errors import NotFoundError, UsageError
from nudge.instants import HOUR, MINUTE, Instant, to_datetime
from nudge.reminders.exchange import Exchange
from nudge.reminders.reminder import Source, Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World
from tests.times import NOON, TORONTO, toronto

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
            f'- 1:05 PM: Pipeline -- "Started on the pipeline?" ({chain.id}) [just fired]',
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


async def test_an_export_is_an_import(store: SqlStore) -> None:
    from nudge.queue.agents import Agent
    from nudge.stores.open import open_sqlite

    await store.agents.add(Agent("coach", "coach", NOON))
    now = NOON

    class Still:
        def now(self) -> Instant:
            return now

    world = World(Still(), store)  # type: ignore[arg-type]
    every = await world.add("x", name="n", every="30m", command="true")
    past = await world.add("late", in_="1h", to_person=True)
    gone = await world.add("gone", in_="1h")
    await world.reminders.remove(gone.id, now)
    document = await Exchange(store).export(ended=True)
    assert len((await Exchange(store).export())["reminders"]) == 2
    other = open_sqlite(":memory:")
    later = Instant(NOON + 2 * HOUR + MINUTE)
    done = await Exchange(other).import_(document, later)
    assert [one.id for one in done.added] == [every.id, past.id, gone.id]
    timers = {timer.key: timer.due_at - NOON for timer in await other.timers.of_agent("coach")}
    assert timers == {every.key: 150 * MINUTE, past.key: HOUR}
    copied = await other.reminders.get(every.id)
    assert copied
    assert (copied.schedule, copied.created_at, copied.source) == (every.schedule, NOON, Source.CLI)
    routine = {**document["reminders"][0], "id": "r-routin", "name": "r", "source": "file", "ref": "routines/r.md"}
    (moved,) = (await Exchange(other).import_({**document, "reminders": [routine]}, later)).added
    assert (moved.source, moved.ref) == (Source.IMPORT, "")
    again = await Exchange(other).import_(document, later)
    assert (len(again.added), len(again.already_here)) == (0, 3)
    broken = {**document, "reminders": [{**document["reminders"][0], "id": "r-zzzzzz", "name": "m"}, {"id": 5}]}
    with pytest.raises(UsageError, match="Reminder 2 of the file"):
        await Exchange(other).import_(broken, later)
    assert await other.reminders.get("r-zzzzzz") is None
    clash = {**document, "reminders": [{**document["reminders"][0], "id": "r-zzzzzz"}]}
    with pytest.raises(UsageError, match="called 'n' already"):
        await Exchange(other).import_(clash, later)
    same_id = {**document, "reminders": [{**document["reminders"][1], "created_at": "2020-01-01T00:00:00Z"}]}
    (renamed,) = (await Exchange(other).import_(same_id, later)).added
    assert renamed.id != past.id
    snoozed = {**document["reminders"][1], "id": "r-snooze", "last_fired_at": "2026-02-18T13:00:00-05:00"}
    (kept,) = (await Exchange(other).import_({**document, "reminders": [snoozed]}, later)).added
    timer = await other.timers.get("coach", kept.key)
    assert (kept.status, timer and timer.due_at) == (Status.ACTIVE, later)
    for bad in ([], {"format": "x"}, {"format": "nudge-reminders", "version": 2}, {**document, "reminders": 1}):
        with pytest.raises(UsageError):
            await Exchange(other).import_(bad, later)
    with pytest.raises(NotFoundError):
        await Exchange(other).import_(document, later, "nobody")
    await other.close()
