"""Eight processes and one pool, on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nudge.instants import DAY, Instant
from nudge.progress.pool_rules import ReservationState
from nudge.progress.stored_pools import Pools, run_key
from nudge.stores.open import open_store
from tests.progress.share_one_pool import LASTS, PROCESSES, TOTAL
from tests.times import NOON

pytestmark = pytest.mark.process


async def test_processes_that_share_one_pool_never_pass_it(durable_url: str) -> None:
    words = [sys.executable, "-m", "tests.progress.share_one_pool", durable_url, "1"]
    done = subprocess.run(words, timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    store = await open_store(durable_url, connections=1)
    lines = await store.feed.after_id(0, limit=100_000)
    traced = [line.text.split() for line in lines if line.kind == "pool"]
    assert len({who for who, run, *_ in traced if run == "run"}) == PROCESSES, "everybody had a turn"
    assert max(int(used) + int(reserved) for _, _, used, reserved, _ in traced) <= TOTAL
    assert {overrun for *_, overrun in traced} == {"0"}

    told = [line.text.split(maxsplit=1)[1] for line in lines if line.kind == "told"]
    assert told.count(f"granted {TOTAL * 75 // 100 * 60 // 100}") == PROCESSES, (
        "the same child is the same share for everybody"
    )
    assert told.count("released") == 1
    assert told.count("refused") == PROCESSES - 1

    later = Instant(NOON + DAY)
    pools = Pools(store, lasts=LASTS)
    await pools.expire("run", later)
    members = await store.pools.members("run", closed=True)
    assert {member.row.state for member in members[1:]} <= set(ReservationState) - {ReservationState.OPEN}
    assert any(member.row.state is ReservationState.EXPIRED for member in members), "some were forgotten"
    account = (await store.ledger.get([run_key("run")]))[run_key("run")].account
    assert account.held == 0
    assert account.committed == sum(member.committed for member in members)
    assert account.committed == sum(row.cost for row in await store.usage.recent(limit=100_000))
    assert await pools.available("run", "parent", later) == TOTAL - account.committed
    assert account.committed > TOTAL // 10, "the race was one"
    await store.close()
