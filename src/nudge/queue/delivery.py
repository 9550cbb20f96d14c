"""Delivery: the outbox row is committed before the channel is called.

A row in `sending` at start-up was being sent when the process died, and nobody can say whether it arrived. What the
person asked for is sent once more and marked as a possible repeat; chatter is not sent again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from nudge.backoff import Policy
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.instants import MINUTE, Instant
from nudge.queue.channel import Button, Channel, Outbound, typed_buttons
from nudge.queue.firing import Firing
from nudge.queue.outbox import Drop, Message, Sending, Wait
from nudge.queue.outcomes import FeedLine, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import Timer
from nudge.redaction import redact

KIND = "deliver"
HELD = "deliver:held"
"""The key of the timer for messages that wait for a better hour. Messages posted meanwhile do not wait with them."""
FRESH = MINUTE
"""A message that goes out this soon does not need a second look: the gate has just allowed it."""
REPEAT_MARK = "(possibly a repeat: I was interrupted while sending) "

ChannelOf = Callable[[str], Channel]
SecondLook = Callable[[Message, Instant], Awaitable[Wait | Drop | None]]


@dataclass(frozen=True, slots=True)
class Setback:
    """What an error means for the message that was being sent: its state, and by which policy to retry. Without a
    policy the message has failed for good, and the next one is sent."""

    state: Sending
    retry: Policy | None


def setback_of(error: NudgeError) -> Setback:
    match error:
        case ChannelUnavailableError(maybe_sent=True):
            return Setback(Sending.SENDING, Policy.DELIVERY)
        case ChannelUnavailableError():
            return Setback(Sending.PENDING, Policy.DELIVERY)
        case NotConfiguredError():  # a revoked token: the message goes out once somebody has fixed it
            return Setback(Sending.PENDING, Policy.TIMER)
        case _:
            return Setback(Sending.FAILED, None)


async def _no_objection(message: Message, now: Instant) -> None:
    return None


class Delivery:
    """`second_look` decides whether a message that had to wait may still go out."""

    def __init__(self, store: QueueStore, channel_of: ChannelOf, second_look: SecondLook = _no_objection) -> None:
        self._store = store
        self._channel_of = channel_of
        self._second_look = second_look

    async def post(self, message: Message) -> int:
        """Put a message into the outbox and make sure that it is sent. Part of the caller's transaction."""
        async with self._store.transaction():
            number = await self._store.outbox.put(message)
            await self._store.timers.ensure(deliver_timer(message.agent, message.created_at))
        return number

    async def resume(self, agent: str, now: Instant) -> None:
        """At start-up, retry now: the token may have been fixed, or nudge runs in another terminal."""
        async with self._store.transaction():
            timer = await self._store.timers.get(agent, KIND)
            if timer and timer.attempts:
                await self._store.timers.set(replace(timer, due_at=now))

    async def deliver(self, firing: Firing) -> None:
        """Send the agent's outbox in order. If the channel is away, continue later with the same message."""
        agent = firing.timer.agent
        channel = self._channel_of(agent)
        held: dict[int, Instant] = {}
        for message in await self._store.outbox.pending(agent):
            firing.progressed = True
            match await self._objection(message, firing.now):
                case Wait(until):
                    held[message.id] = until
                case Drop(reason):
                    await self._drop(message, firing, reason)
                case _:
                    await self._send(message, channel, firing)
        async with firing.settle() as settlement:
            # In the same transaction that removes the timer: a message posted meanwhile is not forgotten.
            if any(message.id not in held for message in await self._store.outbox.pending(agent)):
                await self._store.timers.ensure(deliver_timer(agent, firing.now))
            if held and firing.timer.key == HELD:
                settlement.again(min(held.values()))
            elif held:
                await self._store.timers.set(held_timer(agent, min(held.values())))

    async def _objection(self, message: Message, now: Instant) -> Wait | Drop | None:
        will_be_sent = message.state is Sending.PENDING or (message.asked and not message.possibly_repeated)
        if not will_be_sent or -FRESH < now - message.created_at < FRESH:
            return None
        return await self._second_look(message, now)

    async def _send(self, message: Message, channel: Channel, firing: Firing) -> None:
        if message.state is Sending.SENDING:
            if not message.asked or message.possibly_repeated:
                await self._unknown(message, firing)
                return
            message = replace(message, possibly_repeated=True)
        async with firing.fenced():
            await self._store.outbox.mark(message.id, Sending.SENDING, possibly_repeated=message.possibly_repeated)
        try:
            receipt = await channel.send(_outbound(message, buttons=channel.capabilities.buttons))
        except NudgeError as error:
            setback, said = setback_of(error), redact(str(error))
            async with firing.fenced():
                await self._store.outbox.mark(message.id, setback.state, error=said)
                if setback.retry is None:
                    await self._end(message, firing.now, Result.FAILED, f"The message could not be sent: {said}")
            if setback.retry is not None:
                firing.policy = setback.retry
                raise
            return
        # Not fenced: it was sent, whoever holds the lane now.
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


def _outbound(message: Message, *, buttons: bool) -> Outbound:
    """The message as the channel gets it; without buttons, its last line says what to type instead."""
    text = REPEAT_MARK + message.text if message.possibly_repeated else message.text
    if message.buttons and not buttons:
        return Outbound(message.id, f"{text}\n{typed_buttons(message.buttons)}", (), message.possibly_repeated)
    pressed = tuple(Button(label, data) for label, data in message.buttons)
    return Outbound(message.id, text, pressed, message.possibly_repeated)


def held_timer(agent: str, until: Instant) -> Timer:
    return Timer.at(agent, HELD, KIND, until, lane=f"{agent}/out")


def deliver_timer(agent: str, now: Instant) -> Timer:
    """Sending has its own lane: a slow turn must not hold up a reminder."""
    return Timer.at(agent, KIND, KIND, now, lane=f"{agent}/out")
