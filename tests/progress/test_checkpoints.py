"""Checkpoints: what is kept, what is sent again, and what a kill -9 costs."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nudge.errors import LostLeaseError, ModelUnavailableError, StoreCorruptError
from nudge.model import ModelReply, ModelRequest, Purpose, text_reply
from nudge.progress.checkpoints import Checkpoints, ModelSummaries
from nudge.progress.compaction import message_tokens
from nudge.progress.run_budget import RunBudget
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.progress.tool_loop import HISTORY, STEPS
from tests.spending.kit import PricedModel, everything, prepared, question, spending_on
from tests.times import NOON

InStore = Callable[..., Any]
DAILY = 10_000


def said(number: int, words: int = 40) -> dict[str, Any]:
    return {"role": "user" if number % 2 == 0 else "assistant", "content": f"message {number} " + "word " * words}


@pytest.mark.process
def test_kill_nine_loses_one_iteration_at_most_and_repeats_nothing_that_was_written(
    durable_url: str, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "tests.progress.tool_loop", durable_url, str(tmp_path)]
    done = subprocess.run(words, timeout=200, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)
    assert len(runs) > 15 * STEPS, "every point at which the loop writes was a point at which it died"
    repeated = 0
    for run in runs:
        dead, after = run["after_kill"], run["after_all"]
        kept = dead["iteration"]
        assert len(dead["calls"]) - kept in (0, 1), "at most the iteration under way is lost"
        expected = [f"call-{number}" for number in range(STEPS)]
        if len(dead["calls"]) > kept:
            expected.insert(kept, f"call-{kept}")  # made, and killed before its result was written
            repeated += 1
        assert after["calls"] == expected
        assert (after["iteration"], after["phase"]) == (STEPS, f"step {STEPS - 1}")
        assert after["results"] == [f"call-{number}" for number in range(STEPS)], "each result is kept once, in full"
        assert (after["said"], after["last_task"]) == (2 * STEPS, "Tidy up")
        assert after["tokens"] <= HISTORY
        assert after["spent"] == after["logged"] >= (STEPS + 1) * 15
        assert after["held"] in (0, dead["held"]), "only what the dead process held is still held"
    assert repeated > 0
    assert [run["killed"] for run in runs] == [True] * (len(runs) - 1) + [False]


def test_a_session_keeps_everything_and_sends_what_fits(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        checkpoints = Checkpoints(store, limit=300, down_to=200)
        session = await checkpoints.load("coach", "s1")
        for number in range(20):
            session = await checkpoints.save(session, [said(number)], clock.now())
            assert message_tokens(session.messages) <= 300
        assert session == await checkpoints.load("coach", "s1")
        assert "[Summary of earlier messages: " in str(session.messages[0]["content"])
        assert session.messages[-1] == said(19)
        assert await checkpoints.everything("coach", "s1") == [said(number) for number in range(20)]

    in_store(scenario)


def test_run_budget_and_retries_come_back(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        checkpoints = Checkpoints(store)
        budget = RunBudget(max_tokens=1_000)
        budget.record_call({"input_tokens": 100, "output_tokens": 20})
        state = budget.to_json()
        session = replace(await checkpoints.load("coach", "s1"), guard=state, retries={"tests": 2}, sandbox_id="b")
        await checkpoints.save(session, [], clock.now())
        again = await checkpoints.load("coach", "s1")
        assert (again.guard, again.retries, again.sandbox_id, again.iteration) == (state, {"tests": 2}, "b", 1)
        assert RunBudget.from_json(again.guard).to_json() == state
        assert again.updated_at == NOON

    in_store(scenario)


@pytest.mark.parametrize(
    ("column", "text"),
    [("messages", '[{"role": "us'), ("messages", "null"), ("guard", "[1]"), ("retries", "")],
)
async def test_a_damaged_checkpoint_is_named_and_what_was_said_is_still_there(
    tmp_path: Path, column: str, text: str
) -> None:
    path = tmp_path / "nudge.db"
    store = await open_store(f"sqlite:///{path}")
    await prepared(store)
    checkpoints = Checkpoints(store)
    await checkpoints.save(await checkpoints.load("coach", "s1"), [said(1)], NOON)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"UPDATE sessions SET {column} = ?", (text,))
        raw.commit()
    with pytest.raises(StoreCorruptError, match=f"session s1 of coach is damaged \\({column}\\)"):
        await checkpoints.load("coach", "s1")
    assert await checkpoints.everything("coach", "s1") == [said(1)]
    await store.close()


def test_two_that_go_on_with_one_session_one_is_told(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        checkpoints = Checkpoints(store)
        session = await checkpoints.save(await checkpoints.load("coach", "s1"), [said(0)], clock.now())
        await checkpoints.save(session, [said(1)], clock.now())
        with pytest.raises(LostLeaseError, match="was continued elsewhere"):
            await checkpoints.save(session, [said(2)], clock.now())
        assert await checkpoints.everything("coach", "s1") == [said(0), said(1)]

    in_store(scenario)


def test_what_is_stored_is_what_the_session_has_whatever_became_of_its_history(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        checkpoints = Checkpoints(store)
        session = await checkpoints.load("coach", "s1")
        for number in range(4):
            session = await checkpoints.write(session, [said(number)], clock.now())
        other_head = replace(session, messages=(said(9), *session.messages[1:]))
        for one in (other_head, replace(other_head, iteration=5, said=5, messages=session.messages[:2])):
            written = await checkpoints.write(one, [said(7)], clock.now())
            assert (await checkpoints.load("coach", "s1")).messages == written.messages == (*one.messages, said(7))

    in_store(scenario)


class Scribe:
    name = "scribe"

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        return text_reply("They talked about numbers.", request.model, TokenUse(input=20, output=10))

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("asleep", "fails", "expected"),
    [
        pytest.param(False, False, "They talked about numbers.", id="a model writes it while there is money"),
        pytest.param(True, False, "user: message 0", id="asleep, it is made of first words"),
        pytest.param(False, True, "user: message 0", id="where the service is away, it is made of first words"),
    ],
)
def test_who_writes_the_summary(in_store: InStore, asleep: bool, fails: bool, expected: str) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await prepared(store)
        scribe = Scribe()

        def away(request: ModelRequest) -> TokenUse:
            raise ModelUnavailableError

        spending = spending_on(store, clock, 30 * DAILY, PricedModel(away) if fails else scribe)
        if asleep:
            greedy = PricedModel(everything)
            await spending.call("coach", question(DAILY), model=greedy, min_tokens=1)
            assert await spending.asleep("coach", clock.now())
        checkpoints = Checkpoints(store, limit=300, down_to=200, summarise=ModelSummaries(spending))
        session = await checkpoints.load("coach", "s1")
        for number in range(7):
            session = await checkpoints.save(session, [said(number)], clock.now())
        assert expected in str(session.messages[0]["content"])
        if not asleep and not fails:
            assert scribe.asked[0].purpose is Purpose.SUMMARY
            assert "message 0 word" in scribe.asked[0].turns[0].text
            assert sum(row.cost for row in await store.usage.recent("coach")) == 30 * len(scribe.asked)

    in_store(scenario)
