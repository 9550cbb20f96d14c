"""A damaged database: the file is kept, what can be read is recovered, and the rest comes from the last copy."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from nudge.daemon.checks import _database
from nudge.daemon.findings import Subject
from nudge.daemon.rescue import (
    COPIES_KEPT,
    copy_database,
    finish_rescue,
    is_emptied,
    recovered,
    rescue,
    set_aside,
    set_lost_timers,
    sound_copies,
)
from nudge.errors import StoreDamagedError, StoreError
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.inline import run_inline
from nudge.instants import DAY, HOUR, Instant
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.reminders.definition import make_reminder
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.stores.open import open_sqlite
from nudge.stores.salvage import wal_is_damaged
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.sqlite_file import examine_file
from tests.times import NOON

PAGE = 4096
MANY = 400
LONG = "a long line of the feed " * 400
"""Longer than a page: it is stored over several."""


_MADE: dict[bool, dict[str, bytes]] = {}


def filled(path: Path, *, log_stays: bool = False) -> None:
    """A database with more than one page in each table that matters, and one row over several pages."""
    if log_stays not in _MADE:
        _fill(path, log_stays)
        _MADE[log_stays] = {
            suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal") if log_stays or not suffix
        }
    for suffix, content in _MADE[log_stays].items():
        Path(f"{path}{suffix}").write_bytes(content)


def _fill(path: Path, log_stays: bool) -> None:
    store = open_sqlite(str(path))

    async def fill() -> None:
        await store.agents.add(Agent("coach", "coach", NOON))
        reminders = Reminders(store, lambda agent: None)  # type: ignore[arg-type, return-value]
        for number in range(MANY):
            fields = {"message": f"call number {number}", "name": f"call-{number}", "schedule": {"every": "1h"}}
            made = make_reminder(fields, agent="coach", now=NOON, zone="UTC", source=Source.CLI)
            await reminders.put(made, NOON)
            await store.outcomes.record(
                Outcome("coach", f"note:{number}", "note", NOON, NOON, Result.FIRED, "Fired as it should, on time.")
            )
        await store.feed.add(FeedLine(NOON, "coach", "note", LONG))

    run_inline(fill())
    if log_stays:
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{path}.kept{suffix}")
    run_inline(store.close())
    if log_stays:
        for suffix in ("", "-wal"):
            Path(f"{path}.kept{suffix}").rename(f"{path}{suffix}")


def names(path: Path) -> set[str]:
    store = open_sqlite(str(path))
    try:
        return {one.name for one in run_inline(store.reminders.everything())}
    finally:
        run_inline(store.close())


def root_of(path: Path, table: str) -> int:
    with sqlite3.connect(path) as connection:
        row = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    connection.close()
    return int(row[0])


def overwrite(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


def page_of(path: Path, text: bytes) -> int:
    return path.read_bytes().index(text) // PAGE


def every_tenth_page(path: Path) -> None:
    for at in range(PAGE, path.stat().st_size, 10 * PAGE):
        overwrite(path, at, os.urandom(PAGE))


def in_whole_pages(content: bytes) -> int:
    """How many reminders a cut file still has all of."""
    return len(set(re.findall(rb"call number \d+", content[: len(content) // PAGE * PAGE])))


DAMAGES: dict[str, tuple[Callable[[Path], None], int | None]] = {
    "the header is overwritten": (lambda path: overwrite(path, 0, b"\xff" * 100), MANY),
    "the header names another size": (lambda path: overwrite(path, 16, b"\x7f\x7f"), MANY),
    "the first page is gone": (lambda path: overwrite(path, 0, b"\0" * PAGE), MANY),
    "the root of the reminders is gone": (
        lambda path: overwrite(path, (root_of(path, "reminders") - 1) * PAGE, b"\xa5" * PAGE),
        MANY,
    ),
    "a page of reminders is gone": (
        lambda path: overwrite(path, page_of(path, b"call number 200") * PAGE, b"\xa5" * PAGE),
        MANY - 30,
    ),
    "a few bytes inside a page are wrong": (
        lambda path: overwrite(path, page_of(path, b"call number 200") * PAGE + 8, b"\xff\xff\xff\xff"),
        MANY - 30,
    ),
    "every tenth page is gone": (lambda path: every_tenth_page(path), MANY * 6 // 10),
    "the last third is cut off": (lambda path: os.truncate(path, path.stat().st_size * 2 // 3), None),
    "it ends in the middle of a page": (lambda path: os.truncate(path, path.stat().st_size - 1000), MANY - 30),
    "all is garbage": (lambda path: path.write_bytes(os.urandom(50 * PAGE)) and None, 0),
    "it is a text": (lambda path: path.write_text("this is not a database" * 500) and None, 0),
}


@pytest.mark.parametrize("copied", [False, True], ids=["without a copy", "with yesterday's copy"])
@pytest.mark.parametrize("how", DAMAGES)
def test_what_can_be_read_is_recovered_and_the_rest_comes_from_the_copy(tmp_path: Path, how: str, copied: bool) -> None:
    damage, at_least = DAMAGES[how]
    path, copies = tmp_path / "nudge.db", tmp_path / "copies"
    copies.mkdir()
    filled(path)
    if copied:
        copy_database(path, copies, Instant(NOON - DAY))
    damage(path)
    broken = path.read_bytes()
    done = rescue(path, copies, NOON)
    assert (tmp_path / done.kept).read_bytes() == broken
    examine_file(str(path))
    found = names(path)
    assert found <= {f"call-{number}" for number in range(MANY)}
    if at_least is None:
        at_least = in_whole_pages(broken)
        assert 0 < at_least < MANY
    assert len(found) >= (MANY if copied else at_least), len(found)
    assert done.reminders == len(found)
    if len(found) < MANY:
        assert "may be missing" in done.text
    elif copied and done.filled:
        assert "from the copy of 2026-02-17" in done.text


def test_a_reminder_that_lost_its_timer_gets_another(tmp_path: Path) -> None:
    path = tmp_path / "nudge.db"
    filled(path)
    store = open_sqlite(str(path))

    async def lose() -> tuple[int, int, int]:
        before = await store.timers.count()
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM timers WHERE key IN (SELECT key FROM timers LIMIT 7)")
            connection.execute("UPDATE reminders SET schedule = '?' WHERE id = (SELECT MIN(id) FROM reminders)")
        connection.close()
        await set_lost_timers(store, Instant(NOON + HOUR * 5 // 2))
        ended = [row for row in await store.reminders.listed(ended=True, limit=500) if row.status == "completed"]
        return before, await store.timers.count(), len(ended)

    before, after, ended = run_inline(lose())
    assert (before, ended) == (MANY, 1)
    assert after >= MANY - 1
    assert run_inline(store.timers.next_due(NOON)) == NOON + HOUR
    run_inline(store.close())


@pytest.mark.parametrize(
    ("size", "log", "copied", "emptied"),
    [
        pytest.param(0, 0, False, False, id="a new file that was never written"),
        pytest.param(0, 9000, False, True, id="with a log"),
        pytest.param(0, 0, True, True, id="with a copy"),
        pytest.param(10, 0, True, False, id="not empty"),
    ],
)
def test_an_empty_file_is_damage_where_there_was_more(
    tmp_path: Path, size: int, log: int, copied: bool, emptied: bool
) -> None:
    path, copies = tmp_path / "nudge.db", tmp_path / "copies"
    copies.mkdir()
    if copied:
        filled(path)
        copy_database(path, copies, NOON)
        path.unlink()
    path.write_bytes(b"x" * size)
    if log:
        Path(f"{path}-wal").write_bytes(b"x" * log)
    assert is_emptied(path, copies) is emptied


def test_what_is_in_the_log_alone_is_recovered_too(tmp_path: Path) -> None:
    path = tmp_path / "nudge.db"
    filled(path, log_stays=True)
    overwrite(path, 0, b"\0" * 100)
    rescue(path, tmp_path / "copies", NOON)
    assert len(names(path)) == MANY


@pytest.mark.parametrize(
    ("frame", "damaged"),
    [
        pytest.param(None, False, id="sound"),
        pytest.param(-1, False, id="the last frame, as a power cut leaves it"),
        pytest.param(10, True, id="a frame with commits behind it"),
    ],
)
def test_a_damaged_log_is_noticed_and_read_around(tmp_path: Path, frame: int | None, damaged: bool) -> None:
    path = tmp_path / "nudge.db"
    filled(path, log_stays=True)
    log = Path(f"{path}-wal")
    count = (log.stat().st_size - 32) // (PAGE + 24)
    if frame is not None:
        overwrite(log, 32 + (frame % count) * (PAGE + 24) + 24 + 100, os.urandom(500))
    assert wal_is_damaged(path) is damaged
    if damaged:
        rescue(path, tmp_path / "copies", NOON)
        examine_file(str(path))
        assert len(names(path)) >= MANY - 30


def test_a_rescue_that_a_crash_interrupted_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "nudge.db"
    filled(path)
    path.rename(recovered(path))
    assert finish_rescue(path)
    assert len(names(path)) == MANY
    assert not finish_rescue(path)


def test_a_file_that_is_locked_or_not_ours_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "nudge.db"
    filled(path)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        other = SqliteDatabase.open(str(path))
        other._connection.execute("PRAGMA busy_timeout = 1")
        with pytest.raises(StoreError) as caught:
            run_inline(other.run("feed_add", {"at": 1, "agent": "", "kind": "", "text": ""}))
        run_inline(other.close())
    connection.close()
    assert not isinstance(caught.value, StoreDamagedError)
    folder = tmp_path / "folder.db"
    folder.mkdir()
    with pytest.raises(StoreError) as caught:
        SqliteDatabase.open(str(folder))
    assert not isinstance(caught.value, StoreDamagedError)
    with pytest.raises(OSError, match="directory"):
        rescue(folder, tmp_path / "copies", NOON)
    assert folder.is_dir()


def test_a_copy_is_made_once_a_day_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "nudge.db"
    filled(path)
    for day in range(5):
        assert copy_database(path, tmp_path, Instant(NOON + day * DAY)) is not None
        assert copy_database(path, tmp_path, Instant(NOON + day * DAY + HOUR)) is None
    assert [copy.name for copy in sound_copies(tmp_path)] == [f"nudge-2026-02-{22 - n}.db" for n in range(COPIES_KEPT)]
    assert all(copy.stat().st_mode & 0o077 == 0 for copy in sound_copies(tmp_path))


def test_setting_aside_twice_in_a_second_overwrites_nothing(tmp_path: Path) -> None:
    database = tmp_path / "nudge.db"
    kept = []
    for text in ("one", "two", "three"):
        database.write_text(text)
        kept.append(set_aside(database, NOON))
    assert [path.read_text() for path in kept] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda path: None, "sound", id="sound"),
        pytest.param(
            lambda path: overwrite(path, 0, b"\xff" * 100), "is damaged (file is not a database)", id="header"
        ),
        pytest.param(lambda path: os.truncate(path, 0), "is damaged (the file is empty)", id="emptied"),
        pytest.param(lambda path: path.unlink(), "none; the next start creates an empty one", id="removed"),
    ],
)
def test_doctor_explains(tmp_path: Path, damage: Callable[[Path], None], said: str) -> None:
    home = Home(tmp_path / "home")
    make_home(home)
    home.copies.mkdir()
    filled(home.database)
    copy_database(home.database, home.copies, NOON)
    damage(home.database)
    try:
        texts = [found.text for found in _database(Subject(home, NOON))]
    except StoreDamagedError as error:
        texts = [error.message]
    assert said in texts[0]
