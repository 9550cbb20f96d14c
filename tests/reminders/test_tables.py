"""The repository of reminders, the same on every store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nudge.errors import StoreError
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.reminders.changes import timer_at
from nudge.reminders.reminder import Reminder, Source, Status
from nudge.stores.store import SqlStore
from tests.reminders.reminder_values import reminder
from tests.times import NOON


async def prepared(store: SqlStore) -> None:
    for name in ("coach", "monitor"):
        await store.agents.add(Agent(name, "coach", NOON))


def made(number: int, *, agent: str = "coach", **fields: Any) -> Reminder:
    source = fields.pop("source", Source.CLI)
    fields = {"every": "30m", **fields}
    return replace(
        reminder(source=source, **fields), id=f"r-{number:06}", agent=agent, created_at=Instant(NOON + number)
    )


async def put(store: SqlStore, one: Reminder, offset: int | None = None) -> Reminder:
    assert await store.reminders.add(one)
    if offset is not None:
        await store.timers.set(timer_at(one, Instant(NOON + offset)))
    return one


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"every": None, "in_": "1h", "late": "never", "priority": "interrupt"}, id="once"),
        pytest.param({"count": 5, "name": "stretch", "to_person": True, "reserve": True}, id="every"),
        pytest.param({"command": "test -f x", "mode": "until", "timeout": "3s"}, id="a command"),
        pytest.param(
            {"every": None, "cron": "0 9 * * *", "prompt": "Ünïcode “quotes”?", "mode": "once"}, id="a prompt"
        ),
        pytest.param({"chain": 4, "asked": 2, "fire_count": 2, "last_fired_at": NOON, "acknowledged_at": NOON}),
        pytest.param({"every": None, "idle": "5m", "critical": True, "allow_ping": False}, id="idle"),
        pytest.param({"source": Source.FILE, "ref": "routines/x.md", "name": "x", "description": "d"}, id="a routine"),
        pytest.param({"status": Status.CANCELLED, "ended_reason": "It was removed."}, id="ended"),
    ],
)
async def test_a_row_gives_back_what_was_put_in(store: SqlStore, fields: dict[str, Any]) -> None:
    await prepared(store)
    one = await put(store, made(1, **fields))
    assert await store.reminders.get(one.id) == one
    changed = replace(one, message="Other.", fire_count=9, schedule=made(2, every="2h").schedule)
    await store.reminders.save(changed)
    assert await store.reminders.lock(one.id) == changed
    state = replace(changed, status=Status.COMPLETED, ended_reason="x", asked=1, fire_count=10, last_fired_at=NOON)
    await store.reminders.save_state(replace(state, message="not written"))
    assert await store.reminders.get(one.id) == state


async def test_an_id_is_taken_once(store: SqlStore) -> None:
    await prepared(store)
    one = await put(store, made(1))
    assert not await store.reminders.add(made(1, chain=3))
    assert await store.reminders.get(one.id) == one
    assert await store.reminders.get("r-zzzzzz") is None
    assert await store.reminders.lock("r-zzzzzz") is None


async def test_a_name_is_taken_while_its_reminder_can_fire(store: SqlStore) -> None:
    await prepared(store)
    one = await put(store, made(1, name="stretch"))
    await put(store, made(2, name="stretch", agent="monitor"))
    await put(store, made(3))
    await put(store, made(4))
    with pytest.raises(StoreError):
        await store.reminders.add(made(5, name="stretch", status=Status.PAUSED))
    assert [found.id for found in await store.reminders.named("stretch", "coach")] == [one.id]
    assert len(await store.reminders.named("stretch")) == 2
    assert await store.reminders.named("") == []
    await store.reminders.save_state(replace(one, status=Status.CANCELLED))
    await put(store, made(6, name="stretch"))
    assert [found.id for found in await store.reminders.named("stretch", "coach")] == ["r-000006"]
    assert [found.id for found in await store.reminders.named_ended("stretch")] == [one.id]
    assert await store.reminders.named_ended("") == []


async def test_a_list_shows_the_next_one_first_then_what_rests(store: SqlStore) -> None:
    await prepared(store)
    await put(store, made(1, status=Status.COMPLETED))
    await put(store, made(2, status=Status.PAUSED))
    await put(store, made(3), 2 * HOUR)
    await put(store, made(4), HOUR)
    await put(store, made(5, agent="monitor"), MINUTE)
    await put(store, made(6, status=Status.CANCELLED))

    async def ids(agent: str | None = None, **options: Any) -> list[str]:
        return [one.id[-1] for one in await store.reminders.listed(agent, **options)]

    assert await ids("coach") == ["4", "3", "2"]
    assert await ids("coach", ended=True) == ["4", "3", "2", "1", "6"]
    assert await ids() == ["5", "4", "3", "2"]
    assert await ids(limit=2) == ["5", "4"]
    assert await ids("nobody") == []
    first = (await store.reminders.listed("coach"))[0]
    assert (first.next_at, first.schedule_words, first.status) == (NOON + HOUR, "every 30m", "active")
    assert (await store.reminders.listed("coach"))[-1].next_at is None


async def test_looking_ahead_and_back(store: SqlStore) -> None:
    await prepared(store)
    await put(store, made(1), HOUR)
    await put(store, made(2, reserve=True), 2 * HOUR)
    await put(store, made(3, reserve=True, status=Status.PAUSED))
    await put(store, made(4, reserve=True, agent="monitor"), MINUTE)
    await put(store, made(5, last_fired_at=Instant(NOON - HOUR)), DAY)
    await put(store, made(6, last_fired_at=Instant(NOON - MINUTE)), DAY)
    coming = await store.reminders.coming("coach", Instant(NOON + 2 * HOUR))
    assert [(one.reminder.id[-1], one.due_at - NOON) for one in coming] == [("1", HOUR), ("2", 2 * HOUR)]
    assert [one.reminder.id[-1] for one in await store.reminders.reserved("coach")] == ["2"]
    assert [one.id[-1] for one in await store.reminders.fired_since("coach", Instant(NOON - HOUR))] == ["6", "5"]
    assert [one.id[-1] for one in await store.reminders.fired_since("coach", Instant(NOON - HOUR + 1))] == ["6"]


async def test_everything_and_what_is_seeded(store: SqlStore) -> None:
    await prepared(store)
    await put(store, made(1, source=Source.ROLE, name="a"))
    await put(store, made(2, source=Source.ROLE, name="b", status=Status.CANCELLED))
    await put(store, made(3, source=Source.FILE, name="c"))
    await put(store, made(4, agent="monitor"))
    assert [one.id[-1] for one in await store.reminders.seeded("coach", Source.ROLE)] == ["2", "1"]
    assert [one.id[-1] for one in await store.reminders.seeded("coach", Source.FILE)] == ["3"]
    assert [one.id[-1] for one in await store.reminders.everything("coach")] == ["1", "2", "3"]
    assert len(await store.reminders.everything()) == 4


async def test_an_agent_that_goes_takes_its_reminders_along(store: SqlStore) -> None:
    await prepared(store)
    role = await put(store, made(1, source=Source.ROLE, name="a"))
    await put(store, made(2, status=Status.COMPLETED))
    await put(store, made(3, agent="monitor"))
    assert role.spec
    assert await store.reminders.cancel_all("coach", "The agent was removed.") == 1
    gone = await store.reminders.get(role.id)
    assert gone
    assert (gone.status, gone.ended_reason, gone.spec) == (Status.CANCELLED, "The agent was removed.", "")
    other = await store.reminders.get("r-000003")
    assert other
    assert other.status is Status.ACTIVE
