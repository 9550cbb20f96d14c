"""A channel in memory, for tests: what was sent, what the person does, and failures on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from nudge.instants import Instant
from nudge.queue.channel import Capabilities, Channel, Inbound, Outbound, Receipt, Updates


class RecordingChannel(Channel):
    """Remembers what was sent, and brings what `say` and `press` put in until a poll confirms it.

    `faults` are raised one per `send`; None means that this one succeeds. When they are used up, all succeed.

    >>> import asyncio
    >>> channel = RecordingChannel()
    >>> asyncio.run(channel.send(Outbound(1, "hello"))).message_ids
    ('m1',)
    >>> channel.texts
    ['hello']
    >>> channel.say("hi", at=Instant(0))
    >>> updates = asyncio.run(channel.updates("", 0))
    >>> updates.inbound[0].text, asyncio.run(channel.updates(updates.cursor, 0)).inbound
    ('hi', ())
    """

    name = "recording"
    capabilities = Capabilities(listens=True, buttons=True, typing=True)

    def __init__(self, *faults: Exception | None, capabilities: Capabilities | None = None) -> None:
        if capabilities is not None:
            self.capabilities = capabilities
        self.faults = list(faults)
        self.sent: list[Outbound] = []
        self.acknowledged: list[tuple[Inbound, str]] = []
        self.commands: tuple[tuple[str, str], ...] = ()
        self.typing = 0
        """How often the person was shown that an answer is being written."""
        self._updates: list[Inbound] = []
        self._news = asyncio.Event()

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.sent]

    def say(self, text: str, at: Instant, *, forwarded: bool = False, edited: bool = False) -> None:
        """The person writes."""
        self._add(Inbound(at, text, forwarded=forwarded, edited=edited))

    def press(self, data: str, message_id: str, at: Instant) -> None:
        """The person presses a button under a message that was sent."""
        self._add(Inbound(at, "", button=data, message_id=message_id, callback_id=f"press-{len(self._updates) + 1}"))

    async def send(self, message: Outbound) -> Receipt:
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.sent.append(message)
        return Receipt((f"m{message.id}",))

    async def updates(self, cursor: str, wait_seconds: float) -> Updates:
        handled = int(cursor or 0)
        if len(self._updates) <= handled and wait_seconds > 0:
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._news.wait()
        return Updates(tuple(self._updates[handled:]), str(max(handled, len(self._updates))))

    async def acknowledge(self, update: Inbound, text: str = "") -> None:
        self.acknowledged.append((update, text))

    async def show_typing(self) -> None:
        self.typing += 1

    async def offer_commands(self, commands: Iterable[tuple[str, str]]) -> None:
        self.commands = tuple(commands)

    def _add(self, update: Inbound) -> None:
        number = len(self._updates) + 1
        self._updates.append(replace(update, id=str(number), cursor=str(number)))
        self._news.set()
