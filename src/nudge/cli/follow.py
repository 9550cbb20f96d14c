"""Follow the log: every new row and every change of one, once."""

from __future__ import annotations

from collections.abc import Iterable

from nudge.cli.log_lines import Entry, feed_entry, outcome_entry
from nudge.queue.outcomes import FeedLine, Outcome
from nudge.stores.store import SqlStore

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
