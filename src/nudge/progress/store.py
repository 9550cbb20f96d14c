"""What is kept about pools, sessions and guards.

The money itself is in accounts of the ledger. Whoever changes a pool locks its run's account first: all that moves
money of the pool passes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nudge.instants import Instant, rfc3339
from nudge.progress.compaction import Message
from nudge.progress.pool_rules import ReservationState
from nudge.spending.money import Micros
from nudge.spending.store import SpendingStore

if TYPE_CHECKING:
    from nudge.progress.tables import GuardTable, PoolTable, SessionTable


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A run whose budget is shared out, and by which rule. `lasts` is how long a reservation lives without a sign."""

    run: str
    agent: str
    owner: str
    keeps_percent: int
    gets_percent: int
    lasts: int


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member of a pool. The owner has neither a parent nor an expiry."""

    run: str
    name: str
    parent: str | None
    granted: Micros
    expires_at: Instant | None = None
    state: ReservationState = ReservationState.OPEN


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """A member with what its account says: its limit, what was charged to it, what is held on it, and when its last
    call ended (one that nobody reported on does not count)."""

    row: MemberRow
    limit: Micros
    committed: Micros
    held: Micros
    called_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class ClosedUse:
    """What the closed members right below `parent` were charged with and still hold; `above` is that one's parent."""

    parent: str
    above: str | None
    used: Micros


_NEVER = Instant(0)


class SessionStatus(StrEnum):
    """QUEUED (a task that nobody has begun: only its letter is stored), WORKING and WAITING (for an answer of the
    person) are open; the others have ended. A session that sleeps on its budget is WORKING: its agent's spending state
    says that it sleeps."""

    QUEUED = "queued"
    WORKING = "working"
    WAITING = "waiting"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self in (SessionStatus.QUEUED, SessionStatus.WORKING, SessionStatus.WAITING)


@dataclass(frozen=True, slots=True)
class Session:
    """A session as of its last checkpoint.

    `messages` is what the model is sent again: older ones may be replaced by a summary. `said` counts all there ever
    were. `guard` is the state of the run's guard, and `retries` counts by name whatever is tried again.

    `last_task` is what it works on, `letter` the one that asked for it, `asked_by` is who gets the report. A subagent
    has a `parent`. `snapshot` is the workspace as of this checkpoint, and `reason` says why the session ended.
    """

    agent: str
    id: str
    iteration: int = 0
    messages: tuple[Message, ...] = ()
    said: int = 0
    sandbox_id: str = ""
    phase: str = ""
    retries: Mapping[str, int] = field(default_factory=dict)
    guard: Mapping[str, Any] = field(default_factory=dict)
    last_task: str = ""
    updated_at: Instant = _NEVER
    status: SessionStatus = SessionStatus.WORKING
    asked_by: str = ""
    letter: int = 0
    parent: str = ""
    snapshot: str = ""
    report: str = ""
    reason: str = ""
    started_at: Instant = _NEVER


class Said(NamedTuple):
    """One message of a session, with its place and its time."""

    number: int
    at: Instant
    message: Message


DENIED = "[denied] "
"""How the result of a tool call begins that the guard did not allow."""


def story(session: Session) -> str:
    """Why a session ended, waits or was denied a tool, in sentences."""
    parts = [f"It is {session.status.value}: {session.last_task}." if session.last_task else "", session.reason]
    denied = [text.removeprefix(DENIED) for text in _results(session) if text.startswith(DENIED)]
    if denied:
        times = "once" if len(denied) == 1 else f"{len(denied)} times"
        parts.append(f"A tool was denied {times}; the last time because: {denied[-1]}")
    parts.append(f"{session.iteration} steps, last used {rfc3339(session.updated_at)}.")
    return " ".join(part for part in parts if part)


def _results(session: Session) -> Iterator[str]:
    for message in session.messages:
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if block.get("type") == "tool_result":
                yield str(block.get("content", ""))


class GuardStore(Protocol):
    """What guards that live in the store need of it."""

    @property
    def guards(self) -> GuardTable: ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...


class ProgressStore(SpendingStore, Protocol):
    """What pools and checkpoints need of the store."""

    @property
    def pools(self) -> PoolTable: ...
    @property
    def sessions(self) -> SessionTable: ...
