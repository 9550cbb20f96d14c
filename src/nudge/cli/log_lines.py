"""Outcomes and feed lines as lines of one log, and following it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.instants import Instant, rfc3339
from nudge.queue.outcomes import FeedLine, Outcome
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


def named(row: Outcome) -> str:
    """What it was, once: "heartbeat", "reminder r-a1b2c3", "reminder ci (r-a1b2c3)"."""
    name = row.key.removeprefix(f"{row.kind}:")
    given = row.detail.get("name")
    return row.kind if name == row.kind else f"{row.kind} {given} ({name})" if given else f"{row.kind} {name}"


def outcome_json(row: Outcome) -> dict[str, Any]:
    return {
        "type": "outcome",
        "id": row.id,
        "agent": row.agent,
        "key": row.key,
        "kind": row.kind,
        "due_at": rfc3339(row.slot_at),
        "at": rfc3339(row.at),
        "result": row.result.value,
        "reason": row.reason,
        "final": row.final,
        "detail": dict(row.detail),
    }


def feed_entry(line: FeedLine) -> Entry:
    data = {"type": "feed", "id": line.id, "agent": line.agent, "kind": line.kind, "text": line.text}
    return Entry(line.at, line.id, line.agent or "-", line.kind, line.text, data)


_OVERLAP = 200
"""A server numbers rows when they are written and shows them when they are committed, not always in the same order. So
every look goes back so many numbers, and passes over what it knows."""
_MOST = 5000


class Follow:
    def __init__(self) -> None:
        self._revision = 0
        self._line = 0
        self._outcomes: dict[int, int] = {}  # the revision of each that is known
        self._lines: set[int] = set()

    async def start(self, store: SqlStore) -> None:
        """From here on: what is there already is no news."""
        self._revision = await store.outcomes.revision()
        self._line = await store.feed.last_id()
        await self.news(store)

    def shown(self, outcomes: Iterable[Outcome], lines: Iterable[FeedLine]) -> None:
        self._outcomes.update((row.id, row.revision) for row in outcomes)
        self._lines.update(line.id for line in lines)

    async def news(self, store: SqlStore) -> list[Entry]:
        """What is new or changed since the last look, by its time."""
        outcomes = await store.outcomes.changed_after(self._revision - _OVERLAP, _MOST)
        lines = await store.feed.after_id(self._line - _OVERLAP, limit=_MOST)
        fresh = [outcome_entry(row) for row in outcomes if self._outcomes.get(row.id) != row.revision]
        fresh += [feed_entry(line) for line in lines if line.id not in self._lines]
        self._revision = max([self._revision, *(row.revision for row in outcomes)])
        self._line = max([self._line, *(line.id for line in lines)])
        self._outcomes = {row.id: row.revision for row in outcomes}
        self._lines = {line.id for line in lines}
        return sorted(fresh, key=lambda entry: (entry.at, entry.order))
