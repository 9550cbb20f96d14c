"""The stream of events: live, resumable, cheap while nothing happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from nudge.daemon.acting import Acting
from nudge.daemon.events import Events
from nudge.daemon.reading import Reading
from nudge.queue.outcomes import FeedLine
from nudge.testing.life import Life, live
from tests.times import NOON


class Client:
    """Reads a stream as an EventSource does."""

    def __init__(self, events: Events, after: str | None = None) -> None:
        self._stream: AsyncIterator[bytes] = events.stream(after)
        self.last = after
        self.got: list[tuple[str, dict[str, Any]]] = []

    async def read(self, most: int | None = None) -> None:
        """One chunk, or a part of it, as if the connection broke there."""
        for number, block in enumerate((await anext(self._stream)).decode().split("\n\n")):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if fields and (most is None or number < most):
                self.last = fields.get("id", self.last)
                self.got.append((fields["event"], json.loads(fields["data"])))

    async def close(self) -> None:
        await self._stream.aclose()  # type: ignore[attr-defined]


def _events(life: Life) -> tuple[Events, Acting]:
    reading = Reading(life.daemon, "coach")
    return Events(life.store, life.clock, reading.states()), Acting(life.daemon, "coach")


def test_what_is_written_arrives_at_once_and_a_client_that_comes_back_misses_nothing() -> None:
    async def scenario(life: Life) -> None:
        events, acting = _events(life)
        client = Client(events)
        await client.read()
        assert client.got[0][0] == "ready"
        for number in range(6):
            await life.store.feed.add(FeedLine(life.clock.now(), "coach", "note", f"line {number}"))
        before = life.clock.now()
        await client.read(2)
        assert life.clock.now() - before < 200_000
        await client.close()
        back = Client(events, client.last)
        await back.read()
        await back.read()
        texts = [data["text"] for _, data in [*client.got, *back.got] if data.get("kind") == "note"]
        assert texts == [f"line {number}" for number in range(6)]
        await acting.add({"words": "call mum friday 5pm"})
        await back.read()
        kinds = [kind for kind, _ in back.got]
        assert "reminder" in kinds
        await back.close()

    live(scenario, NOON)


def test_meters_buckets_and_quiet_are_told_as_they_are_now() -> None:
    async def scenario(life: Life) -> None:
        events, acting = _events(life)
        client = Client(events)
        await client.read()
        await acting.top_up({"amount": "5.00"})
        await acting.quiet({"for": "today"})
        await life.passes(seconds=1)
        await client.read()
        told = dict(client.got)
        assert told["meter"]["state"] == "awake"
        assert told["attention"]["quiet_until"]
        await client.close()

    live(scenario, NOON)


def test_a_silent_stream_reads_the_store_once_for_all_and_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(life: Life) -> None:
        await life.passes(minutes=1)
        events, _ = _events(life)
        clients = [Client(events) for _ in range(50)]
        for client in clients:
            await client.read()
        reads = 0
        inner = life.store.database.all

        async def counted(block: str, params: Any) -> Any:
            nonlocal reads
            reads += block in ("feed_after_id", "outcomes_changed_after", "changes_after", "outbox_after_id")
            return await inner(block, params)

        monkeypatch.setattr(life.store.database, "all", counted)
        tasks = [asyncio.create_task(client.read()) for client in clients]
        await life.passes(seconds=19)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert reads <= 5 * 4  # one look in five seconds, whatever the number of streams

    live(scenario, NOON)


def test_a_place_of_another_database_begins_again() -> None:
    async def scenario(life: Life) -> None:
        events, _ = _events(life)
        client = Client(events, "100000.100000.100000.100000")
        await client.read()
        assert [kind for kind, _ in client.got] == ["reset"]
        await client.close()

    live(scenario, NOON)


def test_an_answer_is_shown_while_it_is_written_to_those_who_look_on_now() -> None:
    async def scenario(life: Life) -> None:
        events, _ = _events(life)
        await life.passes(seconds=2)  # the start is over
        assert not events.followed
        client = Client(events)
        await client.read()
        place = client.last
        for text in ("Call ", "Call Mum ", "Call Mum first."):
            reading = asyncio.ensure_future(client.read())
            await asyncio.sleep(0)
            events.drafted("coach", text)
            await reading
        assert events.followed
        assert [data["text"] for kind, data in client.got if kind == "draft"][-1] == "Call Mum first."
        assert client.last == place  # a draft is no place to come back to
        await client.close()
        assert not events.followed
        late = Client(events)
        await late.read()
        assert [kind for kind, _ in late.got] == ["ready"]
        await late.close()

    live(scenario, NOON)
