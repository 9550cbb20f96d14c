"""Messages on their way to the person: rows of the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nudge.instants import DAY, Instant

LATENESS = DAY
"""A message that could not be sent for this long is missed: an answer from yesterday helps nobody. Reminders have
limits of their own."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A message that must not go out before `until`."""

    until: Instant


@dataclass(frozen=True, slots=True)
class Drop:
    """A message that must not go out any more. `missed`: it has become too old to be useful."""

    reason: str = ""
    missed: bool = False


class Sending(StrEnum):
    """What has happened to a message.

    It is SENDING from before the channel is called until its answer is stored. UNSURE waits to be sent again although
    it may have arrived; UNKNOWN may have arrived too, and is not sent again.
    """

    PENDING = "pending"
    SENDING = "sending"
    UNSURE = "unsure"
    SENT = "sent"
    FAILED = "failed"
    MISSED = "missed"
    UNKNOWN = "unknown"


MAY_HAVE_ARRIVED = frozenset({Sending.SENDING, Sending.UNSURE, Sending.UNKNOWN})


REPLY = "reply"
"""The kind of a message that answers the person."""


@dataclass(frozen=True, slots=True)
class Message:
    """A row of the outbox.

    `asked`: the person asked for it, so it is sent until the channel says yes; a repeat says that it may be one.
    `receipt`: the channel's ids of the parts that have arrived, in order; all of them once it is SENT.
    `ready_at`: when a rule of restraint lets it go. `retry_at`: it stands aside until then and holds up no other.
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
    ready_at: Instant | None = None
    retry_at: Instant | None = None
    id: int = 0

    @property
    def waiting_since(self) -> Instant:
        """Since when only the channel has kept it from the person."""
        return self.created_at if self.ready_at is None else max(self.created_at, self.ready_at)
