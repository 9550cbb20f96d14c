"""A month in virtual time: thirty days, thirty nights, a restart in each."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from nudge.errors import BudgetExhaustedError
from nudge.instants import as_instant
from nudge.model import Purpose
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.lifecycle import SpendingState
from nudge.stores.open import open_store
from tests.spending.kit import INPUT, PricedModel, dispatcher_of, everything, feed, prepared, question
from tests.spending.kit import spending_on as governor

FIRST = as_instant(datetime(2026, 11, 1, 9, 30, tzinfo=UTC))
WINDOW = 1_000_003
"""No multiple of thirty: every day's share is rounded, and still nothing may get lost."""


@pytest.mark.parametrize("down_at_midnight", [False, True], ids=["up at midnight", "down at midnight"])
def test_thirty_sleeps_and_wakes_with_a_restart_in_each(tmp_path: Path, down_at_midnight: bool) -> None:
    url = f"sqlite:///{tmp_path / 'nudge.db'}"
    shares: list[int] = []

    async def month(clock: VirtualClock) -> None:
        for day in range(31):
            store = await open_store(url)
            if day == 0:
                await prepared(store)
            model = PricedModel(everything)
            spending = governor(store, clock, WINDOW, model, renews=date(2026, 12, 1))
            await spending.start(clock.now())
            dispatcher = dispatcher_of(spending, store, clock)
            running = asyncio.create_task(dispatcher.run())
            await clock.sleep(60)
            status = await spending.state("coach", clock.now())
            assert (status.state, status.meter.spent) == (SpendingState.AWAKE, 0), f"day {day} starts at zero"
            if day < 30:
                shares.append(status.meter.limit)
                # One large task, then the rest of the day to the last micro-dollar.
                await spending.call("coach", question(status.meter.limit // 2, purpose=Purpose.WORK), starts_task=True)
                while not await spending.asleep("coach", clock.now()):
                    await spending.call("coach", question(status.meter.limit), min_tokens=1)
                with pytest.raises(BudgetExhaustedError):
                    await spending.call("coach", question())
                assert (await spending.state("coach", clock.now())).meter.spent == shares[-1]
            if down_at_midnight:
                dispatcher.stop()
                await running
                await store.close()
                await clock.sleep(24 * 3600 - 60)
            else:
                await clock.sleep(24 * 3600 - 120)
                dispatcher.stop()
                await running
                await store.close()
                await clock.sleep(60)
        store = await open_store(url)
        days = await store.ledger.days("coach", date(2026, 11, 1))
        november = [day for day in days if day.day < date(2026, 12, 1)]
        assert [day.spent for day in november] == shares
        assert sum(day.spent for day in november) == WINDOW
        assert sum(row.cost for row in await store.usage.recent(limit=10_000)) == WINDOW
        assert len(await feed(store, "asleep")) == 30
        assert len(await feed(store, "awake")) == 30
        await store.close()

    run_virtual(month, FIRST)
    assert len(shares) == 30
    assert max(shares) - min(shares) <= 30, "the shares are even"
    assert min(shares) > INPUT
