"""What the loop does when handlers, the store or the clock misbehave, on every store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from nudge.errors import ChannelUnavailableError, RetryableError, StoreError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.channel import Channel, Outbound, Receipt
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import Firing
from nudge.queue.outbox import Message
from nudge.queue.outcomes import Result
from nudge.queue.timers import Lease, Timer
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.times import NOON

InStore = Callable[..., Any]


async def prepared(store: SqlStore, *agents: str) -> None:
    for name in agents or ("coach",):
        await store.agents.add(Agent(name, "coach", NOON))


def timer(key: str, offset: int = 0, *, agent: str = "coach", kind: str = "note", lane: str = "") -> Timer:
    return Timer.at(agent, key, kind, Instant(NOON + offset), lane=lane)


async def run_for(dispatcher: Dispatcher, clock: VirtualClock, seconds: float) -> None:
    running = asyncio.create_task(dispatcher.run())
    await clock.sleep(seconds)
    dispatcher.stop()
    await running


class Notes:
    """A handler that settles as fired and notes the keys in order."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def __call__(self, firing: Firing) -> None:
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
        self.keys.append(firing.timer.key)


def test_a_lane_with_a_long_backlog_lets_the_others_in_between(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "busy", "other")
        notes = Notes()
        backlog = [timer(f"b{n}", -HOUR, agent="busy") for n in range(200)]
        await store.timers.set_many([*backlog, timer("mine", agent="other")])
        await run_for(Dispatcher(store, clock, {"note": notes}, owner="d"), clock, 60)
        assert len(notes.keys) == 201
        assert notes.keys.index("mine") < 100

    in_store(scenario)


def test_a_clock_that_goes_back_does_not_start_a_lane_twice(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        started: list[int] = []

        async def slow(firing: Firing) -> None:
            started.append(clock.now() - NOON)
            await clock.sleep(100)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)

        await store.timers.set(timer("x", -2 * DAY, kind="slow"))
        dispatcher = Dispatcher(store, clock, {"slow": slow}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(10)
        clock.jump(-DAY)
        await clock.sleep(200)
        dispatcher.stop()
        await running
        assert started == [0]
        assert [row.result for row in await store.outcomes.recent()] == [Result.FIRED]

    in_store(scenario)


def test_a_slow_store_does_not_make_the_next_timer_late(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        fired: list[int] = []

        async def note(firing: Firing) -> None:
            fired.append(clock.now() - NOON)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)

        next_due = store.timers.next_due

        async def slow_next_due(after: Instant) -> Instant | None:
            await clock.sleep(3)
            return await next_due(after)

        store.timers.next_due = slow_next_due  # type: ignore[method-assign]
        await store.timers.set(timer("x", 4 * SECOND))
        await run_for(Dispatcher(store, clock, {"note": note}, owner="d"), clock, 20)
        assert fired == [4 * SECOND]

    in_store(scenario)


def test_a_handler_that_ends_while_its_lease_is_renewed_is_over(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        notes = Notes()
        renew = store.lanes.renew

        async def slow_renew(lease: Lease, until: Instant) -> bool:
            await clock.sleep(10)
            return await renew(lease, until)

        async def slow(firing: Firing) -> None:
            await clock.sleep(50)
            await notes(firing)

        store.lanes.renew = slow_renew  # type: ignore[method-assign]
        await store.timers.set_many([timer("x", kind="slow"), timer("y", 2 * MINUTE)])
        dispatcher = Dispatcher(store, clock, {"slow": slow, "note": notes}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(100)
        assert dispatcher.busy == 0
        await clock.sleep(100)
        assert notes.keys == ["x", "y"]
        dispatcher.stop()
        await running

    in_store(scenario)


def test_a_handler_that_fails_late_waits_from_its_failure(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        notes = Notes()
        failed: list[int] = []

        async def times_out(firing: Firing) -> None:
            await clock.sleep(600)
            failed.append(clock.now() - NOON)
            raise TimeoutError

        await store.timers.set_many([timer("bad", kind="times out"), timer("good", MINUTE)])
        await run_for(Dispatcher(store, clock, {"times out": times_out, "note": notes}, owner="d"), clock, 900)
        row = await store.outcomes.get("coach", "bad", NOON)
        assert row
        assert row.at == NOON + failed[0]
        assert notes.keys == ["good"]  # it had its turn before the second try
        assert failed == [600 * SECOND]

    in_store(scenario)


@pytest.mark.parametrize(
    ("seconds", "pushed"),
    [
        (float("inf"), HOUR),
        (1e300, HOUR),
        (float("nan"), 5 * SECOND),
        (-5.0, SECOND),
        (0.25, SECOND),
        (90.0, 90 * SECOND),
    ],
)
def test_a_service_may_ask_for_any_time_and_gets_a_sensible_one(in_store: InStore, seconds: float, pushed: int) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def busy(firing: Firing) -> None:
            raise RetryableError("busy", retry_after=seconds)

        await store.timers.set(timer("x", kind="busy"))
        await run_for(Dispatcher(store, clock, {"busy": busy}, owner="d"), clock, 0.5)
        left = await store.timers.get("coach", "x")
        assert left
        assert left.due_at - NOON == pushed

    in_store(scenario)


def test_a_store_that_hiccups_is_no_news(in_store: InStore) -> None:
    """Two writers that wait for each other, a server that restarts: the next try is soon, and nobody is told."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        notes = Notes()

        async def flaky(firing: Firing) -> None:
            if firing.timer.attempts < 2:
                raise StoreError("The PostgreSQL server refused: deadlock detected")
            await notes(firing)

        await store.timers.set(timer("x", kind="flaky"))
        await run_for(Dispatcher(store, clock, {"flaky": flaky}, owner="d"), clock, 60)
        assert notes.keys == ["x"]
        assert await store.feed.recent() == []

    in_store(scenario)


def test_a_failure_hook_that_fails_itself_changes_nothing_about_the_push(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        told: list[str] = []

        async def broken(firing: Firing) -> None:
            raise ValueError("broken")

        async def hook(failed: Timer, error: Exception, now: Instant) -> None:
            told.append(failed.key)
            if len(told) > 10:
                dispatcher.stop()
            raise KeyError("the hook is broken too")

        await store.timers.set(timer("x", kind="broken"))
        dispatcher = Dispatcher(store, clock, {"broken": broken}, owner="d", on_failure=hook)
        await run_for(dispatcher, clock, 1)
        assert told == ["x"]
        left = await store.timers.get("coach", "x")
        assert left
        assert (left.attempts, left.due_at) == (1, NOON + 5 * SECOND)
        assert [line.kind for line in await store.feed.recent()] == ["failed"]

    in_store(scenario)


@pytest.mark.parametrize(
    "text",
    [pytest.param("a \x00 in it", id="a NUL"), pytest.param("half of an emoji: \ud83d", id="half a character")],
)
def test_an_error_whose_text_no_database_takes_is_recorded_all_the_same(
    in_store: InStore, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("nudge.dispatch"), "disabled", True)  # pytest cannot report such a line

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        tries = 0

        async def broken(firing: Firing) -> None:
            nonlocal tries
            tries += 1
            if tries > 10:
                dispatcher.stop()
            raise ValueError(text)

        await store.timers.set(timer("x", kind="broken"))
        dispatcher = Dispatcher(store, clock, {"broken": broken}, owner="d")
        await run_for(dispatcher, clock, 1)
        assert tries == 1
        (row,) = await store.outcomes.recent()
        assert row.reason.startswith(text[:2])

    in_store(scenario)


def test_a_lane_that_cannot_be_read_is_looked_at_again_after_a_while(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "coach", "other")
        notes = Notes()
        looks: list[int] = []
        read = store.timers.due_in_lane

        async def due_in_lane(lane: str, now: Instant, limit: int) -> Sequence[Timer]:
            if lane == "coach":
                looks.append(now - NOON)
                if len(looks) > 100:
                    dispatcher.stop()
                raise ValueError("this row holds no JSON")
            return await read(lane, now, limit)

        store.timers.due_in_lane = due_in_lane  # type: ignore[method-assign]
        await store.timers.set_many([timer("x"), timer("y", 30 * SECOND, agent="other")])
        dispatcher = Dispatcher(store, clock, {"note": notes}, owner="d")
        await run_for(dispatcher, clock, 61)
        assert notes.keys == ["y"]
        assert list(dict.fromkeys(looks)) == [0, 30 * SECOND, 60 * SECOND]
        assert len(looks) < 10

    in_store(scenario)


def test_what_is_stopped_before_it_began_is_given_back(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        notes = Notes()
        await store.timers.set(timer("x"))
        dispatcher = Dispatcher(store, clock, {"note": notes}, owner="d")
        claim_many = store.lanes.claim_many

        async def claim_and_stop(*args: Any) -> Any:
            asyncio.get_running_loop().call_soon(dispatcher.abort)
            return await claim_many(*args)

        store.lanes.claim_many = claim_and_stop  # type: ignore[method-assign]
        await dispatcher.run()
        assert notes.keys == []
        assert await store.lanes.held(clock.now()) == []

    in_store(scenario)


def test_a_daemon_that_lost_its_lane_sends_nothing_more(in_store: InStore) -> None:
    """It stood still in the middle of a send, as a suspended machine does, and another took over meanwhile."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        sent: list[str] = []

        class Stuck(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if not sent:
                    sent.append(f"old: {message.text}")
                    await store.lanes.release_owner("old")
                    await new.run()
                    await store.timers.set(timer("deliver", kind="deliver", lane="coach/out"))
                    return Receipt()
                sent.append(f"new: {message.text}")
                if len(sent) == 4:
                    new.stop()
                return Receipt()

        delivery = Delivery(store, lambda agent: Stuck())
        old, new = (Dispatcher(store, clock, {"deliver": delivery.deliver}, owner=name) for name in ("old", "new"))
        for text in "abc":
            await delivery.post(Message("coach", text, "heartbeat", NOON, asked=True))
        await run_for(old, clock, 1)
        assert sent[0] == "old: a"
        assert [text[-1] for text in sent[1:]] == ["a", "b", "c"]

    in_store(scenario)


def test_a_refused_send_of_one_who_lost_the_lane_does_not_undo_what_the_other_sent(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        sent: list[str] = []

        class Stuck(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if not sent:
                    sent.append("old")
                    await store.lanes.release_owner("old")
                    await new.run()
                    raise ChannelUnavailableError("too late")
                sent.append("new")
                new.stop()
                return Receipt()

        delivery = Delivery(store, lambda agent: Stuck())
        old, new = (Dispatcher(store, clock, {"deliver": delivery.deliver}, owner=name) for name in ("old", "new"))
        await delivery.post(Message("coach", "x", "reminder", NOON, asked=True))
        await run_for(old, clock, 1)
        assert sent == ["old", "new"]
        assert await store.outbox.pending("coach") == []

    in_store(scenario)
