"""Sessions, on every store."""

from __future__ import annotations

from dataclasses import replace

import pytest
import pytest_asyncio

from nudge.instants import HOUR, Instant
from nudge.progress.store import Session
from nudge.queue.agents import Agent
from nudge.stores.store import SqlStore
from tests.times import NOON

ASKED = {"role": "user", "content": "Fix the login — please"}
ANSWERED = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}]}
FULL = Session(
    agent="worker",
    id="s1",
    iteration=1,
    messages=(ASKED, ANSWERED),
    said=2,
    sandbox_id="box-9",
    phase="acting",
    retries={"model": 2},
    guard={"version": 1, "limits": {"tokens": 10}},
    last_task="Fix the login",
    updated_at=NOON,
)


@pytest_asyncio.fixture(autouse=True)
async def worker(store: SqlStore) -> None:
    await store.agents.add(Agent("worker", "worker", NOON))


async def test_a_session_comes_back_whole(store: SqlStore) -> None:
    assert await store.sessions.get("worker", "s1") is None
    assert await store.sessions.save(FULL, 0, FULL.messages)
    assert await store.sessions.get("worker", "s1") == FULL
    assert await store.sessions.messages("worker", "s1") == [ASKED, ANSWERED]


async def test_an_iteration_that_somebody_else_wrote_already_is_not_written_again(store: SqlStore) -> None:
    await store.sessions.save(FULL, 0, FULL.messages)
    stale = replace(FULL, iteration=1, phase="exploring", said=3)
    assert not await store.sessions.save(stale, 0, [ASKED])
    assert await store.sessions.get("worker", "s1") == FULL
    assert len(await store.sessions.messages("worker", "s1")) == 2


async def test_a_shorter_view_deletes_nothing_that_was_said(store: SqlStore) -> None:
    await store.sessions.save(FULL, 0, FULL.messages)
    short = replace(FULL, messages=(ANSWERED,))
    assert await store.sessions.save(short, 1)
    following = replace(short, iteration=2, messages=(ANSWERED, ASKED), said=3)
    assert await store.sessions.save(following, 1, [ASKED])
    assert await store.sessions.get("worker", "s1") == following
    assert await store.sessions.messages("worker", "s1") == [ASKED, ANSWERED, ASKED]
    assert await store.sessions.messages("worker", "s1", after=1, limit=1) == [ANSWERED]


async def test_a_save_that_is_rolled_back_leaves_the_session_as_it_was(store: SqlStore) -> None:
    await store.sessions.save(FULL, 0, FULL.messages)
    with pytest.raises(ZeroDivisionError):
        async with store.transaction():
            await store.sessions.save(replace(FULL, iteration=2, said=3), 1, [ASKED])
            raise ZeroDivisionError
    assert await store.sessions.get("worker", "s1") == FULL
    assert len(await store.sessions.messages("worker", "s1")) == 2


async def test_the_last_task_is_that_of_the_session_used_last(store: SqlStore) -> None:
    assert await store.spending.last_task("worker") is None
    await store.sessions.save(FULL, 0)
    await store.sessions.save(replace(FULL, id="s2", last_task="Write docs", updated_at=Instant(NOON + HOUR)), 0)
    await store.sessions.save(replace(FULL, id="s3", last_task="", updated_at=Instant(NOON + 2 * HOUR)), 0)
    assert await store.spending.last_task("worker") == "Write docs"
    assert [session.id for session in await store.sessions.of_agent("worker")] == ["s3", "s2", "s1"]
