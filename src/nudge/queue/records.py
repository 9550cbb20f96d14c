"""The rows of the store as values. Apart from the ports, so that a command that lists them loads nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nudge.instants import Instant
from nudge.queue.priority import Priority as Priority


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a lane's timers until `until`. `token` is unlike any other: it fences the writes of a daemon
    that lost the lane."""

    lane: str
    owner: str
    token: str
    until: Instant


@dataclass(frozen=True, slots=True)
class Agent:
    """A named long-lived actor. A removed one keeps its history and its name can be taken again."""

    name: str
    role: str
    created_at: Instant
    removed_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class FeedLine:
    """One thing that happened, in words for the person."""

    at: Instant
    agent: str
    kind: str
    text: str
    id: int = 0


@dataclass(frozen=True, slots=True)
class Letter:
    """A message in an agent's inbox. `topic` (where not empty) is unique among the unread letters of an agent: the same
    topic again refreshes the letter and counts it, so that nothing piles up."""

    agent: str
    sender: str
    body: str
    priority: Priority
    created_at: Instant
    topic: str = ""
    count: int = 1
    read_at: Instant | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0


class Sending(StrEnum):
    """Where an outgoing message is. It is SENDING from before the channel is called until its answer is stored."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Message:
    """A row of the outbox. `asked` marks what the person asked for: it is sent once more after a crash, and says so."""

    agent: str
    text: str
    kind: str
    created_at: Instant
    asked: bool = False
    buttons: Sequence[tuple[str, str]] = ()
    state: Sending = Sending.PENDING
    sent_at: Instant | None = None
    possibly_repeated: bool = False
    attempts: int = 0
    error: str = ""
    receipt: Sequence[str] = ()
    topic: str = ""
    key: str = ""
    slot_at: Instant | None = None
    id: int = 0
