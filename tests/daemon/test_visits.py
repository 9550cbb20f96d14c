"""Dispatching what is due for one agent, in one bounded call, on any machine."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from nudge.clock import Clock
from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.visits import LEASE, Visits
from nudge.home.prices import load_prices
from nudge.instants import HOUR, MINUTE, SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel
from nudge.testing.life import Texts

NOTE = "note"


class Machine:
    """One process of several on the same store, with a handler that takes as long as it is told."""

    def __init__(self, store: SqlStore, clock: Clock, name: str, *, takes: float = 0, remembered: int = 1000) -> None:
        ports = Ports(
            store, clock, RecordingChannel(), Texts({}), load_prices(), is_coach=lambda agent: agent.role == "coach"
        )
        self.daemon = Daemon(ports, Options(owner=name))
        self.daemon.dispatcher.handlers[NOTE] = self.note
        self.visits = Visits(self.daemon, name, remembered=remembered)
        self.handled: list[str] = []
        self._clock = clock
        self._takes = takes

    async def note(self, firing: Firing) -> None:
        self.handled.append(firing.timer.key)
        await self._clock.sleep(self._takes)
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED, "Done.")
            if (every := firing.timer.payload.get("every")) is not None:
                settlement.again(Instant(firing.timer.slot_at + every))


async def agents(store: SqlStore, *names: str, role: str = "own") -> None:
    for name in names:
        await store.agents.add(Agent(name, role, Instant(0)))


def note(agent: str, key: str, due: int, **payload: Any) -> Timer:
    return Timer.at(agent, key, NOTE, Instant(due), payload=payload, lane=f"{agent}/{key}")


def test_a_visit_fires_what_is_due_for_its_agent_alone_and_says_when_to_come_back(
    in_store: Callable[..., Any],
) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada", "bob")
        now = clock.now()
        due = [note("ada", "one", now), note("ada", "two", now - HOUR), note("ada", "later", now + HOUR)]
        await store.timers.set_many([*due, note("bob", "his", now)])
        machine = Machine(store, clock, "m1")
        visit = await machine.visits.visit("ada", 60)
        assert sorted(machine.handled) == ["one", "two"]
        assert visit.next_due == now + HOUR
        assert [outcome.agent for outcome in await store.outcomes.recent(kind=NOTE)] == ["ada", "ada"]
        assert not await store.lanes.held(clock.now())

    in_store(scenario)


def test_a_visit_to_nobody_says_so(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        assert (await Machine(store, clock, "m1").visits.visit("nobody", 60)).gone

    in_store(scenario)


def test_the_first_visit_starts_the_heartbeat_and_the_chores(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada", role="coach")
        visit = await Machine(store, clock, "m1").visits.visit("ada", 60, first=True)
        kinds = {timer.kind for timer in await store.timers.of_agent("ada")}
        assert {"heartbeat", "retention"} <= kinds
        assert visit.next_due is not None
        assert visit.next_due > clock.now()

    in_store(scenario)


@pytest.mark.parametrize(
    "happens, back",
    [
        pytest.param(True, True, id="something happened, so the next heartbeat is an interval away"),
        pytest.param(False, False, id="nothing happened, and it sleeps on"),
    ],
)
def test_a_heartbeat_that_sleeps_through_is_called_back(
    happens: bool, back: bool, in_store: Callable[..., Any]
) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada", role="coach")
        far = Instant(clock.now() + 3 * HOUR)
        await store.timers.set(Timer.at("ada", HEARTBEAT, HEARTBEAT, far))
        if happens:
            await store.timers.set(note("ada", "one", clock.now()))
        await Machine(store, clock, "m1").visits.visit("ada", 60)
        timer = await store.timers.get("ada", HEARTBEAT)
        assert timer is not None
        assert (timer.due_at < far) == back

    in_store(scenario)


def test_overlapping_visits_on_two_machines_give_each_occurrence_one_outcome(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada")
        start = clock.now()
        await store.timers.set_many([note("ada", f"n{number}", start, every=MINUTE) for number in range(5)])
        first, second = Machine(store, clock, "m1", takes=1), Machine(store, clock, "m2", takes=1)
        for _ in range(3):
            await asyncio.gather(first.visits.visit("ada", 30), second.visits.visit("ada", 30))
            await clock.sleep(60)
        slots = Counter((one.key, one.slot_at) for one in await store.outcomes.recent(kind=NOTE, limit=500))
        assert set(slots.values()) == {1}
        assert len(first.handled) + len(second.handled) == len(slots) >= 15

    in_store(scenario)


def test_what_a_dead_machine_held_fires_once_when_its_lease_ends(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada")
        now = clock.now()
        await store.timers.set(note("ada", "one", now))
        dead = await store.lanes.claim("ada/one", "killed", now, Instant(now + LEASE))
        assert dead is not None
        machine = Machine(store, clock, "m2")
        visit = await machine.visits.visit("ada", 5)
        assert (visit.fired, visit.next_due) == (0, now + LEASE)
        await clock.sleep(LEASE / SECOND)
        visit = await machine.visits.visit("ada", 5)
        assert (machine.handled, visit.next_due) == (["one"], None)

    in_store(scenario)


@pytest.mark.parametrize("seconds, handled", [(0.0, 0), (2.5, 3), (60.0, 5)])
def test_a_visit_ends_when_its_time_is_up_and_asks_to_come_back(
    in_store: Callable[..., Any], seconds: float, handled: int
) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada")
        now = clock.now()
        for number in range(5):
            await store.timers.set(Timer.at("ada", f"n{number}", NOTE, now, lane="ada/one"))
        machine = Machine(store, clock, "m1", takes=1)
        visit = await machine.visits.visit("ada", seconds)
        assert len(machine.handled) == handled
        assert visit.next_due == (None if handled == 5 else now)

    in_store(scenario)


def test_a_machine_remembers_a_bounded_number_of_agents(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        names = [f"agent{number}" for number in range(12)]
        await agents(store, *names, role="coach")
        machine = Machine(store, clock, "m1", remembered=4)
        for name in names:
            await machine.visits.visit(name, 60, first=True)
        assert machine.visits.remembered == 4
        assert not machine.daemon.documents.changed(names[0])

    in_store(scenario)


def test_a_stopping_machine_finishes_what_runs_and_starts_nothing_new(in_store: Callable[..., Any]) -> None:
    async def scenario(clock: Clock, store: SqlStore) -> None:
        await agents(store, "ada")
        now = clock.now()
        for number in range(3):
            await store.timers.set(Timer.at("ada", f"n{number}", NOTE, now, lane="ada/one"))
        machine = Machine(store, clock, "m1", takes=2)
        visiting = asyncio.create_task(machine.visits.visit("ada", 60))
        await clock.sleep(1)
        machine.visits.stop()
        visit = await visiting
        assert (machine.handled, visit.next_due) == (["n0"], now)

    in_store(scenario)
