"""Whole simulations in this process: the daemon, the person, the copy of a home."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest

from nudge.attention.quiet import Person
from nudge.errors import NotFoundError
from nudge.home.config import Config, Environment
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.instants import to_datetime
from nudge.queue.agents import Agent
from nudge.queue.outcomes import Result
from nudge.reminders.service import Reminders
from nudge.simulation.home_copy import read_belongings
from nudge.simulation.request import Request, simulations
from nudge.simulation.summary import summarise
from nudge.simulation.timeline import Asked, Ended, Noted, Sent, Signal, Timeline
from nudge.stores.open import open_store
from tests.reminders.reminder_values import asked
from tests.times import NOON, TORONTO

FIRST = date(2026, 2, 16)


def lived(home: Home, days: int = 3, **more: object) -> Timeline:
    with simulations(Request(home, days, FIRST, environment={}, now=NOON, **more)) as lives:  # type: ignore[arg-type]
        return lives.run()


def test_a_life_has_everything_in_its_days_and_nothing_outside(tmp_path: Path) -> None:
    life = lived(Home(tmp_path / "none"))
    assert all(life.plan.start <= event.at < life.plan.end for event in life.events)
    assert [event.at for event in life.events] == sorted(event.at for event in life.events)
    assert len(life.samples) == 72
    kinds = {type(event) for event in life.events}
    assert kinds >= {Sent, Ended, Signal, Asked, Noted}
    heartbeats = [event for event in life.events if isinstance(event, Ended) and event.kind == "heartbeat"]
    assert len(heartbeats) == 3 * 32 - 1
    assert all(event.final for event in heartbeats)
    assert summarise(life).quiet_violations == 0


def test_a_life_costs_what_the_weights_of_the_home_say(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.path.mkdir()
    home.config.write_text(
        "[spending.weights]\nhaiku_input = 0\nhaiku_output = 0\nsonnet_input = 0\nsonnet_output = 0\n"
    )
    assert summarise(lived(Home(tmp_path / "none"), 1)).would_cost > 0
    assert summarise(lived(home, 1)).would_cost == 0


@pytest.mark.parametrize("person", ["early-bird", "night-owl", "busy-week", "silent"])
@pytest.mark.parametrize("model", ["offline", "scripted"])
def test_every_person_lives_through_quiet_nights_with_every_model(person: str, model: str, tmp_path: Path) -> None:
    life = lived(Home(tmp_path / "none"), 2, person=person, model=model)
    summary = summarise(life)
    assert summary.quiet_violations == 0
    assert summary.messages > 0
    assert (summary.replies > 0) is (person != "silent")
    assert summary.would_cost > 0
    assert (summary.cost > 0) is (model == "scripted")


def test_the_same_seed_gives_the_same_timeline(tmp_path: Path) -> None:
    one, same, other = (lived(Home(tmp_path / "none"), seed=seed) for seed in (4, 4, 5))
    assert one == same
    assert one.events != other.events


def test_configurations_live_in_one_copy_and_do_not_meet(tmp_path: Path) -> None:
    with simulations(Request(Home(tmp_path / "none"), 2, FIRST, environment={})) as lives:
        plain, often, again = lives.run(), lives.run({"heartbeat": "20m"}), lives.run()
    assert plain == again
    assert often.plan.changes == {"heartbeat": "20m"}
    beats = [sum(isinstance(one, Ended) and one.kind == "heartbeat" for one in life.events) for life in (plain, often)]
    assert beats == [63, 143]
    assert all(sample.level is not None for sample in plain.samples)


def test_a_ping_budget_that_is_off_has_no_level(tmp_path: Path) -> None:
    with simulations(Request(Home(tmp_path / "none"), 1, FIRST, environment={})) as lives:
        life = lives.run({"ping_budget": "off"})
    assert {sample.level for sample in life.samples} == {None}
    assert {event.level for event in life.events if isinstance(event, Sent)} == {None}


async def filled(url: str) -> None:
    store = await open_store(url)
    await store.agents.add(Agent("coach", "coach", NOON))
    await store.agents.add(Agent("other", "coach", NOON))
    reminders = Reminders(store, lambda agent: Person(TORONTO))
    await reminders.add("coach", asked("Stand up", name="up", cron="30 11 * * *", to_person=True), NOON)
    await reminders.add("coach", asked("Gone by", at="2026-02-10T09:00", to_person=True), NOON)
    await reminders.add("other", asked("Not mine", every="1h"), NOON)
    paused = await reminders.add("coach", asked("Paused", every="1h", to_person=True), NOON)
    await reminders.pause(paused.reminder.id, NOON)
    await store.attention.create("coach", 9, 30, NOON, FIRST)
    await store.close()


async def test_belongings_are_read_from_any_store(durable_url: str, tmp_path: Path) -> None:
    await filled(durable_url)
    config = Config(Home(tmp_path), Environment({"NUDGE_DATABASE_URL": durable_url}))
    found = await read_belongings(config, "coach", tmp_path)
    assert sorted(one.message for one in found.reminders) == ["Gone by", "Paused", "Stand up"]
    assert found.agent is not None
    assert found.attention is not None
    assert found.attention.budget.capacity == 9
    with pytest.raises(NotFoundError, match="'nobody'"):
        await read_belongings(config, "nobody", tmp_path)
    empty = Config(Home(tmp_path / "empty"))
    assert (await read_belongings(empty, "coach", tmp_path)).agent is None


async def test_the_persons_own_reminders_fire_in_the_simulation(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    make_home(home)
    await filled(f"sqlite:///{home.database}")

    life = await asyncio.to_thread(lived, home, 2, person="silent")
    sent = [event for event in life.events if isinstance(event, Sent) and event.subject == "up"]
    assert [f"{to_datetime(event.at, TORONTO):%H:%M}" for event in sent] == ["11:30", "11:30"]
    assert all(event.exact for event in sent)
    assert life.notes == ("1 reminder has no time left on the first day, and is left out.",)
    assert {sample.capacity for sample in life.samples} == {9}
    fired = [one for one in life.events if isinstance(one, Ended) and one.subject == "up"]
    assert [one.result for one in fired] == [Result.FIRED, Result.FIRED]


async def test_reminders_that_meet_at_one_instant_end_the_day_and_each_is_read(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    make_home(home)
    store = await open_store(f"sqlite:///{home.database}")
    await store.agents.add(Agent("coach", "coach", NOON))
    reminders = Reminders(store, lambda agent: Person(TORONTO))
    for every in ("15m", "30m", "1h"):
        await reminders.add("coach", asked("Look", name=f"every {every}", every=every, allow_ping=False), NOON)
    for name in ("one", "other"):
        await reminders.add("coach", asked("Look", name=name, cron="0 18 * * *", allow_ping=False), NOON)
    await store.close()

    life = await asyncio.to_thread(lived, home, 2, person="silent")
    ended = [event for event in life.events if isinstance(event, Ended) and event.final]
    read = [event for event in ended if event.kind == "letters"]
    assert len(read) == len({(event.key, event.slot_at) for event in read})
    for name in ("one", "other"):
        assert sum(event.subject == name for event in ended) == 2
    fired = [event for event in ended if event.kind == "reminder"]
    assert len(fired) == 47 + 95 + 191 + 4
    assert 200 < len(read) <= len(fired)  # those of the quiet hours are read once, in the morning


def test_in_five_weeks_of_a_busy_person_less_is_unwanted_and_no_less_is_welcome(tmp_path: Path) -> None:
    request = Request(Home(tmp_path / "none"), 35, FIRST, person="busy-week", environment={}, now=NOON)
    with simulations(request) as lives:
        off, on = (summarise(lives.run({"learning": learning})) for learning in ("off", "on"))
    assert on.unwanted <= off.unwanted * 0.6
    assert on.welcome >= off.welcome
    assert on.rules["unwelcome"] > 0
    assert "unwelcome" not in off.rules
