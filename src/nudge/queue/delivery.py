"""Delivery: the outbox row is committed before the channel is called.

A row in `sending` at start-up was under way when the process died, and nobody can say whether it arrived. What the
person asked for is sent once more and says that it may be a repeat; chatter is not sent again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.instants import MINUTE, Instant
from nudge.queue.channel import Button, Messenger, Outbound
from nudge.queue.dispatch import Firing
from nudge.queue.outbox import Drop, Message, Sending, Wait
from nudge.queue.outcomes import FeedLine, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import Timer
from nudge.redaction import redact

log = logging.getLogger("nudge.delivery")

KIND = "deliver"
HELD = "deliver:held"
"""The key of the timer that stands for messages which wait for a better hour; what is posted meanwhile does not."""
FRESH = MINUTE
"""For so long the gate's word from when a message was written holds."""
AWAY_SECONDS = 60.0
"""A channel that is away is asked again so often at least: what waits for it must not sleep on when it is back."""
REPEAT_MARK = "(possibly a repeat: I was interrupted while sending) "

_GROWING = 3  # tries after 5, 15 and 45 seconds, as everywhere

MessengerOf = Callable[[str], Messenger]
StillWelcome = Callable[[Message, Instant], Awaitable[Wait | Drop | None]]


async def _always(message: Message, now: Instant) -> None:
    return None


class Delivery:
    """`still_welcome` is asked about messages that have waited for their way out."""

    def __init__(self, store: QueueStore, messenger_of: MessengerOf, still_welcome: StillWelcome = _always) -> None:
        self._store = store
        self._messenger_of = messenger_of
        self._still_welcome = still_welcome

    async def post(self, message: Message) -> int:
        """Put a message into the outbox, and see to it that somebody looks there. Part of the caller's transaction."""
        async with self._store.transaction():
            number = await self._store.outbox.put(message)
            await self._store.timers.ensure(deliver_timer(message.agent, message.created_at))
        return number

    async def resume(self, agent: str, now: Instant) -> None:
        """At start-up: what a channel refused may go out now. A token was mended, or there is another terminal."""
        async with self._store.transaction():
            timer = await self._store.timers.get(agent, KIND)
            if timer and timer.attempts:
                await self._store.timers.set(replace(timer, due_at=now))

    async def deliver(self, firing: Firing) -> None:
        """Send what is in the agent's outbox, in order. A channel that is away is tried again from the same row."""
        agent = firing.timer.agent
        messenger = self._messenger_of(agent)
        held: dict[int, Instant] = {}
        for message in await self._store.outbox.pending(agent):
            match await self._objection(message, firing.now):
                case Wait(until):
                    held[message.id] = until
                case Drop(reason):
                    await self._drop(message, firing, reason)
                case _:
                    await self._send(message, messenger, firing)
        async with firing.settle() as settlement:
            # Looked at inside the transaction that removes the timer: what was posted meanwhile is not forgotten.
            if any(message.id not in held for message in await self._store.outbox.pending(agent)):
                await self._store.timers.ensure(deliver_timer(agent, firing.now))
            if held and firing.timer.key == HELD:
                settlement.again(min(held.values()))
            elif held:
                await self._store.timers.set(held_timer(agent, min(held.values())))

    async def _objection(self, message: Message, now: Instant) -> Wait | Drop | None:
        again = message.state is Sending.PENDING or (message.asked and not message.possibly_repeated)
        if not again or -FRESH < now - message.created_at < FRESH:
            return None
        return await self._still_welcome(message, now)

    async def _send(self, message: Message, messenger: Messenger, firing: Firing) -> None:
        if message.state is Sending.SENDING:
            if not message.asked or message.possibly_repeated:
                await self._unknown(message, firing)
                return
            message = replace(message, possibly_repeated=True)
        async with firing.fenced():
            await self._store.outbox.mark(message.id, Sending.SENDING, possibly_repeated=message.possibly_repeated)
        text = REPEAT_MARK + message.text if message.possibly_repeated else message.text
        buttons = tuple(Button(label, data) for label, data in message.buttons)
        try:
            receipt = await messenger.send(Outbound(message.id, text, buttons, message.possibly_repeated))
        except ChannelUnavailableError as error:
            # The channel said no, or could not be reached: the message surely did not arrive, unless the error says so.
            state = Sending.SENDING if error.maybe_sent else Sending.PENDING
            async with firing.fenced():
                await self._store.outbox.mark(message.id, state, error=redact(str(error)))
            if error.retry_after is None and firing.timer.attempts >= _GROWING:
                error.retry_after = AWAY_SECONDS
            raise
        except NotConfiguredError as error:
            # A revoked token or the like: the person mends it and the message goes out then.
            async with firing.fenced():
                await self._store.outbox.mark(message.id, Sending.PENDING, error=redact(str(error)))
            raise
        except NudgeError as error:
            async with firing.fenced():
                await self._store.outbox.mark(message.id, Sending.FAILED, error=redact(str(error)))
                reason = f"The message could not be sent: {redact(str(error))}"
                await self._end(message, firing.now, Result.FAILED, reason)
            return
        # Not fenced: that it was sent is true whoever holds the lane now.
        await self._store.outbox.mark(message.id, Sending.SENT, sent_at=firing.now, receipt=receipt.message_ids)

    async def _drop(self, message: Message, firing: Firing, why: str) -> None:
        async with firing.fenced():
            await self._store.outbox.mark(message.id, Sending.FAILED, error=why)
            await self._end(message, firing.now, Result.SUPPRESSED, f"It could not be sent in time. {why}")

    async def _unknown(self, message: Message, firing: Firing) -> None:
        async with firing.fenced():
            await self._store.outbox.mark(message.id, Sending.UNKNOWN, error="interrupted while sending")
            await self._end(message, firing.now, Result.UNKNOWN, "The process died while this was being sent.")

    async def _end(self, message: Message, now: Instant, result: Result, reason: str) -> None:
        if message.slot_at is not None:
            await self._store.outcomes.amend(message.agent, message.key, message.slot_at, result, reason)
        await self._store.feed.add(FeedLine(now, message.agent, result.value, f"{reason} ({message.text[:60]})"))


def held_timer(agent: str, until: Instant) -> Timer:
    return Timer.at(agent, HELD, KIND, until, lane=f"{agent}/out")


def deliver_timer(agent: str, now: Instant) -> Timer:
    """Sending has a lane of its own: a slow turn must not keep a reminder from going out."""
    return Timer.at(agent, KIND, KIND, now, lane=f"{agent}/out")
