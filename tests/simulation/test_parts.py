"""The parts of the simulator: journal, copies, changes, persons, models."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from nudge.coach.facts import CoachFacts
from nudge.coach.facts import Purpose as FactsPurpose
from nudge.errors import ConfigError, StoreError, UsageError
from nudge.home.config import AttentionSection, Config
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.model import ModelReply, ModelRequest, Purpose, StreamEvent, Text, TextDelta, replay, text_reply, user
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.schedules import Cron, Every
from nudge.simulation.engine import DocumentsInMemory, ids_from
from nudge.simulation.home_copy import copied_database, copied_home
from nudge.simulation.journal import Journal, JournalStore
from nudge.simulation.models import CountedModel, Counter, Rates, by_priced_rules, by_rules, counted_usage
from nudge.simulation.overrides import overridden
from nudge.simulation.person import load_person, shipped
from nudge.simulation.real_model import StandingStill
from nudge.simulation.request import Request, simulations
from nudge.simulation.timeline import Asked
from nudge.spending.routing import Routes
from nudge.stores.sqlite import SqliteDatabase
from nudge.tokens import TokenUse
from tests.times import NOON

RATES = Rates(load_prices(), Routes.of(), "standard")


def ended(result: Result = Result.FIRED, *, final: bool = True) -> Outcome:
    return Outcome("coach", "heartbeat", "heartbeat", NOON, NOON, result, final=final)


async def test_the_journal_keeps_what_was_committed_and_how_it_came_about() -> None:
    journal = Journal()
    store = JournalStore(SqliteDatabase.open(":memory:"), journal)
    await store.agents.add(Agent("coach", "coach", NOON))
    async with store.transaction():
        await store.outcomes.record(ended(Result.DEFERRED, final=False))
        async with store.transaction():
            await store.feed.add(FeedLine(NOON, "coach", "x", "a line"))
        assert journal.entries == []
    with suppress(ValueError):
        async with store.transaction():
            await store.outcomes.record(ended(Result.SUPPRESSED))
            raise ValueError
    assert await store.outcomes.record(ended())
    assert not await store.outcomes.record(ended(Result.FAILED))
    await store.outcomes.amend("coach", "heartbeat", NOON, Result.UNKNOWN, "it died")
    results = [entry.result for entry in journal.entries if isinstance(entry, Outcome)]
    assert results == [Result.DEFERRED, Result.FIRED, Result.UNKNOWN]
    assert [entry.text for entry in journal.entries if isinstance(entry, FeedLine)] == ["a line"]
    await store.close()


def test_a_copied_home_has_the_texts_and_no_secret_and_no_link(tmp_path: Path) -> None:
    original = Home(tmp_path / "home")
    make_home(original)
    other = tmp_path / "goals.md"
    other.write_text("## Today\n1. Write\n")
    goals = original.agent("coach") / "GOALS.md"
    goals.unlink()
    goals.symlink_to(other)
    (original.agent("coach") / "gone.md").symlink_to(tmp_path / "nowhere")
    with copied_home(original) as copy:
        there = copy.agent("coach") / "GOALS.md"
        assert there.read_text() == other.read_text()
        assert not there.is_symlink()
        assert not (copy.agent("coach") / "gone.md").exists()
        assert not copy.env_file.exists()
        assert copy.config.read_text() == original.config.read_text()
        there.write_text("changed")
        folder = copy.path
    assert other.read_text() == "## Today\n1. Write\n"
    assert not folder.exists()


def test_a_database_is_copied_with_its_journal(tmp_path: Path) -> None:
    assert copied_database(tmp_path / "none.db", tmp_path) is None
    original = tmp_path / "nudge.db"
    connection = sqlite3.connect(original)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (7)")
    connection.commit()  # and not closed: the row is in the journal alone
    (tmp_path / "scratch").mkdir()
    copy = copied_database(original, tmp_path / "scratch")
    assert copy is not None
    other = sqlite3.connect(copy)
    assert other.execute("SELECT x FROM t").fetchone() == (7,)
    other.close()
    connection.close()


def test_a_damaged_database_is_not_simulated_on(tmp_path: Path) -> None:
    original = tmp_path / "nudge.db"
    original.write_bytes(b"this is not a database" * 100)
    (tmp_path / "scratch").mkdir()
    with pytest.raises(StoreError, match="could not be copied"):
        copied_database(original, tmp_path / "scratch")


@pytest.mark.parametrize(
    ("schedule", "anchor"),
    [
        pytest.param(Every(2 * HOUR, Instant(NOON + 3 * DAY)), NOON, id="an interval keeps its grid"),
        pytest.param(Every(7 * HOUR, Instant(NOON + HOUR)), NOON - 6 * HOUR, id="and begins before the start"),
        pytest.param(Every(2 * HOUR, Instant(NOON - HOUR)), NOON - HOUR, id="one that has begun stays"),
        pytest.param(Every(2 * HOUR, Instant(NOON + DAY), 3), NOON + DAY, id="one that is counted stays"),
        pytest.param(Cron("0 9 * * *", None, anchor=Instant(NOON + DAY)), NOON - 1, id="cron may fire at the start"),
        pytest.param(Cron("0 9 * * *", None), None, id="cron without a beginning has none"),
    ],
)
def test_schedules_begin_with_the_simulation(schedule: Every | Cron, anchor: int | None) -> None:
    moved = schedule.begun_before(NOON)
    assert isinstance(moved, Every | Cron)
    assert moved.anchor == anchor


@pytest.mark.parametrize(
    ("changes", "section", "expected"),
    [
        ({"ping_budget": "off"}, "attention", {"ping_budget": False, "capacity": 7}),
        ({"attention.capacity": "3"}, "attention", {"capacity": 3}),
        ({"change_gate": "off"}, "coach", {"change_gate": False}),
        ({"reserve": "no", "heartbeat": "30m"}, "coach", {"heartbeat": 30 * MINUTE}),
        ({"window": "5"}, "spending", {"window": 5_000_000}),
    ],
)
def test_changes_lie_over_the_configuration(
    changes: dict[str, str], section: str, expected: dict[str, object], tmp_path: Path
) -> None:
    config = Config(Home(tmp_path), attention=AttentionSection(capacity=7))
    changed = getattr(overridden(config, changes), section)
    assert {name: getattr(changed, name) for name in expected} == expected
    assert config == Config(Home(tmp_path), attention=AttentionSection(capacity=7))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pingbudget": "off"}, "Did you mean 'ping_budget'"),
        ({"nonsense": "1"}, "no setting called 'nonsense'"),
        ({"ping_budget": "maybe"}, "--compare attention.ping_budget: "),
        ({"capacity": "many"}, "--compare attention.capacity: expected a whole number from 1 to 1000000, found"),
        ({"tier": "golden"}, "--compare spending.tier: there is no tier called 'golden'"),
    ],
)
def test_changes_are_checked_like_a_file(changes: dict[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        overridden(Config(Home(tmp_path)), changes)


def test_a_mistake_in_the_file_is_told_as_the_files(tmp_path: Path) -> None:
    (tmp_path / "nudge.toml").write_text("[attention]\ncapacity = 'many'\n")
    with (
        pytest.raises(ConfigError, match=r"nudge\.toml, line 2: attention\.capacity"),
        simulations(Request(Home(tmp_path))),
    ):
        pass


def test_every_shipped_person_can_be_simulated() -> None:
    tried = ["busy-week", "early-bird", "night-owl", "silent"]
    unseen = ["new-parent", "night-worker", "student", "traveller"]
    assert shipped() == sorted(tried + unseen)
    for name in shipped():
        person = load_person(name)
        assert person.name == name
        assert person.description


def test_a_home_may_have_persons_of_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "persons").mkdir()
    (tmp_path / "persons" / "silent.yaml").write_text("signals_per_hour: 9\n")
    assert load_person("silent", home).signals_per_hour == 9
    assert load_person("silent").signals_per_hour == 0.5


def question(**more: object) -> ModelRequest:
    return ModelRequest(Purpose.HEARTBEAT, "", (Text("s" * 400),), (user("u" * 40),), 100, **more)  # type: ignore[arg-type]


FACTS = CoachFacts(now=NOON, purpose=FactsPurpose.HEARTBEAT)


async def test_a_call_is_counted_by_the_size_of_its_prompt_and_priced_by_the_table() -> None:
    noted: list[Asked] = []
    counter = Counter(RATES, lambda: NOON, noted.append)
    make = by_priced_rules(counter).model_for
    assert make is not None
    model = make(FACTS)
    reply = await model.complete(question())
    assert (reply.model, reply.usage.input) == ("claude-haiku-5-5", 110)
    (asked,) = noted
    assert (asked.input, asked.output, asked.free) == (110, reply.usage.output, False)
    assert asked.cost > 0
    assert by_rules(counter).rules(FACTS, question) == reply.data
    assert noted[1] == replace(asked, free=True)
    assert model.name == "scripted"
    assert [event async for event in model.stream(question())][-1] == reply
    await model.close()


def test_a_schema_is_read_as_well() -> None:
    reply = text_reply("", "")
    plain, formed = counted_usage(question(), reply), counted_usage(question(schema={"type": "object"}), reply)
    assert formed.input > plain.input + 400


async def test_a_real_models_own_usage_counts() -> None:
    class Real:
        name = "real"

        async def complete(self, request: ModelRequest) -> ModelReply:
            await asyncio.sleep(0)
            return text_reply("hi", "claude-sonnet-5-5", TokenUse(1, 2, 3, 4))

        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            async for event in replay(await self.complete(request)):
                yield event

        async def close(self) -> None:
            return None

    noted: list[Asked] = []
    model = CountedModel(StandingStill(Real), Counter(RATES, lambda: NOON, noted.append))
    assert model.name == "real"
    reply = await model.complete(question())
    assert reply.usage == TokenUse(1, 2, 3, 4)
    assert (noted[0].model, noted[0].input, noted[0].output) == ("claude-sonnet-5-5", 8, 2)
    assert [event async for event in model.stream(question())] == [TextDelta("hi"), reply.usage, reply]
    assert noted[1] == noted[0]
    await model.close()


def test_documents_are_read_once_and_written_nowhere() -> None:
    class Files:
        def __init__(self) -> None:
            self.reads = 0

        def read(self, agent: str, name: str) -> bytes | None:
            self.reads += 1
            return b"old" if name == "GOALS.md" else None

        def write(self, agent: str, name: str, content: bytes) -> None:
            raise AssertionError("nothing is written")

        def version(self, agent: str, name: str) -> str:
            return "?"

    files = Files()
    documents = DocumentsInMemory(files)
    assert [documents.read("coach", "GOALS.md") for _ in range(3)] == [b"old"] * 3
    assert files.reads == 1
    assert documents.version("coach", "MEMORY.md") == ""
    before = documents.version("coach", "GOALS.md")
    documents.write("coach", "GOALS.md", b"new")
    assert documents.read("coach", "GOALS.md") == b"new"
    assert documents.version("coach", "GOALS.md") != before


def test_ids_follow_from_the_seed() -> None:
    one, same, other = ids_from(1), ids_from(1), ids_from(2)
    first = [one() for _ in range(3)]
    assert first == [same() for _ in range(3)]
    assert first != [other() for _ in range(3)]
    assert all(len(name) == 8 and name.startswith("r-") for name in first)
