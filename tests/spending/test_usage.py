"""The usage log, on every store."""

from __future__ import annotations

from dataclasses import replace

from nudge.instants import HOUR, Instant
from nudge.spending.store import UsageRow, UsageTotal
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.times import NOON

CALL = UsageRow("a1", "coach", NOON, "heartbeat", "haiku", TokenUse(10, 20, 30, 40), 500, "run 7", 3, False, "settled")


async def test_a_call_comes_back_as_it_was_written(store: SqlStore) -> None:
    await store.usage.put(CALL)
    assert await store.usage.recent() == [CALL]


async def test_a_later_truth_replaces_what_was_assumed_but_not_the_time(store: SqlStore) -> None:
    assumed = replace(CALL, use=TokenUse(), cost=900, overrun=0, ended="expired")
    await store.usage.put(assumed)
    await store.usage.put(replace(CALL, at=Instant(NOON + HOUR)))
    assert await store.usage.recent() == [CALL]


async def test_hour_long_cache_writes_are_cache_writes(store: SqlStore) -> None:
    await store.usage.put(replace(CALL, use=TokenUse(1, 2, 3, 4, 5)))
    assert (await store.usage.recent())[0].use == TokenUse(1, 2, 3, 9)


async def test_recent_calls_come_newest_first_and_by_agent(store: SqlStore) -> None:
    for number, agent in enumerate(["coach", "worker", "coach"]):
        await store.usage.put(replace(CALL, attempt_id=f"a{number}", agent=agent, at=Instant(NOON + number)))
    assert [row.attempt_id for row in await store.usage.recent("coach")] == ["a2", "a0"]
    assert [row.attempt_id for row in await store.usage.recent(limit=2)] == ["a2", "a1"]
    assert [row.attempt_id for row in await store.usage.recent(since=Instant(NOON + 1))] == ["a2", "a1"]


async def test_totals_add_up_by_purpose_and_model_the_highest_first(store: SqlStore) -> None:
    for number, (purpose, model, cost, known) in enumerate(
        [("heartbeat", "haiku", 5, True), ("work", "opus", 50, True), ("work", "opus", 60, False)]
    ):
        row = replace(CALL, attempt_id=f"a{number}", purpose=purpose, model=model, cost=cost, known_price=known)
        await store.usage.put(replace(row, at=Instant(NOON + number)))
    assert await store.usage.totals("coach", NOON, Instant(NOON + 3)) == [
        UsageTotal("work", "opus", 2, TokenUse(20, 40, 60, 80), 110, 6, False),
        UsageTotal("heartbeat", "haiku", 1, TokenUse(10, 20, 30, 40), 5, 3, True),
    ]
    assert [total.calls for total in await store.usage.totals("coach", NOON, Instant(NOON + 2))] == [1, 1]
    assert await store.usage.totals("nobody", NOON, Instant(NOON + 3)) == []
