"""The PostgreSQL driver: psycopg 3, pooled and async. A transaction holds one connection of the pool."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, LiteralString

import psycopg
import psycopg.conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from nudge.database import NothingChangedError, Probe, Row, storable
from nudge.errors import NotConfiguredError, StoreError, StoreFullError, StoreNewerError
from nudge.stores.blocks import latest_version, migrations, psycopg_blocks, statements

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # a command that logs nothing prints nothing

_SERIAL = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_MIGRATION_LOCK = 0x6E75646765  # "nudge"; two processes that start at once take turns
_CONNECT_SECONDS = 10.0
_OURS = {"row_factory": dict_row, "autocommit": True}
_ALERT = {
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""A server whose machine died says nothing more. So it is noticed in a minute; left alone, the system takes fifteen."""

_Connection = psycopg.AsyncConnection[dict[str, Any]]


class _Transaction:
    """`sure` are the writes that must have changed a row. They are sent without waiting for the server's answers, which
    are read before the next answer that somebody waits for, and at the end."""

    __slots__ = ("broken", "connection", "over", "pipeline", "sure")

    def __init__(self, connection: _Connection) -> None:
        self.connection = connection
        self.broken = False
        self.over = False
        self.pipeline: AsyncExitStack | None = None
        self.sure: list[psycopg.AsyncCursor[dict[str, Any]]] = []

    async def surely(self, statement: LiteralString, params: Mapping[str, Any]) -> None:
        if self.pipeline is None:
            self.pipeline = AsyncExitStack()
            await self.pipeline.enter_async_context(self.connection.pipeline())
        self.sure.append(await self.connection.execute(statement, params))

    async def give_up(self) -> None:
        """Forget the answers that are outstanding: what was sent is about to be rolled back."""
        pipeline, self.pipeline = self.pipeline, None
        if pipeline is not None:
            with suppress(psycopg.Error):
                await pipeline.aclose()

    async def catch_up(self) -> None:
        """Read the answers that are outstanding."""
        if self.pipeline is None:
            return
        pipeline, self.pipeline = self.pipeline, None
        await pipeline.aclose()
        sure, self.sure = self.sure, []
        if not all(cursor.rowcount for cursor in sure):
            raise NothingChangedError


class PostgresDatabase:
    shared = True

    def __init__(self, url: str, connections: int, *, read_only: bool = False) -> None:
        self.probe: Probe | None = None
        self.on_commit: Callable[[], None] | None = None
        self._read_only = read_only
        self._options: dict[str, Any] = {**_ALERT, **read_url(url), **_OURS}
        self._backends: set[int] = set()  # the server's processes for our own connections
        self._pool: AsyncConnectionPool[_Connection] = AsyncConnectionPool(
            min_size=1,
            max_size=connections,
            kwargs=self._options,
            configure=self._met,
            open=False,
            timeout=_CONNECT_SECONDS,
            reconnect_timeout=_CONNECT_SECONDS,
        )
        self._blocks = psycopg_blocks()
        self._mine: ContextVar[_Transaction | None] = ContextVar("transaction", default=None)

    @classmethod
    async def open(cls, url: str, *, connections: int = 8, read_only: bool = False) -> PostgresDatabase:
        """Connect and bring the schema up to date. The URL may carry a password: it never appears in an error.

        The first connection is made without the pool, which would try for ten seconds and not say what is wrong."""
        database = cls(url, connections, read_only=read_only)
        first = await _connected(database._options)
        try:
            async with first:
                await database._migrate(first)
            await database._pool.open()
        except BaseException:
            await database.close()
            raise
        return database

    async def _met(self, connection: _Connection) -> None:
        self._backends.add(connection.info.backend_pid)
        if self._read_only:
            await connection.execute("SET default_transaction_read_only = on")

    async def wakes(self) -> AsyncIterator[None]:
        async for backend in self._heard("LISTEN nudge_timers"):
            if backend not in self._backends:
                yield

    async def pokes(self) -> AsyncIterator[None]:
        """Once at first, then whenever somebody, we included, has written a poke for the fleet."""
        async for _ in self._heard("LISTEN nudge_pokes"):
            yield

    async def _heard(self, listen: LiteralString) -> AsyncIterator[int]:
        """The server's process that notified; 0 at first, for what was said before anybody listened. On a connection of
        its own: poolers and transactions would keep notifications back."""
        with _translation():
            connection = await psycopg.AsyncConnection.connect(**self._options)
            async with connection:
                await connection.execute(listen)
                yield 0
                async for notification in connection.notifies():
                    yield notification.pid

    async def _migrate(self, connection: _Connection) -> None:
        code = latest_version()
        with _translation():
            version = await self._version(connection)
            _refuse_newer(version, code)
            if version < code and self._read_only:
                raise StoreError(
                    f"The database has an older schema ({version}; this nudge knows {code}).",
                    next_step="Start nudge once to bring the schema up to date.",
                )
            if version < code:  # else there is nothing to wait for, and no right needed
                await self._bring_up_to(code, connection)

    async def _version(self, connection: _Connection) -> int:
        try:
            row = await (await connection.execute(self._blocks["schema_version"])).fetchone()
        except psycopg.errors.UndefinedTable:
            return 0
        return int(row["version"]) if row else 0

    async def _bring_up_to(self, code: int, connection: _Connection) -> None:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
            await connection.execute(self._blocks["schema_create"])
            version = await self._version(connection)
            _refuse_newer(version, code)
            for number, name, script in migrations()[version:]:
                for statement in statements(script, "postgresql"):
                    await connection.execute(statement.replace("{serial}", _SERIAL))
                await connection.execute(self._blocks["schema_record"], {"version": number, "name": name})

    async def all(self, block: str, params: Mapping[str, Any]) -> Sequence[Row]:
        mine = self._current()
        with _translation():
            if mine is not None:
                await mine.catch_up()
                return await (await self._executed(mine.connection, block, params)).fetchall()
            async with self._pool.connection() as connection:
                return await (await self._executed(connection, block, params)).fetchall()

    async def one(self, block: str, params: Mapping[str, Any]) -> Row | None:
        rows = await self.all(block, params)
        return rows[0] if rows else None

    async def run(self, block: str, params: Mapping[str, Any]) -> int:
        if self._current() is None:
            return (await self._alone(block, params))[0]
        return (await self._write(block, params)).rowcount

    async def run_surely(self, block: str, params: Mapping[str, Any]) -> None:
        mine = self._current()
        assert mine is not None
        if self.probe:
            self.probe(block)
        with _translation():
            await mine.surely(self._blocks[block], params)

    async def all_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[Sequence[Row]]:
        if not params:
            return []
        async with self._at_once(block, params, probed=False) as cursor:
            found: list[Sequence[Row]] = [await cursor.fetchall()]
            while cursor.nextset():
                found.append(await cursor.fetchall())
        return found

    async def run_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[int]:
        async with self._at_once(block, params) as cursor:
            changed = [cursor.rowcount] if params else []
            while params and cursor.nextset():
                changed.append(cursor.rowcount)
        return changed

    async def run_many(self, block: str, params: Sequence[Mapping[str, Any]]) -> None:
        async with self._at_once(block, params, returning=False):
            pass

    @asynccontextmanager
    async def _at_once(
        self, block: str, params: Sequence[Mapping[str, Any]], *, returning: bool = True, probed: bool = True
    ) -> AsyncIterator[psycopg.AsyncCursor[Row]]:
        """One statement with many parameters, in one round trip; with `returning` the cursor stands at the first
        result."""
        async with self.transaction():
            mine = self._current()
            assert mine is not None
            if self.probe and probed:
                self.probe(block)
            with _translation():
                await mine.catch_up()
                cursor = mine.connection.cursor()
                await cursor.executemany(self._blocks[block], params, returning=returning)
                yield cursor

    async def returning(self, block: str, params: Mapping[str, Any]) -> Row:
        if self._current() is None:
            row = (await self._alone(block, params))[1]
        else:
            row = await (await self._write(block, params)).fetchone()
        assert row is not None
        return row

    async def _alone(self, block: str, params: Mapping[str, Any]) -> tuple[int, Row | None]:
        """A statement that is a transaction of its own: one round trip instead of three."""
        for step in (block, "commit"):
            if self.probe:
                self.probe(step)
        with _translation():
            async with self._pool.connection() as connection:
                cursor = await self._executed(connection, block, params)
                changed, row = cursor.rowcount, await cursor.fetchone() if cursor.description else None
        if self.probe:
            self.probe("committed")
        if self.on_commit:
            self.on_commit()
        return changed, row

    async def _write(self, block: str, params: Mapping[str, Any]) -> psycopg.AsyncCursor[dict[str, Any]]:
        mine = self._current()
        assert mine is not None
        if self.probe:
            self.probe(block)
        with _translation():
            await mine.catch_up()
            return await self._executed(mine.connection, block, params)

    async def _executed(
        self, connection: _Connection, block: str, params: Mapping[str, Any]
    ) -> psycopg.AsyncCursor[dict[str, Any]]:
        try:
            return await connection.execute(self._blocks[block], params)
        except (UnicodeEncodeError, psycopg.DataError):
            if (instead := storable(params)) == params:
                raise
            return await connection.execute(self._blocks[block], instead)  # refused before it was sent

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        outer = self._current()
        if outer is not None:
            try:
                yield
            except BaseException:
                outer.broken = True
                raise
            return
        with _translation():
            async with self._pool.connection() as connection:
                mine = _Transaction(connection)
                reset = self._mine.set(mine)
                try:
                    async with connection.transaction():
                        try:
                            yield
                            if mine.broken:
                                raise StoreError("This transaction already failed.")
                            await mine.catch_up()
                        except BaseException:
                            await mine.give_up()
                            raise
                        if self.probe:
                            self.probe("commit")
                    if self.probe:
                        self.probe("committed")
                    if self.on_commit:
                        self.on_commit()
                finally:
                    mine.over = True
                    self._mine.reset(reset)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A part of the open transaction that can fail alone: what it wrote is taken back, and the rest goes on."""
        mine = self._current()
        if mine is None:
            raise StoreError("A savepoint needs a transaction around it.")
        before = mine.broken
        try:
            with _translation():
                await mine.catch_up()
                async with mine.connection.transaction():
                    try:
                        yield
                        if mine.broken and not before:
                            raise StoreError("This transaction already failed.")
                        await mine.catch_up()
                    except BaseException:
                        await mine.give_up()
                        raise
        except BaseException:
            mine.broken = before
            raise

    def _current(self) -> _Transaction | None:
        """The transaction of this task. One that was started inside a transaction inherits it, and may outlive it."""
        mine = self._mine.get()
        return None if mine is None or mine.over else mine

    async def purge(self) -> None:
        """A server clears deleted rows itself (autovacuum); its log and its backups are its operator's."""

    async def close(self) -> None:
        """To its end, also if it is cancelled: what a pool leaves running keeps the process from ending."""
        closing = asyncio.ensure_future(self._pool.close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise


def _refuse_newer(version: int, code: int) -> None:
    if version > code:
        raise StoreNewerError(
            f"The database was written by a newer nudge (schema {version}; this one knows {code}).",
            next_step="Update nudge, or use another database.",
        )


def read_url(url: str) -> Mapping[str, Any]:
    """What the URL says. One that is not understood, or otherwise than it was meant, is refused here: the server's
    library would quote it."""
    authority, _, name = url.partition("://")[2].partition("?")[0].partition("/")
    try:
        if authority.count("@") < 2 and "@" not in name:
            return psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        pass
    raise NotConfiguredError(
        "NUDGE_DATABASE_URL is not a URL that PostgreSQL understands.",
        next_step="Write postgresql://user:password@host/name; in a password, write @ as %40, : as %3A and / as %2F.",
    )


async def _connected(options: Mapping[str, Any]) -> _Connection:
    try:
        return await psycopg.AsyncConnection.connect(**options)
    except psycopg.Error as error:
        cause = _cause(error)
    raise StoreError(  # out here, where psycopg's error is gone: it carries the password
        f"The PostgreSQL server in NUDGE_DATABASE_URL does not answer: {cause}.",
        next_step="Check host, port, user and password, and that the server is running.",
    )


class _translation:  # noqa: N801  (reads as a statement: with _translation())
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory)):
            raise StoreFullError(
                "The PostgreSQL server has run out of space.", next_step="Free some space there."
            ) from None
        if isinstance(error, PoolTimeout):
            raise StoreError("The PostgreSQL server does not answer.", next_step="Check that it is running.") from None
        if isinstance(error, psycopg.Error):
            next_step = None
            if isinstance(error, psycopg.errors.InsufficientPrivilege):
                next_step = "Let the user in NUDGE_DATABASE_URL own the database."
            elif isinstance(error, psycopg.OperationalError):
                next_step = "Check that it is running."
            raise StoreError(f"The PostgreSQL server refused: {_cause(error)}.", next_step=next_step) from error


def _cause(error: psycopg.Error) -> str:
    """What the server or the system said, without the advice that follows it."""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return said.removeprefix("connection failed: ").removeprefix("connection is bad: ")
