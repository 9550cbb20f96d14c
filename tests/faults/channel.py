"""The person's channel in a world that breaks: it keeps updates until they are confirmed, as a chat service does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from nudge.clock import Clock
from nudge.errors import ChannelUnavailableError
from nudge.instants import SECOND, Instant
from nudge.queue.channel import REPEAT_MARK, Capabilities, Channel, Inbound, Outbound, Receipt, Updates
from nudge.queue.outbox import Message
from nudge.stores.store import SqlStore
from tests.faults.faults import Fault, Kind
from tests.faults.minds import Crash as CrashAt
from tests.faults.minds import Due
from tests.faults.processes import CURRENT, Crash, Process, check_alive

SENDING_SECONDS = 0.3
HANGS_SECONDS = 65.0
PART = 90
"""Characters of a part: short, so that many messages have several."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A part of a message that reached the person. `began`: when the sending of the message did. `stored`: so many
    parts of it were known to have arrived before it was sent. `known`: a running daemon that was told so of this
    part."""

    at: Instant
    message: Outbound
    row: Message
    part: int
    parts: int
    text: str
    began: Instant
    stored: int = 0
    known: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A message is tried while the channel is away, for the n-th outage."""

    outage: int
    message_id: int


class FaultyChannel(Channel):
    name = "faulty"
    capabilities = Capabilities(listens=True, buttons=True, longest_message=PART)

    def __init__(
        self,
        clock: Clock,
        store: SqlStore,
        due: Due,
        trace: Callable[[str], None],
        arrived: Callable[[Arrival], None],
        tried: Callable[[Attempt], None],
        crash: CrashAt,
    ) -> None:
        self._clock = clock
        self._store = store
        self._due = due
        self._trace = trace
        self._arrived = arrived
        self._tried = tried
        self._crash = crash
        self._sends = 0
        self._between = 0
        self._outage = 0
        self._away_until = self._unsure_until = 0.0  # as the loop counts: it lasts, whatever the clock is set to
        self._unsure: Fault | None = None
        self._stored: Counter[int] = Counter()
        self._told: dict[tuple[int, int], Process | None] = {}  # who knows that a part of a message has arrived
        self._updates: list[Inbound] = []
        self._buttons: tuple[str, tuple[str, ...]] = ("", ())
        self._news = asyncio.Event()

    async def send(self, message: Outbound) -> Receipt:
        parts = [message.body[start : start + PART] for start in range(0, len(message.body), PART)]
        arrived, began = list(message.arrived), self._clock.now()
        for number in range(len(arrived), len(parts)):
            marked = message.possibly_repeated and number == len(message.arrived)
            text = REPEAT_MARK + parts[number] if marked else parts[number]
            arrived.append(await self._send(message, text, number, len(parts), began))
            if number < len(parts) - 1:
                await message.on_part(arrived[-1])
                self._stored[message.id] = max(self._stored[message.id], number + 1)
                self._between += 1
                self._die(Kind.BETWEEN_PARTS, self._between)
        return Receipt(tuple(arrived))

    async def _send(self, message: Outbound, text: str, part: int, parts: int, began: Instant) -> str:
        """One part, as a chat service takes it."""
        check_alive()
        self._sends += 1
        number = self._sends
        self._die(Kind.BEFORE_SEND, number)
        self._break(number)
        if self._is_away():
            self._trace(f"the channel refuses message {message.id}")
            self._tried(Attempt(self._outage, message.id))
            raise ChannelUnavailableError("The channel is away.", retry_after=20.0)
        if (during := self._due(Kind.DURING_SEND, number)) is not None and not during.chance:
            self._die(Kind.DURING_SEND, number)
        unsure = self._unsure if self._is_unsure() else None
        if unsure is not None and (number % 2 == 0) is unsure.chance:
            await self._leave_open(message, number)
        await self._clock.sleep(SENDING_SECONDS)
        check_alive()
        row = await self._store.outbox.get(message.id)
        assert row is not None
        known = self._told.get((message.id, part))
        name = known.owner if known and not known.ended.is_set() and not known.dead else ""
        now, stored = self._clock.now(), self._stored[message.id]
        self._arrived(Arrival(now, message, row, part, parts, text, began, stored, name))
        if message.buttons and part == parts - 1:
            self._buttons = (f"m{number}", tuple(button.data for button in message.buttons))
        if unsure is not None:
            await self._leave_open(message, number)
        self._die(Kind.DURING_SEND, number)
        self._die(Kind.AFTER_SEND, number)
        self._told[message.id, part] = CURRENT.get()
        return f"m{number}"

    async def _leave_open(self, message: Outbound, number: int) -> None:
        """A gateway's error, a broken connection, silence: nobody knows whether it arrived."""
        self._trace(f"the channel does not say whether message {message.id} arrived")
        if number % 3 == 0:
            await self._clock.sleep(HANGS_SECONDS)
            check_alive()
        raise ChannelUnavailableError("The connection broke.", maybe_sent=True)

    async def check(self) -> str:
        check_alive()
        if self._is_away() or self._is_unsure():
            raise ChannelUnavailableError("The channel is away.")
        return ""

    def heal(self) -> None:
        self._away_until = self._unsure_until = 0.0

    def _break(self, number: int) -> None:
        now = asyncio.get_running_loop().time()
        if (away := self._due(Kind.CHANNEL_AWAY, number)) is not None:
            self._outage += not self._is_away()
            self._away_until = max(self._away_until, now + away.length / SECOND)
        if (unsure := self._due(Kind.CHANNEL_UNSURE, number)) is not None:
            self._unsure = unsure
            self._unsure_until = max(self._unsure_until, now + unsure.length / SECOND)

    def _is_away(self) -> bool:
        return asyncio.get_running_loop().time() < self._away_until

    def _is_unsure(self) -> bool:
        return asyncio.get_running_loop().time() < self._unsure_until

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

    def say(self, text: str, *, forwarded: bool = False) -> None:
        """The person does something."""
        self._add(Inbound(self._clock.now(), text, forwarded=forwarded))

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
