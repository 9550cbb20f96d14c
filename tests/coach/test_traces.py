from __future__ import annotations

from dataclasses import replace

import pytest_asyncio

from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.stores.store import SqlStore
from tests.times import NOON


@pytest_asyncio.fixture(autouse=True)
async def rows(store: SqlStore) -> None:
    for agent in ("coach", "other"):
        await store.agents.add(Agent(agent, "coach", NOON))
        await store.outbox.put(Message(agent, "a message", "reply", NOON))
        await store.feed.add(FeedLine(NOON, agent, "note", "a line"))
        await store.letters.put(Letter(agent, "x", "a letter", Priority.IDLE, NOON, detail={"n": 1}))
        await store.outcomes.record(Outcome(agent, "k", "k", NOON, NOON, Result.FIRED, "a reason", {"text": "é"}))


async def test_every_place_of_one_agent_is_found(store: SqlStore) -> None:
    found = {trace.place: trace for trace in await store.traces.since("coach", NOON)}
    assert {place: trace.words for place, trace in found.items()} == {
        "outbox": "a message",
        "feed": "a line",
        "letters": "a letter",
        "outcomes": "a reason",
    }
    assert found["outcomes"].detail == {"text": "é"}
    assert await store.traces.since("coach", Instant(NOON + 1)) == []


async def test_a_rewritten_row_says_the_new_words_and_the_others_stay(store: SqlStore) -> None:
    for trace in await store.traces.since("coach", NOON):
        detail = {"text": "gone"} if trace.detail else {}
        await store.traces.rewrite(replace(trace, words="gone", detail=detail))
    (message,) = await store.outbox.recent("coach")
    (line,) = await store.feed.recent(agent="coach")
    (letter,) = await store.letters.unread("coach")
    (outcome,) = await store.outcomes.recent(agent="coach")
    assert [message.text, line.text, letter.body, outcome.reason] == ["gone"] * 4
    assert (letter.detail, outcome.detail) == ({"text": "gone"}, {"text": "gone"})
    assert {trace.words for trace in await store.traces.since("other", NOON)} == {
        "a message",
        "a line",
        "a letter",
        "a reason",
    }
