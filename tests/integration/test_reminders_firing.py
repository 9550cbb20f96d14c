"""Reminders when their time comes, in virtual time, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.adapters.sql.store import SqlStore
from nudge.adapters.virtual_time import VirtualClock
from nudge.app.attention import Gate
from nudge.app.dispatch import Firing
from nudge.app.ports.conditions import Question, Verdict
from nudge.app.ports.records import Priority
from nudge.core.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.core.outcome import Result
from nudge.core.reminder import Reply, Source, Status
from nudge.core.timer import Timer
from nudge.testing import ScriptedConditions
from tests.integration.reminder_world import World
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
        assert (row.kind, row.asked, row.topic, row.key, row.slot_at) == (
            "reminder",
            True,
            made.id,
            made.key,
            NOON + HOUR,
        )
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "It was due once.")
        assert await world.next_in(made) is None

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
                await world.reminders.edit(made.id, {"message": "New.", "command": "quick"}, world.now)
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


def test_a_chain_asks_four_times(in_store: InStore) -> None:
    async def scene(world: World) -> None:
        made = await world.add("Started?", every="30m", chain=4, to_person=True)
        await world.run_for(3 * HOUR)
        assert world.channel.texts == [f"Started? ({n}/4)" for n in (1, 2, 3, 4)]
        after = await world.state(made)
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "It was asked 4 times.")

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
        assert (after.status, after.ended_reason) == (Status.COMPLETED, "The person said that it is done.")

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
        waiting = await world.reminders.due_for_person("coach", world.now)
        assert [(one.reminder.message, one.waiting) for one in waiting] == [
            ("Deploy is through.", True),
            ("Call mum.", False),
            ("Take the pill.", False),
        ]

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
        await world.store.notes.set("coach", "activity", {"at": world.now})  # a turn ended at minute 20
        await look(4)
        await world.store.notes.set("coach", "activity", {"at": world.now})  # and another at 24
        await look(20)
        assert seen == [5, 29]
        assert await world.results() == [(5, "fired"), (29, "fired")]
        lease = await world.store.lanes.claim("coach", "turn", world.now, Instant(world.now + 9 * MINUTE))
        assert lease
        await world.store.notes.set("coach", "activity", {"at": world.now})  # 44; a turn runs from here to 53
        await look(9)
        await world.store.lanes.release(lease)
        assert seen == [5, 29]
        assert (await world.state(made)).fire_count == 2
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
        assert await world.results() == [(10, "fired")]

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
