"""The Messenger port: the person's channel (Telegram, a terminal, a test)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nudge.errors import NudgeError
from nudge.instants import Instant


class ChannelRefusedError(NudgeError):
    """The channel will not deliver to this person, now or later."""


@dataclass(frozen=True, slots=True)
class Button:
    """An inline button. `data` (at most 64 bytes) comes back in `Inbound.button` when it is pressed."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class Outbound:
    """A message to the person. `id` is the outbox row's, so that an adapter can tell a repeat from a new one."""

    id: int
    text: str
    buttons: tuple[Button, ...] = ()
    possibly_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """The channel's own ids of what was sent: several where a long text had to be split."""

    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inbound:
    """Something the person did on the channel, already checked against the allow-list.

    `update_id` orders updates and makes handling them idempotent. `button` is set where a button was pressed, and
    `message_id` then names the message that carried it. `forwarded` marks text that somebody else wrote.
    """

    update_id: int
    at: Instant
    text: str
    button: str | None = None
    message_id: str | None = None
    forwarded: bool = False
    edited: bool = False
    callback_id: str | None = None


class Messenger(Protocol):
    """Raises ChannelUnavailableError (with `retry_after` where the channel said one, and `maybe_sent` where sending
    again may repeat the message) and ChannelRefusedError where sending again is useless."""

    async def send(self, message: Outbound) -> Receipt: ...

    async def close(self) -> None: ...


class Inbox(Protocol):
    """A channel that also listens. `updates_after` long-polls and returns what came, oldest first, without keeping any
    position of its own: the offset lives in the store, in the transaction that handled the update.

    `offset` is the lowest update id that is wanted (0: whatever is not confirmed yet), and asking confirms everything
    below it. The offset to ask with next comes back; it also covers what was refused, and it may be lower than `offset`
    where the channel began its ids anew."""

    async def updates_after(self, offset: int, wait_seconds: float) -> tuple[list[Inbound], int]: ...

    async def acknowledge(self, update: Inbound, text: str = "") -> None: ...
