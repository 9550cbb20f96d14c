"""Following what is written: nothing is missed and nothing comes twice, wherever one comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.following import CHANGE, FEED, MESSAGE, OUTCOME, Following, Mark, Place, Step
from nudge.queue.outcomes import FeedLine, Outcome, Result, StateChange
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore

AGENT = "coach"


async def write(store: SqlStore, number: int, now: Instant) -> None:
    """One of each: a feed line, an outcome, and a change of something else."""
    async with store.transaction():
        await store.feed.add(FeedLine(now, AGENT, "note", f"line {number}"))
        await store.outcomes.record(Outcome(AGENT, f"k:{number}", "k", now, now, Result.DEFERRED, "", final=False))
        await store.attention.create(f"{AGENT}", 5, 90, now, _day(now))
        await store.database.run(
            "attention_set_requests",
            {"agent": AGENT, "quiet_until": number + 1, "busy_until": None, "left_alone": 0, "delayed_until": None},
        )


def _day(now: Instant) -> Any:
    from nudge.instants import to_datetime

    return to_datetime(now).date()


def names(steps: Sequence[Step]) -> list[str]:
    def name(one: Any) -> str:
        match one:
            case FeedLine():
                return one.text
            case Outcome():
                return f"{one.key} {one.result.value}"
            case StateChange():
                return one.kind
        raise AssertionError(one)

    return [name(step.news) for step in steps]


def test_each_step_is_a_place_to_come_back_to(in_store: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent(AGENT, "coach", clock.now()))
        following = Following(store)
        start = await following.end()
        for number in range(5):
            await write(store, number, clock.now())
            await clock.sleep(1)
        whole = await following.after(start)
        assert [name for name in names(whole) if name.startswith("line")] == [f"line {n}" for n in range(5)]
        assert names(whole).count("attention") == 1  # only how it is now counts
        for at, step in enumerate(whole):
            again = await following.after(Place.parse(str(step.place)))
            assert names(again) == names(whole[at + 1 :]), f"after step {at}"
        assert await following.after(whole[-1].place) == []
        await store.outcomes.amend(AGENT, "k:2", whole[0].news.at, Result.FIRED, "")  # type: ignore[union-attr]

    in_store(scenario)


def test_a_row_that_changes_comes_again_as_it_is_then(in_store: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent(AGENT, "coach", clock.now()))
        now = clock.now()
        await write(store, 1, now)
        following = Following(store)
        place = await following.end()
        await store.outcomes.amend(AGENT, "k:1", now, Result.FIRED, "sent")
        assert names(await following.after(place)) == ["k:1 fired"]

    in_store(scenario)


async def test_on_a_server_a_row_that_becomes_visible_late_is_not_missed(postgres_url: str) -> None:
    """Numbers are given when a row is written; another transaction may commit a higher one first."""
    from nudge.stores.open import open_store

    store = await open_store(postgres_url)
    try:
        now = Instant(1_000_000)
        await store.agents.add(Agent(AGENT, "coach", now))
        following = Following(store)
        place = await following.end()
        written, committed = asyncio.Event(), asyncio.Event()

        async def slow() -> None:
            async with store.transaction():
                await write(store, 1, now)
                written.set()
                await committed.wait()

        task = asyncio.create_task(slow())
        await written.wait()
        await store.feed.add(FeedLine(now, AGENT, "note", "line 2"))
        await store.outcomes.record(Outcome(AGENT, "k:2", "k", now, now, Result.FIRED))
        first = await following.after(place)
        assert names(first) == ["line 2", "k:2 fired"]
        committed.set()
        await task
        late = await following.after(Place.parse(str(first[-1].place)))
        assert names(late) == ["line 1", "k:1 deferred", "attention"]
        assert await following.after(Place.parse(str(late[-1].place))) == []
        assert names(await following.after(Place.parse(str(first[0].place)))) == [
            "line 1",
            "k:1 deferred",
            "k:2 fired",
            "attention",
        ]
    finally:
        await store.close()


@given(st.permutations(list(range(1, 30))), st.integers(0, 29))
def test_numbers_in_any_order_are_seen_once_each(order: list[int], leaves: int) -> None:
    mark = Mark()
    for at, number in enumerate(order):
        assert mark.is_new(number)
        mark = mark.seen(number, gaps=True)
        if at == leaves:
            mark = Mark.parse(str(mark))
        assert not mark.is_new(number)
    assert mark == Mark(29)


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "a.b.c", "1.2.3", "1.2.3.4.5", "1.2.3.-4", "9" * 5000, "1_2_3.4", "1.2.3.4\n"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Place.parse(text)


@pytest.mark.parametrize("log", [FEED, OUTCOME, CHANGE, MESSAGE])
def test_a_place_survives_as_text(log: str) -> None:
    place = Place().seen(log, 7, gaps=True).seen(log, 3, gaps=True)
    assert Place.parse(str(place)) == place
