"""`why` finds everything that has an id, by id, name or words, and says why a heartbeat spoke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.coach.explain import Explanation, explain
from nudge.instants import HOUR, Instant
from nudge.progress.store import Session
from nudge.queue.agents import Agent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.timers import Timer
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from tests.coach.rig import Rig, Scripted
from tests.times import NOON


async def filled() -> SqlStore:
    store = await open_store("sqlite://:memory:")
    for name in ("coach", "builder"):
        await store.agents.add(Agent(name, name, NOON))
    ids = iter(["r-aaaaaa", "r-bbbbbb", "r-cccccc", "r-dddddd"])
    reminders = Reminders(store, lambda agent: None, new_id=lambda: next(ids))  # type: ignore[arg-type, return-value]
    from nudge.reminders.definition import make_reminder

    for name, message, source in (
        ("Stretch", "Stand up and move", Source.CLI),
        ("", "Call Mum about the trip", Source.CHAT),
        ("", "Call the dentist", Source.CHAT),
        ("inbox-zero", "Tidy the inbox", Source.FILE),
    ):
        fields = {"message": message, "name": name, "schedule": {"every": "1h"}}
        await reminders.put(make_reminder(fields, agent="coach", now=NOON, zone="UTC", source=source), NOON)
    rows = (
        ("reminder:r-aaaaaa", "reminder", ""),
        ("heartbeat", "heartbeat", "It spoke."),
        ("briefing:morning", "briefing", ""),
    )
    for key, kind, reason in rows:
        await store.outcomes.record(Outcome("coach", key, kind, NOON, NOON, Result.FIRED, reason))
    await store.timers.set(Timer.at("coach", "retention", "retention", Instant(NOON + HOUR)))
    await store.outbox.put(
        Message(
            "coach", "Time to stretch!", "reminder", NOON, reminder_id="r-aaaaaa", key="reminder:r-aaaaaa", slot_at=NOON
        )
    )
    await store.outbox.put(Message("coach", "The weather is lovely", "reply", NOON))
    await store.letters.put(Letter("builder", "ops", "Deploy the kangaroo", Priority.NORMAL, NOON))
    return store


FOUND = [
    pytest.param("#1", "reminder:r-aaaaaa", None, id="an outcome by number"),
    pytest.param("r-aaaaaa", "reminder:r-aaaaaa", "reminder", id="a reminder by id"),
    pytest.param("R-AAAAAA", "reminder:r-aaaaaa", "reminder", id="a reminder by id in capitals"),
    pytest.param("stretch", "reminder:r-aaaaaa", "reminder", id="a reminder by name, whatever its case"),
    pytest.param("STRETCH", "reminder:r-aaaaaa", "reminder", id="a reminder by name in capitals"),
    pytest.param("move stand", "reminder:r-aaaaaa", "reminder", id="a reminder by words"),
    pytest.param("trip", None, "reminder", id="a reminder that has not been due"),
    pytest.param("inbox-zero", None, "routine", id="a routine"),
    pytest.param("Heartbeat", "heartbeat", "occurrence", id="heartbeats"),
    pytest.param("morning", "briefing:morning", "occurrence", id="a briefing by its name"),
    pytest.param("retention", None, "timer", id="a timer"),
    pytest.param("message 1", "reminder:r-aaaaaa", "message", id="a message by number"),
    pytest.param("lovely weather", None, "message", id="a message by words"),
    pytest.param("letter 1", None, "letter", id="a letter by number"),
    pytest.param("kangaroo", None, "letter", id="a letter by words"),
    pytest.param("builder", None, "agent", id="an agent"),
]


@pytest.mark.parametrize(("wanted", "key", "kind"), FOUND)
async def test_everything_with_an_id_is_found(wanted: str, key: str | None, kind: str | None) -> None:
    store = await filled()
    found = await explain(store, wanted)
    assert [row.key for row in found.rows] == ([key] if key else [])
    assert (found.thing.kind if found.thing else None) == kind
    assert found.thing is None or found.rows or found.thing.text
    await store.close()


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        pytest.param(
            "coach", "Its role is coach. Next: Call Mum about the trip, Wed 2026-02-18 13:00 EST.", id="an agent"
        ),
        pytest.param("trip", "Next: Wed 2026-02-18 13:00 EST.", id="a reminder"),
        pytest.param("retention", "Due Wed 2026-02-18 13:00 EST.", id="a timer"),
    ],
)
async def test_what_comes_next_is_told_by_the_persons_clock(wanted: str, text: str) -> None:
    store = await filled()
    found = await explain(store, wanted, zone=ZoneInfo("America/Toronto"))
    assert found.thing is not None
    assert found.thing.text == text
    await store.close()


async def test_a_session_is_found_by_its_id() -> None:
    store = await filled()
    session = Session("builder", "s-7", updated_at=NOON, last_task="Fix the login")
    assert await store.sessions.save(session, 0)
    for wanted in ("S-7", "login"):
        found = await explain(store, wanted)
        assert found.thing is not None
        assert (found.thing.kind, found.thing.id) == ("session", "s-7")
    await store.close()


@pytest.mark.parametrize(
    ("wanted", "choices", "near"),
    [
        pytest.param("call", ["r-bbbbbb", "r-cccccc"], [], id="several that match are a list"),
        pytest.param("strech", [], ["stretch"], id="a slip gets the name that is near"),
        pytest.param("zzzzzz", [], [], id="nothing is like it"),
        pytest.param("999", [], [], id="a number that nothing has"),
    ],
)
async def test_what_is_not_clear_gets_choices_or_near_names(wanted: str, choices: list[str], near: list[str]) -> None:
    store = await filled()
    found = await explain(store, wanted)
    assert sorted(one.id for one in found.choices) == choices
    assert list(found.near) == near
    assert not found.rows
    await store.close()


def test_the_chat_and_its_words(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/remind stretch in 5 minutes")
        await rig.settle(400)
        assert "fired" in await rig.say("/why STRETCH")
        assert "Did you mean" in await rig.say("/why strech")
        await rig.say("/remind call Mum in 5 hours")
        await rig.say("/remind call the dentist in 5 hours")
        assert (await rig.say("/why call")).startswith("Which one?")

    coach(scenario)


@pytest.mark.parametrize(
    ("answer", "result", "reason"),
    [
        pytest.param(
            {"action": "message", "message": "How is the report?", "reason": "The report is due today."},
            Result.FIRED,
            "It spoke. The report is due today.",
            id="it spoke, and says why",
        ),
        pytest.param(
            {"action": "message", "message": "How is the report?"},
            Result.FIRED,
            "It spoke. The model gave no reason.",
            id="it spoke without a reason",
        ),
        pytest.param(
            {"action": "heartbeat_ok", "reason": "Nothing is open."},
            Result.SILENT,
            "Nothing to say. Nothing is open.",
            id="a silent one is silent, not fired",
        ),
    ],
)
def test_a_heartbeat_explains_why_it_spoke(coach: Any, answer: Any, result: Result, reason: str) -> None:
    async def scenario(rig: Rig) -> Sequence[Outcome]:
        await rig.settle(46 * 60)
        rows = await rig.store.outcomes.recent(agent="coach", kind="heartbeat", limit=1)
        assert (rows[0].result, rows[0].reason) == (result, reason)
        assert "last activity" in rows[0].detail["saw"]
        assert rows[0].detail["asked"]
        assert "It saw: " in await rig.say("/why heartbeat")
        return rows

    coach(scenario, Scripted(answer))


def test_an_explanation_of_nothing_is_nothing() -> None:
    assert not Explanation().found
