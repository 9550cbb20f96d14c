"""Outcomes and feed lines as lines of one log, and following it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.instants import Instant
from nudge.queue.following import Following, Place
from nudge.queue.outcomes import FeedLine, Outcome, feed_json, named, outcome_json
from nudge.stores.store import SqlStore


@dataclass(frozen=True)
class Entry:
    at: Instant
    order: int
    agent: str
    word: str
    text: str
    data: Mapping[str, Any]


def outcome_entry(row: Outcome) -> Entry:
    text = named(row)
    if row.reason:
        text += f": {row.reason}"
    return Entry(row.at, row.id, row.agent, row.result.value, f"{text}  (#{row.id})", outcome_json(row))


def feed_entry(line: FeedLine) -> Entry:
    return Entry(line.at, line.id, line.agent or "-", line.kind, line.text, feed_json(line))


class Follow:
    """The log from now on. `shown` names what was printed to begin with."""

    def __init__(self) -> None:
        self._place = Place()
        self._shown: set[tuple[str, int]] = set()

    async def start(self, store: SqlStore) -> None:
        """From here on: what is there already is no news."""
        self._place = await Following(store).end()

    def shown(self, outcomes: Iterable[Outcome], lines: Iterable[FeedLine]) -> None:
        self._shown = {("outcome", row.revision) for row in outcomes} | {("feed", line.id) for line in lines}

    async def news(self, store: SqlStore) -> list[Entry]:
        """What is new or changed since the last look, by its time."""
        fresh = []
        for step in await Following(store).after(self._place):
            self._place = step.place
            if isinstance(step.news, Outcome) and ("outcome", step.news.revision) not in self._shown:
                fresh.append(outcome_entry(step.news))
            elif isinstance(step.news, FeedLine) and ("feed", step.news.id) not in self._shown:
                fresh.append(feed_entry(step.news))
        return sorted(fresh, key=lambda entry: (entry.at, entry.order))
