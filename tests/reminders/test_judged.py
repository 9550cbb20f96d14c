"""Reminders with a condition, asked of a command or of the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.instants import MINUTE, SECOND, Instant
from nudge.queue.firing import Firing
from nudge.queue.inbox import Priority
from nudge.queue.timers import Timer
from nudge.reminders.conditions import Question, Reply, Verdict
from nudge.reminders.reminder import Status
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from nudge.testing import ScriptedConditions
from tests.reminders.world import World
from tests.times import NOON

InStore = Callable[..., Any]
Scene = Callable[[World], Any]


def play(in_store: InStore, scene: Scene, **world: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await scene(await World(clock, store, **world).prepare())

    in_store(scenario)


MODES = [
    pytest.param("each", [True, False, True], ["fired", "skipped", "fired"], Status.ACTIVE, id="each"),
    pytest.param("until", [False, False, True], ["fired", "fired", "skipped"], Status.COMPLETED, id="until"),
    pytest.param("once", [False, True, True], ["skipped", "fired"], Status.COMPLETED, id="once"),
]


@pytest.mark.parametrize(("mode", "answers", "expected", "status"), MODES)
def test_a_command_decides_by_its_mode(
    in_store: InStore, mode: str, answers: list[bool], expected: list[str], status: Status
) -> None:
    conditions = ScriptedConditions(*answers)

    async def scene(world: World) -> None:
        made = await world.add("Look.", every="10m", command="check", mode=mode)
        await world.run_for(31 * MINUTE)
        assert [result for _, result in await world.results()] == expected
        after = await world.state(made)
        assert after.status is status
        assert after.fire_count == expected.count("fired")
        assert (await world.next_in(made) is None) == (status is Status.COMPLETED)
        if status is Status.COMPLETED:
            assert after.ended_reason == "Its condition was met."
            assert "Completed: Look. (r-000001). Its condition was met." in await world.feed()
        assert conditions.asked[0] == Question("check", "coach", made.id, 0, 10 * SECOND)

    play(in_store, scene, conditions=conditions)


@pytest.mark.parametrize(
    ("mode", "results", "status"),
    [("each", [(60, "skipped")], Status.COMPLETED), ("once", [(60, "skipped"), (61, "skipped"), (62, "fired")], None)],
)
def test_a_single_one_whose_condition_is_false(
    in_store: InStore, mode: str, results: list[tuple[int, str]], status: Status | None
) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Run the smoke tests.", in_="1h", command="deployed", mode=mode)
        await world.run_for(70 * MINUTE)
        assert await world.results() == results
        assert (await world.state(made)).status is Status.COMPLETED
        if mode == "each":
            assert (await world.state(made)).ended_reason == "Its condition was not met when it was due."

    play(in_store, scene, conditions=ScriptedConditions(False, False, True))


def test_what_a_command_said_is_kept_and_can_be_shown(in_store: InStore) -> None:
    verdict = Verdict(False, "the command did not end within 10s", "token=abcdefgh1234 still running", None)

    async def scene(world: World) -> None:
        await world.add("{condition_output}", every="10m", command="x", mode="until")
        await world.run_for(11 * MINUTE)
        (row,) = await world.outcomes()
        assert row.detail["output"] == "token=[hidden] still running"
        assert row.detail["condition"] == "not met"
        assert "still running" in (await world.inbox())[0]

    play(in_store, scene, conditions=ScriptedConditions(verdict))


def test_a_slow_command_delays_no_other_reminder_and_a_turn_delays_none(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        async def hangs(question: Question) -> Verdict:
            await world.clock.sleep(300)
            return Verdict(True)

        world.conditions.ask = hangs  # type: ignore[method-assign]

        async def turn(firing: Firing) -> None:
            await world.clock.sleep(1800)
            async with firing.settle():
                pass

        await world.add("slow", every="10m", command="x")
        await world.add("quick", every="10m", priority="interrupt")
        daemon = world.daemon()
        daemon.handlers["turn"] = turn
        await world.store.timers.set(Timer.at("coach", "turn", "turn", Instant(NOON + 9 * MINUTE)))
        running = asyncio.create_task(daemon.run())
        await world.clock.sleep(601)
        assert await world.inbox() == ["quick"]
        assert len(await world.store.letters.unread("coach", up_to=Priority.INTERRUPT)) == 1
        await world.clock.sleep(300)
        assert await world.inbox() == ["quick", "slow"]
        daemon.stop()
        await running

    play(in_store, scene)


def test_one_that_is_edited_while_its_condition_is_asked_is_looked_at_anew(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Old.", every="10m", command="slow")

        async def answer(question: Question) -> Verdict:
            if question.command == "slow":
                await world.reminders.edit(made.id, {"message": "New.", "condition": {"command": "quick"}}, world.now)
            return Verdict(True)

        world.conditions.ask = answer  # type: ignore[method-assign]
        await world.run_for(11 * MINUTE)
        assert await world.inbox() == ["New."]
        assert await world.results() == [(10, "fired")]

    play(in_store, scene)


def test_one_that_is_removed_while_its_condition_is_asked_does_not_fire(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Old.", every="10m", command="slow")

        async def answer(question: Question) -> Verdict:
            await world.reminders.remove(made.id, world.now)
            return Verdict(True)

        world.conditions.ask = answer  # type: ignore[method-assign]
        await world.run_for(11 * MINUTE)
        assert await world.inbox() == []
        assert await world.results() == [(10, "suppressed")]
        assert await world.next_in(made) is None

    play(in_store, scene)


def test_an_agent_is_asked_in_words_and_its_answer_ends_it(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Run the tests.", name="deploy", every="10m", prompt="Is it through?", mode="once")
        await world.run_for(11 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        assert letter.body.startswith(
            '[Reminder: deploy]\nBefore proceeding, evaluate this condition: "Is it through?"'
        )
        assert await world.reminders.agent_replied(letter.id, "[skip]", world.now) is Reply.SKIP
        assert await world.results() == [(10, "skipped")]
        assert (await world.state(made)).status is Status.ACTIVE
        await world.store.letters.mark_read(letter.id, world.now)
        await world.run_for(10 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        assert await world.reminders.agent_replied(letter.id, "Not sure.", world.now) is Reply.NONE
        assert await world.reminders.agent_replied(letter.id, "[condition-met] All green.", world.now) is Reply.MET
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "The agent found its condition met.")
        assert await world.next_in(made) is None
        assert await world.results() == [(10, "skipped"), (20, "fired")]

    play(in_store, scene)


@pytest.mark.parametrize(
    ("mode", "status", "results"),
    [("each", Status.ACTIVE, [(10, "fired")]), ("until", Status.COMPLETED, [(10, "skipped")])],
)
def test_condition_met_by_mode(in_store: InStore, mode: str, status: Status, results: list[tuple[int, str]]) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Fix it.", every="10m", prompt="Is it green?", mode=mode)
        await world.run_for(11 * MINUTE)
        (letter,) = await world.store.letters.unread("coach")
        await world.reminders.agent_replied(letter.id, "[condition-met]", world.now)
        assert (await world.state(made)).status is status
        assert await world.results() == results
        await world.reminders.agent_replied(made.id, "[condition-met]", world.now)

    play(in_store, scene)


def test_a_failure_is_tried_again_and_ends_in_its_one_row(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        tries: list[int] = []

        async def fails(question: Question) -> Verdict:
            tries.append(world.now - NOON)
            if len(tries) < 3:
                raise RuntimeError("no process could be made")
            return Verdict(True)

        world.conditions.ask = fails  # type: ignore[method-assign]
        await world.add("x", every="10m", command="x")
        await world.run_for(11 * MINUTE)
        assert tries == [10 * MINUTE, 10 * MINUTE + 5 * SECOND, 10 * MINUTE + 20 * SECOND]
        assert await world.results() == [(10, "fired-late")]
        (row,) = await world.outcomes()
        assert row.reason == ("It was due 12:10 PM and came 20s later. An earlier attempt failed, and it was retried.")

    play(in_store, scene)
