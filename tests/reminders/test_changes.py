"""Changing reminders: what the CLI, the chat and the buttons do, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.errors import InvalidScheduleError, NotFoundError, NudgeError, UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND
from nudge.queue.agents import Agents
from nudge.queue.delivery import Delivery
from nudge.queue.outcomes import Result
from nudge.reminders.handover import Handover
from nudge.reminders.reminder import Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.world import World
from tests.times import NOON, toronto

InStore = Callable[..., Any]


def play(in_store: InStore, scene: Callable[[World], Any], **world: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await scene(await World(clock, store, **world).prepare())

    in_store(scenario)


def test_a_refused_one_leaves_nothing_behind(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("first", name="taken", every="1h")
        refusals: list[tuple[dict[str, Any], type[NudgeError]]] = [
            ({"every": "1h", "in_": "1h"}, UsageError),
            ({"every": "1h", "name": "taken"}, UsageError),
            ({"every": "1h", "agent": "nobody"}, NotFoundError),
            ({"every": "1h", "count": 2, "until": "2026-02-18T12:00:01"}, InvalidScheduleError),
            ({"at": "2026-02-18T10:00", "late": "1h"}, InvalidScheduleError),
        ]
        for fields, error in refusals:
            with pytest.raises(error):
                await world.add("second", **fields)
        assert len(await world.store.reminders.everything()) == 1
        assert await world.store.timers.count() == 1

    play(in_store, scene)


def test_the_first_command_makes_the_coach(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = World(clock, store)
        made = await world.add("Call mum.", in_="1h")
        assert made.agent == "coach"
        with pytest.raises(NotFoundError, match="no agent called 'other'"):
            await world.add("x", in_="1h", agent="other")

    in_store(scenario)


def test_an_id_that_is_taken_is_not_used_again(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        ids = iter(["r-aaaaaa", "r-aaaaaa", "r-bbbbbb"])
        world.reminders._new_id = lambda: next(ids)
        assert [(await world.add("x", in_="1h")).id for _ in range(2)] == ["r-aaaaaa", "r-bbbbbb"]

    play(in_store, scene)


def test_it_is_found_by_id_or_by_its_only_name(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare("coach", "monitor")
        made = await world.add("x", name="ci", every="1h")
        assert (await world.reminders.get("ci")).id == (await world.reminders.get(made.id)).id == made.id
        await world.add("y", name="ci", every="1h", agent="monitor")
        with pytest.raises(UsageError, match="2 reminders called 'ci'"):
            await world.reminders.get("ci")
        for unknown in ("r-zzzzzz", "nope"):
            with pytest.raises(NotFoundError):
                await world.reminders.get(unknown)

    in_store(scenario)


def test_one_that_has_ended_is_found_by_its_name_until_another_takes_it(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        first = await world.add("x", name="ci", every="1h")
        await world.reminders.complete("ci", world.now)
        assert (await world.reminders.edit("ci", {"schedule": {"every": "2h"}}, world.now)).reminder.id == first.id
        await world.reminders.remove("ci", world.now)
        second = await world.add("x", name="ci", every="1h")
        assert (await world.reminders.get("ci")).id == second.id
        await world.reminders.remove("ci", world.now)
        with pytest.raises(UsageError, match="2 reminders called 'ci'"):
            await world.reminders.get("ci")

    play(in_store, scene)


def test_pausing_and_resuming_goes_on_with_the_next_time(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m")
        await world.reminders.pause(made.id, world.now)
        assert (await world.state(made)).status is Status.PAUSED
        await world.run_for(2 * HOUR + 5 * MINUTE)
        assert await world.results() == []
        await world.reminders.resume(made.id, world.now)
        assert await world.next_in(made) == 2 * HOUR + 30 * MINUTE
        await world.reminders.resume(made.id, world.now)  # twice is once
        assert await world.next_in(made) == 2 * HOUR + 30 * MINUTE
        assert await world.feed() == [f"Paused: {made.id}.", f"Resumed: {made.id}."]

    play(in_store, scene)


def test_one_whose_schedule_ended_while_it_was_paused_is_completed(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m", count=1)
        await world.reminders.pause(made.id, world.now)
        await world.down_for(DAY)
        timed = await world.reminders.resume(made.id, world.now)
        assert (timed.reminder.status, timed.next_at) == (Status.COMPLETED, None)

    play(in_store, scene)


def test_removing_keeps_the_history(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", name="n", every="30m")
        await world.run_for(31 * MINUTE)
        await world.reminders.remove(made.id, world.now)
        after = await world.state(made)
        assert (after.status, after.fire_count) == (Status.CANCELLED, 1)
        assert await world.next_in(made) is None
        assert await world.results() == [(30, "fired")]
        await world.reminders.remove(made.id, world.now)
        for change in (world.reminders.pause, world.reminders.resume):
            with pytest.raises(UsageError, match="was removed"):
                await change(made.id, world.now)
        with pytest.raises(UsageError, match="was removed"):
            await world.reminders.edit(made.id, {"message": "y"}, world.now)
        await world.add("again", name="n", every="1h")

    play(in_store, scene)


def test_one_that_was_due_while_nothing_ran_has_an_end_when_it_is_removed(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m")
        await world.down_for(HOUR)
        await world.reminders.remove(made.id, world.now)
        (row,) = await world.outcomes()
        assert (row.result, row.final, row.slot_at) == (Result.SUPPRESSED, True, NOON + 30 * MINUTE)

    play(in_store, scene)


def test_completing_says_why_and_is_final(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m", prompt="Is it done?", mode="once")
        await world.reminders.complete(made.id, world.now)
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "Marked as done.")
        await world.reminders.complete(made.id, world.now, "Another reason.")
        assert (await world.state(made)).ended_reason == "Marked as done."

    play(in_store, scene)


def test_an_edit_keeps_the_state_and_the_grid_unless_it_names_a_schedule(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Old.", every="30m")
        await world.run_for(40 * MINUTE)
        timed = await world.reminders.edit(made.id, {"message": "New.", "priority": "normal"}, world.now)
        assert (timed.next_at, timed.reminder.fire_count) == (NOON + HOUR, 1)
        timed = await world.reminders.edit(made.id, {"condition": {"command": "true"}}, world.now)
        timer = await world.reminders.timer(timed.reminder)
        assert timer
        assert (timer.lane, timer.due_at) == (f"coach/r/{made.id}", NOON + HOUR)
        timed = await world.reminders.edit(made.id, {"schedule": {"every": "45m"}}, world.now)
        assert timed.next_at == world.now + 45 * MINUTE
        assert timed.reminder.fire_count == 1

    play(in_store, scene)


def test_a_new_time_brings_a_completed_one_back_even_the_same_time(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", at="2026-02-18T13:00")
        await world.run_for(65 * MINUTE)
        timed = await world.reminders.edit(made.id, {"schedule": {"at": "2026-02-18T13:00:00"}}, world.now)
        assert timed.reminder.status is Status.COMPLETED  # nothing has changed
        timed = await world.reminders.edit(made.id, {"schedule": {"at": "3pm"}}, world.now)
        assert (timed.reminder.status, timed.next_at) == (Status.ACTIVE, toronto(2026, 2, 18, 15))
        await world.reminders.edit(made.id, {"schedule": {"at": "2026-02-18T13:00"}}, world.now)
        await world.run_for(MINUTE)
        assert [result for _, result in await world.results()] == ["fired", "fired-late"]

    play(in_store, scene)


def test_a_name_that_is_taken_cannot_be_edited_in(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        await world.add("x", name="one", every="1h")
        other = await world.add("y", name="two", every="1h")
        with pytest.raises(UsageError, match="already has a reminder called 'one'"):
            await world.reminders.edit(other.id, {"name": "one"}, world.now)
        await world.reminders.edit(other.id, {"name": "two", "message": "z"}, world.now)

    play(in_store, scene)


@pytest.mark.parametrize("answer", ["done", "skip"])
def test_an_answer_to_a_recurring_one_changes_nothing_but_the_answer(in_store: InStore, answer: str) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="30m", to_person=True)
        await world.run_for(31 * MINUTE)
        assert len(await world.reminders.open_for_person("coach", world.now)) == 1
        await getattr(world.reminders, answer)(made.id, world.now)
        assert (await world.state(made)).status is Status.ACTIVE
        assert await world.next_in(made) == HOUR
        assert await world.reminders.open_for_person("coach", world.now) == []

    play(in_store, scene)


def test_a_snoozed_one_comes_again_and_its_schedule_goes_on(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Pill.", cron="0 13 * * *", to_person=True)
        await world.run_for(61 * MINUTE)
        await world.reminders.snooze(made.id, 30 * MINUTE, world.now)
        await world.run_for(31 * MINUTE)
        assert world.channel.texts == ["Pill.", "Pill."]
        assert await world.next_in(made) == DAY + HOUR
        await world.reminders.snooze(made.id, 30 * MINUTE, world.now)
        await world.reminders.done(made.id, world.now)  # and it does not come again
        assert await world.next_in(made) == DAY + HOUR

    play(in_store, scene)


def test_a_single_one_can_be_snoozed_after_it_has_fired(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Call mum.", in_="1h", to_person=True)
        await world.run_for(61 * MINUTE)
        await world.reminders.snooze(made.id, 10 * MINUTE, world.now)
        assert (await world.state(made)).status is Status.ACTIVE
        await world.run_for(11 * MINUTE)
        assert world.channel.texts == ["Call mum.", "Call mum."]
        assert (await world.state(made)).status is Status.COMPLETED
        await world.reminders.remove(made.id, world.now)
        with pytest.raises(UsageError, match="removed"):
            await world.reminders.snooze(made.id, MINUTE, world.now)

    play(in_store, scene)


def test_a_snoozed_one_that_rested_comes_when_it_is_resumed(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", in_="10m")
        await world.run_for(11 * MINUTE)
        await world.reminders.snooze(made.id, HOUR, world.now)
        await world.reminders.pause(made.id, world.now)
        await world.run_for(3 * HOUR)
        assert (await world.state(made)).fire_count == 1
        await world.reminders.resume(made.id, world.now)
        await world.run_for(MINUTE)
        after = await world.state(made)
        assert (after.status, after.fire_count) == (Status.COMPLETED, 2)

    play(in_store, scene)


def test_a_finished_chain_can_be_snoozed_once_more(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Started?", every="10m", chain=2, to_person=True)
        await world.run_for(21 * MINUTE)
        await world.reminders.snooze(made.id, 10 * MINUTE, world.now)
        await world.run_for(HOUR)
        assert world.channel.texts == ["Started? (1/2)", "Started? (2/2)", "Started? (2/2)"]
        assert (await world.state(made)).status is Status.COMPLETED

    play(in_store, scene)


def test_running_now_is_one_extra_and_keeps_the_schedule(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        handover = Handover(world.store, Delivery(world.store, lambda agent: world.channel).post)
        made = await world.add("Try {fire_count}.", in_="1h", command="false", mode="each")
        after = await world.reminders.run_now(made.id, world.now, handover)
        assert (after.fire_count, after.status) == (1, Status.ACTIVE)
        await world.reminders.run_now(made.id, world.now, handover)  # in the same microsecond
        assert await world.next_in(made) == HOUR
        assert await world.inbox() == ["Try 2."]
        assert [row.detail["extra"] for row in await world.outcomes()] == [True, True]
        person = await world.add("Call mum.", in_="1h", to_person=True)
        await world.reminders.run_now(person.id, world.now, handover)
        await world.run_for(SECOND)
        assert world.channel.texts == ["Call mum."]
        await world.reminders.remove(person.id, world.now)
        with pytest.raises(UsageError, match="removed"):
            await world.reminders.run_now(person.id, world.now, handover)

    play(in_store, scene)


def test_editing_beside_firing_loses_neither(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("x", every="10s", count=30, late="always")
        daemon = world.daemon(longest_wait=1)
        running = asyncio.create_task(daemon.run())
        for number in range(29):
            await world.clock.sleep(9.999 if number else 9.998)
            await asyncio.gather(
                *(world.reminders.edit(made.id, {"message": f"{number} {n}"}, world.now) for n in range(3)),
                world.clock.sleep(0.002),
            )
        await world.clock.sleep(30)
        daemon.stop()
        await running
        assert [row.result.value for row in await world.outcomes()] == ["fired"] * 30
        after = await world.state(made)
        assert (after.fire_count, after.status) == (30, Status.COMPLETED)

    play(in_store, scene)


def test_an_agent_that_goes_takes_its_reminders_along(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare("coach", "monitor")
        made = await world.add("x", every="30m", agent="monitor")
        await Agents(store).remove("monitor", world.now)
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.CANCELLED, "The agent was removed.")
        await world.run_for(HOUR)
        assert await world.outcomes() == []

    in_store(scenario)
