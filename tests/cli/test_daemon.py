"""The daemon as a real process: signals, its lock, its socket, a damaged database, and death in the middle of work."""

from __future__ import annotations

import json
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from tests.cli.cli import Cli, CliHere, until
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


def overwrite(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        pytest.param(lambda path: overwrite(path, 0, b"\xff" * 100), ["stretch"], id="its header is gone"),
        pytest.param(
            lambda path: path.write_bytes(b"this is not a database" * 500), ["stretch"], id="all of it is gone"
        ),
        pytest.param(lambda path: path.write_bytes(b""), ["stretch"], id="it was cut to nothing"),
    ],
)
def test_a_damaged_database_is_kept_and_recovered_and_the_person_is_told(
    home: Cli, damage: Any, left: list[str]
) -> None:
    database = home.home / "nudge.db"
    with home.start():
        home("reminder", "add", "--name", "stretch", "--every", "1h", "--message", "Stretch.", "--to-person")
    for copy in (home.home / "copies").glob("*"):
        copy.unlink()  # from before the reminder was added
    with home.start() as daemon:
        until(lambda: list((home.home / "copies").glob("nudge-*.db")), "there is a copy")
        daemon.signal(signal.SIGTERM)
        daemon.wait()
    damage(database)
    with home.start():
        assert [one["name"] for one in home.json("reminder", "list")] == left
        until(lambda: "My database was damaged" in home("log").stdout, "the log says so")
        told = "select count(*) from timers where key = 'notice:database'"
        asked = "select count(*) from outbox where text like '%My database was damaged%'"
        until(lambda: rows(database, told) + rows(database, asked) > 0, "the person is told")
    assert [file for file in home.home.glob("nudge.db.damaged-*") if not file.name.endswith(("-wal", "-shm"))]
    assert "sound" in home("doctor").stdout


def test_damage_while_it_runs_is_recovered_without_a_restart(home: Cli) -> None:
    database = home.home / "nudge.db"
    with home.start() as daemon:
        for number in range(3):
            home_add(home, f"call-{number}")
        pid = daemon.process.pid
        with sqlite3.connect(database) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'timers_by_due'").fetchone()[0]
        connection.close()
        overwrite(database, (root - 1) * 4096, b"\xa5" * 4096)
        home("reminder", "add", "--name", "later", "--every", "1h", "--message", "Later.", code=None)
        until(lambda: list(home.home.glob("nudge.db.damaged-*")), "the damage is noticed")
        until(lambda: home("status", code=None).returncode == 0, "it is up again")
        assert home.json("status")["pid"] == pid
        assert {"call-0", "call-1", "call-2"} <= {one["name"] for one in home.json("reminder", "list")}


def home_add(home: Cli, name: str) -> None:
    home("reminder", "add", "--name", name, "--every", "1h", "--message", f"{name}.")


def test_a_database_removed_under_the_daemon_is_written_again_and_nothing_is_lost(home: Cli) -> None:
    database = home.home / "nudge.db"
    with home.start():
        home_add(home, "before")
        for file in home.home.glob("nudge.db*"):
            file.unlink()
        home_add(home, "after")
        assert {one["name"] for one in home.json("reminder", "list")} == {"before", "after"}
        assert database.exists()
        assert home.json("status")["timers"] == rows(database, "select count(*) from timers")
        until(lambda: "It was written again" in home("log").stdout, "the log says so")
        database.unlink()
        home_add(home, "again")
        assert {one["name"] for one in home.json("reminder", "list")} == {"before", "after", "again"}
    assert {one["name"] for one in home.json("reminder", "list")} == {"before", "after", "again"}
    assert "sound" in home("doctor").stdout


def test_a_database_that_stays_away_is_not_made_anew_beside_a_daemon(home: Cli) -> None:
    with home.start() as daemon:
        home_add(home, "before")
        daemon.signal(signal.SIGSTOP)
        for file in home.home.glob("nudge.db*"):
            file.unlink()
        done = home("reminder", "add", "--name", "x", "--every", "1h", "--message", "X.", code=1)
        assert "was removed while nudge was running. Nothing was changed." in done.stderr
        assert not (home.home / "nudge.db").exists()
        daemon.signal(signal.SIGCONT)
        until(lambda: (home.home / "nudge.db").exists(), "it is back")
        assert [one["name"] for one in home.json("reminder", "list")] == ["before"]


def test_a_database_replaced_under_the_daemon_is_taken_over_and_the_old_one_is_kept(home: Cli) -> None:
    database, backup = home.home / "nudge.db", home.home / "backup.db"
    with home.start() as daemon:
        home_add(home, "early")
        with sqlite3.connect(database) as source, sqlite3.connect(backup) as target:
            source.backup(target)
        source.close()
        target.close()
        home_add(home, "late")
        backup.replace(database)
        until(lambda: list(home.home.glob("nudge.db.replaced-*")), "the old one is kept")
        until(lambda: home("status", code=None).returncode == 0, "it is up again")
        home_add(home, "new")
        assert {one["name"] for one in home.json("reminder", "list")} == {"early", "new"}
        (kept,) = home.home.glob("nudge.db.replaced-*")
        assert rows(kept, "select count(*) from reminders where name = 'late'") == 1
        assert daemon.process.poll() is None
        assert home.json("status")["timers"] == rows(database, "select count(*) from timers")


def rows(path: Path, sql: str) -> int:
    with sqlite3.connect(path) as connection:
        (count,) = connection.execute(sql).fetchone()
    connection.close()
    return int(count)


def test_it_is_the_database_in_use_that_is_examined_and_recovered(home: Cli, tmp_path: Path) -> None:
    with home.start():
        pass
    sound = home.home / "nudge.db"
    other = tmp_path / "elsewhere.db"
    home.environment["NUDGE_DATABASE_URL"] = f"sqlite:///{other}"
    other.write_bytes(b"this is not a database" * 500)
    assert str(other) in home("doctor", code=1).stdout
    assert "kept as elsewhere.db.damaged-" in home("doctor", "--fix").stdout
    other.write_bytes(b"this is not a database" * 500)
    with home.start():
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


def test_doctor_finds_and_recovers_a_database_damaged_inside(home: Cli) -> None:
    with home.start():
        pass
    database = home.home / "nudge.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    overwrite(database, 4096, b"\xff" * (4096 * 7))
    assert "damaged" in home("doctor", code=1).stdout
    assert "kept as" in home("doctor", "--fix").stdout
    assert "sound" in home("doctor").stdout


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


def test_status_without_a_daemon_shows_what_the_database_knows(here: CliHere) -> None:
    before = here("status", code=5)
    assert before.stdout == ""
    here("reminder", "add", "-m", "Stretch", "--in", "2h", "--to-person")
    done = here("status", code=5)
    assert "daemon  not running" in done.stdout
    assert "agents  coach" in done.stdout
    assert "timers  1; next in 1 h 59 min" in done.stdout
    assert "coach: 0% used, awake" in done.stdout
    assert "Start it with 'nudge run'." in done.stderr
    status = json.loads(here("status", "--json", code=5).stdout)
    assert (status["pid"], status["started_at"], status["timers"]) == (None, None, 1)


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        pytest.param(["status"], "daemon  not running", id="status"),
        pytest.param(["budget"], "Budget: 0% used", id="budget"),
        pytest.param(["reminder", "list"], "Stretch", id="reminders"),
    ],
)
def test_watch_shows_it_again_until_interrupted(here: CliHere, command: list[str], shows: str) -> None:
    here("reminder", "add", "-m", "Stretch", "--in", "2h", "--to-person")
    with patch("time.sleep", side_effect=[None, None, KeyboardInterrupt]):
        done = here(*command, "--watch", code=130)
    assert done.stdout.count(shows) == 3
