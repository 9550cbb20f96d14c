"""Daemons that share a PostgreSQL hear of each other's timers."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from nudge.clock import SystemClock
from nudge.errors import StoreError
from nudge.instants import HOUR, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher, EarlyWakes
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore

PATIENCE = 30.0


async def opened(url: str) -> SqlStore:
    store = await open_store(url)
    await store.agents.add(Agent("coach", "coach", SystemClock().now()))
    return store


def soon(key: str, after: int = 0) -> Timer:
    return Timer.at("coach", key, "note", Instant(SystemClock().now() + after))


CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND query = 'LISTEN nudge_timers'"
)


async def test_only_a_timer_of_the_next_seconds_is_told_and_once_per_commit(postgres_url: str) -> None:
    store = await opened(postgres_url)
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as listener:
        await listener.execute("LISTEN nudge_timers")
        await store.timers.set(soon("far away", after=HOUR))
        with pytest.raises(RuntimeError):
            async with store.transaction():
                await store.timers.set(soon("taken back"))
                raise RuntimeError
        await store.timers.cancel("coach", "far away")
        await listener.execute("NOTIFY nudge_timers, 'so far nothing'")
        await store.timers.set_many([soon("one"), soon("two"), soon("three", after=4 * SECOND)])
        await store.timers.set(soon("one", after=HOUR))
        await store.timers.set(soon("one"))  # moved back to now
        await listener.execute("NOTIFY nudge_timers, 'end'")
        told = []
        async for one in listener.notifies(timeout=PATIENCE):
            told.append(one.payload)
            if one.payload == "end":
                break
    assert told == ["so far nothing", "", "", "end"]
    await store.close()


async def test_what_one_sets_oneself_wakes_nobody(postgres_url: str) -> None:
    mine, other = await opened(postgres_url), await open_store(postgres_url)
    wakes = mine.wakes()
    async with asyncio.timeout(PATIENCE):
        await anext(wakes)  # listening
        for number in range(20):
            await mine.timers.set(soon(f"mine {number}"))
        await other.timers.set(soon("theirs"))
        await anext(wakes)
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as operator:
            await operator.execute(CUT)
        with pytest.raises(StoreError):
            await anext(wakes)
    await mine.close()
    await other.close()


async def test_a_dispatcher_that_would_sleep_for_an_hour_fires_what_another_machine_set(postgres_url: str) -> None:
    mine, other = await opened(postgres_url), await open_store(postgres_url)
    clock, fired = SystemClock(), asyncio.Event()

    async def note(firing: Firing) -> None:
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
        fired.set()

    dispatcher = Dispatcher(mine, clock, {"note": note}, owner="mine", longest_wait=3600.0)
    listening = asyncio.Event()

    def poke() -> None:
        listening.set()
        dispatcher.poke()

    tasks = [asyncio.create_task(dispatcher.run()), asyncio.create_task(EarlyWakes(mine, clock, poke).run())]
    async with asyncio.timeout(PATIENCE):
        await listening.wait()
        await other.timers.set(soon("now"))
        await fired.wait()
    dispatcher.stop()
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await mine.close()
    await other.close()


class Patient(SystemClock):
    """Does not wait between two attempts, and keeps how long it was asked to."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


async def test_a_connection_that_is_cut_is_made_again_and_pokes_at_once(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = await open_store(postgres_url)
    pokes: asyncio.Queue[None] = asyncio.Queue()
    clock = Patient()
    listening = asyncio.create_task(EarlyWakes(store, clock, lambda: pokes.put_nowait(None)).run())
    async with asyncio.timeout(PATIENCE):
        await pokes.get()
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as operator:
            await operator.execute(CUT)
        await pokes.get()
    assert clock.slept == [1]
    assert "No news of early timers. Retrying in 1 s" in caplog.text
    listening.cancel()
    await asyncio.wait([listening])
    await store.close()


async def test_where_nobody_else_can_write_it_ends_at_once() -> None:
    store = await open_store("sqlite://:memory:")
    await EarlyWakes(store, SystemClock(), lambda: pytest.fail("poked")).run()
    await store.close()
