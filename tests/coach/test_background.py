"""Routines and reminders for the coach become background runs, in virtual time with the whole daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nudge.coach.heartbeat import OVERTAKEN
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.instants import HOUR, MINUTE, Instant
from nudge.model import ModelReply, ModelRequest, Purpose, text_reply
from nudge.queue.channel import Inbound
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outcomes import Result
from nudge.reminders.conditions import NOT_JUDGED
from nudge.reminders.definition import Definition, make_reminder
from nudge.reminders.reminder import Source, Status
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.budgets import SpendingPlan
from nudge.spending.holds import Change
from nudge.testing import RecordingChannel, memory_store
from nudge.tokens import TokenUse
from tests.reminders.reminder_values import asked
from tests.times import toronto

START = toronto(2026, 2, 18, 14)
OPTIONS = Options(owner="d", timezone="America/Toronto", longest_wait=3600)


class Scripted:
    """A paid model that answers what it is told, and keeps the questions."""

    name = "scripted"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else "HEARTBEAT_OK"
        return text_reply(answer, request.model, TokenUse(100, 20))

    async def close(self) -> None:
        return None


def live(
    scenario: Callable[[Daemon, VirtualClock, RecordingChannel], Coroutine[Any, Any, None]],
    tmp_path: Path,
    model: Scripted | None = None,
    options: Options = OPTIONS,
) -> None:
    async def main(clock: VirtualClock) -> None:
        store, channel = memory_store(), RecordingChannel()
        documents = HomeDocuments(Home(tmp_path))
        ports = Ports(store, clock, channel, documents, load_prices(), model)
        daemon = Daemon(ports, options)
        await daemon.start()
        running = asyncio.create_task(daemon.run())
        await scenario(daemon, clock, channel)
        daemon.stop()
        await running
        await store.close()

    run_virtual(main, START)


async def add(daemon: Daemon, clock: VirtualClock, definition: Definition, ref: str = "") -> str:
    made = make_reminder(
        definition, agent="coach", now=clock.now(), zone="America/Toronto", source=Source.FILE, ref=ref
    )
    timed = await daemon.reminders.put(made, clock.now())
    daemon.poke()
    return timed.reminder.id


def test_a_routine_asks_the_model_with_the_preamble_last_and_speaks_through_the_gate(tmp_path: Path) -> None:
    model = Scripted('{"action": "message", "message": "Two chores are open."}')

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        definition = asked("Review open tasks", name="Chore-time routine", every="30m")
        await add(daemon, clock, definition, "routines/chore-time.md")
        await clock.sleep(31 * 60)
        assert channel.texts == ["Two chores are open."]
        assert (await daemon.coach.facts.state("coach", clock.now())).proactive_today == 1
        (question,) = [one for one in model.asked if "Review open tasks" in one.turns[-1].text]
        lines = question.turns[-1].text.splitlines()
        assert lines[-1] == "Send at most 1 ping or embed per bg session."
        assert "Ping budget: 5/5 available (refills 1 every 90 min)." in lines
        running = [line for line in lines if line.endswith("[this task]")]
        assert running == ['- 2:30 PM: Chore-time routine -- "Review open tasks" (routines/chore-time.md) [this task]']
        assert "regret" in question.system_text
        assert (await daemon.gate.row("coach", clock.now())).budget.level_at(clock.now()) < 5_000_000

    live(scenario, tmp_path, model)


def test_the_person_is_answered_while_a_heartbeat_still_waits_for_its_model(tmp_path: Path) -> None:
    class Slow(Scripted):
        async def complete(self, request: ModelRequest) -> ModelReply:
            if request.purpose is Purpose.HEARTBEAT:
                await asyncio.sleep(200)
            return await super().complete(request)

    talk = '{"reply": "With one page.", "actions": [], "recent_context": "They asked how to start."}'
    model = Slow(talk, '{"action": "message", "message": "How is the page?"}')

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await clock.sleep(45 * 60 + 5)  # the heartbeat has asked five seconds ago
        await daemon.coach.listener.hear("coach", Inbound(clock.now(), "How do I start?"))
        await clock.sleep(1)
        assert channel.texts == ["With one page."]
        await clock.sleep(300)
        (beat,) = await daemon.store.outcomes.recent(kind="heartbeat")
        assert (beat.result, beat.reason) == (Result.SKIPPED, OVERTAKEN)
        assert channel.texts == ["With one page."]

    live(scenario, tmp_path, model)


def test_a_silent_routine_runs_and_never_pings(tmp_path: Path) -> None:
    model = Scripted('{"action": "message", "message": "I must not be heard."}')

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Look at the workout", every="30m", allow_ping=False))
        await clock.sleep(31 * 60)
        assert channel.texts == []
        rows = await daemon.store.outcomes.recent(kind="letters")
        assert [row.result for row in rows] == [Result.SUPPRESSED]
        assert rows[0].detail["rule"] == "silent-task"

    live(scenario, tmp_path, model)


def test_the_rules_pass_on_what_a_routine_says(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Screens off in ten minutes.", every="30m", count=1))
        await clock.sleep(31 * 60)
        assert channel.texts == ["Screens off in ten minutes."]

    live(scenario, tmp_path)


def test_a_condition_in_words_ends_its_reminder_when_the_agent_finds_it_met(tmp_path: Path) -> None:
    met = '{"action": "message", "message": "[condition-met] The deploy is through."}'
    model = Scripted("[skip]", '{"action": "heartbeat_ok"}', met)

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        definition = asked("Run the smoke tests", every="10m", prompt="Has the deploy finished?", mode="once")
        number = await add(daemon, clock, definition)
        await clock.sleep(25 * 60)
        assert channel.texts == []
        await clock.sleep(60 * 60)
        assert channel.texts == ["The deploy is through."]
        assert (await daemon.reminders.get(number)).status is Status.COMPLETED

    live(scenario, tmp_path, model)


def test_a_condition_in_words_that_no_model_reads_was_not_judged(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        for every, mode in (("50m", "each"), ("60m", "until"), ("70m", "once")):
            await add(daemon, clock, asked("Run it", name=mode, every=every, count=1, prompt="Is it done?", mode=mode))
        await clock.sleep(90 * 60)
        assert channel.texts == []
        rows = await daemon.store.outcomes.recent(kind="reminder")
        assert {(row.result, row.reason) for row in rows} == {(Result.SKIPPED, NOT_JUDGED)}
        assert len(rows) == 3

    live(scenario, tmp_path)


def test_what_can_wait_waits_for_the_end_of_a_conversation_and_what_cannot_does_not(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("idle one", every="30m", count=1))
        await clock.sleep(29 * 60)
        await daemon.coach.listener.hear("coach", Inbound(clock.now(), "hello"))
        await clock.sleep(3 * 60)
        assert "idle one" not in channel.texts
        await clock.sleep(3 * 60)
        assert channel.texts[-1] == "idle one"

    live(scenario, tmp_path)


def test_letters_are_kept_through_the_quiet_hours_and_asked_about_once(tmp_path: Path) -> None:
    model = Scripted(*['{"action": "message", "message": "Good morning: chores."}'] * 9)

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        at = toronto(2026, 2, 19, 3).__int__()
        await add(daemon, clock, asked("nightly", in_=f"{(at - START) // MINUTE}m"))
        await clock.sleep((toronto(2026, 2, 19, 9, 59) - START) / 1_000_000)
        questions = [one for one in model.asked if "nightly" in one.turns[-1].text]
        assert questions == []
        letters = await daemon.store.letters.unread("coach")
        assert [letter.body for letter in letters] == ["nightly"]
        await clock.sleep(120)
        assert channel.texts.count("Good morning: chores.") == 1

    live(scenario, tmp_path, model, replace(OPTIONS, rhythm=replace(OPTIONS.rhythm, every=999 * HOUR)))


def test_a_letter_of_normal_priority_moves_a_waiting_timer_forward(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        later = Instant(clock.now() + 5 * HOUR)
        await daemon.coach.background.arrived("coach", Priority.IDLE, later)
        await daemon.coach.background.arrived("coach", Priority.IDLE, clock.now())
        waiting = await daemon.store.timers.get("coach", "letters")
        assert waiting
        assert waiting.due_at == later
        await daemon.coach.background.arrived("coach", Priority.NORMAL, clock.now())
        moved = await daemon.store.timers.get("coach", "letters")
        assert moved is None or moved.due_at == clock.now()

    live(scenario, tmp_path)


@pytest.mark.parametrize("by", ["rules", "model"])
def test_letters_of_one_instant_are_all_read_and_each_has_its_outcome(tmp_path: Path, by: str) -> None:
    names = [f"routine {number}" for number in range(5)]

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        for name in names:
            await add(daemon, clock, asked("Look", name=name, every="60m", allow_ping=False))
        fired = daemon.dispatcher.fired
        await clock.sleep(3 * 3600 + 60)
        rows = await daemon.store.outcomes.recent(kind="letters")
        assert len(rows) == len({(row.key, row.slot_at) for row in rows}) == 15
        assert await daemon.store.letters.unread("coach") == []
        assert daemon.dispatcher.fired - fired < 200

    live(scenario, tmp_path, Scripted() if by == "model" else None)


def test_a_letter_that_comes_during_a_run_does_not_make_it_run_twice(tmp_path: Path) -> None:
    class Slow(Scripted):
        async def complete(self, request: ModelRequest) -> ModelReply:
            await asyncio.sleep(120)
            return await super().complete(request)

    model = Slow()

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        for minutes in (30, 31):
            await add(daemon, clock, asked(f"Look {minutes}", in_=f"{minutes}m", priority="normal"))
        await clock.sleep(40 * 60)
        letters = [one.attempt_id.split(":")[2] for one in model.asked if ":letter:" in one.attempt_id]
        assert len(letters) == len(set(letters)) == 2
        assert await daemon.store.letters.unread("coach") == []

    live(scenario, tmp_path, model)


def test_a_letter_that_is_refreshed_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    class Slow(Scripted):
        async def complete(self, request: ModelRequest) -> ModelReply:
            if "build 1" in request.turns[-1].text:
                await self.refresh()
            return await super().complete(request)

    model = Slow()

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        async def write(text: str) -> None:
            now = clock.now()
            await daemon.store.letters.put(Letter("coach", "ci", text, Priority.INTERRUPT, now, topic="ci"))
            await daemon.coach.background.arrived("coach", Priority.INTERRUPT, now)

        model.refresh = lambda: write("build 2 failed")  # type: ignore[attr-defined]
        await write("build 1 failed")
        daemon.poke()
        await clock.sleep(600)
        read = [one.turns[-1].text for one in model.asked if ":letter:" in one.attempt_id]
        assert ["build 1" in read[0], "build 2" in read[-1]] == [True, True]
        assert await daemon.store.letters.unread("coach") == []
        ended = [one.key for one in await daemon.store.outcomes.recent(agent="coach") if one.kind == "letters"]
        assert sorted(ended) == ["letter:1", "letter:1.2"]

    live(scenario, tmp_path, model)


def test_a_letter_that_failed_keeps_one_row_until_it_is_read(tmp_path: Path) -> None:
    class Broken(Scripted):
        async def complete(self, request: ModelRequest) -> ModelReply:
            if len(self.asked) < 1:
                self.asked.append(request)
                raise ValueError("broken")
            return await super().complete(request)

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Look", in_="30m"))
        await clock.sleep(40 * 60)
        (row,) = await daemon.store.outcomes.recent(kind="letters")
        assert row.final
        assert row.result is not Result.FAILED

    live(scenario, tmp_path, Broken())


def test_an_idle_check_counts_from_the_end_of_the_last_turn(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Still there?", idle="20m"))
        await clock.sleep(15 * 60)
        await daemon.coach.listener.hear("coach", Inbound(clock.now(), "hello"))
        await clock.sleep(15 * 60)
        assert "Still there?" not in channel.texts
        await clock.sleep(6 * 60)
        assert channel.texts[-1] == "Still there?"

    live(scenario, tmp_path)


def test_letters_that_the_days_money_does_not_pay_for_are_kept_and_nothing_fails(tmp_path: Path) -> None:
    model = Scripted()

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Review open tasks", every="30m"))
        await clock.sleep(3 * 3600)
        assert not any("Review open tasks" in one.turns[-1].text for one in model.asked)
        assert await daemon.store.letters.unread("coach")
        assert await daemon.store.outcomes.recent(kind="letters") == []
        assert await daemon.store.timers.get("coach", "letters") is not None

    live(scenario, tmp_path, model, replace(OPTIONS, plan=SpendingPlan(30)))


def test_an_agent_that_winds_down_begins_no_background_run(tmp_path: Path) -> None:
    model = Scripted()

    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        now = clock.now()
        limit = (await daemon.spending.state("coach", now)).meter.limit
        async with daemon.spending.hold("coach", model="haiku", input_bound=1, max_tokens=1) as hold:
            held = await daemon.store.ledger.hold(hold.id)
            assert held is not None
            await daemon.store.ledger.change(held, Change(held.hold, limit * 95 // 100, 0))
            hold.settle(TokenUse())
        await add(daemon, clock, asked("Review open tasks", every="30m"))
        await clock.sleep(3 * 3600)
        assert not any("Review open tasks" in one.turns[-1].text for one in model.asked)
        timer = await daemon.store.timers.get("coach", "letters")
        assert timer is not None
        assert timer.due_at == toronto(2026, 2, 18, 19)

    live(scenario, tmp_path, model)


def test_the_buttons_under_a_nudge_work_and_made_up_ones_do_not(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Stretch a little.", every="60m", count=2))
        await clock.sleep(61 * 60)
        (nudge,) = channel.sent
        assert [button.label for button in nudge.buttons] == ["Done", "Snooze 30 min", "Skip"]

        async def press(data: str, message: str) -> str:
            return await daemon.coach.listener.hear("coach", Inbound(clock.now(), "", button=data, message_id=message))

        assert "too old" in await press("done:nudge", "m999")
        assert "too old" in await press("snooze:nudge:9999m", f"m{nudge.id}")
        assert await press("snooze:nudge:30m", f"m{nudge.id}") == "Again in 30m."
        await clock.sleep(31 * 60)
        assert channel.texts == ["Stretch a little."] * 2
        again = channel.sent[-1]
        assert await press("done:nudge", f"m{again.id}") == "Done ✓"
        assert await press("skip:nudge", f"m{nudge.id}") == "Skipped."
        pressed = [one.content for one in await daemon.store.conversations.recent("coach", 9) if one.kind == "button"]
        assert pressed == ["Skip: Stretch a little.", "Done: Stretch a little.", "Snooze 30 min: Stretch a little."]

    live(scenario, tmp_path)


def test_where_there_is_nothing_to_press_a_command_does_the_same(tmp_path: Path) -> None:
    async def scenario(daemon: Daemon, clock: VirtualClock, channel: RecordingChannel) -> None:
        await add(daemon, clock, asked("Stretch a little.", every="60m", count=1))
        await clock.sleep(61 * 60)
        await daemon.coach.listener.hear("coach", Inbound(clock.now(), "/snooze 10m"))
        await clock.sleep(11 * 60)
        assert channel.texts == ["Stretch a little.", "Again in 10m.", "Stretch a little."]

    live(scenario, tmp_path)
