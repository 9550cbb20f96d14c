"""A store that remembers how everything came about.

An outcome that was deferred is overwritten when it ends, and a message says nothing about the bucket it left behind.
The journal keeps each of these as it was written, and only what was committed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TypeAlias

from nudge.database import Database
from nudge.instants import Instant
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.tables import FeedTable, OutcomeTable
from nudge.stores.store import SqlStore

Entry: TypeAlias = Outcome | FeedLine


class Journal:
    """What was written, in the order in which it was committed."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._draft: ContextVar[list[Entry] | None] = ContextVar("draft", default=None)

    def note(self, entry: Entry) -> None:
        draft = self._draft.get()
        (self.entries if draft is None else draft).append(entry)

    @asynccontextmanager
    async def transaction(self, database: Database) -> AsyncIterator[None]:
        """What is noted inside counts when the outermost transaction has been committed, and not at all if it fails."""
        if self._draft.get() is not None:
            async with database.transaction():
                yield
            return
        draft: list[Entry] = []
        reset = self._draft.set(draft)
        try:
            async with database.transaction():
                yield
        finally:
            self._draft.reset(reset)
        self.entries += draft


class JournalStore(SqlStore):
    """The real store over a journal."""

    outcomes: cached_property[OutcomeTable] = cached_property(lambda store: _Outcomes(store.database, store.journal))
    feed: cached_property[FeedTable] = cached_property(lambda store: _Feed(store.database, store.journal))

    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self.journal = journal

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self.journal.transaction(self.database):
            yield


class _Outcomes(OutcomeTable):
    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self._journal = journal

    async def record(self, outcome: Outcome) -> bool:
        recorded = await super().record(outcome)
        if recorded:
            self._journal.note(outcome)
        return recorded

    async def amend(self, agent: str, key: str, slot_at: Instant, result: Result, reason: str) -> bool:
        amended = await super().amend(agent, key, slot_at, result, reason)
        row = await self.get(agent, key, slot_at) if amended else None
        if row is not None:
            self._journal.note(row)
        return amended


class _Feed(FeedTable):
    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self._journal = journal

    async def add(self, line: FeedLine) -> None:
        await super().add(line)
        self._journal.note(line)
