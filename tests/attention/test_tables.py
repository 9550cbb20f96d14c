"""The bucket in the store does what the pure bucket does, and never gives the last ping twice."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest_asyncio

from nudge.attention.bedtime import BedtimeCount
from nudge.attention.reserve import PING
from nudge.attention.restraint import Requests
from nudge.instants import DAY, HOUR, Instant
from nudge.queue.agents import Agent
from nudge.stores.store import SqlStore
from tests.times import NOON

TODAY = date(2026, 2, 18)


@pytest_asyncio.fixture(autouse=True)
async def row(store: SqlStore) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.attention.create("coach", 5, 90, NOON, TODAY)


async def test_a_new_row_is_full_and_wants_nothing(store: SqlStore) -> None:
    row = await store.attention.get("coach")
    assert row
    assert (row.budget.available, row.requests, row.bedtime) == (5.0, Requests(), BedtimeCount())
    await store.attention.take_ping("coach", NOON, TODAY, PING)
    await store.attention.create("coach", 9, 9, NOON, TODAY)
    again = await store.attention.get("coach")
    assert again
    assert again.budget.available == 4.0


async def test_the_persons_requests_are_kept(store: SqlStore) -> None:
    requests = Requests(Instant(NOON + HOUR), Instant(NOON + 2 * HOUR), True, Instant(NOON + 3 * HOUR))
    await store.attention.set_requests("coach", requests)
    await store.attention.activity("coach", NOON)
    await store.attention.conversation("coach", Instant(NOON + 1))
    row = await store.attention.get("coach")
    assert row
    assert (row.requests, row.last_activity, row.last_conversation) == (requests, NOON, NOON + 1)


async def test_the_counters_turn_with_the_day_and_not_back(store: SqlStore) -> None:
    await store.attention.take_ping("coach", NOON, TODAY, PING)
    await store.attention.take_critical("coach", TODAY)
    await store.attention.take_ping("coach", Instant(NOON + DAY), date(2026, 2, 19), PING)
    await store.attention.take_ping("coach", NOON, TODAY, PING)
    row = await store.attention.get("coach")
    assert row
    assert (row.budget.daily_used, row.budget.daily_used_reset) == (2, date(2026, 2, 19))
    assert (row.budget.critical_used, row.budget.critical_reset_date) == (1, TODAY)


async def test_bedtime_messages_are_counted_by_night(store: SqlStore) -> None:
    for night in (TODAY, TODAY, date(2026, 2, 19)):
        await store.attention.bedtime_sent("coach", night)
    row = await store.attention.get("coach")
    assert row
    assert row.bedtime == BedtimeCount(date(2026, 2, 19), 1)


async def test_what_was_said_is_remembered_by_topic(store: SqlStore) -> None:
    await store.attention.remember_said("coach", "inbox", "a", NOON)
    await store.attention.remember_said("coach", "inbox", "a", Instant(NOON + 1))
    await store.attention.remember_said("coach", "other", "b", NOON)
    assert await store.attention.said("coach", "inbox") == {"a": NOON + 1}
    await store.attention.remember_said("coach", "late", "c", Instant(NOON + 30 * DAY))
    assert await store.attention.said("coach", "inbox") == {}


async def test_eight_tasks_at_once_do_not_share_a_ping(store: SqlStore) -> None:
    granted = await asyncio.gather(*(store.attention.take_ping("coach", NOON, TODAY, 5 * PING) for _ in range(8)))
    assert sum(granted) == 1
