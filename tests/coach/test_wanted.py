"""What the person does not want to hear is not said, whoever thinks of it; and what a run may see and claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nudge.attention.rules import Rule
from nudge.defaults import CRITICAL_A_DAY
from nudge.instants import HOUR, MINUTE, SECOND, Instant
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import Source
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.reminders.reminder_values import asked
from tests.times import NOON, toronto

NO_SLEEP = "# Memory\n\n## Preferences\n- Don't message me about sleep\n"
EVENING = toronto(2026, 2, 18, 23, 50)
BEAT = 45 * 60


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"action": "message", "message": text, **more}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Off to bed soon?", id="a bedtime message"),
        pytest.param(message("You should sleep more."), id="a heartbeat about it"),
        pytest.param(message("Lights out?", state_updates={"bedtime_nudge_sent": True}), id="a bedtime by its flag"),
    ],
)
def test_a_model_that_talks_about_it_all_the_same_is_not_heard(tmp_path: Path, answer: Any) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="02:00-10:00")
        world.write("MEMORY.md", NO_SLEEP)
        async with world.running():
            for _ in range(13):
                await world.active()
                await world.clock.sleep(600)
        assert world.channel.texts == []
        rows = [*await world.outcomes("briefing"), *await world.outcomes()]
        assert Rule.PREFERENCE.value in {row.detail.get("rule") for row in rows}

    in_world(tmp_path, scenario, EVENING, model=ScriptedModel(answer))


def test_a_reminder_they_set_about_it_comes(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.write("MEMORY.md", NO_SLEEP)
        for source, text in ((Source.CHAT, "go to sleep"), (Source.MODEL, "think about sleep")):
            definition = asked(text, in_="10m", to_person=True)
            await world.daemon.reminders.add(AGENT, definition, world.clock.now(), source)
        await world.run_for(20 * 60)
        assert world.channel.texts == ["go to sleep"]
        rules = [row.detail.get("rule") for row in await world.outcomes("reminder")]
        assert sorted(rules, key=str) == [None, "preference"]

    in_world(tmp_path, scenario, NOON)


def test_the_morning_briefing_leaves_out_what_they_do_not_want_to_hear(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        goals = '# Goals\n\n## Today\n1. Keep a sleep diary\n2. Write\n\n## Schedule Targets\n- wake_target: "10:00"\n'
        world.write("GOALS.md", goals)
        world.write("MEMORY.md", NO_SLEEP)
        await world.run_for(2 * 3600)
        (text,) = world.channel.texts
        assert "Write" in text
        assert "sleep" not in text

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 9, 0), model=ScriptedModel("Think of your sleep diary!"))


def test_a_heartbeat_sees_the_budget_and_what_comes_next(tmp_path: Path) -> None:
    spender = ScriptedModel("HEARTBEAT_OK")

    async def scenario(world: World) -> None:
        chain = asked("Started?", name="Pipeline", at="1:30pm", every="30m", chain=4)
        await world.daemon.reminders.add(AGENT, chain, world.clock.now())
        await world.run_for(BEAT + 1)
        prompt = spender.calls[0].turns[0].text
        assert (
            "Ping budget: 5/5 available (refills 1 every 90 min).\n"
            "Upcoming bg tasks (next 3h):\n"
            '- 1:30 PM: Pipeline (1/4) -- "Started?" (r-'
        ) in prompt
        assert (
            "\n~1 refill before last task.\nSend at most 1 ping or embed per bg session.\n\n--- GOALS.md ---" in prompt
        )
        assert "Pings are messages the person did not ask for" in spender.calls[0].system_text

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_run_reads_a_task_of_its_schedule_once_and_nothing_else(tmp_path: Path) -> None:
    read = {"action": "read", "read": ["routines/chores.md", "../../../nudge.toml", "/etc/passwd"]}
    spender = ScriptedModel(read, read, "HEARTBEAT_OK")
    body = "Look at the list. " * 10 + "Then say which one is first."

    async def scenario(world: World) -> None:
        from nudge.reminders.definition import make_reminder

        now = world.clock.now()
        definition = asked(body, name="Chores", cron="0 14 * * *")
        routine = make_reminder(
            definition, agent=AGENT, now=now, zone="America/Toronto", source=Source.FILE, ref="routines/chores.md"
        )
        await world.daemon.reminders.put(routine, now)
        await world.run_for(BEAT + 1)
        first, second = (call.turns[0].text for call in spender.calls)
        assert "Then say which one is first." not in first
        assert "--- routines/chores.md ---\n<data-" in second
        assert "Then say which one is first." in second
        assert "passwd" not in second
        assert "[telegram]" not in second
        (row,) = await world.outcomes()
        assert (row.result, "read twice" in row.reason) == (Result.SUPPRESSED, True)
        assert world.channel.texts == []

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_model_is_believed_a_few_times_a_day_that_it_is_critical(tmp_path: Path) -> None:
    """The bucket is never touched by them, and the fourth is a ping like any other."""
    answers = [
        message(f"Number {word} is on fire.", critical=True, topic=word) for word in ("oven", "car", "cat", "tv")
    ]
    spender = ScriptedModel(*answers, "HEARTBEAT_OK")

    async def scenario(world: World) -> None:
        world.goals(quiet_hours="02:00-08:00", bedtime_target="01:00", wake_target="08:00")
        for number in range(4):
            definition = asked(f"Check {number}.", in_=f"{10 * (number + 1)}m", priority="normal")
            await world.daemon.reminders.add(AGENT, definition, world.clock.now())
        await world.run_for(44 * 60)
        assert len(world.channel.texts) == 4
        budget = (await world.gate.row(AGENT, world.clock.now())).budget
        assert (budget.critical_used, budget.daily_used, budget.whole) == (CRITICAL_A_DAY, 4, 4)

    in_world(tmp_path, scenario, NOON, model=spender)


def test_invisible_words_are_not_sent_by_anybody(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.daemon.reminders.add(AGENT, asked("Look.", in_="10m", priority="normal"), world.clock.now())
        await world.run_for(BEAT + 1)
        assert world.channel.texts == []

    in_world(tmp_path, scenario, Instant(NOON + HOUR - HOUR), model=ScriptedModel(message("\u200b\u2060")))


def test_a_briefing_that_waited_says_for_what(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(wake_target="10:00", quiet_hours="02:00-08:00")
        await world.store.attention.conversation(AGENT, Instant(world.clock.now() + 58 * MINUTE))
        await world.run_for((HOUR + 10 * MINUTE) // SECOND)
        row = (await world.outcomes("briefing"))[-1]
        assert row.result is Result.FIRED_LATE
        assert "It waited: You were in a conversation" in row.reason

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 9, 0))
