"""The loop, in virtual time, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nudge.errors import ChannelUnavailableError, RetryableError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import Firing
from nudge.queue.outcomes import FeedLine, Result
from nudge.queue.timers import Timer
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.times import NOON

InStore = Callable[..., Any]


class Recorder:
    """A handler that notes what it was given and settles as fired."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.seen: list[tuple[str, int]] = []

    async def __call__(self, firing: Firing) -> None:
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
        self.seen.append((firing.timer.key, self.clock.now() - NOON))


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


def test_timers_fire_when_due_and_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)
        await store.timers.set_many([timer("b", HOUR), timer("a", 5 * SECOND), timer("past", -DAY)])
        await run_for(Dispatcher(store, clock, {"note": note}, owner="d"), clock, 7200)
        assert note.seen == [("past", 0), ("a", 5 * SECOND), ("b", HOUR)]
        assert await store.timers.count() == 0
        assert [row.key for row in await store.outcomes.after_id(0)] == ["past", "a", "b"]

    in_store(scenario)


def test_a_poke_makes_a_new_timer_fire_at_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)
        dispatcher = Dispatcher(store, clock, {"note": note}, owner="d", longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(1)
        await store.timers.set(timer("new", SECOND))
        dispatcher.poke()
        await clock.sleep(1)
        assert note.seen == [("new", SECOND)]
        dispatcher.stop()
        await running

    in_store(scenario)


def test_agents_run_side_by_side_and_one_agent_one_at_a_time(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "a", "b")
        active: dict[str, int] = {}
        most: dict[str, int] = {}
        ended: list[tuple[str, int]] = []

        async def slow(firing: Firing) -> None:
            agent = firing.timer.agent
            active[agent] = active.get(agent, 0) + 1
            most[agent] = max(most.get(agent, 0), active[agent])
            await clock.sleep(60)
            active[agent] -= 1
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
            ended.append((agent, (clock.now() - NOON) // SECOND))

        timers = [timer(f"{agent}{n}", agent=agent, kind="slow") for agent in "ab" for n in range(3)]
        await store.timers.set_many(timers)
        await run_for(Dispatcher(store, clock, {"slow": slow}, owner="d"), clock, 600)
        assert most == {"a": 1, "b": 1}
        assert sorted(ended) == [("a", 60), ("a", 120), ("a", 180), ("b", 60), ("b", 120), ("b", 180)]

    in_store(scenario)


def test_a_lane_of_its_own_does_not_wait_for_the_agents_turn(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)

        async def slow(firing: Firing) -> None:
            await clock.sleep(300)
            await note(firing)

        await store.timers.set_many([timer("turn", kind="slow"), timer("send", SECOND, lane="coach/out")])
        await run_for(Dispatcher(store, clock, {"slow": slow, "note": note}, owner="d"), clock, 600)
        assert note.seen == [("send", SECOND), ("turn", 300 * SECOND)]

    in_store(scenario)


def test_a_lane_with_very_many_due_timers_keeps_no_other_waiting(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "coach", "other")
        note = Recorder(clock)

        async def slow(firing: Firing) -> None:
            await clock.sleep(300)

        crowd = [timer(f"t{n}", -HOUR, kind="slow") for n in range(1500)]
        await store.timers.set_many([*crowd, timer("mine", agent="other")])
        await run_for(Dispatcher(store, clock, {"slow": slow, "note": note}, owner="d"), clock, 1)
        assert note.seen == [("mine", 0)]

    in_store(scenario)


def test_a_timer_set_by_a_handler_for_now_is_fired_at_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)

        async def posts(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                await store.timers.ensure(timer("out", lane="coach/out"))
                await store.timers.set(timer("same lane"))
            await clock.sleep(5)

        await store.timers.set(timer("x", kind="posts"))
        await run_for(Dispatcher(store, clock, {"posts": posts, "note": note}, owner="d"), clock, 10)
        assert note.seen == [("out", 0), ("same lane", 5 * SECOND)]

    in_store(scenario)


def test_a_handler_that_raises_is_pushed_out_with_growing_delays_and_starves_nobody(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        tries: list[int] = []
        note = Recorder(clock)

        async def broken(firing: Firing) -> None:
            tries.append(clock.now() - NOON)
            raise ValueError("the token 123456789:AAaabbccddeeffgghhiijjkkllmmnnoo is wrong.")

        await store.timers.set_many([timer("bad", kind="broken"), timer("good", SECOND)])
        await run_for(Dispatcher(store, clock, {"broken": broken, "note": note}, owner="d"), clock, 2 * 3600)
        assert note.seen == [("good", SECOND)]
        assert [at / SECOND for at in tries] == [0, 5, 20, 65, 365, 1265, 4865]
        row = await store.outcomes.get("coach", "bad", NOON)
        assert row
        assert (row.result, row.final) == (Result.FAILED, False)
        assert "AAaabb" not in row.reason
        (line,) = await store.feed.recent()
        assert line.text == "⚠️ broken failed: the token [hidden] is wrong. Check logs."

    in_store(scenario)


def test_a_failed_occurrence_that_works_later_ends_in_its_one_row(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def flaky(firing: Firing) -> None:
            if firing.timer.attempts < 2:
                raise RetryableError("away", retry_after=120)
            async with firing.settle():
                pass

        await store.timers.set(timer("x", kind="flaky"))
        await run_for(Dispatcher(store, clock, {"flaky": flaky}, owner="d"), clock, 600)
        (row,) = await store.outcomes.recent()
        assert (row.result, row.final, row.at) == (Result.FIRED_LATE, True, NOON + 240 * SECOND)
        assert await store.feed.recent() == []  # two hiccups are no news

    in_store(scenario)


def test_what_a_handler_changes_is_written_with_its_outcome_or_not_at_all(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def half(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                settlement.again(Instant(firing.now + DAY))
                await store.feed.add(FeedLine(firing.now, "coach", "x", "half of it"))
                raise ValueError("in the middle")

        await store.timers.set(timer("x", kind="half"))
        await run_for(Dispatcher(store, clock, {"half": half}, owner="d"), clock, 1)
        assert [line.kind for line in await store.feed.recent()] == ["failed"]
        left = await store.timers.get("coach", "x")
        assert left
        assert (left.slot_at, left.attempts) == (NOON, 1)

    in_store(scenario)


def test_a_timer_that_is_moved_while_it_runs_keeps_its_new_time(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)

        async def slow(firing: Firing) -> None:
            await clock.sleep(10)
            await note(firing)

        await store.timers.set(timer("x", kind="slow"))
        dispatcher = Dispatcher(store, clock, {"slow": slow}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(5)
        await store.timers.set(timer("x", HOUR, kind="slow"))
        await clock.sleep(2 * 3600)
        dispatcher.stop()
        await running
        assert note.seen == [("x", HOUR + 10 * SECOND)]
        assert [row.slot_at - NOON for row in await store.outcomes.recent()] == [HOUR]

    in_store(scenario)


def test_an_occurrence_that_has_ended_is_not_done_again(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def daily(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                settlement.again(Instant(firing.timer.slot_at + DAY))
                await store.feed.add(FeedLine(firing.now, "coach", "x", "done"))

        await store.timers.set(timer("x", kind="daily"))
        await run_for(Dispatcher(store, clock, {"daily": daily}, owner="d"), clock, 10)
        await store.timers.set(timer("x", kind="daily"))  # as an import or a restored backup would
        await run_for(Dispatcher(store, clock, {"daily": daily}, owner="d"), clock, 10)
        assert len(await store.feed.recent()) == 1
        left = await store.timers.get("coach", "x")
        assert left
        assert left.due_at == NOON + DAY

    in_store(scenario)


@pytest.mark.parametrize(
    ("handler", "reason"),
    [("unknown kind", "Unknown kind of timer"), ("forgets to settle", "did not settle")],
)
def test_a_bug_in_a_handler_is_a_failure_and_not_silence(in_store: InStore, handler: str, reason: str) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def forgets(firing: Firing) -> None:
            return None

        await store.timers.set(timer("x", kind="other" if handler == "unknown kind" else "forgets"))
        await run_for(Dispatcher(store, clock, {"forgets": forgets}, owner="d"), clock, 1)
        (row,) = await store.outcomes.recent()
        assert reason in row.reason

    in_store(scenario)


def test_two_daemons_on_one_store_fire_each_timer_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        names = [f"a{n}" for n in range(10)]
        await prepared(store, *names)
        note = Recorder(clock)
        timers = [timer(f"{name}-{n}", n * SECOND, agent=name) for name in names for n in range(20)]
        await store.timers.set_many(timers)
        daemons = [Dispatcher(store, clock, {"note": note}, owner=f"d{n}") for n in range(2)]
        await asyncio.gather(*(run_for(one, clock, 60) for one in daemons))
        assert sorted(key for key, _ in note.seen) == sorted(one.key for one in timers)

    in_store(scenario)


def test_a_daemon_that_lost_its_lane_writes_nothing(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)

        async def stalls(firing: Firing) -> None:
            await store.lanes.release_owner("old")  # the other daemon found this one dead
            assert await store.lanes.claim("coach", "new", clock.now(), Instant(clock.now() + MINUTE))
            await note(firing)

        await store.timers.set(timer("x", kind="stalls"))
        await run_for(Dispatcher(store, clock, {"stalls": stalls}, owner="old"), clock, 5)
        assert note.seen == []
        assert await store.outcomes.recent() == []
        assert await store.timers.count() == 1

    in_store(scenario)


def test_a_long_handler_keeps_its_lane(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        note = Recorder(clock)

        async def long(firing: Firing) -> None:
            await clock.sleep(600)
            await note(firing)

        await store.timers.set(timer("x", kind="long"))
        first = Dispatcher(store, clock, {"long": long}, owner="a")
        second = Dispatcher(store, clock, {"long": long}, owner="b")
        await asyncio.gather(run_for(first, clock, 900), run_for(second, clock, 900))
        assert len(note.seen) == 1

    in_store(scenario)


def test_stopping_waits_ten_seconds_and_hands_the_rest_back(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store, "quick", "slow")
        note = Recorder(clock)

        async def takes(firing: Firing) -> None:
            await clock.sleep(8 if firing.timer.agent == "quick" else 100)
            await note(firing)

        await store.timers.set_many([timer("q", agent="quick", kind="takes"), timer("s", agent="slow", kind="takes")])
        await run_for(Dispatcher(store, clock, {"takes": takes}, owner="d"), clock, 1)
        assert clock.now() - NOON <= 12 * SECOND
        assert [key for key, _ in note.seen] == ["q"]
        assert await store.timers.get("slow", "s") == timer("s", agent="slow", kind="takes")
        assert await store.lanes.held(clock.now()) == []

    in_store(scenario)


def test_a_second_signal_stops_at_once(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)

        async def hangs(firing: Firing) -> None:
            await clock.sleep(10_000)

        await store.timers.set(timer("x", kind="hangs"))
        dispatcher = Dispatcher(store, clock, {"hangs": hangs}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(1)
        dispatcher.stop()
        dispatcher.abort()
        await running
        assert clock.now() - NOON < 2 * SECOND
        assert await store.timers.count() == 1

    in_store(scenario)


@pytest.mark.parametrize("jump", [pytest.param(-DAY, id="back a day"), pytest.param(7 * DAY, id="forward a week")])
def test_a_clock_that_jumps_loses_nothing_and_fires_nothing_twice(in_store: InStore, jump: int) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        fired: list[int] = []

        async def hourly(firing: Firing) -> None:
            following = max(firing.timer.slot_at, firing.now - (firing.now - NOON) % HOUR)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                settlement.again(Instant(following + HOUR))
            fired.append(firing.timer.slot_at)

        await store.timers.set(timer("x", kind="hourly"))
        dispatcher = Dispatcher(store, clock, {"hourly": hourly}, owner="d", longest_wait=30)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(2.5 * 3600)
        clock.jump(jump)
        await clock.sleep(30 * 3600)
        dispatcher.stop()
        await running
        assert len(fired) == len(set(fired))
        assert fired[:3] == [NOON, NOON + HOUR, NOON + 2 * HOUR]
        assert fired == sorted(fired)
        assert len(fired) >= (8 if jump < 0 else 30)
        # A forward jump is noticed within half a minute and the missed slots collapse into one.
        assert fired[3] == NOON + 3 * HOUR
        if jump > 0:
            assert fired[4] == NOON + 7 * DAY + 3 * HOUR

    in_store(scenario)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_retry_does_not_wait_until_a_clock_that_went_back_is_as_late_again(
    in_store: InStore, restarted: bool
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        worked: list[int] = []
        away = True

        async def send(firing: Firing) -> None:
            if away:
                raise ChannelUnavailableError("The channel is away.", retry_after=20)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
            worked.append(clock.now())

        def begun() -> tuple[Dispatcher, asyncio.Task[None]]:
            dispatcher = Dispatcher(store, clock, {"send": send}, owner="d", longest_wait=30)
            return dispatcher, asyncio.create_task(dispatcher.run())

        await store.timers.set(timer("x", kind="send"))
        dispatcher, running = begun()
        await clock.sleep(60)
        if restarted:
            dispatcher.stop()
            await running
        clock.jump(-8 * HOUR)
        back = clock.now()
        away = False
        if restarted:
            dispatcher, running = begun()
        await clock.sleep(2 * 3600)
        dispatcher.stop()
        await running
        (when,) = worked
        assert 0 <= when - back <= (HOUR if restarted else 30 * SECOND)

    in_store(scenario)


def test_a_full_disk_in_the_middle_of_a_handler_loses_nothing(tmp_path: Any) -> None:
    from nudge.simulation.virtual_time import run_virtual
    from nudge.stores.open import open_sqlite

    async def scenario(clock: VirtualClock) -> None:
        store = open_sqlite(str(tmp_path / "nudge.db"))
        await prepared(store)
        connection = store.database._connection  # type: ignore[attr-defined]
        note = Recorder(clock)

        async def big(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)
                await store.feed.add(FeedLine(firing.now, "coach", "x", "a" * 1_000_000))
            await note_only(firing)

        async def note_only(firing: Firing) -> None:
            note.seen.append((firing.timer.key, clock.now() - NOON))

        await store.timers.set_many([timer(f"t{n}", n * SECOND, kind="big") for n in range(3)])
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 300}")  # room for one of the three
        dispatcher = Dispatcher(store, clock, {"big": big}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(120)
        assert [key for key, _ in note.seen] == ["t0"]
        connection.execute("PRAGMA max_page_count = 1073741823")
        await clock.sleep(1200)
        dispatcher.stop()
        await running
        assert [key for key, _ in note.seen] == ["t0", "t1", "t2"]
        assert {row.final for row in await store.outcomes.recent()} == {True}
        await store.close()

    run_virtual(scenario, NOON)


def test_setting_attempts_aside_a_deferred_timer_keeps_its_slot() -> None:
    first = timer("x")
    assert first.deferred(Instant(NOON + HOUR)) == replace(first, due_at=Instant(NOON + HOUR))
    pushed = first.pushed_out(NOON, 1.5)
    assert (pushed.due_at, pushed.slot_at, pushed.attempts) == (NOON + 1_500_000, NOON, 1)


class _SlowlyReadClock:
    """Time passes while one looks, as on a real machine."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._read = 0

    def now(self) -> Instant:
        self._read += 50
        return Instant(self._clock.now() + self._read)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)


def test_an_idle_dispatcher_looks_once_in_a_while_and_no_more(in_store: InStore) -> None:
    async def scenario(clock: Any, store: SqlStore) -> None:
        looks = 0
        inner = store.timers.due_lanes

        async def counted(*args: Any, **named: Any) -> Any:
            nonlocal looks
            looks += 1
            return await inner(*args, **named)

        store.timers.due_lanes = counted  # type: ignore[method-assign]
        dispatcher = Dispatcher(store, _SlowlyReadClock(clock), {}, owner="test", longest_wait=30)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(300)
        dispatcher.stop()
        await running
        assert looks <= 15

    in_store(scenario)
