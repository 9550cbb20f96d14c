"""Somebody presses Ctrl-C while a command connects to PostgreSQL, or takes its leave."""

from __future__ import annotations

import asyncio

import pytest

from nudge.stores.open import open_store
from nudge.stores.store import SqlStore


def at_work() -> set[str]:
    """The pool's own tasks. Left behind, they keep the loop from ending."""
    return {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("pool-")}


async def cancelled_after(task: asyncio.Task[object], seconds: float) -> None:
    await asyncio.wait([task], timeout=seconds)
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 4, 8, 16, 32])
async def test_an_opening_that_is_cancelled_leaves_nothing_running(postgres_url: str, milliseconds: int) -> None:
    opening: asyncio.Task[SqlStore] = asyncio.create_task(open_store(postgres_url))
    await cancelled_after(opening, milliseconds / 1000)  # type: ignore[arg-type]
    if not opening.cancelled():
        await opening.result().close()
    assert at_work() == set()


@pytest.mark.parametrize("steps", range(6))
async def test_a_closing_that_is_cancelled_closes(postgres_url: str, steps: int) -> None:
    store = await open_store(postgres_url)
    assert at_work()
    closing = asyncio.create_task(store.close())
    for _ in range(steps):
        await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    assert closing.cancelled() or closing.exception() is None
    if steps:  # one that is cancelled before it began has closed nothing, and somebody else will
        assert at_work() == set()
    else:
        await store.close()
