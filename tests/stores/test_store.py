"""What every store promises. Each test runs on SQLite, on PostgreSQL and in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
import pytest_asyncio

from nudge.errors import LostLeaseError, StoreError
from nudge.instants import HOUR, MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message, Sending
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.timers import Timer
from nudge.stores.store import SqlStore
from tests.times import NOON


@pytest_asyncio.fixture(autouse=True)
async def coach(store: SqlStore) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.agents.add(Agent("worker", "worker", NOON))


def at(key: str, offset: int, agent: str = "coach", lane: str = "") -> Timer:
    return Timer.at(agent, key, "test", Instant(NOON + offset), payload={"n": key}, lane=lane)


def outcome(result: Result, *, final: bool = True, reason: str = "") -> Outcome:
    return Outcome("coach", "r-1", "reminder", NOON, Instant(NOON + SECOND), result, reason, {"a": "ü"}, final)


async def test_a_timer_comes_back_as_it_was_set(store: SqlStore) -> None:
    timer = replace(at("a", 5), attempts=3, slot_at=NOON)
    await store.timers.set(timer)
    assert await store.timers.get("coach", "a") == timer


async def test_setting_a_timer_again_moves_it(store: SqlStore) -> None:
    await store.timers.set(at("a", 5))
    await store.timers.set(at("a", HOUR))
    assert await store.timers.count() == 1
    assert await store.timers.next_due(NOON) == NOON + HOUR


async def test_lanes_come_longest_due_first_and_only_if_due(store: SqlStore) -> None:
    await store.timers.set_many(
        [at("a", -5, "worker"), at("b", -9), at("c", 0, lane="coach/out"), at("d", 1, lane="x")]
    )
    assert await store.timers.due_lanes(NOON, 10) == ["coach", "worker", "coach/out"]
    assert await store.timers.due_lanes(NOON, 1) == ["coach"]


async def test_a_held_lane_is_not_due_until_its_lease_ends(store: SqlStore) -> None:
    await store.timers.set(at("a", 0))
    assert await store.lanes.claim("coach", "me", NOON, Instant(NOON + MINUTE))
    assert await store.timers.due_lanes(NOON, 10) == []
    assert await store.timers.due_lanes(Instant(NOON + MINUTE), 10) == ["coach"]


async def test_a_lease_from_the_future_does_not_bind_after_the_clock_went_back(store: SqlStore) -> None:
    await store.timers.set(at("a", -3 * HOUR))
    tomorrow = Instant(NOON + 24 * HOUR)
    assert await store.lanes.claim("coach", "me", tomorrow, Instant(tomorrow + MINUTE))
    assert await store.timers.due_lanes(NOON, 10) == ["coach"]
    assert await store.lanes.claim("coach", "you", NOON, Instant(NOON + MINUTE))


async def test_the_timers_of_a_lane_come_in_order(store: SqlStore) -> None:
    await store.timers.set_many([at("b", -1), at("a", -2), at("z", -2), at("later", 1)])
    seen = []
    while due := await store.timers.due_in_lane("coach", NOON, 2):
        seen.append(due[0].key)
        assert await store.timers.take(due[0])
    assert seen == ["a", "z", "b"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda t: replace(t, due_at=Instant(t.due_at + 1)), id="moved"),
        pytest.param(lambda t: replace(t, attempts=1), id="tried by somebody else"),
        pytest.param(lambda t: replace(t, slot_at=Instant(t.slot_at + 1)), id="another occurrence"),
    ],
)
async def test_a_timer_that_changed_cannot_be_taken(store: SqlStore, change) -> None:  # type: ignore[no-untyped-def]
    timer = at("a", 0)
    await store.timers.set(change(timer))
    assert not await store.timers.take(timer)
    assert await store.timers.count() == 1


async def test_timers_are_listed_by_prefix(store: SqlStore) -> None:
    await store.timers.set_many([at("reminder:1", 5), at("reminder:2", 3), at("reminders", 1), at("wake", 0)])
    assert [t.key for t in await store.timers.of_agent("coach", prefix="reminder:")] == ["reminder:2", "reminder:1"]
    assert len(await store.timers.of_agent("coach")) == 4
    assert await store.timers.of_agent("worker") == []


async def test_a_timer_for_an_agent_that_does_not_exist_is_refused(store: SqlStore) -> None:
    with pytest.raises(StoreError):
        await store.timers.set(at("a", 0, agent="nobody"))


async def test_only_one_of_many_claims_a_lane(store: SqlStore) -> None:
    until = Instant(NOON + MINUTE)
    claims = await asyncio.gather(*(store.lanes.claim("coach", f"d{n}", NOON, until) for n in range(8)))
    assert sum(claim is not None for claim in claims) == 1


async def test_of_many_lanes_the_free_ones_are_claimed(store: SqlStore) -> None:
    until = Instant(NOON + MINUTE)
    assert await store.lanes.claim("b", "you", NOON, until)
    mine = await store.lanes.claim_many(["c", "a", "b"], "me", NOON, until)
    assert [lease.lane for lease in mine] == ["a", "c"]
    assert await store.lanes.claim_many([], "me", NOON, until) == []
    await store.lanes.release_many(mine)
    assert [lease.owner for lease in await store.lanes.held(NOON)] == ["you"]


async def test_two_that_claim_many_lanes_at_once_share_them(store: SqlStore) -> None:
    until = Instant(NOON + MINUTE)
    lanes = [f"lane {n}" for n in range(50)]
    claims = await asyncio.gather(
        store.lanes.claim_many(lanes, "a", NOON, until), store.lanes.claim_many(lanes[::-1], "b", NOON, until)
    )
    assert sorted(lease.lane for claim in claims for lease in claim) == sorted(lanes)


async def test_a_lane_with_more_due_timers_than_one_look_reads_hides_no_other(store: SqlStore) -> None:
    await store.timers.set_many([*(at(f"k{n}", -9) for n in range(1500)), at("other", -1, "worker")])
    assert await store.timers.due_lanes(NOON, 10) == ["coach"]
    assert await store.lanes.claim("coach", "me", NOON, Instant(NOON + MINUTE))
    assert await store.timers.due_lanes(NOON, 10) == ["worker"]


async def test_a_timer_is_taken_only_while_the_lane_is_held(store: SqlStore) -> None:
    timer = at("a", 0)
    await store.timers.set(timer)
    lease = await store.lanes.claim("coach", "me", NOON, Instant(NOON + MINUTE))
    assert lease
    assert not await store.timers.take_held(timer, replace(lease, token="another"))
    assert not await store.timers.take_held(replace(timer, attempts=1), lease)
    assert await store.timers.count() == 1
    assert await store.timers.take_held(timer, lease)
    assert await store.timers.count() == 0


async def test_a_lost_lease_fences_every_write(store: SqlStore) -> None:
    old = await store.lanes.claim("coach", "a", NOON, Instant(NOON + MINUTE))
    assert old
    await store.lanes.assert_held(old)
    new = await store.lanes.claim("coach", "b", Instant(NOON + MINUTE), Instant(NOON + 2 * MINUTE))
    assert new
    assert not await store.lanes.renew(old, Instant(NOON + HOUR))
    await store.lanes.release(old)  # gives back nothing that is not its own
    with pytest.raises(LostLeaseError):
        async with store.transaction():
            await store.feed.add(FeedLine(NOON, "coach", "x", "written by one who lost the lane"))
            await store.lanes.assert_held(old)
    assert await store.feed.recent() == []
    assert [lease.owner for lease in await store.lanes.held(NOON)] == ["b"]
    assert await store.lanes.release_owner("b") == 1


async def test_an_occurrence_has_one_final_outcome(store: SqlStore) -> None:
    assert await store.outcomes.record(outcome(Result.FIRED, reason="first"))
    assert not await store.outcomes.record(outcome(Result.FIRED_LATE, reason="second"))
    kept = await store.outcomes.get("coach", "r-1", NOON)
    assert kept
    assert (kept.result, kept.reason, kept.detail) == (Result.FIRED, "first", {"a": "ü"})


async def test_a_deferred_occurrence_keeps_its_row_and_ends_later(store: SqlStore) -> None:
    await store.outcomes.record(outcome(Result.DEFERRED, final=False))
    first = await store.outcomes.get("coach", "r-1", NOON)
    await store.outcomes.record(outcome(Result.FIRED_LATE))
    rows = await store.outcomes.recent(agent="coach")
    assert [(row.result, row.id) for row in rows] == [(Result.FIRED_LATE, first.id if first else -1)]


async def test_every_change_of_an_outcome_has_a_number_of_its_own(store: SqlStore) -> None:
    assert await store.outcomes.revision() == 0
    await store.outcomes.record(outcome(Result.DEFERRED, final=False))
    await store.outcomes.record(replace(outcome(Result.FIRED), key="r-2"))
    second = await store.outcomes.revision()
    await store.outcomes.record(outcome(Result.FIRED_LATE))
    assert not await store.outcomes.record(outcome(Result.FIRED))  # it has ended: nothing changes
    assert [(row.key, row.result) for row in await store.outcomes.changed_after(second)] == [("r-1", Result.FIRED_LATE)]
    third = await store.outcomes.revision()
    assert await store.outcomes.amend("coach", "r-2", NOON, Result.UNKNOWN, "died")
    assert [(row.key, row.result) for row in await store.outcomes.changed_after(third)] == [("r-2", Result.UNKNOWN)]
    assert [row.key for row in await store.outcomes.changed_after(0)] == ["r-1", "r-2"]
    assert [row.key for row in await store.outcomes.changed_after(0, 1)] == ["r-1"]


async def test_outcomes_around_a_time_were_due_or_ended_then(store: SqlStore) -> None:
    for key, due, ended in [("before", -2, -2), ("due", 0, 5), ("ended", -5, 0), ("both", 1, 1), ("across", -5, 5)]:
        slot, at = Instant(NOON + due * HOUR), Instant(NOON + ended * HOUR)
        await store.outcomes.record(Outcome("coach", key, "test", slot, at, Result.FIRED))
    found = await store.outcomes.around(NOON, Instant(NOON + HOUR))
    assert [row.key for row in found] == ["due", "both", "ended"]
    assert await store.outcomes.around(NOON, NOON, agent="worker") == []


async def test_outcomes_are_found_by_agent_kind_time_and_number(store: SqlStore) -> None:
    for n in range(5):
        when = Instant(NOON + n * HOUR)
        await store.outcomes.record(Outcome("coach", "hb", "heartbeat", when, when, Result.FIRED))
    await store.outcomes.record(outcome(Result.SKIPPED))
    found = await store.outcomes.recent(kind="heartbeat", since=Instant(NOON + 2 * HOUR), limit=2)
    assert [row.slot_at for row in found] == [NOON + 4 * HOUR, NOON + 3 * HOUR]
    assert await store.outcomes.recent(agent="worker") == []
    everything = await store.outcomes.after_id(0)
    assert [row.id for row in await store.outcomes.after_id(everything[2].id)] == [row.id for row in everything[3:]]
    assert await store.outcomes.by_id(everything[0].id) == everything[0]


async def test_the_feed_reads_newest_first_and_follows_oldest_first(store: SqlStore) -> None:
    for n in range(3):
        await store.feed.add(FeedLine(Instant(NOON + n), "coach", "late", f"line {n}"))
    assert [line.text for line in await store.feed.recent(limit=2)] == ["line 2", "line 1"]
    assert [line.text for line in await store.feed.after_id(0)] == ["line 0", "line 1", "line 2"]


async def test_agents_are_added_once_and_come_back_after_removal(store: SqlStore) -> None:
    assert not await store.agents.add(Agent("coach", "other", NOON))
    await store.timers.set(at("a", 0))
    assert await store.agents.remove("coach", NOON)
    assert await store.timers.count() == 0
    assert [agent.name for agent in await store.agents.all()] == ["worker"]
    assert await store.agents.add(Agent("coach", "other", NOON))
    back = await store.agents.get("coach")
    assert back
    assert back.role == "other"


def letter(body: str, priority: Priority, topic: str = "") -> Letter:
    return Letter("coach", "test", body, priority, NOON, topic, detail={"body": body})


async def test_letters_are_read_by_priority_then_as_they_came(store: SqlStore) -> None:
    for body, priority in [
        ("c", Priority.IDLE),
        ("b", Priority.NORMAL),
        ("d", Priority.IDLE),
        ("a", Priority.INTERRUPT),
    ]:
        await store.letters.put(letter(body, priority))
    assert [one.body for one in await store.letters.unread("coach")] == ["a", "b", "c", "d"]
    assert [one.body for one in await store.letters.unread("coach", up_to=Priority.NORMAL)] == ["a", "b"]


async def test_an_unread_topic_is_refreshed_and_counted(store: SqlStore) -> None:
    first = await store.letters.put(letter("1st", Priority.IDLE, "r-1"))
    again = await store.letters.put(letter("2nd", Priority.NORMAL, "r-1"))
    third = await store.letters.put(letter("3rd", Priority.IDLE, "r-1"))
    assert first == again == third
    (only,) = await store.letters.unread("coach")
    assert (only.body, only.count, only.priority) == ("3rd", 3, Priority.NORMAL)
    assert await store.letters.mark_read(first, NOON)
    assert not await store.letters.mark_read(first, NOON)
    assert await store.letters.put(letter("4th", Priority.IDLE, "r-1")) != first


async def test_a_taken_letter_comes_back_unless_it_is_acknowledged_in_time(store: SqlStore) -> None:
    await store.letters.put(letter("a", Priority.IDLE, "r-1"))
    later, end = Instant(NOON + 5), Instant(NOON + 10)
    first = await store.letters.take("coach", NOON, end)
    assert first is not None
    assert await store.letters.take("coach", later, end) is None
    assert await store.letters.next_free("coach", later) == end
    second = await store.letters.take("coach", end, Instant(end + 10))
    assert second is not None
    assert (second.id, second.takes) == (first.id, 2)
    assert not await store.letters.acknowledge(first.id, first.takes, end)
    await store.letters.put(letter("newer", Priority.IDLE, "r-1"))
    assert await store.letters.acknowledge(second.id, second.takes, end)
    third = await store.letters.take("coach", end, Instant(end + 10))
    assert third is not None
    assert third.body == "newer", "what came meanwhile is not lost"
    assert await store.letters.acknowledge(third.id, third.takes, end)
    assert not await store.letters.acknowledge(third.id, third.takes, end)
    assert not await store.letters.unread("coach")


async def test_unread_letters_are_counted_however_many_they_are(store: SqlStore) -> None:
    for n in range(120):
        await store.letters.put(letter(f"{n}", Priority.IDLE))
    first = (await store.letters.unread("coach", limit=1))[0]
    await store.letters.mark_read(first.id, NOON)
    assert await store.letters.count_unread("coach") == 119
    assert await store.letters.count_unread("worker") == 0


async def test_letters_without_a_topic_do_not_collapse(store: SqlStore) -> None:
    await store.letters.put(letter("a", Priority.IDLE))
    await store.letters.put(letter("a", Priority.IDLE))
    assert len(await store.letters.unread("coach")) == 2


async def test_a_message_walks_from_pending_to_sent(store: SqlStore) -> None:
    written = Message(
        "coach", "hello", "reminder", NOON, asked=True, buttons=(("Done", "done:1"),), key="r-1", slot_at=NOON
    )
    number = await store.outbox.put(written)
    assert await store.outbox.pending("coach") == [replace(written, id=number)]
    await store.outbox.mark(number, Sending.SENDING)
    assert [row.state for row in await store.outbox.pending("coach")] == [Sending.SENDING]
    await store.outbox.mark(number, Sending.SENT, sent_at=NOON, receipt=["17", "18"], possibly_repeated=True)
    assert await store.outbox.pending("coach") == []
    sent = await store.outbox.get(number)
    assert sent == replace(
        written, id=number, state=Sending.SENT, sent_at=NOON, receipt=("17", "18"), possibly_repeated=True, attempts=1
    )
    assert await store.outbox.by_receipt("coach", "18") == sent
    assert await store.outbox.by_receipt("worker", "18") is None


async def test_an_exception_in_a_transaction_leaves_nothing_behind(store: SqlStore) -> None:
    with pytest.raises(ZeroDivisionError):
        async with store.transaction():
            await store.timers.set(at("a", 0))
            await store.feed.add(FeedLine(NOON, "coach", "x", "y"))
            raise ZeroDivisionError
    assert await store.timers.count() == 0
    assert await store.feed.recent() == []


async def test_an_inner_error_that_is_swallowed_spoils_the_whole_transaction(store: SqlStore) -> None:
    with pytest.raises(StoreError):
        async with store.transaction():
            await store.timers.set(at("a", 0))
            with pytest.raises(ZeroDivisionError):
                async with store.transaction():
                    await store.timers.set(at("b", 0))
                    raise ZeroDivisionError
    assert await store.timers.count() == 0


async def test_tasks_do_not_write_into_each_others_transactions(store: SqlStore) -> None:
    inside, go = asyncio.Event(), asyncio.Event()

    async def fails() -> None:
        async with store.transaction():
            await store.timers.set(at("mine", 0))
            inside.set()
            await go.wait()
            raise ZeroDivisionError

    async def writes() -> None:
        await inside.wait()
        await store.timers.set(at("yours", 0, "worker"))

    failing, writing = asyncio.ensure_future(fails()), asyncio.ensure_future(writes())
    await inside.wait()
    await asyncio.sleep(0)
    go.set()
    await writing
    with pytest.raises(ZeroDivisionError):
        await failing
    assert await store.timers.get("worker", "yours")
    assert await store.timers.get("coach", "mine") is None


async def test_a_task_that_outlives_the_transaction_it_was_started_in_has_its_own(store: SqlStore) -> None:
    ended, go = asyncio.Event(), asyncio.Event()

    async def later() -> None:
        await ended.wait()
        async with store.transaction():
            await store.timers.set(at("mine", 0))
            go.set()
            await asyncio.sleep(0.01)
            raise ZeroDivisionError

    async with store.transaction():
        task = asyncio.ensure_future(later())
        await asyncio.sleep(0)
    ended.set()
    await go.wait()
    await store.timers.set(at("yours", 0, "worker"))
    with pytest.raises(ZeroDivisionError):
        await task
    assert await store.timers.get("coach", "mine") is None
    assert await store.timers.get("worker", "yours")


@pytest.mark.parametrize("where", ["in the body", "in a statement", "while it waits for its turn"])
async def test_a_cancelled_transaction_leaves_nothing_behind_and_keeps_nothing(store: SqlStore, where: str) -> None:
    inside, hold = asyncio.Event(), asyncio.Event()

    async def other() -> None:
        async with store.transaction():
            await store.timers.set(at("held", 0))
            inside.set()
            await hold.wait()

    async def cancelled() -> None:
        async with store.transaction():
            await store.timers.set(at("a", 0, "worker"))
            if where == "in the body":
                inside.set()
                await asyncio.Event().wait()
            await store.timers.set(at("held", 5))  # waits for the other: for its turn, or for its row
            raise AssertionError("nobody let it in")

    holder = None if where == "in the body" else asyncio.ensure_future(other())
    if holder:
        await inside.wait()
    task = asyncio.ensure_future(cancelled())
    await inside.wait()
    await asyncio.sleep(0.1 if where == "in a statement" else 0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hold.set()
    if holder:
        await holder
    assert await store.timers.get("worker", "a") is None
    await asyncio.gather(*(store.timers.set(at(f"n{n}", 0)) for n in range(20)))  # no connection, no turn was lost
    assert await store.timers.count() == (21 if holder else 20)


async def test_a_cancelled_waiter_does_not_block_the_others(store: SqlStore) -> None:
    go = asyncio.Event()

    async def holds() -> None:
        async with store.transaction():
            await store.timers.set(at("a", 0))
            await go.wait()

    async def writes(key: str) -> None:
        await store.timers.set(at(key, 0, "worker"))

    holder = asyncio.ensure_future(holds())
    await asyncio.sleep(0)
    waiters = [asyncio.ensure_future(writes(f"w{n}")) for n in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    go.set()
    await asyncio.gather(holder, *waiters, return_exceptions=True)
    assert await store.timers.get("worker", "w2")


async def test_a_letter_can_be_put_back_unless_a_newer_one_stands_for_it(store: SqlStore) -> None:
    first = await store.letters.put(letter("1st", Priority.IDLE, "r-1"))
    await store.letters.mark_read(first, NOON)
    assert await store.letters.put_back(first)
    assert [one.id for one in await store.letters.unread("coach")] == [first]
    await store.letters.mark_read(first, NOON)
    second = await store.letters.put(letter("2nd", Priority.IDLE, "r-1"))
    assert not await store.letters.put_back(first)
    assert [one.id for one in await store.letters.unread("coach")] == [second]


async def test_a_look_at_the_gate_does_not_read_all_reminders_of_an_agent() -> None:
    """It asks for those with a reserve, which are few, however many there are."""
    import sqlite3

    from nudge.stores.blocks import sqlite_blocks
    from nudge.stores.sqlite import SqliteDatabase

    database = SqliteDatabase.open(":memory:")
    connection: sqlite3.Connection = database._connection
    plan = connection.execute(f"EXPLAIN QUERY PLAN {sqlite_blocks()['reminders_reserved']}", {"agent": "coach"})
    assert any("reminders_reserved" in row["detail"] for row in plan)
    await database.close()


async def test_outcomes_are_counted_by_hour_kind_and_result(store: SqlStore) -> None:
    def ended(key: str, minutes: int, result: Result, reason: str = "", kind: str = "heartbeat") -> Outcome:
        at = Instant(NOON + minutes * MINUTE)
        return Outcome("coach", key, kind, at, at, result, reason)

    for one in (
        ended("before", -1, Result.FIRED),
        ended("a", 0, Result.SUPPRESSED, "quiet hours"),
        ended("b", 59, Result.SUPPRESSED, "busy"),
        ended("c", 59, Result.FIRED, "not told", kind="reminder"),
        ended("d", 60, Result.SUPPRESSED, "no pings left"),
        ended("e", 130, Result.FIRED),
        replace(ended("another's", 30, Result.FIRED), agent="worker"),
    ):
        await store.outcomes.record(one)
    found = await store.outcomes.hourly("coach", NOON, Instant(NOON + 2 * HOUR))
    assert [((one.since - NOON) // HOUR, one.kind, one.result, one.count, one.reason) for one in found] == [
        (0, "reminder", Result.FIRED, 1, ""),
        (0, "heartbeat", Result.SUPPRESSED, 2, "busy"),
        (1, "heartbeat", Result.SUPPRESSED, 1, "no pings left"),
    ]
    assert await store.outcomes.hourly("nobody", NOON, Instant(NOON + HOUR)) == []
