"""The worker's loop on a real store in virtual time, with a workspace in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from nudge.clock import Clock
from nudge.errors import StoreFullError
from nudge.home.prices import load_prices
from nudge.instants import SECOND, Instant
from nudge.model import ModelReply, ModelRequest, StopReason, Text, Tool, ToolResult, ToolUse
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.extensions import Approval
from nudge.progress.run_limits import RunLimits
from nudge.progress.store import Session, SessionStatus
from nudge.progress.stored_pools import POOL, Pools
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.queue.inbox import Letter, Priority
from nudge.spending.agent_ledger import SWEEP
from nudge.spending.budgets import WAKE, SpendingPlan
from nudge.spending.governor import Spending
from nudge.stores.store import SqlStore
from nudge.testing import OfflineModel, ScriptedApprover, VirtualClock, memory_store, run_virtual
from nudge.tokens import TokenUse
from nudge.worker.loop import Done, RunOptions, WorkLoop
from nudge.worker.questions import Question, QuestionKind
from nudge.worker.sessions import KIND, Sessions, Task
from nudge.worker.worker import Worker

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
AGENT = "builder"
TOOLS = {
    "read_file": ("path",),
    "write_file": ("path", "text"),
    "append": ("path", "text"),
    "ask_person": ("question",),
    "report": ("text",),
    "sleep": (),
}


class Folder:
    """Workspaces in memory. `append` shows at once if a tool ran twice."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.kept: dict[str, dict[str, str]] = {}
        self.ran: list[str] = []
        self.sent: list[dict[str, str]] = []
        self.on_change: Callable[[], Any] | None = None
        self._lock = asyncio.Lock()

    async def keep(self, session: Session) -> str:
        name = f"{len(self.kept):06}"
        self.kept[name] = dict(self.files)
        return name

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        kept = self.kept[snapshot]
        different = sorted(path for path in {*kept, *self.files} if kept.get(path) != self.files.get(path))
        self.files = dict(kept)
        return different

    async def send_away(self, agent: str) -> None:
        self.sent.append(dict(self.files))

    @asynccontextmanager
    async def changing(self, agent: str) -> AsyncIterator[None]:
        async with self._lock:
            yield


class Toolbox:
    def __init__(self, folder: Folder, store: SqlStore, clock: Clock) -> None:
        self.folder = folder
        self._store = store
        self._clock = clock

    def offered(self, session: Session) -> Sequence[Tool]:
        return [Tool(name, name, {"type": "object"}) for name in TOOLS]

    def only_reads(self, name: str) -> bool:
        return name == "read_file"

    def stands_alone(self, name: str) -> bool:
        return False

    async def run(self, session: Session, use: ToolUse) -> Done:
        self.folder.ran.append(use.id)
        files, given = self.folder.files, dict(use.input)
        match use.name:
            case "read_file":
                return Done(files[given["path"]]) if given["path"] in files else Done("no such file", is_error=True)
            case "write_file":
                files[given["path"]] = given["text"]
                if self.folder.on_change:
                    await self.folder.on_change()
                return Done("written", changed=True)
            case "append":
                files[given["path"]] = files.get(given["path"], "") + given["text"]
                return Done("appended", changed=True)
            case "ask_person":
                now = self._clock.now()
                question = Question(
                    use.id,
                    session.agent,
                    session.id,
                    QuestionKind.ASK,
                    given["question"],
                    now,
                    Instant(now + 3600 * SECOND),
                )
                await self._store.questions.put(question)
                return Done("asked", waits=True)
            case "sleep":
                await self._clock.sleep(600)
                return Done("slept")
            case "report":
                return Done("reported", ends=given["text"])
        return Done("no such tool", is_error=True)


class Office:
    """A worker with everything around it, and one agent."""

    def __init__(
        self, clock: VirtualClock, store: SqlStore, model: OfflineModel, folder: Folder | None = None, **limits: Any
    ) -> None:
        self.clock = clock
        self.store = store
        self.folder = folder or Folder()
        self.reports: list[tuple[str, str]] = []
        self.approver = ScriptedApprover(*limits.pop("approvals", ()))
        plan = SpendingPlan.of(limits.pop("budget", 300))
        self.spending = Spending(store, clock, prices=load_prices(), plan=plan, model=model)
        pools = Pools(store)
        toolbox = Toolbox(self.folder, store, clock)
        loop = WorkLoop(
            Checkpoints(store, limit=limits.pop("history", 60_000), down_to=limits.pop("down_to", 40_000)),
            clock, self.spending, model, toolbox, self.folder,
            approver_for=lambda session: self.approver, instructions=lambda agent: "You work.",
        )  # fmt: skip
        options = RunOptions(RunLimits(**limits)) if limits else RunOptions()
        numbers = iter(range(1, 1_000))
        self.sessions = Sessions(store, clock, options, lambda: f"s{next(numbers)}")
        self.worker = Worker(
            store, clock, self.spending, pools, loop, self.folder,
            report=self._report, options=options, new_id=lambda: f"s{next(numbers)}",
        )  # fmt: skip
        handlers = {KIND: self.worker.fire, WAKE: self.spending.wake, SWEEP: self.spending.sweep, POOL: pools.sweep}
        self.dispatcher = Dispatcher(store, clock, handlers, owner="test", longest_wait=3600)
        self.spending.on_timers = self.dispatcher.poke

    async def _report(self, session: Session, now: Instant) -> None:
        self.reports.append((session.asked_by, session.report))

    async def passes(self, seconds: float) -> None:
        await self.clock.sleep(seconds)

    async def give(self, text: str, **more: Any) -> str:
        session = await self.sessions.give(AGENT, Task(text, **more))
        self.dispatcher.poke()
        return session

    async def session(self, number: str = "s1") -> Session:
        found = await self.store.sessions.get(AGENT, number)
        assert found is not None
        return found


def office(scenario: Callable[[Office], Any], model: OfflineModel, **limits: Any) -> Any:
    async def main(clock: VirtualClock) -> Any:
        store = memory_store()
        try:
            await store.agents.add(Agent(AGENT, "worker", clock.now()))
            place = Office(clock, store, model, **limits)
            await place.spending.start(clock.now())
            running = asyncio.create_task(place.dispatcher.run())
            try:
                return await scenario(place)
            finally:
                place.dispatcher.stop()
                await running
        finally:
            await store.close()

    return run_virtual(main, START)


def use(number: int, name: str, **given: str) -> ToolUse:
    return ToolUse(f"t{number}", name, given)


def reply(*blocks: ToolUse | str, tokens: tuple[int, int] = (500, 50)) -> ModelReply:
    content = tuple(Text(block) if isinstance(block, str) else block for block in blocks)
    stop = StopReason.TOOL_USE if any(isinstance(block, ToolUse) for block in blocks) else StopReason.END_TURN
    return ModelReply(content, "claude-sonnet-5-5", TokenUse(*tokens), stop_reason=stop)


def test_a_task_is_worked_on_and_reported() -> None:
    model = OfflineModel(
        reply("I will look.", use(1, "read_file", path="a"), use(2, "read_file", path="b")),
        reply(use(3, "write_file", path="a", text="fixed")),
        reply("Fixed a."),
    )

    async def scenario(place: Office) -> None:
        place.folder.files["a"] = "broken"
        await place.give("Fix a.\nIt is broken.")
        await place.passes(60)
        session = await place.session()
        assert session.status is SessionStatus.DONE
        assert session.last_task == "Fix a."
        assert place.reports == [("person", "Fixed a.")]
        assert place.folder.files == {"a": "fixed"}
        assert not await place.store.letters.unread(AGENT)
        outcome = (await place.store.outcomes.recent(limit=1))[0]
        assert outcome.reason == "Finished: Fix a."
        assert [line.text for line in await place.store.feed.recent()][:2] == ["Finished: Fix a.", "Started: Fix a."]

    office(scenario, model)
    results = [block for block in model.requests[1].turns[-1].content if isinstance(block, ToolResult)]
    assert [(one.tool_use_id, one.content, one.is_error) for one in results] == [
        ("t1", "broken", False),
        ("t2", "no such file", True),
    ]


@pytest.mark.parametrize("priority", list(Priority), ids=lambda one: one.word)
def test_a_letter_that_is_refreshed_while_it_is_worked_on_is_worked_on_again(priority: Priority) -> None:
    model = OfflineModel(
        reply(use(1, "write_file", path="a", text="1")), reply("Done with 1."), reply("Done with 2."), reply("Extra.")
    )

    async def scenario(place: Office) -> None:
        async def write(text: str) -> None:
            now = place.clock.now()
            await place.store.letters.put(Letter(AGENT, "ci", text, priority, now, topic="ci"))
            await place.sessions.arrived(AGENT, priority, now)
            place.dispatcher.poke()

        place.folder.on_change = lambda: write("Build 2 failed.")
        await write("Build 1 failed.")
        await place.passes(60)
        assert not await place.store.letters.unread(AGENT)
        assert place.reports[0] == ("ci", "Done with 1.")
        assert place.reports[-1] == ("ci", "Done with 2.")

    office(scenario, model)
    assert any("Build 2 failed." in turn.text for turn in model.requests[-1].turns)


def test_a_tool_whose_checkpoint_could_not_be_written_leaves_nothing_behind() -> None:
    model = OfflineModel(reply(use(1, "append", path="log", text="x")), reply("Done."))

    async def scenario(place: Office) -> None:
        keep, failed = place.folder.keep, []

        async def full(session: Session) -> str:
            name = await keep(session)
            if place.folder.files and not failed:
                failed.append(name)
                raise StoreFullError("The disk is full.")
            return name

        place.folder.keep = full  # type: ignore[method-assign]
        await place.give("Append x.")
        await place.passes(3600)
        assert failed
        assert place.reports == [("person", "Done.")]
        assert place.folder.files == {"log": "x"}

    office(scenario, model)


def test_what_was_done_is_sent_away_when_the_task_ends_and_before_sleep() -> None:
    model = OfflineModel(reply(use(1, "write_file", path="a", text="1"), tokens=(520_000, 50)), reply("Done."))

    async def scenario(place: Office) -> None:
        await place.give("Write a.")
        await place.passes(60)
        assert not (await place.spending.state(AGENT, place.clock.now())).state.may_go_on
        assert place.folder.sent == [{"a": "1"}]
        await place.passes(24 * 3600)
        assert place.reports == [("person", "Done.")]
        assert place.folder.sent[-1] == {"a": "1"}
        assert len(place.folder.sent) >= 2

    office(scenario, model, budget=30)


def test_the_report_tool_ends_the_task() -> None:
    model = OfflineModel(reply(use(1, "report", text="All done.")))

    async def scenario(place: Office) -> None:
        await place.give("Do nothing.")
        await place.passes(5)
        assert place.reports == [("person", "All done.")]

    office(scenario, model)


def test_letters_are_worked_on_one_after_the_other_in_one_session() -> None:
    model = OfflineModel(reply("One done."), reply("Two done."))

    async def scenario(place: Office) -> None:
        now = place.clock.now()
        for text in ("One", "Two"):
            await place.store.letters.put(Letter(AGENT, "ci", text, Priority.NORMAL, now))
        await place.sessions.arrived(AGENT, Priority.NORMAL, now)
        place.dispatcher.poke()
        await place.passes(60)
        assert place.reports == [("ci", "One done."), ("ci", "Two done.")]
        assert [one.id for one in await place.store.sessions.of_agent(AGENT)] == ["s1"]

    office(scenario, model)


def test_an_urgent_letter_is_heard_before_the_next_turn() -> None:
    async def scenario(place: Office) -> None:
        async def interrupt() -> None:
            letter = Letter(AGENT, "person", "Use tabs.", Priority.INTERRUPT, place.clock.now())
            await place.store.letters.put(letter)
            await place.sessions.arrived(AGENT, Priority.INTERRUPT, place.clock.now())

        place.folder.on_change = interrupt
        await place.give("Work.")
        await place.passes(60)
        assert place.reports == [("person", "heard: Message from person: Use tabs.")]
        assert not await place.store.letters.unread(AGENT)

    model = OfflineModel(
        reply(use(1, "write_file", path="a", text="1")), lambda request: reply(f"heard: {request.turns[-1].text}")
    )
    office(scenario, model)


def writes_as_long_as_it_may(request: ModelRequest) -> ModelReply:
    """Each turn reads 4,000 tokens more and writes 500."""
    turns = sum(isinstance(block, ToolUse) for turn in request.turns for block in turn.content)
    if not request.tools:
        return reply("Closing: half of it is done.")
    if turns == 6:
        return reply("All six are done.")
    return reply(use(turns, "write_file", path=f"f{turns}", text="x"), tokens=(4_000 * (turns + 1), 500))


def test_a_used_up_run_closes_with_a_report() -> None:
    async def scenario(place: Office) -> None:
        await place.give("Much work.")
        await place.passes(600)
        session = await place.session()
        assert session.status is SessionStatus.STOPPED
        assert session.reason == "Its run budget was used up."
        assert place.reports == [("person", "Closing: half of it is done.")]

    office(scenario, OfflineModel(*[writes_as_long_as_it_may] * 20), tokens=20_000)


def test_an_extension_lets_the_run_go_on() -> None:
    async def scenario(place: Office) -> None:
        await place.give("Much work.")
        await place.passes(600)
        assert (await place.session()).status is SessionStatus.DONE
        assert [one.additional_tokens for one in place.approver.asked] == [4_400]

    model = OfflineModel(*[writes_as_long_as_it_may] * 20)
    office(scenario, model, tokens=22_000, approvals=(Approval.GRANTED, Approval.GRANTED))


def test_a_worker_that_asks_waits_for_the_answer() -> None:
    model = OfflineModel(
        reply(use(1, "ask_person", question="Tabs or spaces?")), lambda request: reply(request.turns[-1].text)
    )

    async def scenario(place: Office) -> None:
        await place.give("Format it.")
        await place.passes(60)
        assert (await place.session()).status is SessionStatus.WAITING
        question = (await place.store.questions.open(place.clock.now()))[0]
        await place.sessions.answer(question.id, "spaces")
        place.dispatcher.poke()
        await place.passes(5)
        assert place.reports == [("person", "The person answered: spaces")]

    office(scenario, model)


def test_nobody_answers_and_the_worker_goes_on() -> None:
    model = OfflineModel(reply(use(1, "ask_person", question="Tabs?")), lambda request: reply(request.turns[-1].text))

    async def scenario(place: Office) -> None:
        await place.give("Format it.")
        await place.passes(2 * 3600)
        assert place.reports[0][1].startswith("The person did not answer.")

    office(scenario, model)


def test_a_sleeping_worker_goes_on_when_the_day_turns() -> None:
    model = OfflineModel(
        reply(use(1, "append", path="a", text="1"), tokens=(40_000, 40_000)),
        reply(use(2, "append", path="a", text="2")),
        default=reply("Done."),
    )

    async def scenario(place: Office) -> None:
        await place.give("Work.")
        await place.passes(3600)
        assert (await place.session()).status is SessionStatus.WORKING
        assert (await place.spending.state(AGENT, place.clock.now())).state.value in ("asleep", "budget_exceeded")
        assert place.folder.files == {"a": "1"}
        place.folder.files["a"] = "damaged"
        await place.passes(24 * 3600)
        assert place.reports == [("person", "Done.")]
        assert place.folder.files == {"a": "12"}
        feed = [line.text for line in await place.store.feed.recent()]
        assert "Resuming — budget refreshed. Continuing from Work." in feed
        assert "The workspace differed from its last snapshot in a. Restored it." in feed

    office(scenario, model, budget=14)


def test_cancelled_and_resumed() -> None:
    model = OfflineModel(reply(use(1, "ask_person", question="Go?")), reply("Back at work. Done."))

    async def scenario(place: Office) -> None:
        await place.give("Work.")
        await place.passes(10)
        await place.sessions.cancel(await place.session())
        await place.passes(10)
        assert (await place.session()).status is SessionStatus.CANCELLED
        await place.sessions.resume(await place.session())
        place.dispatcher.poke()
        await place.passes(10)
        assert (await place.session()).status is SessionStatus.DONE

    office(scenario, model)


def test_a_breaker_cancels_the_tool_that_runs_and_the_work_goes_on_the_next_day() -> None:
    model = OfflineModel(reply(use(1, "sleep")), default=reply("Done."))

    async def scenario(place: Office) -> None:
        await place.give("Wait.")
        await place.passes(10)
        assert place.folder.ran == ["t1"]
        async with place.spending.hold(AGENT, input_bound=1_000, max_tokens=1_000) as hold:
            hold.settle({"input_tokens": 400_000, "output_tokens": 0})
        assert (await place.spending.state(AGENT, place.clock.now())).state.value == "budget_exceeded"
        await place.passes(1)
        timer = await place.store.timers.get(AGENT, KIND)
        assert timer is not None
        assert timer.due_at > place.clock.now() + 3600 * SECOND
        await place.passes(24 * 3600)
        assert place.folder.ran == ["t1", "t1"]
        assert place.reports == [("person", "Done.")]

    office(scenario, model, budget=14)
