"""What `nudge log` and `nudge why` tell, of a store that goes on changing."""

from __future__ import annotations

import asyncio
import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.timers import Timer
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.cli.cli import NUDGE, Cli
from tests.times import NOON

pytestmark = pytest.mark.process


class Follower:
    """`nudge log --follow --json`, read line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        assert process.stdout
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(json.loads(line))

    def next(self) -> tuple[str, str]:
        """What happened, and to what."""
        line = self._lines.get(timeout=20)
        return line.get("result", line.get("kind", "")), line.get("key", line.get("text", ""))


@contextmanager
def following(cli: Cli) -> Iterator[Follower]:
    environment = {name: value for name, value in cli.environment.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [*NUDGE, "log", "--follow", "--json"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Follower(process)
    finally:
        process.kill()
        process.communicate()


def outcome(key: str, result: Result, *, at: Instant = NOON, final: bool = True) -> Outcome:
    return Outcome("coach", key, "test", NOON, at, result, final=final)


@pytest.fixture
def home_on(home: Cli, durable_url: str) -> Cli:
    home.environment["NUDGE_DATABASE_URL"] = durable_url
    return home


async def prepared(url: str) -> SqlStore:
    store = await open_store(url)
    await store.agents.add(Agent("coach", "coach", NOON))
    return store


async def test_whoever_follows_sees_every_row_and_every_change_once(home_on: Cli, durable_url: str) -> None:
    store = await prepared(durable_url)
    await store.outcomes.record(outcome("a", Result.DEFERRED, final=False))
    await store.outcomes.record(outcome("b", Result.FIRED))
    await store.outcomes.record(
        outcome("a", Result.FIRED_LATE, at=Instant(NOON + HOUR))
    )  # newest, with an older number
    with following(home_on) as follower:
        read = asyncio.get_running_loop().run_in_executor
        first = {await read(None, follower.next) for _ in range(2)}
        assert first == {("fired", "b"), ("fired-late", "a")}
        await store.outcomes.record(outcome("c", Result.FAILED, final=False))
        assert await read(None, follower.next) == ("failed", "c")
        await store.feed.add(FeedLine(Instant(NOON - HOUR), "coach", "late", "the clock went back"))
        assert await read(None, follower.next) == ("late", "the clock went back")
        await store.outcomes.record(outcome("c", Result.FIRED_LATE))
        assert await read(None, follower.next) == ("fired-late", "c")
        await store.outcomes.amend("coach", "b", NOON, Result.UNKNOWN, "nobody knows")
        assert await read(None, follower.next) == ("unknown", "b")
    await store.close()


async def test_whoever_follows_sees_what_was_numbered_earlier_and_committed_later(home: Cli, postgres_url: str) -> None:
    home.environment["NUDGE_DATABASE_URL"] = postgres_url
    store = await prepared(postgres_url)
    with following(home) as follower:
        read = asyncio.get_running_loop().run_in_executor
        await store.outcomes.record(outcome("before", Result.FIRED))
        assert await read(None, follower.next) == ("fired", "before")
        other = await open_store(postgres_url)
        async with other.transaction():
            await other.outcomes.record(outcome("slow", Result.FIRED))
            await other.feed.add(FeedLine(NOON, "coach", "late", "slow line"))
            await store.outcomes.record(outcome("quick", Result.FIRED))
            await store.feed.add(FeedLine(NOON, "coach", "late", "quick line"))
            assert {await read(None, follower.next) for _ in range(2)} == {("fired", "quick"), ("late", "quick line")}
        assert {await read(None, follower.next) for _ in range(2)} == {("fired", "slow"), ("late", "slow line")}
        await other.close()
    await store.close()


async def test_why_a_time_finds_what_was_due_then_and_what_ended_then(home_on: Cli, durable_url: str) -> None:
    store = await prepared(durable_url)
    deferred = outcome("deferred", Result.FIRED_LATE, at=Instant(NOON + 3 * HOUR))
    await store.outcomes.record(deferred)
    await store.outcomes.record(
        replace(outcome("early", Result.FIRED), slot_at=Instant(NOON - HOUR), at=Instant(NOON - HOUR))
    )
    await store.close()

    def keys(time: str) -> list[str]:
        return [row["key"] for row in home_on.json("why", time)]

    assert keys("2026-02-18T12:05-05:00") == ["deferred"]  # when it was due
    assert keys("2026-02-18T15:05-05:00") == ["deferred"]  # when it came
    assert keys("2026-02-18T11:00-05:00") == ["early"]
    home_on("why", "2026-02-18T13:30-05:00", code=3)


async def test_why_says_that_what_is_due_waits_for_a_daemon(home_on: Cli, durable_url: str) -> None:
    store = await prepared(durable_url)
    assert "no daemon" not in home_on("why").stderr
    await store.timers.set(Timer.at("coach", "x", "note", Instant(NOON - MINUTE)))
    await store.close()
    assert "no daemon is running" in home_on("why").stderr
    assert "no daemon is running" in home_on("why", "15:00", code=3).stderr
