"""Outcomes, feed lines and the gateway's calls as lines of one log, and following it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.instants import SECOND, Instant
from nudge.queue.following import Following, Place
from nudge.queue.outcomes import FeedLine, Outcome, feed_json, named, outcome_json
from nudge.spending.call_log import LoggedCall
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


def call_entry(call: LoggedCall) -> Entry:
    """A call, at the time at which it ended. It says how if that was not by an answer."""
    word = "call" if call.result == "done" else call.result
    data = {
        "type": "call",
        "id": call.id,
        "agent": call.agent,
        "run": call.run,
        "model": call.model,
        "result": call.result,
        "reason": call.reason,
        "text": call.story,
    }
    return Entry(call.ended_at, 0, call.agent, word, f"{call.story}  ({call.id})", data)


_MOST_CALLS = 5000
_LATE = 10 * SECOND
"""A call is written a moment after it ended: every look goes back so far, and passes over what it knows."""


class Follow:
    """The log from now on. `shown` names what was printed to begin with."""

    def __init__(self) -> None:
        self._place = Place()
        self._shown: set[tuple[str, int]] = set()
        self._ended = Instant(0)
        self._calls: set[str] = set()

    async def start(self, store: SqlStore) -> None:
        """From here on: what is there already is no news."""
        self._place = await Following(store).end()
        self._ended = Instant(max((call.ended_at for call in await store.calls.recent()), default=0))
        await self._new_calls(store)

    def shown(self, outcomes: Iterable[Outcome], lines: Iterable[FeedLine]) -> None:
        self._shown = {("outcome", row.revision) for row in outcomes} | {("feed", line.id) for line in lines}

    async def news(self, store: SqlStore) -> list[Entry]:
        """What is new or changed since the last look, by its time."""
        fresh = [call_entry(call) for call in await self._new_calls(store)]
        for step in await Following(store).after(self._place):
            self._place = step.place
            if isinstance(step.news, Outcome) and ("outcome", step.news.revision) not in self._shown:
                fresh.append(outcome_entry(step.news))
            elif isinstance(step.news, FeedLine) and ("feed", step.news.id) not in self._shown:
                fresh.append(feed_entry(step.news))
        return sorted(fresh, key=lambda entry: (entry.at, entry.order))

    async def _new_calls(self, store: SqlStore) -> list[LoggedCall]:
        found = await store.calls.ended_since(Instant(self._ended - _LATE), _MOST_CALLS)
        new = [call for call in found if call.id not in self._calls]
        self._ended = Instant(max([self._ended, *(call.ended_at for call in found)]))
        self._calls = {call.id for call in found}
        return new
