"""How pings are taken, on real stores: counted once, in the transaction in which it happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nudge.attention.reception import pressed, received, sent, wrote
from nudge.attention.restraint import recognise
from nudge.attention.welcome import PING, Place, Reception, Waiting
from nudge.inline import run_inline
from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.queue.outbox import Message, Sending
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from tests.times import NOON

InStore = Callable[..., Any]
HERE = Place(12)


async def ping(store: SqlStore, at: Instant = NOON, topic: str = "morning", *, arrives: bool = True) -> None:
    if await store.agents.get("coach") is None:
        await store.agents.add(Agent("coach", "coach", NOON))
    async with store.transaction():
        await sent(store, "coach", Waiting(topic, HERE, at))
        number = await store.outbox.put(Message("coach", "Hello", "briefing", at))
        if arrives:
            await store.outbox.mark(number, Sending.SENT, sent_at=at)


async def counts(store: SqlStore) -> dict[str, tuple[float, float]]:
    learned = await store.welcomes.learned("coach")
    return {cell.topic: (round(cell.welcome / PING, 2), round(cell.unwelcome / PING, 2)) for cell in learned.cells}


@pytest.mark.parametrize(
    ("text", "minutes", "counted"),
    [
        pytest.param("on it", 10, (1, 0), id="an answer is a welcome"),
        pytest.param("on it", 120, (1, 0), id="for two hours"),
        pytest.param("on it", 121, None, id="what comes later is about something else"),
        pytest.param("20 more minutes", 10, (0.5, 0.5), id="a delay is half of each"),
        pytest.param("busy", 10, (0, 1), id="busy is a refusal"),
        pytest.param("leave me alone", 10, (0, 3), id="a curse counts three times"),
    ],
)
def test_what_the_person_says_after_a_ping(
    in_store: InStore, text: str, minutes: int, counted: tuple[float, float] | None
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await ping(store)
        at = Instant(NOON + minutes * MINUTE)
        for _ in range(2):  # the second message answers nothing any more
            await wrote(store, "coach", recognise(text), at, at)
        assert await counts(store) == ({} if counted is None else {"morning": counted})

    in_store(scenario)


def test_silence_is_counted_by_the_next_ping_or_the_next_sign_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await ping(store)
        await ping(store, Instant(NOON + 10 * MINUTE), "heartbeat")
        assert await counts(store) == {}  # ten minutes are no silence
        await ping(store, Instant(NOON + 45 * MINUTE), "bedtime")
        assert await counts(store) == {"morning": (0, 1), "heartbeat": (0, 1)}
        later = Instant(NOON + 5 * HOUR)
        await wrote(store, "coach", None, later, later)
        assert await counts(store) == {"morning": (0, 1), "heartbeat": (0, 1), "bedtime": (0, 1)}
        assert await store.welcomes.waiting("coach") == []

    in_store(scenario)


def test_a_ping_that_never_arrived_says_nothing_about_the_person(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await ping(store, arrives=False)
        later = Instant(NOON + 5 * HOUR)
        await wrote(store, "coach", None, later, later)
        assert await counts(store) == {}
        assert await store.welcomes.waiting("coach") == []

    in_store(scenario)


def test_a_button_is_about_its_own_message(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await ping(store)
        await ping(store, Instant(NOON + MINUTE), "heartbeat")
        for _ in range(2):
            await pressed(store, "coach", Reception.SKIPPED, NOON, Instant(NOON + 2 * MINUTE))
        assert await counts(store) == {"morning": (0, 1)}

    in_store(scenario)


def test_what_was_learned_is_forgotten_on_request(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        for topic in ("morning", "bedtime"):
            await ping(store, topic=topic)
            await received(store, "coach", Reception.DONE, NOON, NOON)
        await ping(store, Instant(NOON + HOUR))
        assert await store.welcomes.reset("coach", "morning") == 1
        assert await counts(store) == {"bedtime": (1, 0)}
        assert await store.welcomes.waiting("coach") == []
        assert await store.welcomes.reset("coach") == 1
        assert await counts(store) == {}

    in_store(scenario)


class PowerCutError(BaseException):
    pass


def test_a_crash_at_any_write_counts_a_ping_once_or_not_yet(tmp_path: Path) -> None:
    """The power fails at every write in turn; what the channel still has is then heard again."""
    cuts = 0
    while True:
        store = open_sqlite(str(tmp_path / f"{cuts}.db"))
        run_inline(ping(store))
        left = cuts

        def fuse(block: str = "") -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCutError(block)

        async def hear(store: SqlStore = store) -> None:
            async with store.transaction():
                await wrote(store, "coach", None, NOON, NOON)

        store.database.probe = fuse  # type: ignore[attr-defined]
        cut = False
        try:
            run_inline(hear())
        except PowerCutError:
            cut = True
        run_inline(store.close())
        reopened = open_sqlite(str(tmp_path / f"{cuts}.db"))
        before = run_inline(counts(reopened))
        waiting = len(run_inline(reopened.welcomes.waiting("coach")))
        assert (before, waiting) in (({}, 1), ({"morning": (1, 0)}, 0))
        run_inline(hear(reopened))
        assert run_inline(counts(reopened)) == {"morning": (1, 0)}
        run_inline(reopened.close())
        if not cut:
            break
        cuts += 1
    assert cuts >= 5
