from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from nudge.attention.gate import CONFIGURED
from nudge.attention.restraint import Requests
from nudge.coach.answering import MODEL_OUTAGE, Outage
from nudge.coach.changes import CHANGES, Change
from nudge.coach.document_writes import PENDING, Edit
from nudge.coach.fact_reader import LAST_BEDTIME
from nudge.coach.heartbeat import JUDGMENT
from nudge.coach.housekeeping import SIGNAL_ASKED
from nudge.coach.inbound import POSITION
from nudge.coach.judgment import Judgment, Signature
from nudge.coach.notices import INCIDENT, Incident
from nudge.coach.person_documents import GOOD_TARGETS, REPORTED
from nudge.coach.review import REVIEW, Review
from nudge.coach.targets import Targets
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.channel import Position
from nudge.queue.records import Record
from nudge.reminders.seeding import PROBLEMS, Problem
from nudge.stores.store import SqlStore
from tests.times import NOON

EDIT = Edit("GOALS.md", "before \udcff", "after\r\n")
EVERY: list[tuple[Record[Any], Any]] = [
    (CONFIGURED, (5, 90)),
    (IDLE_SINCE, NOON),
    (POSITION.of("here"), Position("page 3", ("a", "b"))),
    (PENDING, (EDIT,)),
    (CHANGES, (Change("the goal", (EDIT,), ("r-abc123",), Requests(quiet_until=NOON), 3, (("Preferences", "tea"),)),)),
    (GOOD_TARGETS, Targets(review_weekday=2)),
    (REPORTED, ("v1", "v2")),
    (REVIEW, Review("2026-W08", ("Write",), NOON, answers=("Well",))),
    (LAST_BEDTIME, NOON),
    (SIGNAL_ASKED, NOON),
    (MODEL_OUTAGE, Outage(NOON, rest_until=NOON)),
    (JUDGMENT, Judgment(NOON, Signature("a", "b", "c", "d", "e"))),
    (INCIDENT.of("heartbeat"), Incident("It failed.", NOON)),
    (PROBLEMS.of("role"), (Problem("line 3: no", "v1"),)),
]
NONSENSE: list[Any] = [None, -1, True, 1.5, "x", "", [], {}, [1], [[1]], [["a"]], {"at": "x"}]


def names() -> list[str]:
    return [record.name for record, _ in EVERY]


@pytest.mark.parametrize(("record", "value"), EVERY, ids=names())
def test_a_record_gives_back_what_was_written(record: Record[Any], value: Any) -> None:
    assert record.decode(record.encode(value)) == value


@pytest.mark.parametrize(("record", "value"), EVERY, ids=names())
def test_a_damaged_record_is_unknown_or_in_its_form(record: Record[Any], value: Any) -> None:
    assert record.decode("{") is None
    stored = json.loads(record.encode(value))
    for damaged in [*NONSENSE, *_damaged(stored)]:
        read = record.decode(json.dumps(damaged))
        assert read is None or record.decode(record.encode(read)) == read, damaged


def test_every_fact_has_one_name() -> None:
    assert len(set(names())) == len(EVERY)


async def test_records_are_kept_by_agent(store: SqlStore) -> None:
    await store.records.set("coach", REPORTED, ("ü",))
    await store.records.set("coach", REPORTED, ("ü", "1"))
    await store.records.set("worker", REPORTED, ("2",))
    assert await store.records.get("coach", REPORTED) == ("ü", "1")
    async with store.transaction():
        assert await store.records.lock("coach", REPORTED) == ("ü", "1")
        assert await store.records.lock("coach", LAST_BEDTIME) is None
    await store.records.delete("coach", REPORTED)
    assert await store.records.get("coach", REPORTED) is None
    assert await store.records.get("worker", REPORTED) == ("2",)


async def test_a_record_in_another_form_is_ignored_and_logged(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    await store.records.set("coach", Record(IDLE_SINCE.name, str, str), "seventeen")
    with caplog.at_level(logging.WARNING):
        assert await store.records.get("coach", IDLE_SINCE) is None
    assert "agent.idle_since of coach cannot be read" in caplog.text


def _damaged(stored: Any) -> Iterator[Any]:
    for place in list(_places(stored)):
        for by in NONSENSE:
            whole = copy.deepcopy(stored)
            around = whole
            for key in place[:-1]:
                around = around[key]
            around[place[-1]] = by
            yield whole


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*above, key)
            yield from _places(value[key], (*above, key))
