"""A working process is killed at every point where something can be lost: each store write, each commit, before and
after each tool, each model call and each piece of a snapshot. The next one goes on, and nothing shows."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nudge.blobs.obstore import open_blobs
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.foreground import Nowhere
from nudge.daemon.working import WorkPorts
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.model import ModelReply, ModelRequest, ToolUse
from nudge.models.scripted import ScriptedModel
from nudge.progress.store import Session
from nudge.sandbox.choose import unconfined
from nudge.spending.budgets import SpendingPlan
from nudge.stores.open import open_store
from nudge.testing import VirtualClock, run_virtual
from nudge.worker.loop import Done
from nudge.worker.sessions import Task
from nudge.worker.snapshots import Snapshots
from nudge.worker.toolbox import WorkerTools
from nudge.worker.workspaces import KeptWorkspaces

pytestmark = pytest.mark.slow

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
AGENT = "worker"
STRIDE = int(os.environ.get("NUDGE_CRASH_STRIDE", "7"))
"""Every seventh point in `make test`, all of them in `make soak`."""
SCRIPT = {
    "turns": [
        {"calls": [{"write_file": {"path": "a.txt", "content": "one\n"}}, {"read_file": {"path": "a.txt"}}]},
        {"calls": [{"append": {"text": "1;"}}]},
        {"calls": [{"edit_file": {"path": "a.txt", "old": "one", "new": "two"}}]},
        {"calls": [{"append": {"text": "2;"}}]},
        {"calls": [{"report": {"text": "Both lines are in the log."}}]},
    ]
}


class Points:
    """Counts the points that a life passes, and kills it at one of them."""

    def __init__(self, last: int | None, trace: Path) -> None:
        self._left = last
        self._trace = trace

    def __call__(self, name: str) -> None:
        with self._trace.open("a") as lines:
            lines.write(f"{name}\n")
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Tools(WorkerTools):
    """`append` is a tool that shows at once if it ran twice."""

    def __init__(self, tools: WorkerTools, folder: Path, point: Points) -> None:
        self.__dict__.update(tools.__dict__)
        self._folder = folder
        self._point = point

    def only_reads(self, name: str) -> bool:
        return name != "append" and super().only_reads(name)

    async def run(self, session: Session, use: ToolUse) -> Done:
        self._point(f"tool {use.name} starts")
        if use.name == "append":
            with (self._folder / "log.txt").open("a") as file:
                file.write(str(use.input["text"]))
            done = Done("appended", changed=True)
        else:
            done = await super().run(session, use)
        self._point(f"tool {use.name} ended")
        return done


def life(folder: Path, last: int | None) -> None:
    """What the child does: the daemon for ten virtual minutes."""
    point = Points(last, folder / "points.txt")
    workspace = folder / "workspace"

    class Model(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            point("model is asked")
            reply = await super().complete(request)
            point("model has answered")
            return reply

    class Blobs:
        def __init__(self) -> None:
            self._blobs = open_blobs(str(folder / "snapshots"), {})

        def put(self, key: str, content: bytes) -> None:
            point("piece is stored")
            self._blobs.put(key, content)

        def put_new(self, key: str, content: bytes) -> bool:
            point("manifest is stored")
            stored = self._blobs.put_new(key, content)
            point("manifest was stored")
            return stored

        def __getattr__(self, name: str) -> Any:
            return getattr(self._blobs, name)

    async def inline(work: Callable[[], Any]) -> Any:
        return work()

    async def main(clock: VirtualClock) -> None:
        store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
        await store.lanes.release_owner(AGENT)
        blobs: Any = Blobs()
        work = WorkPorts(
            works=lambda agent: agent.name == AGENT,
            instructions=lambda agent: "You work.",
            folder_of=lambda agent: workspace,
            sandbox_of=lambda agent: unconfined(),
            workspaces=KeptWorkspaces(
                lambda agent: workspace,
                lambda agent: Snapshots(blobs, AGENT, folder / "cache"),
                clock,
                in_thread=inline,
            ),
        )
        ports = Ports(
            store, clock, Nowhere(), HomeDocuments(Home(folder)), load_prices(),
            model=Model.of(SCRIPT), is_coach=lambda agent: False, work=work,
        )  # fmt: skip
        daemon = Daemon(ports, Options(owner=AGENT, plan=SpendingPlan.of(3_000), longest_wait=3600))
        assert daemon.working is not None
        loop: Any = daemon.working.worker._loop
        loop._toolbox = Tools(loop._toolbox, workspace, point)
        await daemon.start()
        store.database.probe = point
        running = asyncio.create_task(daemon.run())
        await clock.sleep(600)
        store.database.probe = None
        daemon.stop()
        await running
        await store.close()

    run_virtual(main, START)


def forked(folder: Path, last: int | None) -> bool:
    """Whether the child came to its end."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            life(folder, last)
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "the child failed"
        return True
    return False


def prepared(folder: Path) -> Path:
    """A store with the task in it. The snapshots of the child may come in threads; the order of pieces does not
    matter."""

    async def main(clock: VirtualClock) -> None:
        from nudge.queue.agents import Agent
        from nudge.worker.loop import RunOptions
        from nudge.worker.sessions import Sessions

        store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
        await store.agents.add(Agent(AGENT, AGENT, clock.now()))
        await Sessions(store, clock, RunOptions(), lambda: "s1").give(AGENT, Task("Write it.", "terminal"))
        await store.close()

    (folder / "workspace").mkdir(parents=True)
    run_virtual(main, START)
    return folder


def found(folder: Path) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
        session = await store.sessions.get(AGENT, "s1")
        assert session is not None
        said = [
            [block.get("tool_use_id") for block in message["content"]]
            for message in await store.sessions.messages(AGENT, "s1")
            if any(block["type"] == "tool_result" for block in message["content"])
        ]
        outcomes = await store.outcomes.recent(agent=AGENT)
        unread = await store.letters.unread(AGENT)
        await store.close()
        ended = [row for row in outcomes if row.reason.startswith("Finished")]
        return {
            "status": session.status,
            "report": session.report,
            "results": said,
            "ended": len(ended),
            "unread": unread,
        }

    files = {path.name: path.read_text() for path in (folder / "workspace").iterdir()}
    return {**asyncio.run(main()), "files": files}


def test_a_kill_at_any_point_shows_nowhere(tmp_path: Path) -> None:
    calm = prepared(tmp_path / "calm")
    assert forked(calm, 100_000)
    expected = found(calm)
    assert expected["files"] == {"a.txt": "two\n", "log.txt": "1;2;"}
    assert (expected["report"], expected["ended"]) == ("Both lines are in the log.", 1)
    points = (calm / "points.txt").read_text().splitlines()
    wrong = {}
    for last in range(1 + len(points) % STRIDE, len(points) + 1, STRIDE):
        folder = prepared(tmp_path / str(last))
        if forked(folder, last):
            continue
        for _ in range(3):
            if forked(folder, None):
                break
        if (now := found(folder)) != expected:
            wrong[f"{last} {points[last - 1]}"] = now
    assert not wrong, json.dumps(wrong, indent=1, default=str)
