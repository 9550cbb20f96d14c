"""`nudge work --demo`: a scripted worker on a small broken project. Everything but the model is real.

It explores, plans, edits, runs the tests, goes in circles and is nudged out of it, uses up its day, sleeps, is
topped up, checks its workspace, finishes and reports.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nudge.cli.render import shown
from nudge.cli.session_watch import Watch
from nudge.clock import Clock, SystemClock
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.working import WorkPorts
from nudge.models.scripted import ScriptedModel
from nudge.palette import Tone, painted
from nudge.progress.store import Session
from nudge.stores.store import SqlStore

AGENT = "worker"
DAILY = 0.05
"""Dollars that the demo's worker may spend in a day. Its script uses more than that."""


def demo(args: argparse.Namespace) -> int:
    from nudge.home.yaml_files import read_mapping

    text = (resources.files("nudge.cli") / "demo.yaml").read_text(encoding="utf-8")
    script = read_mapping(text, "demo.yaml", what="a script", starts="files: …")
    with TemporaryDirectory(prefix="nudge-demo-") as folder:
        return asyncio.run(_play(Path(folder), script, as_json=args.json))


async def _play(folder: Path, script: Any, *, as_json: bool) -> int:
    from nudge.daemon.foreground import watched, working
    from nudge.stores.open import open_store
    from nudge.worker.sessions import Task

    logging.getLogger("nudge").addHandler(logging.NullHandler())  # the feed is shown instead
    clock = SystemClock()
    colour = sys.stdout.isatty() and not as_json
    view = Watch(colour, as_json=as_json)
    store = await open_store(f"sqlite:///{folder / 'demo.db'}")
    try:
        ports, options = _world(folder, script, store, clock)
        async with working(ports, options) as daemon:
            assert daemon.working is not None
            await daemon.agents.add(AGENT, AGENT, clock.now())
            await daemon.adopt()
            session_id = await daemon.working.sessions.give(AGENT, Task(str(script["task"]), "terminal"))
            daemon.poke()
            acts = _Acts(daemon, folder, colour, say=not as_json)
            last: Session | None = None

            async def look(store: SqlStore) -> bool:
                nonlocal last
                last, meter = await view.look(store, AGENT, session_id)
                view.show(last, meter)
                await acts.next(view)
                return last is not None and not last.status.is_open

            await watched(daemon, look, clock)
            if last is None or last.status.is_open:
                return 130
            return view.ended(last)
    finally:
        await store.close()


def _world(folder: Path, script: Any, store: SqlStore, clock: Clock) -> tuple[Ports, Options]:
    """A home of its own for the demo: a project, a sandbox, snapshots, a script for a model, and little money."""
    from nudge.blobs.obstore import open_blobs
    from nudge.daemon.foreground import Nowhere
    from nudge.home.documents import HomeDocuments
    from nudge.home.folder import Home
    from nudge.home.prices import load_prices
    from nudge.sandbox.choose import choose
    from nudge.spending.budgets import SpendingPlan
    from nudge.worker.prompts import instructions
    from nudge.worker.snapshots import Snapshots
    from nudge.worker.workspaces import KeptWorkspaces

    workspace = folder / "workspace"
    workspace.mkdir(mode=0o700)
    for name, content in script["files"].items():
        (workspace / name).write_text(content, encoding="utf-8")
    snapshots = Snapshots(open_blobs(str(folder / "snapshots"), {}), AGENT, folder / "cache")
    sandbox = choose()
    work = WorkPorts(
        works=lambda agent: agent.name == AGENT,
        instructions=lambda agent: instructions(agent, ""),
        folder_of=lambda agent: workspace,
        sandbox_of=lambda agent: sandbox,
        workspaces=KeptWorkspaces(lambda agent: workspace, lambda agent: snapshots, clock),
    )
    ports = Ports(
        store,
        clock,
        Nowhere(),
        HomeDocuments(Home(folder)),
        load_prices(),
        model=ScriptedModel.of(script, sleep=clock.sleep),
        is_coach=lambda agent: False,
        work=work,
    )
    return ports, Options(owner="demo", plan=SpendingPlan.of(DAILY * 30))


class _Acts:
    """What somebody outside does in the demo: tops up a sleeping worker, after touching a file of its workspace."""

    def __init__(self, daemon: Daemon, folder: Path, colour: bool, *, say: bool) -> None:
        self._daemon = daemon
        self._folder = folder
        self._colour = colour
        self._say = say
        self._topped_up = False
        self._told = 0

    async def next(self, view: Watch) -> None:
        now = self._daemon.clock.now()
        await self._tell_feed(view)
        state = (await self._daemon.spending.state(AGENT, now)).state
        if state.may_go_on or self._topped_up:
            return
        self._topped_up = True
        self._line(view, "(someone edits cart.py meanwhile)")
        with (self._folder / "workspace" / "cart.py").open("a") as file:
            file.write("\n# a stray line\n")
        self._line(view, "$ nudge budget top-up 5.00")
        await self._daemon.spending.budgets.top_up(AGENT, 5, now)
        self._daemon.poke()

    async def _tell_feed(self, view: Watch) -> None:
        for line in await self._daemon.store.feed.after_id(self._told):
            self._told = max(self._told, line.id)
            if line.agent == AGENT:
                self._line(view, f"* {line.text}")

    def _line(self, view: Watch, text: str) -> None:
        if self._say:
            view.clear()
            sys.stdout.write(shown(painted(text, Tone.INFO, self._colour)) + "\n")
            sys.stdout.flush()
