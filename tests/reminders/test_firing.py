"""Reminders when their time comes, in virtual time, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.attention.gate import Gate
from nudge.attention.requests import PersonRequests
from nudge.instants import DAY, HOUR, MINUTE, SECOND
from nudge.queue.inbox import Priority
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World
from tests.times import NOON, toronto

InStore = Callable[..., Any]
Scene = Callable[[World], Any]


def play(in_store: InStore, scene: Scene, **world: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await scene(await World(clock, store, **world).prepare())

    in_store(scenario)


def test_a_reminder_is_a_letter_to_its_agent(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Check CI.", name="ci", every="30m", priority="normal")
        await world.run_for(31 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        assert (letter.sender, letter.topic, letter.body) == ("nudge-reminder", made.id, "Check CI.")
        assert (letter.priority, letter.created_at) == (Priority.NORMAL, NOON + 30 * MINUTE)
        (outcome,) = await world.outcomes()
        assert (outcome.result, outcome.slot_at, outcome.final) == (Result.FIRED, NOON + 30 * MINUTE, True)
        assert outcome.detail["letter"] == letter.id
        after = await world.state(made)
        assert (after.fire_count, after.last_fired_at, after.status) == (1, NOON + 30 * MINUTE, Status.ACTIVE)
        assert await world.next_in(made) == HOUR

    play(in_store, scene)


def test_an_unread_one_is_refreshed_and_counted(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("Try {fire_count}.", every="30m")
        await world.run_for(91 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        assert (letter.body, letter.count) == ("Try 3.", 3)
        await world.store.letters.mark_read(letter.id, world.now)
        await world.run_for(30 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        assert (letter.body, letter.count) == ("Try 4.", 1)

    play(in_store, scene)


def test_after_downtime_it_fires_once_says_so_and_keeps_its_grid(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Check CI.", every="30m")
        await world.run_for(31 * MINUTE)
        await world.down_for(2 * HOUR + 39 * MINUTE)  # it is 3:10 PM
        await world.run_for(10 * SECOND)
        (letter,) = await world.store.letters.unread("coach")
        assert letter.body == "[late: was due 3:00 PM] Check CI."
        assert await world.results() == [(30, "fired"), (180, "fired-late")]
        assert (await world.outcomes())[1].detail["collapsed"] == 4
        assert await world.next_in(made) == 3 * HOUR + 30 * MINUTE

    play(in_store, scene)


def test_what_is_too_late_is_missed_and_shown(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Check CI.", name="ci", every="30m")
        await world.down_for(50 * MINUTE)
        await world.run_for(SECOND)
        assert await world.inbox() == []
        assert await world.results() == [(30, "missed")]
        assert await world.next_in(made) == HOUR
        assert await world.feed() == ["Missed: ci (r-000001), due 12:30 PM, 20m ago. Next: 1:00 PM."]
        assert (await world.state(made)).fire_count == 0

    play(in_store, scene)


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        pytest.param(None, "fired-late", id="a single one comes however late"),
        pytest.param("never", "missed", id="one that may never be late is missed"),
        pytest.param("2d", "missed", id="one with a limit is missed beyond it"),
        pytest.param("4d", "fired-late", id="one with a limit comes within it"),
    ],
)
def test_a_single_one_by_its_policy(in_store: InStore, late: str | None, expected: str) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Call mum.", in_="1h", late=late)
        await world.down_for(3 * DAY)
        await world.run_for(SECOND)
        assert await world.results() == [(60, expected)]
        assert (await world.state(made)).status is Status.COMPLETED
        assert await world.inbox() == (["[late: was due Wed 1:00 PM] Call mum."] if expected == "fired-late" else [])

    play(in_store, scene)


def test_the_clock_change_in_spring_neither_doubles_nor_drops_a_daily_one(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        await world.add("Half past two.", cron="30 2 * * *")
        await world.run_for(4 * DAY)
        fired = [row.slot_at for row in await world.outcomes()]
        assert fired == [
            toronto(2026, 3, 7, 2, 30),
            toronto(2026, 3, 8, 3),  # 2:30 does not exist: the first instant after the gap
            toronto(2026, 3, 9, 2, 30),
            toronto(2026, 3, 10, 2, 30),
        ]

    in_store(scenario, toronto(2026, 3, 6, 12))


def test_a_clock_set_back_fires_nothing_twice(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m")
        daemon = world.daemon(longest_wait=600)
        running = asyncio.create_task(daemon.run())
        await world.clock.sleep(45 * 60)
        world.clock.jump(-DAY)
        await world.clock.sleep(26 * 3600)
        daemon.stop()
        await running
        slots = [slot for slot, _ in await world.results()]
        assert slots == sorted(set(slots))
        assert slots[:3] == [30, 60, 90]
        assert await world.next_in(made) is not None

    play(in_store, scene)


@pytest.mark.parametrize(
    ("seconds", "result", "reason", "text"),
    [
        pytest.param(4, "fired", "", "Stretch.", id="four seconds are on time"),
        pytest.param(
            16,
            "fired-late",
            "It was due 1:00 PM and came 16s later. nudge was not running, or had too much to do.",
            "Stretch.",
            id="sixteen seconds are late, and too few to say so in the message",
        ),
        pytest.param(
            90,
            "fired-late",
            "It was due 1:00 PM and came 1m 30s later. nudge was not running, or had too much to do.",
            "[late: was due 1:00 PM] Stretch.",
            id="a minute and a half is said in the message",
        ),
    ],
)
def test_how_late_it_came_and_why(in_store: InStore, seconds: int, result: str, reason: str, text: str) -> None:
    async def scene(world: World) -> None:
        await world.add("Stretch.", in_="1h")
        await world.down_for(HOUR + seconds * SECOND)
        await world.run_for(SECOND)
        assert await world.results() == [(60, result)]
        (row,) = await world.outcomes()
        assert (row.reason, await world.inbox()) == (reason, [text])

    play(in_store, scene)


def test_one_that_was_held_says_what_held_it_however_short(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("Stretch.", in_="1h", to_person=True)
        gate = Gate(world.store, lambda agent: world.person, world.reminders.claims)
        requests = PersonRequests(world.store, gate)
        await requests.heard("coach", "leave me alone", world.now, world.now)
        await world.run_for(HOUR + SECOND)
        await clock_on(world, 3 * SECOND)
        await requests.heard("coach", "hi", world.now, world.now)
        await world.run_for(SECOND)
        assert await world.results() == [(60, "fired-late")]
        (row,) = await world.outcomes()
        assert row.reason == (
            "It was due 1:00 PM and came 4s later. You asked to be left alone and hadn't written since."
        )

    async def clock_on(world: World, length: int) -> None:
        await world.clock.sleep(length / SECOND)

    play(in_store, scene)
