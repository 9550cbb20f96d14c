"""A worker's simulated week: tasks, sleep, wake and costs."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest

from nudge.errors import UsageError
from nudge.home.create import make_home, make_worker_role
from nudge.home.folder import Home
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.simulation.html import page
from nudge.simulation.request import Request, simulations
from nudge.simulation.summary import summarise, summary_json
from nudge.simulation.text import summary_lines, timeline_lines
from nudge.simulation.timeline import Asked, Noted, Timeline
from nudge.stores.open import open_store
from tests.times import NOON

FIRST = date(2026, 2, 16)
PERSON = 'tasks:\n- {say: "Fix the login.", per_day: 4}\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    make_home(home)
    make_worker_role(home)
    (home.path / "persons").mkdir()
    (home.path / "persons" / "boss.yaml").write_text(PERSON)

    async def add() -> None:
        store = await open_store(f"sqlite:///{home.path / 'nudge.db'}")
        await store.agents.add(Agent("worker", "worker", Instant(NOON)))
        await store.close()

    asyncio.run(add())
    return home


def lived(home: Home, days: int = 2, *, window: str = "60.00", **more: object) -> Timeline:
    request = Request(home, days, FIRST, "worker", "boss", environment={}, now=NOON, **more)  # type: ignore[arg-type]
    with simulations(request) as lives:
        return lives.run({"spending.window": window})


def noted(life: Timeline, start: str) -> list[Noted]:
    return [event for event in life.events if isinstance(event, Noted) and event.text.startswith(start)]


def test_tasks_are_given_worked_on_and_paid_for(home: Home) -> None:
    life = lived(home)
    summary = summarise(life)
    assert summary.said > 2
    assert 0 < summary.tasks_finished <= summary.said
    assert len(noted(life, "Finished: Fix the login.")) == summary.tasks_finished
    calls = [event for event in life.events if isinstance(event, Asked)]
    assert {call.purpose for call in calls} <= {"work", "summary"}
    assert summary.cost == sum(call.cost for call in calls) > 0
    assert summary_json(summary)["tasks"] == {"fired": summary.tasks_finished}


def test_a_small_budget_shows_as_sleep_and_wake(home: Home) -> None:
    life = lived(home, 3, window="15.00")
    assert noted(life, "Agent paused until budget refresh")
    assert noted(life, "Resuming — budget refreshed. Continuing from Fix the login.")
    assert summarise(life).sleeps > 0
    text = "\n".join([*timeline_lines(life), *summary_lines(life)])
    assert "Started: Fix the login." in text
    assert "tasks           " in text
    assert "ping budget" not in text
    assert "tasks finished" in page(life)


def test_the_same_seed_works_the_same_week_and_leaves_the_home_alone(home: Home) -> None:
    before = {path: path.stat().st_mtime_ns for path in home.path.rglob("*")}
    one, same, other = lived(home, 1, seed=1), lived(home, 1, seed=1), lived(home, 1, seed=2)
    assert one == same
    assert one.events != other.events
    assert {path: path.stat().st_mtime_ns for path in home.path.rglob("*")} == before


def test_a_real_model_is_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="cannot be simulated with a real model"):
        lived(home, model="real")
