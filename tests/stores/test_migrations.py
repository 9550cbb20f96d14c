from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

import psycopg
import pytest

from nudge.attention.restraint import Requests
from nudge.coach.answering import MODEL_OUTAGE
from nudge.coach.changes import CHANGES, Change
from nudge.coach.inbound import POSITION
from nudge.errors import StoreCorruptError, StoreError, StoreNewerError
from nudge.instants import Instant
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.channel import Position
from nudge.reminders.seeding import PROBLEMS, Problem
from nudge.stores.blocks import latest_version, migrations
from nudge.stores.open import open_sqlite, open_store, sqlite_path


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


OLD_ROWS = """
INSERT INTO agents VALUES ('coach', 'coach', 1, NULL);
INSERT INTO notes VALUES ('coach', 'activity', '{"at": 5}');
INSERT INTO notes VALUES ('coach', 'telegram.offset', '17');
INSERT INTO notes VALUES ('coach', 'delayed_until', '9');
INSERT INTO notes VALUES ('coach', 'model.down_since', '3');
INSERT INTO notes VALUES ('coach', 'problems:role', '[["line 3: no", "v1"]]');
INSERT INTO notes VALUES ('coach', 'undo', '[{"words": "quiet", "edits": [], "reminders": [], "wishes":
 {"quiet_until": 7, "busy_until": null, "left_alone": false, "delayed_until": null}, "said": 1, "noted": []}]');
INSERT INTO attention (agent, capacity, refill_minutes, level, last_refill, daily_used_reset, critical_reset_date)
 VALUES ('coach', 5, 90, 0, 0, '2026-02-20', '2026-02-20');
INSERT INTO timers VALUES ('coach', 'pages', 'pages', 1, 1, '{}', 'coach', 0);
INSERT INTO outbox (agent, text, kind, created_at, asked, buttons, state, possibly_repeated, attempts, error, receipt,
 topic, key) VALUES ('coach', 'Call Mum', 'reminder', 1, 1, '[]', 'pending', 0, 0, '', '[]', 'r-abc123', 'k');
INSERT INTO outbox (agent, text, kind, created_at, asked, buttons, state, possibly_repeated, attempts, error, receipt,
 topic, key) VALUES ('coach', 'Hi', 'reply', 2, 1, '[]', 'pending', 0, 0, '', '[]', 'typed', '');
INSERT INTO outbox (agent, text, kind, created_at, asked, buttons, state, possibly_repeated, attempts, error, receipt,
 topic, key) VALUES ('coach', 'Bed?', 'heartbeat', 3, 0, '[]', 'pending', 0, 0, '', '[]', 'bedtime', '');
"""


async def test_what_was_kept_as_notes_is_kept_as_records(durable_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home from before records: every fact is found under its new name."""
    for module in ("nudge.stores.sqlite_file", "nudge.stores.postgres"):
        monkeypatch.setattr(f"{module}.latest_version", lambda: 8)
        monkeypatch.setattr(f"{module}.migrations", lambda: migrations()[:8])
    await (await open_store(durable_url)).close()
    monkeypatch.undo()
    _run(durable_url, OLD_ROWS.replace("\n ", " "))
    store = await open_store(durable_url)
    try:
        assert await store.records.get("coach", IDLE_SINCE) == 5
        assert await store.records.get("coach", POSITION.of("telegram")) == Position("0:17:0")
        assert await store.records.get("coach", PROBLEMS.of("role")) == (Problem("line 3: no", "v1"),)
        assert await store.records.get("coach", MODEL_OUTAGE) is None
        assert await store.records.get("coach", CHANGES) == (Change("quiet", before=Requests(Instant(7)), said=1),)
        row = await store.attention.get("coach")
        assert row is not None
        assert row.requests.delayed_until == 9
        assert [timer.kind for timer in await store.timers.of_agent("coach")] == ["document-writes"]
        sent = [(one.kind, one.reminder_id, one.typed, one.topic) for one in await store.outbox.recent("coach")]
        assert sent == [
            ("heartbeat", "", False, "bedtime"),
            ("reply", "", True, ""),
            ("reminder", "r-abc123", False, ""),
        ]
    finally:
        await store.close()


def _run(url: str, script: str) -> None:
    if url.startswith("sqlite:"):
        with sqlite3.connect(sqlite_path(url)) as connection:
            connection.executescript(script)
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(script)
