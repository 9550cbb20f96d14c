"""The Channel port: how the coach reaches the person, and hears from them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from nudge.errors import NudgeError
from nudge.instants import Instant

RECENT_IDS = 200
"""How many handled updates are known by their id: more than two pollers can hold in their hands at once."""


REPEAT_MARK = "(possibly a repeat: I couldn't tell whether it arrived) "


class ChannelRefusedError(NudgeError):
    """The channel will not deliver to this person, now or later."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a channel can do. Without any of it, it sends plain text.

    - `listens`: `updates` brings what the person does. A channel that only sends is never polled.
    - `buttons`: buttons can be pressed. Where they cannot, the message says what to type instead.
    - `formatting`: Markdown is shown as formatting; otherwise the text arrives as it was written.
    - `typing`: `show_typing` tells the person that an answer is being written.
    - `longest_message`: the channel splits what is longer. Counted in UTF-16 code units: an emoji is two.
    """

    listens: bool = False
    buttons: bool = False
    formatting: bool = False
    typing: bool = False
    longest_message: int | None = None


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message. `data` (at most 64 bytes) comes back in `Inbound.button` when it is pressed."""

    label: str
    data: str


OnPart = Callable[[str], Awaitable[None]]


async def _unnoted(part: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Outbound:
    """A message to the person. `id` is the outbox row's, so a channel can tell a repeat from a new message.

    `possibly_repeated`: it may have arrived before, and its text begins with REPEAT_MARK.
    `reply`: it answers what the person just said.

    A channel that splits a long text sends the parts behind those in `arrived`, and calls `on_part` with the id of each
    part before it sends the next: what has arrived is not sent again, also after a crash. It splits `body`, the text
    without the mark, in the same way every time; the mark goes before the first part that it sends.
    """

    id: int
    text: str
    buttons: tuple[Button, ...] = ()
    possibly_repeated: bool = False
    arrived: tuple[str, ...] = ()
    on_part: OnPart = _unnoted
    reply: bool = False

    @property
    def body(self) -> str:
        return self.text.removeprefix(REPEAT_MARK) if self.possibly_repeated else self.text


@dataclass(frozen=True, slots=True)
class Receipt:
    """The channel's own ids of what was sent: several if a long text was split, with those that had arrived before."""

    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inbound:
    """Something the person did on the channel. The channel has already checked that it was the person.

    `button` is set if a button was pressed, and `message_id` then names the message that carried it. `forwarded` marks
    text that somebody else wrote. `callback_id` is the channel's own, for `acknowledge`.

    `id` is unique on its channel, and `cursor` is the channel's position behind this update; the two are stored with
    what the update changes. Both are empty for what cannot come twice, such as a typed line.
    """

    at: Instant
    text: str
    button: str | None = None
    message_id: str | None = None
    forwarded: bool = False
    edited: bool = False
    callback_id: str | None = None
    id: str = ""
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Updates:
    """What one poll brought, oldest first. `cursor` is where to continue; it also covers what the channel refused."""

    inbound: tuple[Inbound, ...]
    cursor: str


@dataclass(frozen=True, slots=True)
class Position:
    """How far the updates of a channel are handled: its cursor, and the ids of the last ones.

    The cursor is a text that the channel makes and that only the channel can read. The ids are for two processes that
    were given the same update: whoever comes second finds it handled.

    >>> position = Position().after(Inbound(Instant(0), "hi", id="7", cursor="8"))
    >>> position.cursor, position.has(Inbound(Instant(0), "hi", id="7", cursor="8"))
    ('8', True)
    """

    cursor: str = ""
    recent: tuple[str, ...] = ()

    def has(self, update: Inbound) -> bool:
        return update.id in self.recent

    def after(self, update: Inbound) -> Position:
        return Position(update.cursor, (*self.recent, update.id)[-RECENT_IDS:])

    def moved(self, before: str, cursor: str) -> Position:
        """At `cursor` if this is still at `before`. Otherwise somebody else is further, or will be."""
        return replace(self, cursor=cursor) if self.cursor == before else self


class Channel(Protocol):
    """One way to reach the person. A channel inherits from this, says by its capabilities what it can do, and writes
    only those methods; `send` is the one that every channel has.

    Its methods raise ChannelUnavailableError for what may work later (with `retry_after` if the service named a time,
    and `maybe_sent` if a message may have arrived although no answer came back), NotConfiguredError for what somebody
    has to fix, and ChannelRefusedError if sending again is useless.
    """

    name: str
    """The name in nudge.toml and in the store. Two channels never share one."""
    capabilities: Capabilities = Capabilities()

    async def send(self, message: Outbound) -> Receipt: ...

    async def updates(self, cursor: str, wait_seconds: float) -> Updates:
        """Wait for what comes after `cursor`, at most that long. "" is the beginning: whatever the service still keeps.

        The channel keeps no position of its own: asking with a cursor confirms everything before it. It never returns
        an update from before the cursor, whatever the service sends. AnotherPollerError ends the listening.
        """
        raise NudgeError(f"The channel {self.name!r} only sends.")

    async def acknowledge(self, update: Inbound, text: str = "") -> None:
        """Tell the person that the pressed button was noticed, in a few words if the channel can show them."""
        return

    async def show_typing(self) -> None:
        """Show for some seconds that an answer is being written."""
        return

    async def offer_commands(self, commands: Iterable[tuple[str, str]]) -> None:
        """Show (name, description) in the channel's own menu, if it has one."""
        return

    async def check(self) -> str:
        """Ask the service whether it accepts its configuration, without sending anything; one line for `nudge doctor`.
        Empty if there is nothing to ask."""
        return ""

    async def close(self) -> None:
        """Close its connections. A closed channel may be closed again."""
        return


@runtime_checkable
class PushingChannel(Protocol):
    """A channel that can also push what the person does to an HTTP address, instead of being polled."""

    async def hook(self, url: str) -> None:
        """Let the service push to that address from now on. It proves itself with a secret that only it is told."""
        ...

    async def unhook(self) -> None:
        """Let the service push no more, so that it can be polled."""
        ...

    def pushed_it(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from the service."""
        ...

    def read(self, body: bytes) -> Inbound | None:
        """The update in a request of the service; None if it is nothing that the person did."""
        ...


def typed_buttons(buttons: Sequence[tuple[str, str]]) -> str:
    """Buttons where nothing can be pressed: what they say, and what to type instead.

    >>> typed_buttons([("Done", "done:r-a1b2c3"), ("Skip", "skip:r-a1b2c3")])
    '[Done] /done  [Skip] /skip'
    """
    return "  ".join(f"[{label}] /{data.partition(':')[0]}" for label, data in buttons)
