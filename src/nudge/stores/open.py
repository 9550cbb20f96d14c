"""Which database a URL means."""

from __future__ import annotations

from nudge.errors import NotConfiguredError
from nudge.stores.store import SqlStore


def sqlite_path(url: str) -> str:
    """`sqlite:///path` is that path, `sqlite://:memory:` one in memory. Four slashes are an absolute path too.

    Without a path SQLite would make a database that is gone at the end, and a relative one would be another for every
    folder that nudge is called from: both are refused.
    """
    rest = url.removeprefix("sqlite://")
    path = rest[1:] if rest.startswith("//") else rest
    if not path.startswith("/") and path != ":memory:":
        raise _unknown()
    return path


def open_sqlite(path: str) -> SqlStore:
    from nudge.stores.sqlite import SqliteDatabase

    return SqlStore(SqliteDatabase.open(path))


async def open_store(url: str, *, connections: int = 8, read_only: bool = False) -> SqlStore:
    """`sqlite:///path/to/file`, `sqlite://:memory:`, or a PostgreSQL URL. `read_only` is for a server: nothing can be
    written, and an older schema is refused instead of brought up to date."""
    scheme = url.partition("://")[0]
    if scheme == "sqlite":
        return open_sqlite(sqlite_path(url))
    if scheme in ("postgresql", "postgres"):
        from nudge.stores.postgres import PostgresDatabase

        return SqlStore(await PostgresDatabase.open(url, connections=connections, read_only=read_only))
    raise _unknown()


def check_url(url: str) -> None:
    """Refuse what `open_store` would refuse before it opens anything."""
    scheme = url.partition("://")[0]
    if scheme in ("postgresql", "postgres"):
        from nudge.stores.postgres import read_url

        read_url(url)
    elif scheme == "sqlite":
        sqlite_path(url)
    else:
        raise _unknown()


def _unknown() -> NotConfiguredError:
    return NotConfiguredError(
        "nudge does not support the database in NUDGE_DATABASE_URL.",
        next_step="Use sqlite:///path/to/nudge.db or postgresql://user:password@host/name, or leave it out.",
    )
