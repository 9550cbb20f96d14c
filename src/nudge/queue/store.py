"""The Store port: what must survive. SQLite by default, PostgreSQL by URL, in memory for tests and simulations.

Every method is one atomic step of its own, or part of the transaction that is open around it:

    async with store.transaction():
        await store.timers.set(timer)
        await store.feed.add(...)

An exception inside leaves nothing behind. A transaction inside a transaction joins it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from nudge.attention.state import AttentionStore
from nudge.coach.store import Activity, Conversations, Periods
from nudge.coach.traces import Traces
from nudge.instants import Instant
from nudge.queue.outcomes import Outcome, Result
from nudge.queue.records import Agent, FeedLine, Lease, Letter, Message, Priority, Sending
from nudge.queue.timers import Timer
from nudge.reminders.store import Reminders

if TYPE_CHECKING:
    from nudge.progress.pool_store import PoolStore
    from nudge.progress.session_store import Sessions
    from nudge.spending.store import LedgerStore, SpendingRows, UsageLog


class Timers(Protocol):
    times_set: int
    """How often timers were set through this object: whoever sees it grow looks again for what is due."""

    async def set(self, timer: Timer) -> None:
        """Set or move the timer of that agent and key."""
        ...

    async def set_many(self, timers: Iterable[Timer]) -> None: ...

    async def ensure(self, timer: Timer) -> None:
        """Set it unless there is one of that agent and key; one that is there stays as it is."""
        ...

    async def get(self, agent: str, key: str) -> Timer | None: ...

    async def of_agent(self, agent: str, *, prefix: str = "", limit: int = 1000) -> Sequence[Timer]: ...

    async def cancel(self, agent: str, key: str) -> bool: ...

    async def cancel_all(self, agent: str) -> int: ...

    async def due_lanes(self, now: Instant, limit: int) -> Sequence[str]:
        """Lanes with a due timer that nobody holds, the longest due first.

        One look is bounded, so it may name fewer lanes than there are: claim these and look again until none is named.
        """
        ...

    async def due_in_lane(self, lane: str, now: Instant, limit: int) -> Sequence[Timer]:
        """The due timers of a lane, the longest due first."""
        ...

    async def hurry(self, latest: Instant) -> int:
        """Let no timer that failed wait for its next attempt longer than until then; how many would have."""
        ...

    async def next_due(self, after: Instant) -> Instant | None:
        """When the next timer later than `after` is due."""
        ...

    async def take(self, timer: Timer) -> bool:
        """Remove exactly this timer; False if it was moved or cancelled meanwhile."""
        ...

    async def take_held(self, timer: Timer, lease: Lease) -> bool:
        """The same if the lease still holds; inside a transaction it holds until the end. False otherwise."""
        ...

    async def count(self) -> int: ...


class Lanes(Protocol):
    async def claim(self, lane: str, owner: str, now: Instant, until: Instant) -> Lease | None: ...

    async def claim_many(self, lanes: Iterable[str], owner: str, now: Instant, until: Instant) -> Sequence[Lease]:
        """Claim those that are free, in one transaction."""
        ...

    async def renew(self, lease: Lease, until: Instant) -> bool: ...

    async def release(self, lease: Lease) -> None: ...

    async def release_many(self, leases: Iterable[Lease]) -> None: ...

    async def release_owner(self, owner: str) -> int:
        """Give back everything a process held that is known to be dead."""
        ...

    async def assert_held(self, lease: Lease) -> None:
        """Raise LostLeaseError unless the lease still holds; inside a transaction it stays so until the end."""
        ...

    async def held(self, now: Instant) -> Sequence[Lease]: ...


class Outcomes(Protocol):
    async def record(self, outcome: Outcome) -> bool:
        """Write the outcome of an occurrence; False (and nothing written) if it already has a final one."""
        ...

    async def amend(self, agent: str, key: str, slot_at: Instant, result: Result, reason: str) -> bool:
        """Correct an outcome after the fact: the sending of what had fired turned out otherwise."""
        ...

    async def get(self, agent: str, key: str, slot_at: Instant) -> Outcome | None: ...

    async def by_id(self, outcome_id: int) -> Outcome | None: ...

    async def recent(
        self,
        *,
        agent: str | None = None,
        key: str | None = None,
        kind: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        limit: int = 50,
    ) -> Sequence[Outcome]:
        """Newest first."""
        ...

    async def around(
        self, since: Instant, until: Instant, *, agent: str | None = None, limit: int = 50
    ) -> Sequence[Outcome]:
        """What was due or ended between the two, ends included; newest first."""
        ...

    async def revision(self) -> int:
        """The number of the last change."""
        ...

    async def changed_after(self, revision: int, limit: int = 500) -> Sequence[Outcome]:
        """Rows that are new or changed since, in the order of their changes, for whoever follows. On a server that
        others write to as well, a lower revision may still turn up for a moment after a higher one."""
        ...

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[Outcome]:
        """Oldest first."""
        ...


class Feed(Protocol):
    async def add(self, line: FeedLine) -> None: ...

    async def recent(
        self, *, agent: str | None = None, since: Instant | None = None, limit: int = 50
    ) -> Sequence[FeedLine]:
        """Newest first."""
        ...

    async def last_id(self) -> int: ...

    async def after_id(self, last: int, *, agent: str | None = None, limit: int = 500) -> Sequence[FeedLine]:
        """Oldest first, for whoever follows."""
        ...


class Agents(Protocol):
    async def add(self, agent: Agent) -> bool:
        """False if there is an agent of that name already; a removed one comes back with the new role."""
        ...

    async def ensure(self, agent: Agent) -> bool:
        """Add it unless there is or ever was one of that name; True if it was added."""
        ...

    async def get(self, name: str) -> Agent | None: ...

    async def known(self, name: str) -> bool:
        """Whether there is or was an agent of that name: a removed one has a history."""
        ...

    async def all(self) -> Sequence[Agent]: ...

    async def remove(self, name: str, now: Instant) -> bool:
        """Mark it removed and cancel all its timers."""
        ...


class Letters(Protocol):
    async def put(self, letter: Letter) -> int:
        """Deliver; an unread letter of the same topic is refreshed and counted instead. Returns its id."""
        ...

    async def unread(self, agent: str, *, up_to: Priority = Priority.IDLE, limit: int = 100) -> Sequence[Letter]:
        """In reading order: by priority, then as they came."""
        ...

    async def count_unread(self, agent: str) -> int: ...

    async def mark_read(self, letter_id: int, now: Instant) -> bool: ...

    async def put_back(self, letter_id: int) -> bool:
        """Let a letter be unread again; False where a newer one of its topic has come meanwhile and stands for it."""
        ...

    async def get(self, letter_id: int) -> Letter | None: ...


class Outbox(Protocol):
    async def put(self, message: Message) -> int: ...

    async def pending(self, agent: str, limit: int = 100) -> Sequence[Message]:
        """What is to be sent or was being sent when the process died, in order."""
        ...

    async def mark(
        self,
        message_id: int,
        state: Sending,
        *,
        sent_at: Instant | None = None,
        error: str = "",
        receipt: Sequence[str] = (),
        possibly_repeated: bool | None = None,
    ) -> None: ...

    async def get(self, message_id: int) -> Message | None: ...

    async def by_receipt(self, agent: str, receipt: str) -> Message | None:
        """The message that the channel knows under this id."""
        ...

    async def recent(
        self, agent: str | None = None, *, since: Instant | None = None, limit: int = 50
    ) -> Sequence[Message]: ...


class Notes(Protocol):
    """Small durable facts by name: one JSON value each, per agent ("" for the whole home)."""

    async def get(self, agent: str, name: str) -> Any: ...

    async def lock(self, agent: str, name: str) -> Any:
        """The same; where there is one, nobody else changes it before the transaction around this ends."""
        ...

    async def set(self, agent: str, name: str, value: Any) -> None: ...

    async def delete(self, agent: str, name: str) -> None: ...

    async def all(self, agent: str, prefix: str = "") -> Mapping[str, Any]: ...


class Store(Protocol):
    """All of it. A store that cannot be read raises StoreError: nobody may act on a guess."""

    @property
    def timers(self) -> Timers: ...
    @property
    def lanes(self) -> Lanes: ...
    @property
    def outcomes(self) -> Outcomes: ...
    @property
    def feed(self) -> Feed: ...
    @property
    def agents(self) -> Agents: ...
    @property
    def letters(self) -> Letters: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def notes(self) -> Notes: ...
    @property
    def reminders(self) -> Reminders: ...
    @property
    def attention(self) -> AttentionStore: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def activity(self) -> Activity: ...
    @property
    def periods(self) -> Periods: ...
    @property
    def spending(self) -> SpendingRows: ...
    @property
    def ledger(self) -> LedgerStore: ...
    @property
    def pools(self) -> PoolStore: ...
    @property
    def usage(self) -> UsageLog: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def traces(self) -> Traces: ...
    @property
    def shared(self) -> bool:
        """Whether other machines may write it too, so that a poke can be missed and the loop looks more often."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    def wakes(self) -> AsyncIterator[None]:
        """Once at first, then whenever somebody else has set a timer that is due within seconds. Ends at once where
        nobody else can; raises StoreError where it cannot be heard of any more."""
        ...

    async def close(self) -> None: ...
