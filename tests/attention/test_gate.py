"""The gate on real stores: what it knows, what it takes, what it remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from nudge.attention.gate import Gate
from nudge.attention.quiet import Person, QuietHours
from nudge.attention.repeats import signature
from nudge.attention.requests import PersonRequests
from nudge.attention.reserve import PING
from nudge.attention.rules import Allow, Candidate, Decision, Defer, Kind, Refuse, Rule, Takes
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.times import NOON, TORONTO, toronto

InStore = Callable[..., Any]
IDEA = Candidate(Kind.HEARTBEAT)
ASKED = Candidate(Kind.REMINDER, asked_by_person=True)


async def gate_for(store: SqlStore, *claims: int, **options: Any) -> Gate:
    await store.agents.add(Agent("coach", "coach", NOON))

    async def claims_of(agent: str, now: Instant) -> tuple[Instant, ...]:
        return tuple(Instant(NOON + claim) for claim in claims)

    person = Person(TORONTO, QuietHours(2 * 60, 10 * 60, TORONTO))
    return Gate(store, lambda agent: person, claims_of, **options)


def test_five_ideas_pass_and_the_sixth_waits_for_a_refill(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        for _ in range(5):
            allowed = await gate.decide("coach", IDEA, NOON)
            assert isinstance(allowed, Allow)
            assert await gate.take("coach", allowed, IDEA, NOON)
        assert await gate.decide("coach", IDEA, NOON) == Refuse(Rule.BUCKET_EMPTY)
        assert await gate.decide("coach", ASKED, NOON) == Defer(Instant(NOON + 90 * MINUTE), Rule.BUCKET_EMPTY)
        assert isinstance(await gate.decide("coach", IDEA, Instant(NOON + 90 * MINUTE)), Allow)

    in_store(scenario)


def test_a_decision_that_somebody_else_overtook_takes_nothing(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store, capacity=1)
        first = await gate.decide("coach", IDEA, NOON)
        second = await gate.decide("coach", IDEA, NOON)
        assert isinstance(first, Allow)
        assert isinstance(second, Allow)
        assert await gate.take("coach", first, IDEA, NOON)
        assert not await gate.take("coach", second, IDEA, NOON)

    in_store(scenario)


@pytest.mark.parametrize(
    ("lost", "candidate", "decision"),
    [
        pytest.param(0, IDEA, Allow(Takes.PING, PING), id="the ping is taken"),
        pytest.param(2, IDEA, Allow(Takes.PING, PING), id="lost twice to another daemon, then taken"),
        pytest.param(3, IDEA, Refuse(Rule.BUCKET_EMPTY), id="an idea that always loses is dropped"),
        pytest.param(
            3, ASKED, Defer(Instant(NOON + MINUTE), Rule.BUCKET_EMPTY), id="what was asked for waits a minute"
        ),
    ],
)
def test_admitting_decides_again_when_somebody_else_was_faster(
    in_store: InStore, lost: int, candidate: Candidate, decision: Decision
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        take, races = gate.take, [False] * lost

        async def contested(*given: Any) -> bool:
            return races.pop() if races else await take(*given)

        gate.take = contested  # type: ignore[method-assign]
        assert await gate.admit("coach", candidate, NOON) == decision
        left = (await gate.row("coach", NOON)).budget.available
        assert left == (4.0 if isinstance(decision, Allow) else 5.0)

    in_store(scenario)


def test_admitting_what_is_refused_takes_nothing(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        assert await gate.admit("coach", IDEA, toronto(2026, 2, 18, 3)) == Refuse(Rule.QUIET_HOURS)
        assert (await gate.row("coach", NOON)).budget.available == 5.0

    in_store(scenario)


def test_claims_hold_pings_back_unless_the_reserve_or_the_budget_is_off(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        claims = (MINUTE, 2 * MINUTE)
        gate = await gate_for(store, *claims, capacity=2)
        assert await gate.decide("coach", IDEA, NOON) == Refuse(Rule.BUCKET_RESERVED)
        own = Candidate(Kind.ROUTINE, has_claim=True)
        assert isinstance(await gate.decide("coach", own, NOON), Allow)
        plain = await gate_for(store, *claims, capacity=2, reserve=False)
        assert isinstance(await plain.decide("coach", IDEA, NOON), Allow)
        off = await gate_for(store, *claims, budget=False)
        assert await off.decide("coach", IDEA, NOON) == Allow(Takes.NOTHING)

    in_store(scenario)


def test_the_persons_requests_are_respected(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        requests = PersonRequests(store, gate)
        night = toronto(2026, 2, 18, 3)
        assert await gate.decide("coach", IDEA, night) == Refuse(Rule.QUIET_HOURS)
        assert await gate.decide("coach", ASKED, night) == Defer(toronto(2026, 2, 18, 10), Rule.QUIET_HOURS)
        await requests.heard("coach", "leave me alone", Instant(NOON - HOUR), Instant(NOON - HOUR))
        assert await gate.decide("coach", IDEA, NOON) == Refuse(Rule.LEFT_ALONE)
        await store.attention.activity("coach", NOON)
        assert await gate.decide("coach", IDEA, NOON) == Refuse(Rule.LEFT_ALONE)
        await requests.wrote("coach", NOON, NOON)
        assert await gate.decide("coach", IDEA, NOON) == Refuse(Rule.CONVERSATION)
        later = Instant(NOON + 5 * MINUTE)
        assert isinstance(await gate.decide("coach", IDEA, later), Allow)
        await requests.heard("coach", "busy", NOON, NOON)
        assert await gate.decide("coach", IDEA, later) == Refuse(Rule.BUSY)
        await requests.quiet("coach", Instant(NOON + HOUR), NOON)
        assert await gate.decide("coach", IDEA, later) == Refuse(Rule.QUIET_MODE)
        await requests.quiet("coach", None, NOON)
        assert isinstance(await gate.decide("coach", IDEA, later), Allow)

    in_store(scenario)


def test_the_same_thing_is_not_said_twice_in_a_day(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)

        def about(text: str) -> Candidate:
            return Candidate(Kind.HEARTBEAT, topic="inbox", signature=signature(text))

        allowed = await gate.decide("coach", about("3 mails wait since 9:00"), NOON)
        assert isinstance(allowed, Allow)
        await gate.take("coach", allowed, about("3 mails wait since 9:00"), NOON)
        later = Instant(NOON + 3 * HOUR)
        assert await gate.decide("coach", about("5 mails wait since 10:30"), later) == Refuse(Rule.REPEATED)
        assert isinstance(await gate.decide("coach", about("Mary's mail waits"), later), Allow)
        assert isinstance(await gate.decide("coach", about("5 mails wait"), Instant(NOON + DAY)), Allow)

    in_store(scenario)


def test_a_night_has_three_bedtime_messages_across_midnight(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        bedtime = Candidate(Kind.BEDTIME, asked_by_person=True)
        for hour, minute in ((23, 30), (0, 0), (0, 30)):
            now = toronto(2026, 2, 18 + (hour < 12), hour, minute)
            allowed = await gate.decide("coach", bedtime, now)
            assert isinstance(allowed, Allow)
            await gate.take("coach", allowed, bedtime, now)
        assert await gate.decide("coach", bedtime, toronto(2026, 2, 19, 1)) == Refuse(Rule.BEDTIME_LIMIT)
        assert isinstance(await gate.decide("coach", bedtime, toronto(2026, 2, 19, 23)), Allow)

    in_store(scenario)


def test_resizing_keeps_what_is_there(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store)
        allowed = await gate.decide("coach", IDEA, NOON)
        assert isinstance(allowed, Allow)
        await gate.take("coach", allowed, IDEA, NOON)
        assert (await gate.resize("coach", 9, None, NOON)).available == 4.0
        assert (await gate.resize("coach", 3, 60, NOON)).available == 3.0
        row = await gate.row("coach", NOON)
        assert (row.budget.capacity, row.budget.refill_minutes, row.budget.daily_used) == (3, 60, 1)

    in_store(scenario)


def test_resizing_while_pings_are_taken_gives_none_back(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        gate = await gate_for(store, capacity=1000)
        before = (await gate.row("coach", NOON)).budget.level
        takes = [store.attention.take_ping("coach", NOON, date(2026, 2, 18), PING) for _ in range(30)]
        resizes = [gate.resize("coach", 1000, None, NOON) for _ in range(30)]
        done = await asyncio.gather(*(one for pair in zip(takes, resizes, strict=True) for one in pair))
        taken = sum(one is True for one in done)
        assert (await gate.row("coach", NOON)).budget.level == before - taken * PING

    in_store(scenario)


def test_a_changed_configuration_counts_once_and_a_command_stays(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        first = await gate_for(store)
        await first.take_over("coach", NOON)
        await first.resize("coach", 3, None, NOON)
        await first.take_over("coach", NOON)
        assert (await first.row("coach", NOON)).budget.capacity == 3
        second = await gate_for(store, capacity=8, refill_minutes=60)
        await second.take_over("coach", NOON)
        budget = (await second.row("coach", NOON)).budget
        assert (budget.capacity, budget.refill_minutes, budget.available) == (8, 60, 3.0)

    in_store(scenario)
