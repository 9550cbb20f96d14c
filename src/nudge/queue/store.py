"""What the queue needs of the store. SQLite by default, PostgreSQL by URL, in memory for tests and simulations.

Every method of a table is one atomic step of its own, or part of the transaction that is open around it:

    async with store.transaction():
        await store.timers.set(timer)
        await store.feed.add(...)

An exception inside leaves nothing behind. A transaction inside a transaction joins it.

The rooms above declare what they need in the same way, on top of this. `nudge.stores.store.SqlStore` has it all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from nudge.queue.mail_tables import AgentTable, LetterTable, OutboxTable
    from nudge.queue.records import RecordTable
    from nudge.queue.tables import ChangeTable, FeedTable, LaneTable, OutcomeTable, TimerTable


class QueueStore(Protocol):
    """A store that cannot be read raises StoreError: nobody may act on a guess."""

    @property
    def timers(self) -> TimerTable: ...
    @property
    def lanes(self) -> LaneTable: ...
    @property
    def outcomes(self) -> OutcomeTable: ...
    @property
    def feed(self) -> FeedTable: ...
    @property
    def changes(self) -> ChangeTable: ...
    @property
    def agents(self) -> AgentTable: ...
    @property
    def letters(self) -> LetterTable: ...
    @property
    def outbox(self) -> OutboxTable: ...
    @property
    def records(self) -> RecordTable: ...
    @property
    def shared(self) -> bool:
        """Whether other machines may write it too, so that a poke can be missed and the loop looks more often."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """A part of the open transaction that can fail alone: what it wrote is taken back, and the rest goes on."""
        ...

    def wakes(self) -> AsyncIterator[None]:
        """Once at first, then whenever somebody else has set a timer that is due within seconds. Ends at once where
        nobody else can; raises StoreError where it cannot be heard of any more."""
        ...

    async def purge(self) -> None:
        """Clear what has been deleted from wherever the database still keeps it. Not inside a transaction."""
        ...

    async def close(self) -> None: ...
