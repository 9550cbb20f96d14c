"""Transactions that are ready at the same time share one commit, and nobody can tell except by the clock."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from nudge.errors import StoreError, StoreFullError
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.store import SqlStore

NOW = Instant(1_000_000)


class Commits:
    """Counts commits, and fails or looks where it is told to."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.count = 0
        self.before: list[BaseException] = []
        database.probe = self

    def __call__(self, statement: str) -> None:
        if statement == "commit" and self.before:
            raise self.before.pop()
        if statement == "committed":
            self.count += 1


@pytest.fixture(params=["memory", "file"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteDatabase]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "nudge.db")
    opened = SqliteDatabase.open(path)
    yield opened
    opened._connection.close()


@pytest.fixture
async def store(database: SqliteDatabase) -> SqlStore:
    made = SqlStore(database)
    await made.agents.add(Agent("coach", "coach", NOW))
    return made


async def say(store: SqlStore, text: str) -> None:
    await store.feed.add(FeedLine(NOW, "coach", "test", text))


async def said(store: SqlStore) -> list[str]:
    return [line.text for line in await store.feed.recent(limit=500)][::-1]


async def test_tasks_that_are_ready_together_share_one_commit(store: SqlStore, database: SqliteDatabase) -> None:
    commits = Commits(database)
    await asyncio.gather(*(say(store, str(number)) for number in range(50)))
    assert await said(store) == [str(number) for number in range(50)]
    assert commits.count == 1


async def test_a_task_that_is_alone_commits_at_once(store: SqlStore, database: SqliteDatabase) -> None:
    commits = Commits(database)
    for number in range(3):
        await say(store, str(number))
        assert commits.count == number + 1


async def test_one_that_fails_leaves_nothing_and_disturbs_nobody(store: SqlStore, database: SqliteDatabase) -> None:
    commits = Commits(database)

    async def member(number: int) -> None:
        async with store.transaction():
            await say(store, f"{number} first")
            if number in (0, 3, 9):
                raise ValueError(number)
            await say(store, f"{number} second")

    results = await asyncio.gather(*(member(number) for number in range(10)), return_exceptions=True)
    assert [type(result) for result in results] == [
        ValueError if number in (0, 3, 9) else type(None) for number in range(10)
    ]
    kept = [number for number in range(10) if number not in (0, 3, 9)]
    assert await said(store) == [f"{number} {which}" for number in kept for which in ("first", "second")]
    assert commits.count == 1


@pytest.mark.parametrize(
    "error", [StoreFullError("There is no room left."), sqlite3.OperationalError("disk I/O error")]
)
async def test_a_commit_that_fails_fails_for_everybody(
    store: SqlStore, database: SqliteDatabase, error: Exception
) -> None:
    commits = Commits(database)
    commits.before = [error]
    results = await asyncio.gather(*(say(store, str(number)) for number in range(5)), return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)
    assert await said(store) == []
    await say(store, "after")
    assert await said(store) == ["after"]


async def test_nobody_is_told_before_the_commit(store: SqlStore, database: SqliteDatabase) -> None:
    told: list[str] = []

    def probe(statement: str) -> None:
        if statement == "commit":
            told.append("commit")

    database.probe = probe

    async def member(name: str) -> None:
        await say(store, name)
        told.append(name)

    await asyncio.gather(member("one"), member("other"))
    assert told == ["commit", "one", "other"]


async def test_others_read_only_what_is_committed(store: SqlStore, database: SqliteDatabase) -> None:
    seen: list[tuple[int, list[str]]] = []
    commits = Commits(database)

    async def writer() -> None:
        async with store.transaction():
            await say(store, "half")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await say(store, "whole")

    async def reader() -> None:
        for _ in range(4):
            seen.append((commits.count, await said(store)))
            await asyncio.sleep(0)

    await asyncio.gather(writer(), reader())
    assert seen[-1][1] == ["half", "whole"]
    for count, lines in seen:
        assert lines == ([] if not count else ["half", "whole"]) or (count == 0 and lines == ["half", "whole"])
        assert lines in ([], ["half", "whole"])


async def test_a_member_that_is_cancelled_while_it_waits_is_kept_and_then_cancelled(
    store: SqlStore, database: SqliteDatabase
) -> None:
    after: list[str] = []

    async def member() -> None:
        await say(store, "kept")
        after.append("told")
        await asyncio.sleep(3600)

    task = asyncio.create_task(member())
    other = asyncio.create_task(say(store, "other"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await other
    assert after == ["told"]
    assert await said(store) == ["kept", "other"]


async def test_a_time_limit_around_a_member_still_is_one(store: SqlStore) -> None:
    async def member() -> None:
        async with asyncio.timeout(0.01):
            while True:
                await asyncio.gather(say(store, "x"), say(store, "y"))

    with pytest.raises(TimeoutError):
        await member()


async def test_a_savepoint_can_fail_alone(store: SqlStore) -> None:
    async with store.transaction():
        await say(store, "before")
        for number in range(3):
            try:
                async with store.savepoint():
                    await say(store, f"part {number}")
                    if number == 1:
                        raise ValueError
            except ValueError:
                pass
        await say(store, "after")
    assert await said(store) == ["before", "part 0", "part 2", "after"]


async def test_a_write_that_is_refused_inside_a_savepoint_spoils_nothing_else(store: SqlStore) -> None:
    async with store.transaction():
        with pytest.raises(StoreError):
            async with store.savepoint():
                await store.feed.add(FeedLine(NOW, None, "test", "no agent"))  # type: ignore[arg-type]
        await say(store, "after")
    assert await said(store) == ["after"]


async def test_a_savepoint_needs_a_transaction(store: SqlStore) -> None:
    with pytest.raises(StoreError):
        async with store.savepoint():
            pass
