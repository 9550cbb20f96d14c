"""The file of a world's database, and what happens to it: damaged between two lives of the daemon, removed or replaced
under one. A start recovers it as a real one does; what SQLite itself can still read says what must be there then."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from nudge.daemon.rescue import copy_database, open_sound, sound_copies
from nudge.errors import StoreDamagedError, StoreError
from nudge.home.private_files import make_folder
from nudge.instants import Instant
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.sqlite_file import examine_file

PAGE = 4096
LIVES = "SELECT id, rowid FROM reminders WHERE status IN ('active', 'paused')"


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "nudge.db"

    @property
    def copies(self) -> Path:
        return self.folder / "copies"

    def copy(self, now: Instant) -> None:
        """As the keeper does, once a day."""
        make_folder(self.copies)
        copy_database(self.path, self.copies, now)

    def remove(self, *, log_too: bool) -> None:
        for suffix in ("", "-wal", "-shm") if log_too else ("",):
            self._part(suffix).unlink(missing_ok=True)

    def replace(self) -> set[str]:
        """Somebody puts the oldest copy in its place; the reminders in it that can still fire."""
        restored = self.folder / "restored"
        shutil.copy(sound_copies(self.copies)[-1], restored)
        found = set(_read(restored))
        restored.replace(self.path)
        return found

    def damage(self, database: SqliteDatabase, random: Random) -> set[str]:
        """Leave what a kill leaves, with some pages of file or log overwritten; the reminders that must be kept:
        SQLite can still read their row, or the last copy has them."""
        before = dict(database._connection.execute(LIVES).fetchall())
        kept = {suffix: self._part(suffix).read_bytes() for suffix in ("", "-wal") if self._part(suffix).exists()}
        database._connection.close()
        if random.random() < 0.1:
            kept[""] = b""  # cut to nothing
        for suffix, content in kept.items():
            bad = suffix == "" or random.random() < 0.5
            self._part(suffix).write_bytes(_damaged(content, random) if bad else content)
        copy = next(iter(sound_copies(self.copies)), None)
        return self._readable(before) | (before.keys() & _read(copy) if copy else set())

    def _readable(self, before: Mapping[str, int]) -> set[str]:
        aside = self.folder / "aside.db"
        for suffix in ("", "-wal"):
            if self._part(suffix).exists():
                shutil.copy(self._part(suffix), f"{aside}{suffix}")
        found = {name for name, row in before.items() if name in _read(aside, [row])}
        for part in self.folder.glob("aside.db*"):
            part.unlink()
        return found

    async def open(self, now: Instant, trouble: StoreError | None = None) -> tuple[SqliteDatabase, str]:
        """The database as the next daemon has it, and what it tells the person. The keeper examines the file at the
        start and has the daemon start again if it is damaged; here that is over before the daemon does anything."""
        store, news = await open_sound(self.path, self.copies, now, trouble)
        try:
            examine_file(str(self.path))
        except StoreDamagedError as error:
            await store.close()
            store, news = await open_sound(self.path, self.copies, now, error)
        assert isinstance(store.database, SqliteDatabase)
        return store.database, news

    def _part(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)


def _damaged(content: bytes, random: Random) -> bytes:
    """A few pages are noise. (Of a log that was cut off nobody can know that it was longer.)"""
    damaged = bytearray(content)
    for _ in range(random.choice((1, 2, 5))):
        start = random.randrange(max(1, len(content) // PAGE)) * PAGE
        damaged[start : start + PAGE] = random.randbytes(len(damaged[start : start + PAGE]))
    return bytes(damaged)


def _read(path: Path, rows: Iterable[int] = ()) -> dict[str, int]:
    """The reminders in a file that can still fire; with `rows`, those of these numbers alone."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            if rows:
                return {
                    name: row
                    for number in rows
                    for name, row in connection.execute(f"{LIVES} AND rowid = ?", (number,)).fetchall()
                }
            return dict(connection.execute(LIVES).fetchall())
    except sqlite3.Error:
        return {}
