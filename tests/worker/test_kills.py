"""kill -9 of a working process at random instants: the same workspace and report as without."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nudge.clock import SystemClock
from nudge.progress.store import Session
from nudge.spending.budgets import Budgets, SpendingPlan
from nudge.stores.open import open_store
from tests.worker.life import AGENT

pytestmark = [pytest.mark.process, pytest.mark.slow]

KILLS = int(os.environ.get("NUDGE_WORKER_KILLS", "12"))


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.worker.life", str(folder)], stderr=subprocess.PIPE)


def live_to_the_end(folder: Path) -> None:
    process = start(folder)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said.decode()


def kill_somewhere(folder: Path, chance: random.Random) -> bool:
    """Start it, and kill it a moment after some further tool call has begun. False if it came to its end first."""
    process, begun = start(folder), len(ran_after(folder, 0))
    until = begun + chance.randrange(0, 12)
    while process.poll() is None and len(ran_after(folder, 0)) < until:
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.06) if until > begun else chance.uniform(0, 1.5))
    killed = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return killed


def picture(folder: Path) -> dict[str, str]:
    """Every path of a workspace, with what it is."""
    top, found = folder / "workspace", {}
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = f"{path.stat().st_mode & 0o777:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found


def look(folder: Path) -> tuple[Session | None, set[str], int, int, int]:
    """The session, the tool calls whose results are checkpointed, and the money: charged, logged, held."""

    async def read() -> tuple[Session | None, set[str], int, int, int]:
        store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
        session = await store.sessions.get(AGENT, "s1")
        done = {
            block["tool_use_id"]
            for message in await store.sessions.messages(AGENT, "s1", limit=10_000)
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        }
        rows = await store.usage.recent(AGENT, limit=10_000)
        window = (await Budgets(store, SpendingPlan.of(3_000)).status(AGENT, SystemClock().now())).window
        await store.close()
        return session, done, window.committed, sum(one.cost for one in rows), window.held

    return asyncio.run(read())


def ran_after(folder: Path, since: int) -> list[str]:
    path = folder / "ran.txt"
    return path.read_text().splitlines()[since:] if path.exists() else []


def test_kills_change_neither_workspace_nor_report_nor_ledger(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    calm.mkdir()
    live_to_the_end(calm)
    expected, report = picture(calm), look(calm)[0]
    assert report is not None
    assert report.report == "All fifty steps are done."
    chance = random.Random(20_261_116)
    kills, run = 0, 0
    while kills < KILLS:
        run += 1
        folder = tmp_path / f"run{run}"
        folder.mkdir()
        while not (folder / "over").exists():
            done = look(folder)[1] if (folder / "nudge.db").exists() else set()
            before = len(ran_after(folder, 0))
            kills += kill_somewhere(folder, chance)
            assert not set(ran_after(folder, before)) & done, "a tool whose result was checkpointed ran again"
        session, _, charged, logged, held = look(folder)
        assert session is not None
        assert (session.status, session.report) == (report.status, report.report)
        assert picture(folder) == expected, f"run {run}"
        assert charged == logged
        assert held == 0
