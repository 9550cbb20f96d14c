"""A hundred tasks in eight processes and one dollar, on SQLite and on PostgreSQL with sixteen connections."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date

import pytest

from nudge.spending.store import DaySpent
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.spending.spend_together import LIMIT, PROCESSES

pytestmark = pytest.mark.process


@dataclass(frozen=True)
class Event:
    what: str
    attempt: str
    overrun: int
    committed: int
    held: int


async def spend(url: str, most: int, seed: int) -> tuple[list[Event], DaySpent, SqlStore]:
    """Run it to its end: nobody waits for ever, or this does not come back in time."""
    words = [sys.executable, "-m", "tests.spending.spend_together", url, str(most), str(seed)]
    done = subprocess.run(words, timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    store = await open_store(url, connections=1)
    lines = await store.feed.after_id(0, limit=10_000)
    events = [
        Event(line.kind, attempt, *map(int, numbers))
        for line in lines
        if line.kind in ("grant", "end")
        for attempt, *numbers in [line.text.split()]
    ]
    (day,) = await store.ledger.days("coach", date(2026, 1, 1))
    return events, day, store


@pytest.mark.parametrize("seed", [1, 2])
async def test_worst_case_holds_never_pass_the_limit_and_spend_the_money(durable_url: str, seed: int) -> None:
    events, day, store = await spend(durable_url, 100, seed)
    grants = [event for event in events if event.what == "grant"]
    assert len({event.attempt.split("-")[0] for event in grants}) == PROCESSES, "every process had its share"
    assert all(event.committed + event.held <= LIMIT for event in events)
    assert (day.held, day.overrun) == (0, 0)
    assert LIMIT * 95 // 100 <= day.spent <= LIMIT
    assert len(events) == 2 * len(grants), "every hold ended"
    assert sum(row.cost for row in await store.usage.recent(limit=10_000)) == day.spent
    await store.close()


@pytest.mark.parametrize("seed", [1, 2])
async def test_estimates_too_low_cost_what_the_calls_in_flight_were_short_by(durable_url: str, seed: int) -> None:
    events, day, store = await spend(durable_url, 250, seed)
    committed, in_flight, at_the_last_grant = 0, set[str](), set[str]()
    for event in events:
        if event.what == "grant":
            assert committed < LIMIT, "no call starts once the limit is reached"
            assert event.committed + event.held <= LIMIT
            in_flight.add(event.attempt)
            at_the_last_grant = set(in_flight)
        else:
            in_flight.discard(event.attempt)
        committed = event.committed
    assert in_flight == set()
    short_by = sum(event.overrun for event in events if event.what == "end" and event.attempt in at_the_last_grant)
    assert day.held == 0
    assert LIMIT * 95 // 100 <= day.spent <= LIMIT + short_by
    rows = await store.usage.recent(limit=10_000)
    assert sum(row.overrun for row in rows) == day.overrun == sum(event.overrun for event in events) > 0
    await store.close()
