"""The SQLite driver: the standard library's sqlite3, inline on the loop.

A statement takes tens of microseconds, less than handing it to a thread and back. WAL lets other processes read while
we write; synchronous=FULL makes a commit survive a power cut. asyncio is imported only where somebody has to wait, so
that a command that only reads pays nothing for it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.database import Probe, Row, storable
from nudge.errors import StoreCorruptError, StoreError, StoreFullError, StoreNewerError
from nudge.stores.blocks import latest_version, migrations, sqlite_blocks, statements

if TYPE_CHECKING:
    import asyncio

_BUSY_SECONDS = 10.0
_SERIAL = "INTEGER PRIMARY KEY AUTOINCREMENT"


class _Transaction:
    __slots__ = ("broken",)

    def __init__(self) -> None:
        self.broken = False


class SqliteDatabase:
    """One connection. Tasks take turns: a transaction belongs to the task that opened it until it ends."""

    shared = False

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.probe: Probe | None = None
        self.path = path
        self._connection = connection
        self._blocks = sqlite_blocks()
        self._mine: ContextVar[_Transaction | None] = ContextVar("transaction", default=None)
        self._open: _Transaction | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    @classmethod
    def open(cls, path: str) -> SqliteDatabase:
        """Open or create the file and bring its schema up to date. ":memory:" is a database that nobody else sees."""
        if path != ":memory:":
            _make_private(path)
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=256)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            if path != ":memory:":
                _write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
            database = cls(connection, path)
            database._migrate()
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise _translated(error, path) from error
            raise
        return database

    def _migrate(self) -> None:
        code = latest_version()
        if self._version() == code:
            return
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")  # two processes that start at once: the second waits, then finds it done
        try:
            connection.execute(self._blocks["schema_create"])
            version = self._version()
            if version > code:
                raise StoreNewerError(
                    f"The database {self.path} was written by a newer nudge (schema {version}; this one knows {code}).",
                    next_step="Update nudge, or start with another NUDGE_HOME.",
                )
            for number, name, script in migrations()[version:]:
                for statement in statements(script, "sqlite"):
                    connection.execute(statement.replace("{serial}", _SERIAL))
                connection.execute(self._blocks["schema_record"], {"version": number, "name": name})
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _version(self) -> int:
        try:
            row = self._connection.execute(self._blocks["schema_version"]).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return 0
            raise
        return int(row["version"])

    async def all(self, block: str, params: Mapping[str, Any]) -> Sequence[Row]:
        await self._turn()
        self._wake_next()  # reading keeps nobody waiting
        try:
            return self._executed(block, params).fetchall()
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error

    async def one(self, block: str, params: Mapping[str, Any]) -> Row | None:
        rows = await self.all(block, params)
        return rows[0] if rows else None

    async def run(self, block: str, params: Mapping[str, Any]) -> int:
        if self._joined:
            return self._write(block, params).rowcount
        async with self.transaction():
            return self._write(block, params).rowcount

    async def run_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[int]:
        async with self.transaction():
            return [self._write(block, one).rowcount for one in params]

    async def run_many(self, block: str, params: Sequence[Mapping[str, Any]]) -> None:
        if self._joined:
            self._write_many(block, params)
        else:
            async with self.transaction():
                self._write_many(block, params)

    async def returning(self, block: str, params: Mapping[str, Any]) -> Row:
        async with self.transaction():
            rows: list[Row] = self._write(block, params).fetchall()
            return rows[0]

    async def wakes(self) -> AsyncIterator[None]:
        """The commands of this home poke the daemon themselves, and there is one daemon."""
        for _ in ():
            yield

    @property
    def _joined(self) -> bool:
        """Whether this task has a transaction open. Joining it with a context manager takes longer than a statement."""
        return self._open is not None and self._mine.get() is self._open

    def _write(self, block: str, params: Mapping[str, Any]) -> sqlite3.Cursor:
        try:
            if self.probe:
                self.probe(block)
            return self._executed(block, params)
        except BaseException:
            self._break()
            raise

    def _write_many(self, block: str, params: Sequence[Mapping[str, Any]]) -> None:
        try:
            if self.probe:
                self.probe(block)
            self._connection.executemany(self._blocks[block], params)
        except sqlite3.Error as error:
            self._break()
            raise _translated(error, self.path) from error
        except BaseException:
            self._break()
            raise

    def _break(self) -> None:
        """Whoever catches an error further out must not commit half of the transaction."""
        if self._open is not None:
            self._open.broken = True

    def _executed(self, block: str, params: Mapping[str, Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(self._blocks[block], params)
        except UnicodeEncodeError:
            return self._executed(block, storable(params))
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        outer = self._mine.get()
        if outer is not None and outer is self._open:
            try:
                yield
            except BaseException:
                outer.broken = True  # whoever catches this further out must not commit half of it
                raise
            return
        await self._turn()
        mine = self._open = _Transaction()
        reset = self._mine.set(mine)
        try:
            self._execute("BEGIN IMMEDIATE")
            yield
            if mine.broken:
                raise StoreError("A transaction went on after an error inside it.")
            if self.probe:
                self.probe("commit")
            self._execute("COMMIT")
            if self.probe:
                self.probe("committed")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._mine.reset(reset)
            self._open = None
            self._wake_next()

    def _execute(self, sql: str) -> None:
        try:
            self._connection.execute(sql)
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error

    async def _turn(self) -> None:
        """Wait until no other task has a transaction open."""
        while self._open is not None and self._mine.get() is not self._open:
            import asyncio

            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake_next()
                raise

    def _wake_next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def examine(self) -> None:
        """Read the whole file; raise StoreCorruptError if it is damaged inside."""
        try:
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error
        if verdict != "ok":
            raise _damaged(self.path, " ".join(verdict.split()))

    async def close(self) -> None:
        self._connection.close()


def _make_private(path: str) -> None:
    """A file that is not there yet is made for its owner alone, and SQLite makes those beside it alike. What is wrong
    with the path, SQLite says."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL. The switch needs the file for itself and does not wait for it on its own."""
    for attempt in range(100):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == 99:
                raise
            time.sleep(0.02)


def _damaged(path: str, how: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"The database {path} is damaged ({how}).",
        next_step="Run 'nudge doctor --fix' to keep it aside and start with an empty one.",
    )


def _translated(error: sqlite3.Error, path: str) -> StoreError:
    text = str(error)
    if "not a database" in text or "malformed" in text:
        return _damaged(path, text)
    if "full" in text:
        return StoreFullError(f"There is no room left to write {path}.", next_step="Free some space; nothing was lost.")
    if "unable to open" in text or "readonly" in text:
        return StoreError(
            f"The database {path} cannot be written ({text}).",
            next_step=f"Check that {Path(path).parent} exists and is yours.",
        )
    if "locked" in text:
        return StoreError(f"Another process keeps {path} locked.", next_step="Try again in a moment.")
    return StoreError(f"The database {path} refused: {text}.")
