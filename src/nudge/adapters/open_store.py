"""Which database a URL means."""

from __future__ import annotations

from nudge.adapters.sql.store import SqlStore
from nudge.errors import NotConfiguredError


def open_sqlite(path: str) -> SqlStore:
    from nudge.adapters.sqlite import SqliteDatabase

    return SqlStore(SqliteDatabase.open(path))


async def open_store(url: str, *, connections: int = 8) -> SqlStore:
    """`sqlite:///path/to/file`, `sqlite://:memory:`, or a PostgreSQL URL."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        return open_sqlite(rest if rest == ":memory:" else rest.removeprefix("/") if rest.startswith("//") else rest)
    if scheme in ("postgresql", "postgres"):
        from nudge.adapters.postgres import PostgresDatabase

        return SqlStore(await PostgresDatabase.open(url, connections=connections))
    raise NotConfiguredError(
        "NUDGE_DATABASE_URL is not a database this nudge knows.",
        next_step="Use sqlite:///path/to/nudge.db or postgresql://user:password@host/name, or leave it out.",
    )
