from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

import psycopg
import pytest

from nudge.errors import StoreCorruptError, StoreError, StoreNewerError
from nudge.stores.blocks import latest_version
from nudge.stores.open import open_sqlite, open_store


async def test_two_openings_at_once_migrate_once(durable_url: str) -> None:
    stores = await asyncio.gather(*(open_store(durable_url) for _ in range(4)))
    for one in stores:
        await one.close()
    reopened = await open_store(durable_url)
    row = await reopened.database.one("schema_version", {})
    await reopened.close()
    assert row
    assert row["version"] == latest_version()


async def test_a_user_without_rights_is_told_so_and_one_who_may_only_use_it_needs_no_more(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE lesser LOGIN")
    try:
        lesser = postgres_url.replace("postgres:@", "lesser:@")
        with pytest.raises(StoreError, match="permission denied for schema public"):
            await open_store(lesser)
        await (await open_store(postgres_url)).close()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO lesser")
        store = await open_store(lesser)
        assert await store.agents.all() == []
        await store.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY lesser")
            connection.execute("DROP ROLE lesser")


def test_a_database_that_is_refused_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []

    class Noting(sqlite3.Connection):
        def close(self) -> None:
            closed.append(True)
            super().close()

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Noting))
    path = tmp_path / "nudge.db"
    path.write_bytes(b"this is not a database" * 500)
    with pytest.raises(StoreCorruptError):
        open_sqlite(str(path))
    assert closed == [True]


async def test_a_database_from_the_future_is_refused(durable_url: str) -> None:
    first = await open_store(durable_url)
    await first.database.run("schema_record", {"version": 999, "name": "future"})
    await first.close()
    with pytest.raises(StoreNewerError, match=r"newer nudge .*999"):
        await open_store(durable_url)
