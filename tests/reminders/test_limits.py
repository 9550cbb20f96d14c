"""How often a reminder may reach a person, and how many of them a model may set."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.defaults import MOST_A_DAY_BY_MODEL, MOST_BY_MODEL
from nudge.errors import NudgeError, UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.reminders.definition import edited, make_reminder, reminder_from_json, reminder_to_json
from nudge.reminders.exchange import Exchange
from nudge.reminders.handover import candidate_of
from nudge.reminders.reminder import Reminder, Source
from nudge.reminders.slots import shortest_gap
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from tests.reminders.reminder_values import asked
from tests.reminders.world import World
from tests.times import NOON


def made(source: Source = Source.CLI, **words: Any) -> Reminder:
    definition = asked("Stretch.", **{"to_person": True, **words})
    return make_reminder(definition, agent="coach", now=NOON, zone="America/Toronto", source=source)


@pytest.mark.parametrize(
    ("words", "gap"),
    [
        ({"every": "1s"}, SECOND),
        ({"every": "59s"}, 59 * SECOND),
        ({"rrule": "FREQ=SECONDLY"}, SECOND),
        ({"rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0,30"}, 30 * SECOND),
        ({"at": "tomorrow 9am", "every": "5s", "chain": 4}, 5 * SECOND),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("source", [Source.CLI, Source.CHAT, Source.ROLE, Source.FILE, Source.IMPORT])
def test_what_reaches_the_person_more_than_once_a_minute_is_refused(
    words: dict[str, Any], gap: int, source: Source
) -> None:
    with pytest.raises(UsageError, match="at most every 1m"):
        made(source, **words)
    slow = make_reminder(
        asked("Stretch.", to_person=False, **words), agent="coach", now=NOON, zone="America/Toronto", source=source
    )
    assert shortest_gap(slow) == gap


@pytest.mark.parametrize("words", [{"every": "1m"}, {"cron": "* * * * *"}, {"in_": "1s"}, {"idle": "1s"}], ids=str)
def test_once_a_minute_and_once_are_fine(words: dict[str, Any]) -> None:
    assert made(**words).to_person


def test_an_edit_and_an_import_keep_the_limit() -> None:
    with pytest.raises(UsageError, match="at most every 1m"):
        edited(made(every="1h"), {"schedule": {"every": "2s"}}, NOON)
    to_agent = make_reminder(asked("x", every="2s"), agent="coach", now=NOON, zone="America/Toronto")
    with pytest.raises(UsageError, match="at most every 1m"):
        edited(to_agent, {"to_person": True}, NOON)
    with pytest.raises(UsageError, match="at most every 1m"):
        reminder_from_json({**reminder_to_json(to_agent), "to_person": True})


@pytest.mark.parametrize(("every", "fits"), [("14m", False), ("15m", True)])
def test_a_model_has_a_longer_shortest_interval(every: str, fits: bool) -> None:
    if fits:
        assert made(Source.MODEL, every=every).source is Source.MODEL
        return
    with pytest.raises(UsageError, match="at most every 15m"):
        made(Source.MODEL, every=every)


@pytest.mark.parametrize(("source", "exact"), [(Source.CLI, True), (Source.CHAT, True), (Source.MODEL, False)])
def test_only_what_the_person_set_has_its_time(source: Source, exact: bool) -> None:
    reminder = made(source, in_="1h")
    candidate = candidate_of(reminder, "Stretch.", NOON)
    assert candidate.set_for_time is exact
    assert candidate.asked_by_person


def test_a_model_sets_so_many_a_day_and_so_many_at_all(in_store: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        for day in range(MOST_BY_MODEL // MOST_A_DAY_BY_MODEL):
            for _ in range(MOST_A_DAY_BY_MODEL):
                await world.reminders.add("coach", asked("x", every="1h", to_person=True), world.now, Source.MODEL)
            with pytest.raises(NudgeError, match="limit"):
                await world.reminders.add("coach", asked("x", in_="1h", to_person=True), world.now, Source.MODEL)
            assert day < 5
            await clock.sleep(DAY / SECOND)
        with pytest.raises(NudgeError, match="still active"):
            await world.reminders.add("coach", asked("x", in_="1h", to_person=True), world.now, Source.MODEL)
        await world.reminders.add("coach", asked("mine", in_="1h", to_person=True), world.now, Source.CHAT)

    in_store(scenario)


def test_what_a_model_set_comes_through_the_gate(in_store: Any) -> None:
    """Five reminders every quarter of an hour, through a night and a day: none at night, and no more than the bucket
    has."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store, quiet=(22, 8)).prepare()
        for _ in range(5):
            await world.reminders.add("coach", asked("Drink.", every="15m", to_person=True), world.now, Source.MODEL)
        await world.run_for(DAY)
        sent = await store.outbox.recent("coach", limit=500)
        assert 0 < len(sent) <= 5 + 24 * HOUR // (90 * MINUTE)
        quiet = world.person.quiet_hours
        assert quiet is not None
        assert [one for one in sent if quiet.end_if_inside(one.created_at)] == []

    in_store(scenario)


def test_an_import_keeps_the_mark_of_a_model(in_store: Any) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store).prepare()
        await world.reminders.add("coach", asked("x", in_="1h", to_person=True), world.now, Source.MODEL)
        document = await Exchange(store).export()
        document["reminders"][0]["id"] = "r-zzzzzz"
        document["reminders"][0]["created_at"] = "2026-02-01T00:00:00+00:00"
        (added,) = (await Exchange(store).import_(document, Instant(world.now))).added
        assert added.source is Source.MODEL

    in_store(scenario)
