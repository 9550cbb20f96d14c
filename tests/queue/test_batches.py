"""Firings that need nothing from outside share a transaction, and nobody can tell except by the clock."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from nudge.errors import StoreError
from nudge.instants import HOUR, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import MOST_AT_ONCE, Firing, Handler, TimerChangedError, batched
from nudge.queue.outcomes import FeedLine, Result
from nudge.queue.timers import Timer
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.times import NOON

InStore = Callable[..., Any]


class Crash(BaseException):
    """The process ends here."""


class Commits:
    """Counts commits, and crashes before the n-th write or commit where it is told to."""

    def __init__(self, store: SqlStore, crash_at: int = 0) -> None:
        self.count = 0
        self.calls = 0
        self.crash_at = crash_at
        store.database.probe = self

    def __call__(self, statement: str) -> None:
        self.calls += 1
        if self.calls == self.crash_at:
            raise Crash
        self.count += statement == "committed"


@batched
async def note(firing: Firing) -> None:
    async with firing.settle() as settlement:
        settlement.outcome(Result.FIRED)
        settlement.feed("note", firing.timer.key)


def timer(key: str, offset: int = 0, *, kind: str = "note", lane: str = "") -> Timer:
    return Timer.at("coach", key, kind, Instant(NOON - SECOND + offset), lane=lane)


async def fired(store: SqlStore) -> list[str]:
    return [line.text for line in await store.feed.after_id(0)]


async def run_for(
    store: SqlStore, clock: VirtualClock, handlers: dict[str, Handler], seconds: float = 60
) -> Dispatcher:
    dispatcher = Dispatcher(store, clock, handlers, owner="d")
    running = asyncio.create_task(dispatcher.run())
    await clock.sleep(seconds)
    dispatcher.stop()
    await running
    return dispatcher


@pytest.mark.parametrize("lanes", [1, 7, 300])
def test_timers_that_are_due_together_are_settled_together_and_in_order(in_store: InStore, lanes: int) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))
        keys = [f"t{n:03}" for n in range(300)]
        await store.timers.set_many(timer(key, n, lane=f"l{n % lanes}") for n, key in enumerate(keys))
        commits = Commits(store)
        dispatcher = await run_for(store, clock, {"note": note})
        order = await fired(store)
        for lane in range(lanes):
            assert [key for key in order if int(key[1:]) % lanes == lane] == keys[lane::lanes]
        assert len(await store.outcomes.recent(limit=500)) == dispatcher.fired == 300
        assert await store.timers.count() == 0
        assert not await store.lanes.held(clock.now())
        assert commits.count < 30

    in_store(scenario)


def test_a_batch_of_slow_firings_ends_early_so_that_others_get_their_turn(in_store: InStore) -> None:
    @batched
    async def slow(firing: Firing) -> None:
        clocks[0].jump(SECOND // 100)
        await note(firing)

    clocks: list[VirtualClock] = []

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        clocks[:] = [clock]
        await store.agents.add(Agent("coach", "coach", NOON))
        await store.timers.set_many(timer(f"t{n:02}", n, kind="slow") for n in range(30))
        commits = Commits(store)
        await run_for(store, clock, {"slow": slow})
        assert await fired(store) == [f"t{n:02}" for n in range(30)]
        assert commits.count >= 30 // 3  # three of them take longer than a batch may

    in_store(scenario)


def test_one_that_fails_is_retried_and_disturbs_nobody(in_store: InStore) -> None:
    @batched
    async def picky(firing: Firing) -> None:
        async with firing.settle() as settlement:
            await store_of[0].feed.add(FeedLine(NOON, "coach", "note", firing.timer.key))
            if firing.timer.key in ("t3", "t5") and not firing.timer.attempts:
                raise ValueError("no")
            settlement.outcome(Result.FIRED)

    store_of: list[SqlStore] = []

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        store_of[:] = [store]
        await store.agents.add(Agent("coach", "coach", NOON))
        await store.timers.set_many(timer(f"t{n}", n, kind="picky") for n in range(9))
        await run_for(store, clock, {"picky": picky}, 2)
        assert [key for key in await fired(store) if key[0] == "t"] == ["t0", "t1", "t2", "t4", "t6", "t7", "t8"]
        await run_for(store, clock, {"picky": picky}, 10)
        rows = {row.key: row for row in await store.outcomes.recent()}
        assert {key for key, row in rows.items() if row.result is Result.FIRED} == {f"t{n}" for n in range(9)}
        assert Counter(key for key in await fired(store) if key[0] == "t") == Counter(f"t{n}" for n in range(9))

    in_store(scenario)


def test_one_that_needs_something_from_outside_fires_alone_and_in_its_turn(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))

        @batched
        async def some(firing: Firing) -> None:
            if firing.timer.key in ("t2", "t5"):
                firing.needs_outside()
                await clock.sleep(1)
            await note(firing)

        await store.timers.set_many(timer(f"t{n}", n, kind="some") for n in range(8))
        await run_for(store, clock, {"some": some})
        assert await fired(store) == [f"t{n}" for n in range(8)]

    in_store(scenario)


def test_a_timer_that_an_earlier_one_of_the_batch_cancels_does_not_fire(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))

        @batched
        async def cancels(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.feed("note", firing.timer.key)
                await store.timers.cancel("coach", "b")

        await store.timers.set_many([timer("a", kind="cancels"), timer("b", 1), timer("c", 2)])
        await run_for(store, clock, {"cancels": cancels, "note": note})
        assert await fired(store) == ["a", "c"]

    in_store(scenario)


def test_a_crash_anywhere_in_a_batch_loses_nothing_and_doubles_nothing(in_store: InStore) -> None:
    """Before each write and commit of it, one after the other, until none is left to crash at."""

    @batched
    async def recurring(firing: Firing) -> None:
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
            settlement.feed("note", firing.timer.key)
            if firing.timer.slot_at < NOON + SECOND:
                settlement.again(Instant(firing.timer.slot_at + HOUR))

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))
        crashes, round_ = 0, 0
        while crashes == round_:
            round_ += 1
            keys = [f"r{round_}:{n}" for n in range(4)]
            base = clock.now()
            await store.timers.set_many(
                Timer.at("coach", key, "recurring", base, lane=f"l{n % 2}") for n, key in enumerate(keys)
            )
            probe = Commits(store, crash_at=round_)
            dispatcher = Dispatcher(store, clock, {"recurring": recurring}, owner=f"d{round_}")
            running = asyncio.create_task(dispatcher.run())
            with suppress(Crash):
                await clock.sleep(1)
            crashes += probe.calls >= round_
            dispatcher.stop()
            with suppress(Crash):
                await running
            store.database.probe = None
            await store.lanes.release_owner(f"d{round_}")
            await run_for(store, clock, {"recurring": recurring}, 1)
            found = Counter(key for key in await fired(store) if key in keys)
            assert found == Counter(keys), round_
            rows = [row for row in await store.outcomes.recent(limit=5000) if row.key in keys]
            assert sorted(row.key for row in rows) == keys

    in_store(scenario)


async def again_now(firing: Firing) -> None:
    async with firing.settle() as settlement:
        settlement.again(firing.now)


async def ended_again_now(firing: Firing) -> None:
    async with firing.settle() as settlement:
        settlement.outcome(Result.FIRED)
        settlement.following = firing.timer


async def put_off_until_now(firing: Firing) -> None:
    async with firing.settle() as settlement:
        settlement.defer(firing.now, "Later.")


async def sees_a_change_every_time(firing: Firing) -> None:
    async with firing.settle():
        raise TimerChangedError


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "in batches"])
@pytest.mark.parametrize("handler", [again_now, ended_again_now, put_off_until_now, sees_a_change_every_time])
def test_a_timer_that_gets_nowhere_is_stopped_for_an_hour(in_store: InStore, handler: Handler, shared: bool) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))
        calls: list[int] = []

        async def counted(firing: Firing) -> None:
            calls.append(clock.now() - NOON)
            assert len(calls) < 1000
            await handler(firing)

        bad = batched(counted) if shared else counted
        await store.timers.set_many([timer("bad", kind="bad"), timer("other", 1)])
        await run_for(store, clock, {"bad": bad, "note": note}, 600)
        assert len(calls) <= 4 * MOST_AT_ONCE  # alone, in a batch, and in the same batch with savepoints
        assert await fired(store) == [line for line in await fired(store) if line == "other" or "bug in nudge" in line]
        stopped = await store.timers.get("coach", "bad")
        assert stopped is not None
        assert stopped.due_at >= NOON + HOUR
        (row,) = [row for row in await store.outcomes.recent(kind="bad") if row.result is Result.FAILED]
        assert "bug in nudge" in row.reason
        assert not row.final

    in_store(scenario)


def test_a_timer_that_gets_something_done_each_time_may_come_back_as_often_as_it_likes(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))

        @batched
        async def reads(firing: Firing) -> None:
            number = firing.timer.payload.get("n", 0)
            firing.stands_for(f"letter:{number}", NOON)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                if number < 499:
                    settlement.again(firing.now, {"n": number + 1})

        await store.timers.set(timer("inbox", kind="reads"))
        commits = Commits(store)
        await run_for(store, clock, {"reads": reads})
        assert len(await store.outcomes.recent(limit=1000)) == 500
        assert commits.count < 30

    in_store(scenario)


def test_a_store_that_refuses_is_tried_again_and_nothing_is_written_meanwhile(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))
        await store.timers.set_many(timer(f"t{n}", n) for n in range(5))
        failures = [StoreError("The disk is full.")] * 4

        def probe(statement: str) -> None:
            if statement == "commit" and failures:
                raise failures.pop()

        store.database.probe = probe
        await run_for(store, clock, {"note": note})
        assert await fired(store) == [f"t{n}" for n in range(5)]

    in_store(scenario)


def test_a_store_that_refuses_for_hours_is_no_spinning_timer(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NOON))

        async def alone(firing: Firing) -> None:
            await note(firing)

        await store.timers.set(timer("x", kind="alone"))

        def probe(statement: str) -> None:
            if clock.now() < NOON + HOUR and statement == "timers_take_held":
                raise StoreError("The disk is full.")

        store.database.probe = probe
        dispatcher = Dispatcher(store, clock, {"alone": alone}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(3700)
        dispatcher.stop()
        await running
        assert await fired(store) == ["x"]

    in_store(scenario)
