from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.coach.rig import Rig
from tests.times import NOON

RunCoach = Callable[..., Any]


@pytest.fixture
def coach(tmp_path: Path) -> RunCoach:
    """Run `scenario(rig)` with a coach whose store is in memory."""

    def run(scenario: Callable[[Rig], Any], model: Any = None, start: Any = NOON, **options: Any) -> Any:
        async def main(clock: VirtualClock) -> Any:
            store = await open_store("sqlite://:memory:")
            try:
                return await scenario(await Rig(clock, store, tmp_path, model, **options).open())
            finally:
                await store.close()

        return run_virtual(main, start)

    return run


@pytest.fixture
def coach_everywhere(in_store: Callable[..., Any], tmp_path: Path) -> RunCoach:
    """The same on every store."""

    def run(scenario: Callable[[Rig], Any], model: Any = None, **options: Any) -> Any:
        async def main(clock: VirtualClock, store: SqlStore) -> Any:
            return await scenario(await Rig(clock, store, tmp_path, model, **options).open())

        return in_store(main)

    return run
