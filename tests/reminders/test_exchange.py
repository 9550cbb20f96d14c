"""Moving reminders to another home."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nudge.errors import NotFoundError, UsageError
from nudge.home.seeds import HomeSeeds
from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.reminders.exchange import Exchange
from nudge.reminders.reminder import Reminder, Status
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from tests.reminders.test_seeding import CI, REVIEW, Files
from tests.reminders.world import World
from tests.times import NOON

LATER = Instant(NOON + 2 * HOUR + MINUTE)


class Still:
    """A clock that stands."""

    def now(self) -> Instant:
        return NOON


@pytest.fixture
async def other() -> AsyncIterator[SqlStore]:
    """The store of another home."""
    store = open_sqlite(":memory:")
    yield store
    await store.close()


async def home(store: SqlStore, files: Files | None = None) -> World:
    await store.agents.add(Agent("coach", "coach", NOON))
    return World(Still(), store, seeds=HomeSeeds(files.home) if files else None)  # type: ignore[arg-type]


async def exported(store: SqlStore, *, ended: bool = True) -> dict[str, Any]:
    return await Exchange(store).export(ended=ended)


async def test_an_export_is_an_import(store: SqlStore, other: SqlStore) -> None:
    world = await home(store)
    every = await world.add("x", name="n", every="30m", command="true")
    past = await world.add("late", in_="1h", to_person=True)
    gone = await world.add("gone", in_="1h")
    await world.reminders.remove(gone.id, NOON)
    document = await exported(store)
    assert len((await exported(store, ended=False))["reminders"]) == 2
    done = await Exchange(other).import_(document, LATER)
    assert [one.id for one in done.added] == [every.id, past.id, gone.id]
    timers = {timer.key: timer.due_at - NOON for timer in await other.timers.of_agent("coach")}
    assert timers == {every.key: 150 * MINUTE, past.key: HOUR}
    assert await other.reminders.get(every.id) == every
    again = await Exchange(other).import_(document, LATER)
    assert (len(again.added), len(again.already_here)) == (0, 3)


async def test_one_that_fired_and_was_snoozed_is_due_at_once(store: SqlStore, other: SqlStore) -> None:
    await (await home(store)).add("late", in_="1h", to_person=True)
    document = await exported(store)
    document["reminders"][0]["last_fired_at"] = "2026-02-18T13:00:00-05:00"
    (kept,) = (await Exchange(other).import_(document, LATER)).added
    timer = await other.timers.get("coach", kept.key)
    assert (kept.status, timer and timer.due_at) == (Status.ACTIVE, LATER)


async def test_an_id_that_means_something_else_here_is_replaced(store: SqlStore, other: SqlStore) -> None:
    made = await (await home(store)).add("x", in_="1h")
    document = await exported(store)
    await Exchange(other).import_(document, LATER)
    document["reminders"][0]["created_at"] = "2020-01-01T00:00:00Z"
    (renamed,) = (await Exchange(other).import_(document, LATER)).added
    assert renamed.id != made.id


OLD_EXPORT: dict[str, Any] = {
    "id": "r-kqu3o8",
    "agent": "coach",
    "name": "check-ci",
    "message": "Check CI.",
    "description": "",
    "schedule": {"kind": "every", "interval_us": 1_800_000_000, "anchor": "2026-02-18T17:00:00+00:00"},
    "tz": "America/Toronto",
    "priority": "idle",
    "condition": {"prompt": "Is it red?", "mode": "each", "timeout": "10s"},
    "late": None,
    "chain": None,
    "rhythm": None,
    "source": "role",
    "ref": "",
    "created_at": "2026-02-18T12:00:00-05:00",
    "status": "active",
    "ended_reason": "",
    "asked": 0,
    "fire_count": 3,
    "to_person": False,
    "allow_ping": True,
    "reserve": False,
    "critical": False,
    "last_fired_at": None,
    "acknowledged_at": None,
}
"""A reminder as the first exports have it: with all these fields, and without the version of its role."""


def document_of(*reminders: dict[str, Any]) -> dict[str, Any]:
    return {"format": "nudge-reminders", "version": 1, "reminders": list(reminders)}


async def by_name(store: SqlStore, name: str) -> Reminder:
    (found,) = [one for one in await store.reminders.everything() if one.name == name]
    return found


@pytest.mark.parametrize("first", ["the import", "the start"])
async def test_what_a_role_asks_for_belongs_to_it_in_the_other_home_too(
    tmp_path: Path, store: SqlStore, other: SqlStore, first: str
) -> None:
    files = Files(tmp_path / "home")
    files.role(CI, REVIEW)
    files.routine("chores.md", "---\nschedule:\n  cron: '0 18 * * *'\n---\nLook at the list.")
    here, there = await home(store, files), await home(other, files)
    assert here.seeding
    assert there.seeding
    await here.seeding.seed_all(NOON)
    await here.reminders.remove("morning-review", NOON)
    document = await exported(store, ended=False)
    if first == "the start":
        await there.seeding.seed_all(LATER)
    await Exchange(other).import_(document, LATER)
    await there.seeding.seed_all(LATER)
    review = ["cancelled"] if first == "the import" else ["active", "cancelled"]  # what was here stays here
    assert sorted((one.name, one.source.value, one.status.value) for one in await other.reminders.everything()) == [
        ("check-ci", "role", "active"),
        ("chores", "file", "active"),
        *(("morning-review", "role", status) for status in review),
    ]
    assert await other.feed.recent(limit=10) == []  # no clash, and nothing to update
    if first == "the import":
        assert (await by_name(other, "check-ci")).id == (await by_name(store, "check-ci")).id


@pytest.mark.parametrize(
    ("status", "fires"), [("active", True), ("paused", False), ("cancelled", False), ("completed", False)]
)
async def test_an_old_export_stays_as_it_was_when_its_role_takes_it_over(
    tmp_path: Path, other: SqlStore, status: str, fires: bool
) -> None:
    files = Files(tmp_path / "home")
    files.role(CI)
    world = await home(other, files)
    assert world.seeding
    await Exchange(other).import_(document_of(OLD_EXPORT | {"status": status}), NOON)
    await world.seeding.seed_all(NOON)
    found = await by_name(other, "check-ci")
    assert (found.id, found.status.value, found.fire_count) == ("r-kqu3o8", status, 3)
    assert found.message.startswith("Check the CI pipeline.")
    assert (await other.timers.get("coach", found.key) is not None) == fires
    files.role(CI.replace("fix them", "repair them"))
    await world.seeding.seed_all(NOON)
    again = (await by_name(other, "check-ci")).status.value
    assert again == ("active" if status == "cancelled" else status)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        pytest.param({"name": "m"}, "Reminders 1 and 3 of the file have the same id: 'r-kqu3o8'", id="one id twice"),
        pytest.param({"name": "m", "agent": "worker"}, "Reminders 1 and 3", id="one id for two agents"),
        pytest.param({"id": "r-zzzzzz"}, "Reminders 1 and 3 of the file have the same name for coach: 'check-ci'"),
    ],
)
async def test_a_file_that_names_one_twice_is_refused(other: SqlStore, second: dict[str, Any], why: str) -> None:
    await home(other)
    document = document_of(OLD_EXPORT, OLD_EXPORT | {"id": "r-aaaaaa", "name": "a"}, OLD_EXPORT | second)
    with pytest.raises(UsageError, match=why) as error:
        await Exchange(other).import_(document, LATER)
    assert "Nothing was imported" in str(error.value)
    assert await other.reminders.everything() == []


async def test_a_name_that_has_ended_may_be_there_twice(other: SqlStore) -> None:
    await home(other)
    ended = OLD_EXPORT | {"id": "r-zzzzzz", "status": "completed"}
    assert len((await Exchange(other).import_(document_of(OLD_EXPORT, ended), LATER)).added) == 2


async def test_a_mistake_anywhere_imports_nothing(other: SqlStore) -> None:
    mine = await (await home(other)).add("mine", name="n", every="1h")
    with pytest.raises(UsageError, match=r"Reminder 2 of the file: 'id' must be text"):
        await Exchange(other).import_(document_of(OLD_EXPORT, OLD_EXPORT | {"id": 5}), LATER)
    clash = OLD_EXPORT | {"name": "n", "source": "cli"}
    with pytest.raises(UsageError, match=f"already has a reminder called 'n': {mine.id}"):
        await Exchange(other).import_(document_of(OLD_EXPORT | {"id": "r-aaaaaa"}, clash), LATER)
    for bad in ([], {"format": "x"}, {"format": "nudge-reminders", "version": 2}, document_of() | {"reminders": 1}):
        with pytest.raises(UsageError):
            await Exchange(other).import_(bad, LATER)
    with pytest.raises(NotFoundError):
        await Exchange(other).import_(document_of(OLD_EXPORT), LATER, "nobody")
    assert [one.id for one in await other.reminders.everything()] == [mine.id]
