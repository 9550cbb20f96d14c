"""The SQLite driver: the standard library's sqlite3, inline on the loop.

A statement takes tens of microseconds, less than handing it to a thread and back. WAL lets other processes read while
we write; synchronous=FULL makes a commit survive a power cut. asyncio is imported only where somebody has to wait, so
that a command that only reads pays nothing for it.

**Group commit.** What takes time is the disk. Transactions of tasks that are ready at the same time share one commit:
each is a savepoint inside the same SQLite transaction, one after the other, so one that fails leaves nothing and
disturbs nobody. No task goes on before the commit is on the disk; if that fails, all of them fail. Until then nobody
else sees what they wrote: reads outside a transaction use a second connection meanwhile. A task that is alone commits
at once.

**The file under us.** A file that is removed or replaced while it is open takes everything written to it along. So each
transaction and each read looks whether the path still leads to the file that was opened. What is gone is refused; a
daemon, which `keeps` its database, writes a removed one back from what it has open.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.database import NothingChangedError, Probe, Row, storable
from nudge.errors import StoreDamagedError, StoreError, StoreGoneError
from nudge.stores.blocks import sqlite_blocks
from nudge.stores.sqlite_file import connected, identity, make_private, migrate, reader, sync, translated

if TYPE_CHECKING:
    import asyncio

_LARGEST_GROUP = 128
"""More transactions than this do not share a commit: the first of them must not wait too long."""
_WENT_ON = "This transaction already failed."


class _Transaction:
    __slots__ = ("broken",)

    def __init__(self) -> None:
        self.broken = False


class _Group:
    """Transactions that share a commit: how many there are, and the tasks that wait for it."""

    __slots__ = ("patience", "scheduled", "size", "waiting")

    def __init__(self) -> None:
        self.size = 0
        self.waiting: list[asyncio.Future[None]] = []
        self.scheduled = False
        self.patience = _LARGEST_GROUP


class SqliteDatabase:
    """One connection that writes. Tasks take turns: a transaction belongs to the task that opened it until it ends."""

    shared = False

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.probe: Probe | None = None
        self.on_commit: Callable[[], None] | None = None
        self.path = path
        self.keeps = False
        self.on_trouble: Callable[[StoreError], None] | None = None
        """Told of a damaged or replaced file, which only a new start can help."""
        self.on_put_back: Callable[[], None] | None = None
        self._identity = identity(path)
        self._log_identity: tuple[int, int] | None = None
        self._connection = connection
        self._blocks = sqlite_blocks()
        self._mine: ContextVar[_Transaction | None] = ContextVar("transaction", default=None)
        self._open: _Transaction | None = None
        self._group: _Group | None = None
        self._readers: sqlite3.Connection | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    @classmethod
    def open(cls, path: str) -> SqliteDatabase:
        """Open or create the file and bring its schema up to date. ":memory:" is a database that nobody else sees."""
        if path != ":memory:":
            make_private(path)
        connection = connected(path)
        try:
            database = cls(connection, path)
            migrate(connection, path)
            database._log_identity = identity(f"{path}-wal")
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):
                raise translated(error, path) from error
            raise
        return database

    async def all(self, block: str, params: Mapping[str, Any]) -> Sequence[Row]:
        if self._open is None and self._group is None:
            self._look_at_file()
            return self._fetched(block, params, self._connection)
        if self._joined:
            return self._fetched(block, params, self._connection)
        return await self._committed(block, params)

    async def _committed(self, block: str, params: Mapping[str, Any]) -> Sequence[Row]:
        """Read what is on the disk, while others have written what is not there yet."""
        if self.path == ":memory:":  # nobody else can read it, and its commit costs nothing
            await self._turn()
            self._wake_next()
            if self._group is not None and self._open is None:
                self._commit(self._group)
            return self._fetched(block, params, self._connection)
        if self._readers is None:
            self._readers = reader(self.path)
        return self._fetched(block, params, self._readers)

    def _fetched(self, block: str, params: Mapping[str, Any], connection: sqlite3.Connection) -> Sequence[Row]:
        try:
            return self._executed(block, params, connection).fetchall()
        except sqlite3.Error as error:
            raise self._refused(error) from error

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

    async def run_surely(self, block: str, params: Mapping[str, Any]) -> None:
        if not self._write(block, params).rowcount:
            raise NothingChangedError

    async def all_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[Sequence[Row]]:
        return [await self.all(block, one) for one in params]

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
            self._refuse_broken()
            if self.probe:
                self.probe(block)
            return self._executed(block, params)
        except BaseException:
            self._break()
            raise

    def _write_many(self, block: str, params: Sequence[Mapping[str, Any]]) -> None:
        try:
            self._refuse_broken()
            if self.probe:
                self.probe(block)
            self._connection.executemany(self._blocks[block], params)
        except sqlite3.Error as error:
            self._break()
            raise self._refused(error) from error
        except BaseException:
            self._break()
            raise

    def _refuse_broken(self) -> None:
        """After some errors (a full disk) SQLite has ended the transaction by itself: what came then would be kept."""
        if self._open is not None and self._open.broken:
            raise StoreError(_WENT_ON)

    def _break(self) -> None:
        """Whoever catches an error further out must not commit half of the transaction."""
        if self._open is not None:
            self._open.broken = True

    def _executed(
        self, block: str, params: Mapping[str, Any], connection: sqlite3.Connection | None = None
    ) -> sqlite3.Cursor:
        try:
            return (connection or self._connection).execute(self._blocks[block], params)
        except UnicodeEncodeError:
            return self._executed(block, storable(params), connection)
        except sqlite3.Error as error:
            raise self._refused(error) from error

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
        group: _Group | None = None
        try:
            group = self._join()
            try:
                yield
                if mine.broken:
                    raise StoreError(_WENT_ON)
                if group.size:
                    self._execute("RELEASE member")
            except BaseException:
                self._leave(group)
                raise
            group.size += 1
        finally:
            self._mine.reset(reset)
            self._open = None
            self._wake_next()
            if group is not None and group.waiting:
                self._schedule(group)
        if self._has_company():
            await self._together(group)
        else:
            self._commit(group)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A part of the open transaction that can fail alone: what it wrote is taken back, and the rest goes on."""
        mine = self._open
        if mine is None or not self._joined:
            raise StoreError("A savepoint needs a transaction around it.")
        self._refuse_broken()
        self._execute("SAVEPOINT part")
        try:
            yield
            self._refuse_broken()
            self._execute("RELEASE part")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO part")
                self._connection.execute("RELEASE part")
                mine.broken = False
            else:
                mine.broken = True
            raise

    def _join(self) -> _Group:
        """The group that this transaction shares its commit with. The first member needs no savepoint: if it fails,
        there is nothing else to keep."""
        if self._group is None:
            self._look_at_file()
            self._execute("BEGIN IMMEDIATE")
            self._group = _Group()
        elif self._group.size:
            self._execute("SAVEPOINT member")
        return self._group

    def _leave(self, group: _Group) -> None:
        """Take back one member. Some errors of SQLite (a full disk) have rolled back the whole group already."""
        if self._connection.in_transaction and group.size:
            self._connection.execute("ROLLBACK TO member")
            self._connection.execute("RELEASE member")
            return
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        if self._group is group:
            self._group = None
        _tell(group, StoreError(f"The change to {self.path} was not saved: another write failed."))

    def _has_company(self) -> bool:
        """Whether another task may have something to write now. Without an event loop nobody has, and where nothing
        else is ready to run nobody can."""
        if self._waiting:
            return True
        asyncio = sys.modules.get("asyncio")
        loop = asyncio._get_running_loop() if asyncio else None
        return loop is not None and bool(getattr(loop, "_ready", True))

    async def _together(self, group: _Group) -> None:
        """Wait for the commit. A task that is cancelled meanwhile is cancelled right after it: what it wrote is kept,
        and it must not be told otherwise."""
        import asyncio

        loop = asyncio.get_running_loop()
        committed = loop.create_future()
        group.waiting.append(committed)
        self._schedule(group)
        cancelled = False
        while not committed.done():
            try:
                await asyncio.shield(committed)
            except asyncio.CancelledError:
                cancelled = True
            except BaseException:
                break
        if cancelled and (task := asyncio.current_task()) is not None:
            task.uncancel()
            task.cancel()
        committed.result()

    def _schedule(self, group: _Group) -> None:
        import asyncio

        if not group.scheduled and self._group is group:
            group.scheduled = True
            asyncio.get_running_loop().call_soon(self._commit_soon, group)

    def _commit_soon(self, group: _Group) -> None:
        """Commit as soon as whoever is ready has joined. A member that is still at work schedules this again."""
        group.scheduled = False
        if self._group is not group or self._open is not None:
            return
        if self._waiting and group.size < _LARGEST_GROUP and group.patience:
            group.patience -= 1
            self._schedule(group)
            return
        with suppress(StoreError):  # the members were told
            self._commit(group)

    def _commit(self, group: _Group) -> None:
        """End the group. Its members are told before this raises."""
        self._group = None
        try:
            if self.probe:
                self.probe("commit")
            self._execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            _tell(group, error if isinstance(error, StoreError) else StoreError("The change was not saved."))
            raise
        if not self.keeps and self._is_gone():
            _tell(group, gone := self._gone_error())
            raise gone
        _tell(group, None)
        if self.probe:
            self.probe("committed")
        if self.on_commit:
            self.on_commit()

    def _execute(self, sql: str) -> None:
        try:
            self._connection.execute(sql)
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def _refused(self, error: sqlite3.Error) -> StoreError:
        refusal = translated(error, self.path)
        if isinstance(refusal, StoreDamagedError) and self.on_trouble is not None:
            self.on_trouble(refusal)
        return refusal

    def _is_gone(self) -> bool:
        return self._identity is not None and identity(self.path) != self._identity

    def _gone_error(self) -> StoreGoneError:
        what = "was removed" if identity(self.path) is None else "was replaced"
        return StoreGoneError(
            f"The database {self.path} {what} while it was in use. The last change may be lost.",
            next_step="Check whether your change is there. If not, make it again.",
        )

    def _look_at_file(self) -> None:
        """Before anything is read or written: nothing may go into a file that nobody can open any more."""
        if not self._is_gone():
            return
        if self.keeps and identity(self.path) is None:
            self._put_back()
            return
        error = self._gone_error()
        if self.on_trouble is not None:
            self.on_trouble(error)
        raise error

    def _put_back(self) -> None:
        """Write the removed database again: everything that was committed is in the file that is still open. The old
        write-ahead log goes first, as SQLite would take it for the new file's."""
        path = Path(self.path)
        part, whole = path.with_name(f"{path.name}.recovering"), path.with_name(f"{path.name}.recovered")
        try:
            self.copy_to(part)
            part.replace(whole)
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            os.link(whole, path)  # never over a file that somebody has put there meanwhile
            whole.unlink()
            sync(path.parent)
            connection = connected(self.path)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"The database {self.path} was removed and cannot be written again ({error}).",
                next_step=f"Check that {path.parent} exists, belongs to you and has free space.",
            ) from error
        if self._readers is not None:
            self._readers.close()
            self._readers = None
        self._connection.close()
        self._connection = connection
        self._identity = identity(self.path)
        self._log_identity = identity(f"{self.path}-wal")
        if self.on_put_back is not None:
            self.on_put_back()

    def leave(self, target: Path) -> None:
        """Another file is in our place: keep ours as `target`, and take our write-ahead log away from the new one."""
        self.copy_to(target)
        if identity(f"{self.path}-wal") == self._log_identity:
            for suffix in ("-wal", "-shm"):
                Path(self.path + suffix).unlink(missing_ok=True)

    def copy_to(self, target: Path) -> None:
        """Everything that is committed, as one file."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        make_private(str(target))
        copy = sqlite3.connect(target)
        try:
            self._connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
        sync(target)

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

    async def purge(self) -> None:
        """Deleted rows are overwritten in the file by the checkpoint; the write-ahead log, which has them too, is cut
        off. Whoever reads meanwhile puts that off: then the timer behind this tries again."""
        await self._turn()
        self._wake_next()
        if self._group is not None and self._open is None:
            self._commit(self._group)
        if self.path == ":memory:":
            return
        busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreError(f"Another process has locked {self.path}.", next_step="Try again in a moment.")

    async def close(self) -> None:
        if self._group is not None and self._open is None:
            self._commit(self._group)
        if self._readers is not None:
            self._readers.close()
        self._connection.close()


def _tell(group: _Group, error: StoreError | None) -> None:
    for waiting in group.waiting:
        if not waiting.done():
            if error is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(error)
