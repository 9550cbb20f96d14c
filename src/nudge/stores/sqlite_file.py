"""The file of a SQLite database: opening it, its schema, which file a path leads to, and its errors in our words."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from nudge.errors import StoreDamagedError, StoreError, StoreFullError, StoreNewerError
from nudge.stores.blocks import latest_version, migrations, sqlite_blocks, statements

_BUSY_SECONDS = 10.0
_SERIAL = "INTEGER PRIMARY KEY AUTOINCREMENT"


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the schema up to date. Of two processes that start at once the second waits, then finds it done."""
    code = latest_version()
    if _version(connection) == code:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(sqlite_blocks()["schema_create"])
        version = _version(connection)
        if version > code:
            raise StoreNewerError(
                f"The database {path} was written by a newer nudge (schema {version}; this one knows {code}).",
                next_step="Update nudge, or start with another NUDGE_HOME.",
            )
        upgrade(connection, version, code)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def upgrade(connection: sqlite3.Connection, since: int, to: int) -> None:
    """Run the migrations between two versions of the schema."""
    for number, name, script in migrations()[since:to]:
        for statement in statements(script, "sqlite"):
            connection.execute(statement.replace("{serial}", _SERIAL))
        connection.execute(sqlite_blocks()["schema_record"], {"version": number, "name": name})


def _version(connection: sqlite3.Connection) -> int:
    try:
        row = connection.execute(sqlite_blocks()["schema_version"]).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return 0
        raise
    return int(row["version"])


def examine_file(path: str) -> None:
    """Read the whole file, beside whoever uses it; raise StoreDamagedError if it is damaged inside."""
    connection = reader(path)
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise translated(error, path) from error
    finally:
        connection.close()
    if verdict != "ok":
        raise _damaged(path, " ".join(verdict.split()))


def identity(path: str) -> tuple[int, int] | None:
    """Which file the path leads to; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (before every statement: a Path takes three times as long)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connected(path: str) -> sqlite3.Connection:
    """The connection that writes. What is deleted is overwritten, so that no free page tells of it."""
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=256)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        if path != ":memory:":
            _write_ahead_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise translated(error, path) from error
        raise
    return connection


def reader(path: str) -> sqlite3.Connection:
    """A second connection for reads: it sees what has been committed and nothing else."""
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=64)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        raise translated(error, path) from error
    return connection


def make_private(path: str) -> None:
    """A file that is not there yet is made for its owner alone, and SQLite does the same for those beside it. What is
    wrong
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


def _damaged(path: str, how: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"The database {path} is damaged ({how}).",
        next_step="Run 'nudge doctor --fix', or start nudge: the file is kept, and what can be read is recovered.",
    )


def translated(error: sqlite3.Error, path: str) -> StoreError:
    text = str(error)
    if "not a database" in text or "malformed" in text:
        return _damaged(path, text)
    if "full" in text:
        return StoreFullError(
            f"There is no space left to write {path}.", next_step="Free some space. Nothing was lost."
        )
    if "unable to open" in text or "readonly" in text:
        return StoreError(
            f"The database {path} cannot be written ({text}).",
            next_step=f"Check that {Path(path).parent} exists and belongs to you.",
        )
    if "locked" in text:
        return StoreError(f"Another process has locked {path}.", next_step="Try again in a moment.")
    return StoreError(f"The database {path} refused: {text}.")
