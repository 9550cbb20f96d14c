"""Agents by command, on the whole daemon in virtual time: letters start a program, and its exit code ends them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nudge.errors import UsageError
from nudge.instants import HOUR, Instant
from nudge.progress.store import SessionStatus
from nudge.queue.agents import IDLE_SINCE, Agent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outcomes import Result
from nudge.spending.budgets import SpendingPlan
from nudge.spending.lifecycle import PAUSED, SpendingState
from nudge.spending.plan_windows import PlanTold, PlanWindow
from nudge.testing import Life, ScriptedCommands, live
from nudge.worker.command_rules import (
    LONGEST_ARGUMENT,
    CommandJob,
    CommandRan,
    End,
    command_words,
    filled,
    fitting,
    judged,
    last_lines,
)
from nudge.worker.commands import CLIENT_SESSION
from nudge.worker.sandbox import Ending, Ran
from nudge.worker.sessions import PERSON, Sessions, letter_arrived

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
AGENT = "builder"
LINE = "claude -p --resume {session} {message}"
RESUMING = "Resuming — budget refreshed. Continuing from Fix the login."


@pytest.mark.parametrize(
    ("line", "values", "expected"),
    [
        pytest.param(
            "do {message}", {"message": "a b; rm -rf / $(x)"}, ["do", "a b; rm -rf / $(x)"], id="one argument"
        ),
        pytest.param(
            "do {message}", {"message": "{session}", "session": "s"}, ["do", "{session}"], id="filled in once"
        ),
        pytest.param("do {message}", {"message": "-rf"}, ["do", " -rf"], id="a text does not become an option"),
        pytest.param("do -m {session}", {}, ["do"], id="an option without its session is left out"),
        pytest.param("do --s={session} x", {}, ["do", "x"], id="an option with its session in it, too"),
        pytest.param("do x {session}", {}, ["do", "x"], id="a word before it stays"),
        pytest.param("jq '{a: .b}'", {}, ["jq", "{a: .b}"], id="other braces stay"),
        pytest.param("do {message}", {"message": "a\0b"}, ["do", "ab"], id="no NUL"),
    ],
)
def test_a_command_line_is_filled_in_without_a_shell(line: str, values: dict[str, str], expected: list[str]) -> None:
    assert filled(command_words(line), values) == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("do 'it", id="open quotes"),
        pytest.param("  ", id="nothing"),
        pytest.param("{message} now", id="a program that the letter names"),
    ],
)
def test_a_command_line_that_cannot_run_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        command_words(line)


def test_a_text_that_is_too_long_for_a_program_is_cut() -> None:
    assert len(fitting("ä" * LONGEST_ARGUMENT).encode()) < LONGEST_ARGUMENT + 100


@pytest.mark.parametrize(
    ("code", "ending", "refused", "state", "end"),
    [
        pytest.param(0, Ending.EXITED, 0, SpendingState.AWAKE, End.DONE, id="0 is done"),
        pytest.param(0, Ending.EXITED, 3, SpendingState.ASLEEP, End.DONE, id="0 is done, whatever was refused"),
        pytest.param(75, Ending.EXITED, 0, SpendingState.AWAKE, End.LATER, id="75 is later"),
        pytest.param(75, Ending.EXITED, 1, SpendingState.ASLEEP, End.LATER, id="75 is later, also asleep"),
        pytest.param(1, Ending.EXITED, 1, SpendingState.ASLEEP, End.ASLEEP, id="refused because it sleeps"),
        pytest.param(1, Ending.EXITED, 1, SpendingState.BUDGET_EXCEEDED, End.ASLEEP, id="stopped above 110 %"),
        pytest.param(1, Ending.EXITED, 1, SpendingState.AWAKE, End.FAILED, id="refused by a budget of its own"),
        pytest.param(1, Ending.EXITED, 0, SpendingState.ASLEEP, End.FAILED, id="failed by itself"),
        pytest.param(-9, Ending.EXITED, 0, SpendingState.AWAKE, End.FAILED, id="killed"),
        pytest.param(None, Ending.TIMED_OUT, 0, SpendingState.AWAKE, End.FAILED, id="too slow"),
    ],
)
def test_the_end_of_a_program_decides(
    code: int | None, ending: Ending, refused: int, state: SpendingState, end: End
) -> None:
    assert judged(CommandRan(Ran(ending, code, "oh"), "", refused), state, HOUR).end is end


def test_the_last_lines_are_few_and_short() -> None:
    assert len(last_lines("x" * 10_000 + "\n" + "y" * 10_000)) <= 1_500


async def write(life: Life, body: str, priority: Priority = Priority.NORMAL, **more: Any) -> int:
    now = life.clock.now()
    async with life.store.transaction():
        number = await life.store.letters.put(Letter(AGENT, more.pop("sender", PERSON), body, priority, now, **more))
        await letter_arrived(life.store, AGENT, priority, now)
    life.daemon.poke()
    return number


async def hire(life: Life) -> None:
    await life.store.agents.add(Agent(AGENT, AGENT, life.clock.now()))
    await life.daemon.look_again()
    await life.passes(seconds=1)


def told(program: ScriptedCommands) -> list[str]:
    return [job.argv[-1] for job in program.jobs]


def test_a_letter_starts_the_program_and_zero_is_done() -> None:
    program = ScriptedCommands(LINE, 0)

    async def scenario(life: Life) -> None:
        await hire(life)
        number = await write(life, "Fix the login.\nIt fails on Safari.")
        said = await life.passes(minutes=1)
        (job,) = program.jobs
        assert list(job.argv) == ["claude", "-p", "Fix the login.\nIt fails on Safari."]
        assert job.stdin == ""
        assert job.environment["NUDGE_LETTER_ID"] == str(number)
        assert (job.environment["NUDGE_AGENT"], job.environment["NUDGE_ATTEMPT"]) == (AGENT, "1")
        assert job.environment["NUDGE_SENDER"] == PERSON
        assert not await life.store.letters.unread(AGENT)
        row = (await life.outcomes())[0]
        assert (row.key, row.result, row.detail["exit_code"]) == (f"letter:{number}", Result.FIRED, 0)
        assert said == ["builder: Fix the login.\nexit 0"]
        assert await life.store.records.get(AGENT, IDLE_SINCE) is not None

    live(scenario, START, programs={AGENT: program})


def test_a_program_without_a_place_for_the_message_reads_it() -> None:
    program = ScriptedCommands("./agent.sh", 0)

    async def scenario(life: Life) -> None:
        await hire(life)
        await write(life, "hello")
        await life.passes(minutes=1)
        assert (list(program.jobs[0].argv), program.jobs[0].stdin) == (["./agent.sh"], "hello")

    live(scenario, START, programs={AGENT: program})


def test_a_reminder_is_enough() -> None:
    program = ScriptedCommands(LINE)

    async def scenario(life: Life) -> None:
        await hire(life)
        await life.daemon.reminders.add(
            AGENT, {"message": "check CI and fix it", "schedule": {"every": "30m"}}, life.clock.now()
        )
        life.daemon.poke()
        await life.passes(hours=2, minutes=1)
        assert len(told(program)) == 4
        assert told(program)[0] == "check CI and fix it"
        assert program.jobs[0].environment["NUDGE_REMINDER_ID"].startswith("r-")
        assert not any("CI" in one for one in life.said)

    live(scenario, START, programs={AGENT: program})


def test_one_at_a_time_the_most_urgent_first() -> None:
    program, busy, most = ScriptedCommands(LINE), 0, 0

    async def scenario(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            nonlocal busy, most
            busy, most = busy + 1, max(most, busy + 1)
            await life.clock.sleep(600)
            busy -= 1

        program.before_end = work
        await hire(life)
        await write(life, "first")
        await life.passes(minutes=1)
        await write(life, "later", Priority.IDLE)
        await write(life, "second")
        await life.passes(minutes=40)
        assert told(program) == ["first", "second", "later"]
        assert most == 1

    live(scenario, START, programs={AGENT: program})


def test_75_is_tried_again_and_others_go_first_meanwhile() -> None:
    program = ScriptedCommands(LINE, 75, 0, 75, 0)

    async def scenario(life: Life) -> None:
        await hire(life)
        number = await write(life, "one")
        await life.passes(seconds=1)
        row = (await life.outcomes())[0]
        assert (row.key, row.result, row.final) == (f"letter:{number}", Result.DEFERRED, False)
        await write(life, "two")
        await life.passes(seconds=30)
        assert told(program) == ["one", "two"]
        await life.passes(seconds=31)
        assert told(program) == ["one", "two", "one"]
        assert len(await life.store.letters.unread(AGENT)) == 1
        await life.passes(seconds=295)
        assert len(told(program)) == 3
        await life.passes(seconds=10)
        assert told(program) == ["one", "two", "one", "one"]
        rows = [row for row in await life.outcomes() if row.key == f"letter:{number}"]
        assert [(row.result, row.final) for row in rows] == [(Result.FIRED, True)]
        assert not await life.store.letters.unread(AGENT)

    live(scenario, START, programs={AGENT: program})


def test_any_other_code_fails_with_the_last_lines() -> None:
    output = "".join(f"line {number}\n" for number in range(40))
    program = ScriptedCommands(LINE, CommandRan(Ran(Ending.EXITED, 3, output)))

    async def scenario(life: Life) -> None:
        await hire(life)
        await write(life, "Fix the login.")
        said = await life.passes(minutes=1)
        row = (await life.outcomes())[0]
        assert (row.result, row.reason) == (Result.FAILED, "exit 3: line 39")
        assert row.detail["output"].splitlines() == [f"line {number}" for number in range(30, 40)]
        assert not await life.store.letters.unread(AGENT)
        assert said == ["builder: Fix the login.\nexit 3: line 39"]
        (session,) = await life.store.sessions.of_agent(AGENT)
        assert session.status is SessionStatus.FAILED

    live(scenario, START, programs={AGENT: program})


def test_a_letter_that_is_refreshed_while_the_program_runs_is_worked_on_again() -> None:
    program = ScriptedCommands(LINE)

    async def scenario(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            if len(program.jobs) == 1:
                await write(life, "check CI, run 2", topic="ci")

        program.before_end = work
        await hire(life)
        await write(life, "check CI, run 1", topic="ci")
        await life.passes(minutes=1)
        assert told(program) == ["check CI, run 1", "check CI, run 2"]
        assert not await life.store.letters.unread(AGENT)
        assert [row.result for row in await life.outcomes()][:2] == [Result.FIRED, Result.FIRED]

    live(scenario, START, programs={AGENT: program})


def test_work_that_takes_hours_is_recorded_at_its_end() -> None:
    program = ScriptedCommands(LINE, 0)

    async def scenario(life: Life) -> None:
        program.before_end = lambda job: life.clock.sleep(1800)
        await hire(life)
        await write(life, "dig")
        began = life.clock.now()
        await life.passes(minutes=40)
        row = next(one for one in await life.outcomes() if one.agent == AGENT)
        finished, started = (await life.store.feed.recent(agent=AGENT))[:2]
        assert (finished.text, started.text) == ("Finished: dig", "Started: dig")
        assert row.at == finished.at >= began + HOUR // 2 > started.at

    live(scenario, START, programs={AGENT: program})


async def spend_everything(life: Life, dollars: float) -> None:
    async with life.daemon.spending.hold(AGENT, model="claude-sonnet-5-5", input_bound=10, max_tokens=10) as hold:
        hold.settle({"input_tokens": round(dollars * 1_000_000 / 2), "output_tokens": 0})


def cut_off(session: str) -> CommandRan:
    return CommandRan(Ran(Ending.EXITED, 1, "Your budget is used up.\n"), session, 1)


@pytest.mark.parametrize("top_up", [False, True], ids=["at the refresh", "at a top-up"])
def test_a_session_that_runs_out_of_money_is_resumed_once(top_up: bool) -> None:
    program = ScriptedCommands(LINE, cut_off("5f-1"), 0)

    async def scenario(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            if len(program.jobs) == 1:
                await spend_everything(life, 1.05)

        program.before_end = work
        await hire(life)
        number = await write(life, "Fix the login.")
        await life.passes(hours=1)
        assert told(program) == ["Fix the login."]
        row = (await life.store.outcomes.recent(agent=AGENT))[0]
        assert (row.key, row.result, row.final) == (f"letter:{number}", Result.DEFERRED, False)
        await life.passes(hours=10)
        assert len(program.jobs) == 1
        if top_up:
            await life.daemon.spending.budgets.top_up(AGENT, 60, life.clock.now())
            life.daemon.poke()
            await life.passes(minutes=1)
        else:
            await life.passes(hours=6)
        assert [list(job.argv) for job in program.jobs[1:]] == [["claude", "-p", "--resume", "5f-1", RESUMING]]
        assert program.jobs[1].environment["NUDGE_RESUMED"] == "1"
        await life.passes(days=2)
        assert len(program.jobs) == 2
        feed = [line.text for line in await life.store.feed.recent(agent=AGENT, limit=100)]
        assert feed.count(RESUMING) == 1
        assert not await life.store.letters.unread(AGENT)
        assert (await life.store.outcomes.recent(agent=AGENT))[0].result is Result.FIRED

    live(scenario, START, programs={AGENT: program}, plan=SpendingPlan.of(30))


def test_without_a_session_to_resume_the_letter_is_started_over() -> None:
    program = ScriptedCommands("claude -p {message}", cut_off("5f-1"), 0)

    async def scenario(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            if len(program.jobs) == 1:
                await spend_everything(life, 1.05)

        program.before_end = work
        await hire(life)
        await write(life, "Fix the login.")
        await life.passes(days=1)
        assert told(program) == ["Fix the login.", "Fix the login."]

    live(scenario, START, programs={AGENT: program}, plan=SpendingPlan.of(30))


def test_a_sleeping_agent_starts_nothing() -> None:
    program = ScriptedCommands(LINE)

    async def scenario(life: Life) -> None:
        await hire(life)
        await spend_everything(life, 1.02)
        await write(life, "Fix the login.")
        await life.passes(hours=14)
        assert program.jobs == []
        await life.passes(hours=2)
        assert told(program) == ["Fix the login."]

    live(scenario, START, programs={AGENT: program}, plan=SpendingPlan.of(30))


def test_after_a_crash_it_is_told_the_same_again(tmp_path: Any) -> None:
    """Also what it is told at the refresh: the sleep and the wake happen in different processes."""
    store = f"sqlite:///{tmp_path / 'nudge.db'}"
    first, second, third = ScriptedCommands(LINE, cut_off("5f-1")), ScriptedCommands(LINE), ScriptedCommands(LINE, 0)

    async def before(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            await spend_everything(life, 1.05)

        first.before_end = work
        await hire(life)
        await write(life, "Fix the login.")
        await life.passes(minutes=5)

    async def interrupted(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            await life.clock.sleep(3600)

        second.before_end = work
        await life.passes(minutes=5)
        assert told(second) == [RESUMING]
        life.daemon.dispatcher.abort()

    async def after(life: Life) -> None:
        await life.passes(hours=30)

    plan = SpendingPlan.of(30)
    live(before, START, programs={AGENT: first}, store=store, plan=plan)
    live(interrupted, START + timedelta(hours=15, minutes=1), programs={AGENT: second}, store=store, plan=plan)
    live(after, START + timedelta(hours=15, minutes=10), programs={AGENT: third}, store=store, plan=plan)
    assert told(third) == [RESUMING]
    assert [job.environment["NUDGE_ATTEMPT"] for job in (*first.jobs, *second.jobs, *third.jobs)] == ["1", "2", "3"]


def test_cancelling_a_session_stops_its_program() -> None:
    program = ScriptedCommands(LINE)
    gone: list[str] = []

    async def scenario(life: Life) -> None:
        async def work(job: CommandJob) -> None:
            try:
                await life.clock.sleep(3600)
            finally:
                gone.append(job.argv[-1])

        program.before_end = work
        await hire(life)
        await write(life, "dig")
        await life.passes(minutes=1)
        from nudge.worker.loop import RunOptions

        sessions = Sessions(life.store, life.clock, RunOptions())
        await sessions.cancel(await sessions.find(AGENT))
        await life.passes(seconds=5)
        assert gone == ["dig"]
        assert not await life.store.letters.unread(AGENT)
        program.before_end = None
        await write(life, "fill")
        await life.passes(seconds=5)
        assert told(program) == ["dig", "fill"]

    live(scenario, START, programs={AGENT: program})


def test_the_session_of_the_last_run_is_kept_for_the_next_letter() -> None:
    program = ScriptedCommands(LINE, CommandRan(Ran(Ending.EXITED, 0, ""), "5f-1"), 0)

    async def scenario(life: Life) -> None:
        await hire(life)
        await write(life, "one")
        await life.passes(minutes=1)
        assert await life.store.records.get(AGENT, CLIENT_SESSION) == "5f-1"
        await write(life, "two")
        await life.passes(minutes=1)
        assert list(program.jobs[1].argv) == ["claude", "-p", "--resume", "5f-1", "two"]

    live(scenario, START, programs={AGENT: program})


def test_letters_of_an_agent_that_nobody_runs_wait() -> None:
    async def scenario(life: Life) -> Instant:
        await hire(life)
        await write(life, "hello")
        await life.passes(hours=1)
        assert len(await life.store.letters.unread(AGENT)) == 1
        return life.clock.now()

    live(scenario, START)


def test_a_session_that_meets_the_end_of_a_plan_window_is_resumed_once_at_its_reset() -> None:
    ends = (CommandRan(Ran(Ending.EXITED, 1, "Limit reached.\n"), "5f-1"), 0)
    program = ScriptedCommands(LINE, *ends)

    async def scenario(life: Life) -> None:
        resets_at = Instant(life.clock.now() + 3 * HOUR)

        async def work(job: CommandJob) -> None:
            if len(program.jobs) == 1:
                window = PlanWindow("5h", 100, resets_at, used_up=True)
                await life.daemon.spending.note_plan(AGENT, PlanTold((window,)))

        program.before_end = work
        await hire(life)
        await write(life, "Fix the login.")
        await life.passes(hours=1)
        await write(life, "Something else.")
        await life.passes(hours=1, minutes=59)
        assert told(program) == ["Fix the login."]
        status = await life.daemon.spending.state(AGENT, life.clock.now())
        assert (status.state, status.refresh_at, status.by_plan) == (SpendingState.ASLEEP, resets_at, True)
        await life.passes(minutes=2)
        assert told(program) == ["Fix the login.", RESUMING, "Something else."]
        await life.passes(days=2)
        assert len(program.jobs) == 3
        feed = [line.text for line in await life.store.feed.recent(agent=AGENT, limit=100)]
        assert feed.count(RESUMING) == 1
        assert feed.count(PAUSED) == 1
        assert not await life.store.letters.unread(AGENT)

    live(scenario, START, programs={AGENT: program})


def test_a_letter_waits_until_the_plan_has_something_to_spare_and_what_has_begun_goes_on() -> None:
    program = ScriptedCommands(LINE, 0, 0)

    async def scenario(life: Life) -> None:
        ends = Instant(life.clock.now() + 4 * HOUR)

        async def plan(percent: int) -> None:
            window = PlanWindow("5h", percent, ends)
            await life.daemon.spending.note_plan(AGENT, PlanTold((window,), at=life.clock.now()))

        async def work(job: CommandJob) -> None:
            await plan(90)

        program.before_end = work
        await hire(life)
        await plan(39)  # after a fifth of the time: in an hour two fifths have passed
        await write(life, "one")
        await life.passes(minutes=59)
        assert told(program) == []
        await life.passes(minutes=2)
        assert told(program) == ["one"], "it came to its end, although it used more"
        await write(life, "two")
        await life.passes(minutes=150)
        assert told(program) == ["one"]
        await life.passes(minutes=10)
        assert told(program) == ["one", "two"]

    live(scenario, START, programs={AGENT: program}, spare_only=True)
