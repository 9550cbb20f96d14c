"""Messages on their way to the person: rows of the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nudge.instants import Instant


@dataclass(frozen=True, slots=True)
class Wait:
    """A message that must not go out before `until`."""

    until: Instant


@dataclass(frozen=True, slots=True)
class Drop:
    """A message that must not go out any more."""

    reason: str


class Sending(StrEnum):
    """What has happened to a message. It is SENDING from before the channel is called until its answer is stored."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Message:
    """A row of the outbox.

    `asked`: the person asked for it, so after a crash it is sent once more and says so.
    `reminder_id`: the reminder it delivers. `topic`: what a ping is about, see `nudge.attention.repeats`.
    `typed`: it answers what was typed in a terminal beside the person's own channel.
    `key`, `slot_at`: the occurrence it belongs to.
    """

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
    reminder_id: str = ""
    typed: bool = False
    topic: str = ""
    key: str = ""
    slot_at: Instant | None = None
    id: int = 0
