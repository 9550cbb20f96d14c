from __future__ import annotations

import pytest_asyncio

from nudge.coach.store import Saying
from nudge.instants import DAY, Instant
from nudge.queue.agents import Agent
from nudge.stores.store import SqlStore
from tests.times import NOON


@pytest_asyncio.fixture(autouse=True)
async def agents(store: SqlStore) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.agents.add(Agent("other", "coach", NOON))


async def say(store: SqlStore, *texts: str, at: int = NOON) -> None:
    for text in texts:
        await store.conversations.add(Saying("coach", Instant(at), "user", text))


async def words(store: SqlStore) -> list[str]:
    return [one.content for one in await store.conversations.recent("coach")]


async def test_what_was_said_reads_newest_first_and_per_agent(store: SqlStore) -> None:
    await say(store, "a", "b")
    await store.conversations.add(Saying("other", NOON, "assistant", "x", "heartbeat", True))
    assert await words(store) == ["b", "a"]
    (theirs,) = await store.conversations.recent("other")
    assert (theirs.role, theirs.kind, theirs.forwarded) == ("assistant", "heartbeat", True)


async def test_what_is_old_moves_to_the_archive_once(store: SqlStore) -> None:
    await say(store, "old", at=NOON - 31 * DAY)
    await say(store, "new")
    assert await store.conversations.archive("coach", Instant(NOON - 30 * DAY)) == 1
    assert await store.conversations.archive("coach", Instant(NOON - 30 * DAY)) == 0
    assert await words(store) == ["new"]


async def test_redaction_reaches_into_the_archive(store: SqlStore) -> None:
    await say(store, "secret", at=NOON - 31 * DAY)
    await store.conversations.archive("coach", Instant(NOON - 30 * DAY))
    await say(store, "newer", "newest")
    assert [one.content for one in await store.conversations.redact("coach", 3)] == ["newest", "newer", "secret"]
    assert await store.conversations.redact("coach", 3) == []


async def test_signs_of_life_expire(store: SqlStore) -> None:
    for days in (8, 6, 0):
        await store.activity.add("coach", Instant(NOON - days * DAY))
    assert await store.activity.prune("coach", Instant(NOON - 7 * DAY)) == 1
    assert await store.activity.since("coach", Instant(0)) == [NOON - 6 * DAY, NOON]


async def test_a_period_is_taken_once(store: SqlStore) -> None:
    assert await store.periods.claim("coach", "morning", "2026-02-18", NOON)
    assert not await store.periods.claim("coach", "morning", "2026-02-18", Instant(NOON + 1))
    assert await store.periods.claim("coach", "bedtime", "2026-02-18", NOON)
    assert await store.periods.taken("coach", "morning", "2026-02-18") == NOON
    assert await store.periods.taken("coach", "morning", "2026-02-19") is None
