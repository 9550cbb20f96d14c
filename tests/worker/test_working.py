"""The worker inside the whole daemon, in virtual time: subagents, reminders to itself, questions, reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.working import WorkPorts
from nudge.home.prices import load_prices
from nudge.model import ModelReply, ModelRequest, Purpose, StopReason, Text, ToolUse, text_reply
from nudge.progress.run_limits import RunLimits
from nudge.progress.store import Session, SessionStatus
from nudge.queue.channel import Inbound
from nudge.spending.budgets import SpendingPlan
from nudge.stores.store import SqlStore
from nudge.testing import (
    MemoryBlobs,
    OfflineModel,
    RecordingChannel,
    ScriptedSandbox,
    VirtualClock,
    memory_store,
    run_virtual,
)
from nudge.testing.life import Texts, templates
from nudge.tokens import TokenUse
from nudge.worker.loop import RunOptions
from nudge.worker.sessions import Task
from nudge.worker.snapshots import Snapshots
from nudge.worker.workspaces import KeptWorkspaces

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
AGENT = "builder"


class Place:
    def __init__(self, clock: VirtualClock, store: SqlStore, folder: Path, model: Any, options: RunOptions) -> None:
        self.clock = clock
        self.store = store
        self.folder = folder
        self.channel = RecordingChannel()
        snapshots = Snapshots(MemoryBlobs(clock.now), AGENT)

        async def inline(work: Callable[[], Any]) -> Any:
            return work()

        work = WorkPorts(
            works=lambda agent: agent.name == AGENT,
            instructions=lambda agent: "You work.",
            folder_of=lambda agent: folder,
            sandbox_of=lambda agent: ScriptedSandbox(),
            workspaces=KeptWorkspaces(lambda agent: folder, lambda agent: snapshots, clock, in_thread=inline),
            options=options,
        )
        ports = Ports(
            store, clock, self.channel, Texts(templates("UTC")), load_prices(),
            model=model, is_coach=lambda agent: agent.name == "coach", work=work,
        )  # fmt: skip
        self.daemon = Daemon(
            ports, Options(owner="test", timezone="UTC", longest_wait=3600, plan=SpendingPlan.of(3_000))
        )

    async def give(self, text: str) -> str:
        assert self.daemon.working is not None
        self.daemon.working.sessions._new_id = lambda: "s1"
        session = await self.daemon.working.sessions.give(AGENT, Task(text))
        self.daemon.poke()
        return session

    async def session(self, number: str = "s1") -> Session:
        found = await self.store.sessions.get(AGENT, number)
        assert found is not None, number
        return found


def place(
    scenario: Callable[[Place], Any], folder: Path, answer: Callable[[ModelRequest], Any], **limits: Any
) -> OfflineModel:
    """The answers of `answer` are the worker's; the coach says nothing."""

    def said(request: ModelRequest) -> Any:
        return answer(request) if request.purpose is Purpose.WORK else text_reply("HEARTBEAT_OK", "m")

    model = OfflineModel(*[said] * 500)

    async def main(clock: VirtualClock) -> None:
        store = memory_store()
        try:
            here = Place(clock, store, folder, model, RunOptions(RunLimits(**limits)))
            await here.daemon.start()
            await here.daemon.agents.add(AGENT, "worker", clock.now())
            await here.daemon.adopt()
            running = asyncio.create_task(here.daemon.run())
            try:
                await scenario(here)
            finally:
                here.daemon.stop()
                await running
        finally:
            await store.close()

    run_virtual(main, START)
    return model


def reply(*blocks: ToolUse | str, tokens: tuple[int, int] = (500, 50)) -> ModelReply:
    content = tuple(Text(block) if isinstance(block, str) else block for block in blocks)
    stop = StopReason.TOOL_USE if any(isinstance(block, ToolUse) for block in blocks) else StopReason.END_TURN
    return ModelReply(content, "claude-sonnet-5-5", TokenUse(*tokens), stop_reason=stop)


def turns(request: ModelRequest) -> int:
    return sum(turn.role.value == "assistant" for turn in request.turns)


def test_subagents_work_side_by_side_with_a_share_of_the_budget(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        task = request.turns[0].text
        if task == "Do both.":
            if turns(request) == 0:
                return reply(ToolUse("t1", "spawn", {"tasks": ["Write one.", "Write two."]}))
            return reply(f"Both: {request.turns[-1].content[0].content}")  # type: ignore[union-attr]
        name = task.split()[1].rstrip(".")
        if turns(request) == 0:
            return reply(ToolUse("c1", "write_file", {"path": f"{name}.txt", "content": name}))
        return reply(f"Wrote {name}.")

    async def scenario(here: Place) -> None:
        await here.give("Do both.")
        await here.clock.sleep(120)
        session = await here.session()
        assert session.status is SessionStatus.DONE
        assert "Wrote one." in session.report
        assert "Wrote two." in session.report
        children = [one for one in await here.store.sessions.family(AGENT, "s1") if one.parent]
        assert [one.status for one in children] == [SessionStatus.DONE, SessionStatus.DONE]
        status = await here.daemon.pools.status("s1", here.clock.now())
        assert {member.name: member.state.value for member in status.members if member.parent} == {
            children[0].id.partition(".")[2]: "released",
            children[1].id.partition(".")[2]: "released",
        }
        used = {row.run for row in await here.store.usage.recent(AGENT)}
        assert used == {"s1/parent", *(f"s1/{one.id.partition('.')[2]}" for one in children)}
        assert (tmp_path / "one.txt").read_text() == "one"

    place(scenario, tmp_path, answer)


def test_a_reminder_to_itself_starts_a_new_task(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        if "Check the build" in request.turns[0].text:
            return reply("The build is green.")
        if turns(request) == 0:
            return reply(ToolUse("t1", "remind_me", {"message": "Check the build.", "in": "1h"}))
        return reply("Started the build; I come back in an hour.")

    async def scenario(here: Place) -> None:
        await here.give("Build it.")
        await here.clock.sleep(2 * 3600)
        reports = [one.report for one in await here.store.sessions.of_agent(AGENT)]
        assert sorted(reports) == ["Started the build; I come back in an hour.", "The build is green."]

    place(scenario, tmp_path, answer)


def test_the_report_reaches_the_person(tmp_path: Path) -> None:
    async def scenario(here: Place) -> None:
        await here.give("Say hello.")
        await here.clock.sleep(10)
        assert here.channel.texts == ["builder: Say hello.\nHello."]

    place(scenario, tmp_path, lambda request: reply("Hello."))


def test_more_budget_is_asked_for_in_the_chat_and_a_button_grants_it(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        done = turns(request)
        if not request.tools:
            return reply("Ran out.")
        if done == 6:
            return reply("All six are done.")
        call = ToolUse(f"t{done}", "write_file", {"path": f"f{done}", "content": "x"})
        return reply(call, tokens=(4_000 * (done + 1), 500))

    async def scenario(here: Place) -> None:
        await here.give("Much work.")
        await here.clock.sleep(5)
        asked = here.channel.sent[-1]
        assert asked.text.startswith("builder asks for 4,400 more tokens.")
        yes = next(one.data for one in asked.buttons if one.label == "Yes")
        press = Inbound(here.clock.now(), "", button=yes, message_id=f"m{asked.id}")
        await here.daemon.coach.listener.hear("coach", press)
        await here.clock.sleep(120)
        assert (await here.session()).report == "All six are done."

    place(scenario, tmp_path, answer, tokens=22_000)


def test_silence_denies_more_budget_after_a_minute(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        if not request.tools:
            return reply("Ran out.")
        done = turns(request)
        call = ToolUse(f"t{done}", "write_file", {"path": f"f{done}", "content": "x"})
        return reply(call, tokens=(4_000 * (done + 1), 500))

    async def scenario(here: Place) -> None:
        await here.give("Much work.")
        await here.clock.sleep(300)
        session = await here.session()
        assert (session.status, session.report) == (SessionStatus.STOPPED, "Ran out.")
        [question] = [await here.store.questions.of_session(AGENT, "s1")]
        assert question is not None
        assert question.deadline - question.asked_at == 60_000_000
        assert question.answered_at is None

    place(scenario, tmp_path, answer, tokens=22_000)
