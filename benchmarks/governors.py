"""What the governors cost a working agent: everything of an iteration but the model and the tools."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Row, postgres, say, scratch
from nudge.clock import SystemClock
from nudge.home.prices import load_prices
from nudge.model import ModelReply, ModelRequest, StopReason, Text, Tool, ToolUse
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.run_limits import RunLimits
from nudge.progress.store import Session
from nudge.progress.stored_pools import Pools
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.spending.budgets import SpendingPlan
from nudge.spending.governor import Spending
from nudge.stores.open import open_store
from nudge.testing import OfflineModel, ScriptedApprover
from nudge.tokens import TokenUse
from nudge.worker.loop import Done, RunOptions, WorkLoop
from nudge.worker.sessions import KIND, Sessions, Task
from nudge.worker.worker import Worker

_TURNS = 100
AGENT = "bench"


class NoTools:
    """Answers at once, and says that nothing changed: no snapshot is taken."""

    def offered(self, session: Session) -> Sequence[Tool]:
        return [Tool(f"tool{number}", "does nothing", {"type": "object"}) for number in range(12)]

    def only_reads(self, name: str) -> bool:
        return True

    def stands_alone(self, name: str) -> bool:
        return False

    async def run(self, session: Session, use: ToolUse) -> Done:
        return Done("line\n" * 100)


class NoFolder:
    async def keep(self, session: Session) -> str:
        return "1"

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        return ()

    async def send_away(self, agent: str) -> None:
        return None

    @asynccontextmanager
    async def changing(self, agent: str) -> AsyncIterator[None]:
        yield


def answer(request: ModelRequest) -> ModelReply:
    number = sum(turn.role.value == "assistant" for turn in request.turns)
    usage = TokenUse(1_000 + 100 * number, 50)
    if number >= _TURNS:
        return ModelReply((Text("Done."),), "claude-sonnet-5-5", usage)
    use = ToolUse(f"t{number}", f"tool{number % 12}", {"path": f"file{number}"})
    return ModelReply((use,), "claude-sonnet-5-5", usage, stop_reason=StopReason.TOOL_USE)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a whole run: how long it took, how much of that was this process's own work, and how often it wrote."""

    seconds: float
    processor: float
    commits: int


async def _measured(url: str) -> Cost:
    store = await open_store(url)
    over = asyncio.Event()
    commits = 0

    def probe(statement: str) -> None:
        nonlocal commits
        commits += statement == "commit"

    async def report(session: Session, now: object) -> None:
        assert session.iteration > _TURNS, session.reason
        over.set()

    try:
        clock = SystemClock()
        await store.agents.add(Agent(AGENT, "worker", clock.now()))
        spending = Spending(store, clock, prices=load_prices(), plan=SpendingPlan.of(30_000))
        await spending.start(clock.now())
        model: Any = OfflineModel(*[answer] * (_TURNS + 5))
        loop = WorkLoop(
            Checkpoints(store), clock, spending, model, NoTools(), NoFolder(),
            approver_for=lambda session: ScriptedApprover(), instructions=lambda agent: "You work.",
        )  # fmt: skip
        options = RunOptions(RunLimits(tokens=None, duration=None, cost=100))
        sessions = Sessions(store, clock, options, lambda: "s1")
        worker = Worker(
            store, clock, spending, Pools(store), loop, NoFolder(),
            report=report, options=options, new_id=lambda: "s1",
        )  # fmt: skip
        dispatcher = Dispatcher(store, clock, {KIND: worker.fire}, owner="bench")
        await sessions.give(AGENT, Task("Work."))
        store.database.probe = probe
        started, used = time.perf_counter(), time.process_time()
        running = asyncio.create_task(dispatcher.run())
        await over.wait()
        cost = Cost(time.perf_counter() - started, time.process_time() - used, commits)
        dispatcher.stop()
        await running
        return cost
    finally:
        await store.close()


def rows() -> list[Row]:
    say(f"{_TURNS} turns on each database")
    with scratch() as folder:
        runs = [asyncio.run(_measured(f"sqlite:///{folder / f'{turn}.db'}")) for turn in range(3)]
    with postgres() as url:
        server = asyncio.run(_measured(url))
    sqlite = min(runs, key=lambda run: run.seconds)
    return [
        ("one iteration of a worker without model and tools, SQLite", _each(sqlite.seconds), "< 5 ms"),
        ("… of that, processor time", _each(min(run.processor for run in runs)), "-"),
        ("… commits", f"{sqlite.commits / _TURNS:.1f}", "-"),
        ("the same on PostgreSQL", _each(server.seconds), "< 10 ms"),
        ("… of that, processor time", _each(server.processor), "-"),
    ]


def _each(seconds: float) -> str:
    return f"{seconds / _TURNS * 1e3:.1f} ms"
