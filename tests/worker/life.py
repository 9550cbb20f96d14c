"""One life of a working process, to be killed at any instant: `python -m tests.worker.life FOLDER`.

Everything is real but the model, which plays a script of fifty turns. Which tool ran is noted outside the workspace.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from nudge.blobs.obstore import open_blobs
from nudge.clock import SystemClock
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.foreground import Nowhere
from nudge.daemon.working import WorkPorts
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.model import ToolUse
from nudge.models.scripted import ScriptedModel
from nudge.progress.store import Session
from nudge.sandbox.choose import unconfined
from nudge.spending.budgets import SpendingPlan
from nudge.stores.open import open_store
from nudge.worker.loop import Done
from nudge.worker.sessions import Task
from nudge.worker.snapshots import Snapshots
from nudge.worker.toolbox import WorkerTools
from nudge.worker.workspaces import KeptWorkspaces

AGENT = "worker"
TURNS = 50


def script() -> dict[str, Any]:
    """Writes, edits, appends by a command (which shows if it ran twice), and reads."""
    turns = []
    for number in range(TURNS):
        match number % 5:
            case 0:
                call = {"write_file": {"path": f"part{number}.txt", "content": f"part {number}\n"}}
            case 1:
                call = {"bash": {"command": f"echo step {number} >> log.txt; mkdir -p d{number}; ln -sf log.txt last"}}
            case 2:
                call = {"edit_file": {"path": f"part{number - 2}.txt", "old": "part", "new": f"piece {number} of"}}
            case 3:
                call = {"bash": {"command": f"wc -l log.txt >> sizes.txt; rm -rf d{number - 7}; chmod 600 sizes.txt"}}
            case _:
                call = {"read_file": {"path": "log.txt"}}
        turns.append({"calls": [call], "usage": [1_000 + 40 * number, 60]})
    return {"turns": turns, "closing": "All fifty steps are done."}


async def main(folder: Path) -> None:
    clock = SystemClock()
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    note_tools(folder / "ran.txt")
    store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
    await store.lanes.release_owner(AGENT)
    snapshots = Snapshots(open_blobs(str(folder / "snapshots"), {}), AGENT, folder / "cache")
    work = WorkPorts(
        works=lambda agent: agent.name == AGENT,
        instructions=lambda agent: "You work.",
        folder_of=lambda agent: workspace,
        sandbox_of=lambda agent: unconfined(),
        workspaces=KeptWorkspaces(lambda agent: workspace, lambda agent: snapshots, clock),
    )
    ports = Ports(
        store, clock, Nowhere(), HomeDocuments(Home(folder)), load_prices(),
        model=ScriptedModel.of(script()), is_coach=lambda agent: False, work=work,
    )  # fmt: skip
    daemon = Daemon(ports, Options(owner=AGENT, home=AGENT, plan=SpendingPlan.of(3_000)))
    if await store.agents.get(AGENT) is None:
        await daemon.agents.add(AGENT, AGENT, clock.now())
    await daemon.start()
    assert daemon.working is not None
    if not (folder / "given").exists():
        async with store.transaction():
            if not await store.letters.unread(AGENT) and await store.sessions.current(AGENT) is None:
                daemon.working.sessions._new_id = lambda: "s1"
                await daemon.working.sessions.give(AGENT, Task("Do the fifty steps.", "terminal"))
        (folder / "given").touch()
    running = asyncio.create_task(daemon.run())
    while True:
        session = await store.sessions.get(AGENT, "s1")
        if session is not None and not session.status.is_open:
            break
        await clock.sleep(0.02)
    daemon.stop()
    await running
    await store.close()
    (folder / "over").touch()


def note_tools(file: Path) -> None:
    run = WorkerTools.run

    async def noted(self: WorkerTools, session: Session, use: ToolUse) -> Done:
        with file.open("a") as lines:
            lines.write(f"{use.id}\n")
        return await run(self, session, use)

    WorkerTools.run = noted  # type: ignore[method-assign]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
