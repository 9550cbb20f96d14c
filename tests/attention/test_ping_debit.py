"""The debit is one statement: it agrees with the pure bucket, and of many processes one gets the last ping."""

from __future__ import annotations

import subprocess
import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget
from nudge.inline import run_inline
from nudge.instants import HOUR, MINUTE, Instant, local_date
from nudge.queue.agents import Agent
from nudge.stores.open import open_sqlite, open_store
from tests.times import NOON

TODAY = date(2026, 2, 18)

STEPS = st.lists(
    st.tuples(st.integers(-2 * HOUR, 12 * HOUR), st.booleans(), st.integers(0, 4)), min_size=1, max_size=25
)


@given(steps=STEPS, capacity=st.integers(1, 7), refill=st.integers(1, 200))
def test_the_statement_and_the_pure_bucket_agree(
    steps: list[tuple[int, bool, int]], capacity: int, refill: int
) -> None:
    store = open_sqlite(":memory:")
    run_inline(store.agents.add(Agent("a", "a", NOON)))
    run_inline(store.attention.create("a", capacity, refill, NOON, TODAY))
    pure, now = PingBudget.at(NOON, capacity=capacity, refill_minutes=refill), NOON
    for passed, critical, reserve in steps:
        now = Instant(now + passed)
        claims = [Instant(now + n * 7 * MINUTE) for n in range(reserve)]
        today = local_date(now, pure.zone)
        if critical:
            run_inline(store.attention.take_critical("a", today))  # leaves the level alone
        else:
            took = run_inline(store.attention.take_ping("a", now, today, pure.at_least(now, claims)))
            granted, after = pure.try_use(now, claims=claims)
            assert took == granted
            pure = after if granted else pure
        row = run_inline(store.attention.get("a"))
        assert row
        assert row.budget.level_at(now) == pure.level_at(now)
    run_inline(store.close())


@pytest.mark.process
async def test_thirty_two_processes_race_for_one_ping(durable_url: str) -> None:
    store = await open_store(durable_url)
    await store.agents.add(Agent("race", "coach", NOON))
    await store.attention.create("race", 1, 90, NOON, TODAY)
    racers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.attention.take_one_ping", durable_url, str(NOON)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(32)
    ]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.communicate()[0].strip() for racer in racers]
    assert sorted(answers) == ["granted"] + ["refused"] * 31
    await store.close()
