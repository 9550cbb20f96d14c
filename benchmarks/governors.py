"""What the governors cost a working agent: everything of an iteration but the model and the tools."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
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


async def _seconds(url: str) -> float:
    store = await open_store(url)
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
            report=_nobody, options=options, new_id=lambda: "s1",
        )  # fmt: skip
        dispatcher = Dispatcher(store, clock, {KIND: worker.fire}, owner="bench")
        await sessions.give(AGENT, Task("Work."))
        started = time.perf_counter()
        running = asyncio.create_task(dispatcher.run())
        while (session := await store.sessions.get(AGENT, "s1")) is None or session.status.is_open:
            await asyncio.sleep(0.01)
        seconds = time.perf_counter() - started
        dispatcher.stop()
        await running
        assert session.iteration > _TURNS, session.reason
        return seconds
    finally:
        await store.close()


async def _nobody(session: Session, now: object) -> None:
    return None


def rows() -> list[Row]:
    say(f"{_TURNS} turns on each database")
    with scratch() as folder:
        sqlite = min(asyncio.run(_seconds(f"sqlite:///{folder / f'{turn}.db'}")) for turn in range(3))
    with postgres() as url:
        server = asyncio.run(_seconds(url))
    return [
        ("one iteration of a worker without model and tools, SQLite", f"{sqlite / _TURNS * 1e3:.1f} ms", "< 5 ms"),
        ("the same on PostgreSQL", f"{server / _TURNS * 1e3:.1f} ms", "< 10 ms"),
    ]
