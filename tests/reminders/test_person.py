"""Reminders to the person: buttons, chains, the gate; and those that idleness times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nudge.attention.gate import Gate
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import Source, Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World
from tests.times import NOON

InStore = Callable[..., Any]
Scene = Callable[[World], Any]


def play(in_store: InStore, scene: Scene, **world: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await scene(await World(clock, store, **world).prepare())

    in_store(scenario)


def test_a_reminder_to_the_person_is_sent_with_three_buttons(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Call mum.", at="1pm", to_person=True)
        await world.run_for(61 * MINUTE)
        (sent,) = world.channel.sent
        assert sent.text == "Call mum."
        assert [(button.label, button.data) for button in sent.buttons] == [
            ("Done", f"done:{made.id}"),
            ("Snooze 30 min", f"snooze:{made.id}:30m"),
            ("Skip", f"skip:{made.id}"),
        ]
        (row,) = await world.store.outbox.recent("coach")
        assert (row.kind, row.asked, row.reminder_id, row.key, row.slot_at) == (
            "reminder",
            True,
            made.id,
            made.key,
            NOON + HOUR,
        )
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "It was a one-time reminder.")
        assert await world.next_in(made) is None

    play(in_store, scene)


def test_a_chain_asks_four_times(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Started?", every="30m", chain=4, to_person=True)
        await world.run_for(3 * HOUR)
        assert world.channel.texts == [f"Started? ({n}/4)" for n in (1, 2, 3, 4)]
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "It asked 4 times.")

    play(in_store, scene)


def test_done_ends_a_chain_and_snooze_moves_it(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Started?", every="30m", chain=4, to_person=True)
        await world.run_for(31 * MINUTE)
        await world.reminders.snooze(made.id, 45 * MINUTE, world.now)  # 12:31 + 45 min
        await world.run_for(44 * MINUTE + 30 * SECOND)
        assert world.channel.texts == ["Started? (1/4)"]
        await world.run_for(32 * MINUTE)
        assert world.channel.texts == ["Started? (1/4)", "Started? (2/4)", "Started? (3/4)"]
        await world.reminders.done(made.id, world.now)
        await world.run_for(2 * HOUR)
        assert len(world.channel.texts) == 3
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "The person marked it as done.")

    play(in_store, scene)


def test_skip_ends_todays_chain_and_tomorrow_begins_a_new_one(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Started?", cron="0 18 * * *", every="30m", chain=4, to_person=True)
        await world.run_for(6 * HOUR + 31 * MINUTE)
        assert world.channel.texts == ["Started? (1/4)", "Started? (2/4)"]
        await world.reminders.skip(made.id, world.now)
        await world.run_for(DAY)
        assert world.channel.texts[2:] == ["Started? (1/4)", "Started? (2/4)"]
        assert (await world.state(made)).status is Status.ACTIVE

    play(in_store, scene)


def test_quiet_hours_move_a_routine_to_their_end_and_it_keeps_its_one_row(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Wind down.", source=Source.FILE, name="w", every="30m", to_person=True, until="1:30pm")
        await world.run_for(31 * MINUTE)
        (row,) = await world.outcomes()
        assert (row.result, row.final, row.detail["rule"]) == (Result.DEFERRED, False, "quiet-hours")
        await world.run_for(90 * MINUTE)  # quiet until 2 PM, and the schedule has ended meanwhile
        (row,) = await world.outcomes()
        assert (row.result, row.slot_at, row.at) == (Result.FIRED_LATE, NOON + 30 * MINUTE, NOON + 2 * HOUR)
        assert world.channel.texts == ["[late: was due 12:30 PM] Wind down."]
        assert (await world.state(made)).status is Status.COMPLETED

    play(in_store, scene, quiet=(11, 14))


def test_what_the_person_set_for_a_time_comes_at_that_time(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("Call mum.", at="1pm", to_person=True)
        await world.add("Take the pill.", at="1pm", to_person=True, source=Source.CHAT)
        await world.add("Deploy is through.", in_="1h", command="x", mode="once", to_person=True)
        await world.run_for(61 * MINUTE)
        assert sorted(world.channel.texts) == ["Call mum.", "Take the pill."]
        waiting = await world.reminders.open_for_person("coach", world.now)
        assert [one.reminder.message for one in waiting] == ["Deploy is through.", "Call mum.", "Take the pill."]
        assert {one.due_at - NOON for one in waiting} == {HOUR}

    play(in_store, scene, quiet=(11, 14))


def test_a_silent_routine_never_pings(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Log it.", source=Source.FILE, name="s", every="30m", to_person=True, allow_ping=False)
        await world.run_for(31 * MINUTE)
        (row,) = await world.outcomes()
        assert (row.result, row.detail["rule"]) == (Result.SUPPRESSED, "silent-task")
        assert world.channel.texts == []
        after = await world.state(made)
        assert (after.fire_count, after.status) == (0, Status.ACTIVE)
        assert await world.next_in(made) == HOUR

    play(in_store, scene)


def test_an_empty_bucket_moves_a_routine_to_the_next_refill(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        gate = Gate(world.store, lambda agent: world.person, world.reminders.claims)
        await gate.row("coach", world.now)
        for n in range(6):
            await world.add(f"r{n}", source=Source.ROLE, name=f"r{n}", in_="30m", to_person=True)
        await world.run_for(31 * MINUTE)
        assert len(world.channel.texts) == 5
        assert [result for _, result in await world.results()].count("deferred") == 1
        await world.run_for(2 * HOUR)
        assert len(world.channel.texts) == 6

    play(in_store, scene)


def test_an_idle_check_fires_once_per_idle_spell(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Anything to do?", idle="5m")
        seen: list[int] = []

        async def look(minutes: int) -> None:
            for _ in range(minutes):
                await world.clock.sleep(60)
                for letter in await world.store.letters.unread("coach"):
                    seen.append(round((letter.created_at - NOON) / MINUTE))
                    await world.store.letters.mark_read(letter.id, world.now)

        daemon = world.daemon()
        running = asyncio.create_task(daemon.run())
        await look(20)
        assert seen == [5]
        await world.store.records.set("coach", IDLE_SINCE, world.now)  # a turn ended at minute 20
        await look(4)
        await world.store.records.set("coach", IDLE_SINCE, world.now)  # and another at 24
        await look(20)
        assert seen == [5, 29]
        assert await world.results() == [(5, "fired"), (29, "fired")]
        lease = await world.store.lanes.claim("coach", "turn", world.now, Instant(world.now + 9 * MINUTE))
        assert lease
        await world.store.records.set("coach", IDLE_SINCE, world.now)  # 44; a turn runs from here to 53
        await look(9)
        await world.store.lanes.release(lease)
        assert seen == [5, 29]
        assert (await world.state(made)).fire_count == 2
        daemon.stop()
        await running

    play(in_store, scene)


def test_an_agent_that_says_it_is_busy_is_idle_when_it_says_so_or_when_that_time_is_over(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("Anything to do?", idle="5m")
        daemon = world.daemon()
        running = asyncio.create_task(daemon.run())
        await world.store.records.set("coach", IDLE_SINCE, Instant(world.now + 60 * MINUTE))
        await world.clock.sleep(17 * 60)
        assert not await world.store.letters.unread("coach")
        await world.store.records.set("coach", IDLE_SINCE, world.now)  # done long before
        await world.clock.sleep(6 * 60)
        (letter,) = await world.store.letters.unread("coach")
        assert round((letter.created_at - NOON) / MINUTE) == 22
        await world.store.letters.mark_read(letter.id, world.now)
        await world.store.records.set("coach", IDLE_SINCE, Instant(NOON + 60 * MINUTE))  # and never heard of again
        await world.clock.sleep(60 * 60)
        (letter,) = await world.store.letters.unread("coach")
        assert round((letter.created_at - NOON) / MINUTE) == 65
        daemon.stop()
        await running

    play(in_store, scene)


def test_what_is_deferred_and_then_removed_has_an_end_in_the_log(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Wind down.", source=Source.FILE, name="w", every="30m", to_person=True)
        await world.run_for(31 * MINUTE)
        await world.reminders.remove(made.id, world.now)
        (row,) = await world.outcomes()
        assert (row.result, row.final, row.reason) == (Result.SUPPRESSED, True, "Removed: w.")

    play(in_store, scene, quiet=(11, 14))


def test_an_idle_check_that_is_put_off_comes_once(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Nothing to do.", idle="5m", to_person=True)
        await world.run_for(3 * HOUR)  # quiet until 2 PM
        assert world.channel.texts == ["[late: was due 12:05 PM] Nothing to do."]
        assert await world.results() == [(5, "fired-late")]
        assert (await world.state(made)).fire_count == 1

    play(in_store, scene, quiet=(11, 14))
