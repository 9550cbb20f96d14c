"""The person's channel in a world that breaks: it keeps updates until they are confirmed, as a chat service does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from nudge.clock import Clock
from nudge.errors import ChannelUnavailableError
from nudge.instants import SECOND, Instant
from nudge.queue.channel import Capabilities, Channel, Inbound, Outbound, Receipt, Updates
from nudge.queue.outbox import Message
from nudge.stores.store import SqlStore
from tests.faults.faults import Kind
from tests.faults.minds import Due
from tests.faults.processes import CURRENT, Crash, check_alive

SENDING_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that reached the person."""

    at: Instant
    message: Outbound
    row: Message


class FaultyChannel(Channel):
    name = "faulty"
    capabilities = Capabilities(listens=True, buttons=True)

    def __init__(
        self,
        clock: Clock,
        store: SqlStore,
        due: Due,
        trace: Callable[[str], None],
        arrived: Callable[[Arrival], None],
        crash: Callable[[Kind, int], None],
    ) -> None:
        self._clock = clock
        self._store = store
        self._due = due
        self._trace = trace
        self._arrived = arrived
        self._crash = crash
        self._sends = 0
        self._away_until = 0.0  # as the loop counts: it lasts, whatever the clock is set to
        self._updates: list[Inbound] = []
        self._buttons: tuple[str, tuple[str, ...]] = ("", ())
        self._news = asyncio.Event()

    async def send(self, message: Outbound) -> Receipt:
        check_alive()
        self._sends += 1
        number = self._sends
        self._die(Kind.BEFORE_SEND, number)
        if (away := self._due(Kind.CHANNEL_AWAY, number)) is not None:
            self._away_until = asyncio.get_running_loop().time() + away.length / SECOND
        if asyncio.get_running_loop().time() < self._away_until:
            self._trace(f"the channel refuses message {message.id}")
            raise ChannelUnavailableError("The channel is away.", retry_after=20.0)
        if (during := self._due(Kind.DURING_SEND, number)) is not None and not during.chance:
            self._die(Kind.DURING_SEND, number)
        if (unsure := self._due(Kind.CHANNEL_UNSURE, number)) is not None and not unsure.chance:
            raise ChannelUnavailableError("The connection broke.", maybe_sent=True)
        await self._clock.sleep(SENDING_SECONDS)
        check_alive()
        row = await self._store.outbox.get(message.id)
        assert row is not None
        self._arrived(Arrival(self._clock.now(), message, row))
        if message.buttons:
            self._buttons = (f"m{number}", tuple(button.data for button in message.buttons))
        if unsure is not None:
            raise ChannelUnavailableError("The connection broke.", maybe_sent=True)
        self._die(Kind.DURING_SEND, number)
        self._die(Kind.AFTER_SEND, number)
        return Receipt((f"m{number}",))

    async def updates(self, cursor: str, wait_seconds: float) -> Updates:
        """Waits until there is something, however long that is: an empty poll every 50 seconds changes nothing."""
        handled = int(cursor or 0)
        while True:
            check_alive()
            found = tuple(self._updates[handled : handled + 3])
            if found:
                return Updates(found, found[-1].cursor)
            self._news.clear()
            await self._news.wait()

    def say(self, text: str) -> None:
        """The person does something."""
        self._add(Inbound(self._clock.now(), text))

    def press(self, verb: str) -> None:
        """They press a button under the last message that had one."""
        message_id, offered = self._buttons
        for data in offered:
            if data.startswith(verb):
                self._add(Inbound(self._clock.now(), "", data, message_id, callback_id=data))

    def _add(self, update: Inbound) -> None:
        number = str(len(self._updates) + 1)
        self._updates.append(replace(update, id=number, cursor=number))
        self._news.set()

    def _die(self, kind: Kind, number: int) -> None:
        if self._due(kind, number) is not None and CURRENT.get() is not None:
            self._crash(kind, number)
            raise Crash
