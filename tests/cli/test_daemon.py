"""The daemon as a real process: signals, its lock, its socket, a damaged database, and death in the middle of work."""

from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nudge.home.set_aside import set_aside
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from tests.cli.cli import Cli, until
from tests.times import NOON

pytestmark = pytest.mark.process


@pytest.mark.parametrize(("which", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_stops_gracefully(home: Cli, which: signal.Signals, code: int) -> None:
    with home.start() as daemon:
        daemon.signal(which)
        assert daemon.wait()[0] == code
    assert not (home.home / "run" / "control.sock").exists()
    home("status", code=5)


@pytest.mark.parametrize("nohup", [False, True])
def test_a_terminal_that_is_closed_stops_it_unless_nohup_was_meant(home: Cli, nohup: bool) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)
    try:
        with home.start() as daemon:
            daemon.signal(signal.SIGHUP)
            if nohup:
                home("status")
                daemon.signal(signal.SIGTERM)
            assert daemon.wait()[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_stop_ends_the_daemon(home: Cli) -> None:
    with home.start() as daemon:
        home("stop")
        assert daemon.wait()[0] == 0


def test_one_daemon_per_home(home: Cli) -> None:
    with home.start() as daemon:
        done = home("run", code=1)
        assert f"process {daemon.process.pid}" in done.stderr
        assert "nudge stop" in done.stderr


def test_a_killed_daemon_leaves_no_lock_behind(home: Cli) -> None:
    with home.start() as first:
        first.signal(signal.SIGKILL)
        first.wait()
    with home.start():
        assert home.json("status")["agents"] == ["coach"]


def test_the_socket_is_only_for_its_owner(home: Cli) -> None:
    with home.start():
        run = home.home / "run"
        assert stat.S_IMODE(run.stat().st_mode) == 0o700
        assert stat.S_IMODE((run / "control.sock").stat().st_mode) & 0o077 == 0


def test_what_was_said_is_only_for_its_owner_even_in_a_home_that_is_open(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "home")
    cli.home.mkdir(mode=0o755)
    cli("init")
    with cli.start():
        cli("log")
        files = [*cli.home.glob("nudge.db*"), cli.home / "logs", cli.home / "agents"]
        assert {file.name: stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files} == {
            "nudge.db": 0,
            "nudge.db-wal": 0,
            "nudge.db-shm": 0,
            "logs": 0,
            "agents": 0,
        }


def test_a_home_too_deep_for_a_socket_still_works(tmp_path: Path) -> None:
    deep = Cli(tmp_path / ("d" * 60) / ("e" * 60))
    deep("init")
    with deep.start():
        assert deep.json("status")["home"] == str(deep.home)


def test_a_damaged_database_is_kept_and_replaced_only_if_told(home: Cli) -> None:
    database = home.home / "nudge.db"
    junk = b"this is not a database" * 500
    database.write_bytes(junk)
    done = home("run", code=1)
    assert "damaged" in done.stderr
    assert "nudge doctor --fix" in done.stderr
    assert database.read_bytes() == junk
    with home.start("--empty-database"):
        pass
    (kept,) = [file for file in home.home.glob("nudge.db.damaged-*") if not file.name.endswith(("-wal", "-shm"))]
    assert kept.read_bytes() == junk
    assert "kept as" in home("log").stdout


def test_it_is_the_database_in_use_that_is_examined_and_set_aside(home: Cli, tmp_path: Path) -> None:
    with home.start():
        pass
    sound = home.home / "nudge.db"
    other = tmp_path / "elsewhere.db"
    home.environment["NUDGE_DATABASE_URL"] = f"sqlite:///{other}"
    other.write_bytes(b"this is not a database" * 500)
    assert str(other) in home("doctor", code=1).stdout
    assert "kept as elsewhere.db.damaged-" in home("doctor", "--fix").stdout
    assert not other.exists()
    other.write_bytes(b"this is not a database" * 500)
    with home.start("--empty-database"):
        pass
    assert len(list(tmp_path.glob("elsewhere.db.damaged-*"))) == 2
    assert sound.exists()


@pytest.mark.parametrize("name", ["a b", "hash#mark", "what?", "100%41", "übung 日本"])
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    cli = Cli(tmp_path / name)
    cli("init")
    with cli.start():
        assert cli.json("status")["home"] == str(cli.home)
    assert "sound" in cli("doctor").stdout
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_doctor_finds_and_sets_aside_a_database_damaged_inside(home: Cli) -> None:
    with home.start():
        pass
    database = home.home / "nudge.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    content = bytearray(database.read_bytes())
    content[4096 : 4096 * 8] = b"\xff" * (4096 * 7)
    database.write_bytes(content)
    assert "damaged" in home("doctor", code=1).stdout
    assert "kept as" in home("doctor", "--fix").stdout
    assert not database.exists()
    home("doctor")


def test_setting_aside_twice_in_a_second_overwrites_nothing(tmp_path: Path) -> None:
    database = tmp_path / "nudge.db"
    kept = []
    for text in ("one", "two", "three"):
        database.write_text(text)
        kept.append(set_aside(database, NOON))
    assert [path.read_text() for path in kept] == ["one", "two", "three"]


async def test_kill_nine_in_a_batch_of_a_thousand_loses_nothing_and_fires_nothing_twice(durable_url: str) -> None:
    store = await open_store(durable_url)
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.timers.set_many([Timer.at("coach", f"t{n:04}", "note", Instant(NOON + n)) for n in range(1000)])

    async def settled() -> int:
        return 1000 - await store.timers.count()

    runs = 0
    while await store.timers.count():
        process = subprocess.Popen([sys.executable, "-m", "tests.cli.note_batch", durable_url, f"run-{runs}"])
        try:
            goal = min(await settled() + 300, 1000)
            while await settled() < goal and process.poll() is None:
                pass
        finally:
            process.kill()
            process.wait()
        await store.lanes.release_owner(f"run-{runs}")  # as the next daemon of this home does
        runs += 1
    assert runs >= 3
    letters = await store.letters.unread("coach", limit=2000)
    assert sorted(letter.body for letter in letters) == [f"t{n:04}" for n in range(1000)]
    outcomes = await store.outcomes.after_id(0, limit=2000)
    assert sorted(row.key for row in outcomes) == [f"t{n:04}" for n in range(1000)]
    await store.close()


@pytest.mark.parametrize("how", [pytest.param([], id="a handler that hangs"), pytest.param(["deaf"], id="a deaf one")])
def test_the_second_signal_stops_at_once(durable_url: str, tmp_path: Path, how: list[str]) -> None:
    ready = tmp_path / "ready"
    process = subprocess.Popen([sys.executable, "-m", "tests.cli.stubborn", durable_url, str(ready), *how])
    try:
        until(ready.exists, "the handler hangs")
        process.send_signal(signal.SIGTERM)
        until(lambda: ready.read_text() == "stopping", "the first signal is noticed")
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
    finally:
        process.kill()
        process.wait()
