"""Delivery: the outbox row is committed before the channel is called.

What the person asked for is sent until the channel says yes, or until it is too late to be useful. While the channel is
away, the lane is paused: one message is tried at growing intervals, and the others wait behind it.

Whether a message has arrived can be unknown: nudge stopped while it was being sent, or the channel's answer left it
open (a gateway's error, a broken connection, silence). What the person asked for is then sent again and marked as a
possible repeat; chatter is not. Each part of a long message is noted when it arrives, and only the others are sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace

from nudge.backoff import Policy
from nudge.clock import Clock
from nudge.durations import format_duration
from nudge.errors import ChannelUnavailableError, LostLeaseError, NotConfiguredError, NudgeError, StoreError
from nudge.instants import MINUTE, SECOND, Instant
from nudge.queue.channel import REPEAT_MARK, Button, Channel, OnPart, Outbound, typed_buttons
from nudge.queue.firing import Firing
from nudge.queue.outbox import LATENESS, REPLY, Drop, Message, Sending, Wait
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import Timer
from nudge.redaction import redact

KIND = "deliver"
HELD = "deliver:held"
"""The key of the timer for messages that wait for a better hour. Messages posted meanwhile do not wait with them."""
FRESH = MINUTE
"""A message that goes out this soon does not need a second look: the gate has just allowed it. Later, it is late."""
RECENT = 5 * SECOND
"""So old may a second look be when the message goes out: quiet hours can begin while slow sends are under way."""
PATIENCE = 6
"""After so many attempts that left it open whether it arrived, a message stands aside and the next one is tried: the
channel may work, and only this message may be more than it can take."""
ASIDE = 5 * MINUTE
AT_ONCE = 100
"""Messages sent before the next look at the clock."""
STOPPED = "nudge stopped while this was being sent."

ChannelOf = Callable[[str], Channel]
SecondLook = Callable[[Message, Instant], Awaitable[Wait | Drop | None]]


@dataclass(frozen=True, slots=True)
class Setback:
    """What an error means for the message that was being sent: its state, and by which policy to retry. Without a
    policy the message has failed for good, and the next one is sent."""

    state: Sending
    retry: Policy | None


def setback_of(error: Exception) -> Setback:
    match error:
        case ChannelUnavailableError(maybe_sent=True):
            return Setback(Sending.UNSURE, Policy.REPEAT)
        case ChannelUnavailableError():
            return Setback(Sending.PENDING, Policy.DELIVERY)
        case NotConfiguredError():  # a revoked token: the message goes out once somebody has fixed it
            return Setback(Sending.PENDING, Policy.TIMER)
        case NudgeError():
            return Setback(Sending.FAILED, None)
        case _:  # a bug: nobody knows how far it came
            return Setback(Sending.UNSURE, Policy.REPEAT)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the sending of a message is. `parts` have arrived, all of them if it is `whole`. `unsure`: the next one
    may have arrived as well."""

    parts: tuple[str, ...] = ()
    unsure: bool = False
    whole: bool = False

    @classmethod
    def of(cls, message: Message) -> Progress:
        return cls(tuple(message.receipt), message.state is not Sending.PENDING)

    def and_part(self, part: str) -> Progress:
        return Progress((*self.parts, part))


@dataclass(slots=True)
class Turn:
    """One firing's way through the outbox. `looked_at` is when messages were last looked at, `seen` is the last one of
    them, `held` are those that have to wait, by until when. `arrived` has been sent and is stored with the next step.
    `old`: it has lasted so long that what was decided about the rest has to be decided again."""

    firing: Firing
    channel: Channel
    looked_at: Instant
    seen: int = 0
    sent: int = 0
    held: dict[int, Instant] = field(default_factory=dict)
    arrived: tuple[Message, tuple[str, ...]] | None = None
    old: bool = False


async def _no_objection(message: Message, now: Instant) -> None:
    return None


class Delivery:
    """`second_look` decides whether a message that had to wait may still go out. With a `clock`, a turn of slow sends
    ends after a minute, and the rest is looked at again: quiet hours may have begun meanwhile."""

    def __init__(
        self,
        store: QueueStore,
        channel_of: ChannelOf,
        second_look: SecondLook = _no_objection,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._channel_of = channel_of
        self._second_look = second_look
        self._clock = clock
        self._unstored: dict[int, Progress] = {}  # by message: what the store could not take when it was known

    async def post(self, message: Message) -> int:
        """Put a message into the outbox and make sure that it is sent. Part of the caller's transaction."""
        return await put_message(self._store, message)

    async def resume(self, agent: str, now: Instant) -> None:
        """At start-up, retry now: the token may have been fixed, or nudge runs in another terminal."""
        async with self._store.transaction():
            timer = await self._store.timers.get(agent, KIND)
            if timer and timer.attempts:
                await self._store.timers.set(replace(timer, due_at=now))

    async def deliver(self, firing: Firing) -> None:
        """Send the agent's outbox in order. If the channel is away, continue later with the same message."""
        agent = firing.timer.agent
        if firing.timer.key == HELD:  # only one timer sends, so that a paused lane is paused for every message
            async with firing.settle():
                await self._store.timers.ensure(deliver_timer(agent, firing.now))
            return
        turn = Turn(firing, self._channel_of(agent), firing.now)
        try:
            while turn.sent < AT_ONCE and not turn.old and (ready := await self._ready(agent, turn)):
                for message in ready:
                    if await self._still_ready(message, turn):
                        await self._send(message, turn)
                    if self._is_old(turn):
                        break
            await self._settle(agent, turn)
        finally:
            await self._note_arrival(turn)

    async def _settle(self, agent: str, turn: Turn) -> None:
        firing, held = turn.firing, turn.held
        async with firing.settle() as settlement:
            await self._write_arrival(turn)
            if firing.failures:
                settlement.outcome(Result.FAILED, "Nothing was sent. Each message has its own outcome.")
            # In the same transaction that removes the timer: a message posted meanwhile is not forgotten.
            if await self._is_more(agent, held):
                following = deliver_timer(agent, firing.now)
                await self._store.timers.ensure(replace(following, attempts=firing.failures))
            if held:
                await self._store.timers.set(held_timer(agent, min(held.values())))
        self._forget_arrival(turn)

    def _is_old(self, turn: Turn) -> bool:
        turn.old = self._clock is not None and not 0 <= self._clock.now() - turn.firing.now < FRESH
        return turn.old

    async def _ready(self, agent: str, turn: Turn) -> list[Message]:
        """What may go out now and was not looked at in this turn. What has to wait is noted. What is no longer of use
        ends here, before anything is sent: it is shown as missed also while the channel is away."""
        ready: list[Message] = []
        turn.looked_at = self._now(turn)
        async for message in self._open(agent, turn.seen):
            turn.seen = message.id
            turn.firing.worked = True
            if await self._may_go(message, turn, turn.looked_at):
                ready.append(message)
            if len(ready) == AT_ONCE:
                break
        return ready

    async def _still_ready(self, message: Message, turn: Turn) -> bool:
        """Sends before this one may have been slow: what was decided about it may not hold any more."""
        now = self._now(turn)
        recent = 0 <= now - turn.looked_at < RECENT
        if recent and _is_fresh(message, now) == _is_fresh(message, turn.looked_at):
            return True
        return await self._may_go(message, turn, now)

    async def _may_go(self, message: Message, turn: Turn, now: Instant) -> bool:
        match await self._objection(message, now):
            case Wait(until):
                turn.held[message.id] = until
            case Drop() as drop:
                await self._drop(message, turn.firing, drop)
            case _:
                return True
        return False

    def _now(self, turn: Turn) -> Instant:
        return self._clock.now() if self._clock else turn.firing.now

    async def _open(self, agent: str, after: int = 0) -> AsyncIterator[Message]:
        while page := await self._store.outbox.pending(agent, AT_ONCE, after=after):
            for message in page:
                yield message
            after = page[-1].id

    async def _is_more(self, agent: str, held: dict[int, Instant]) -> bool:
        async for message in self._open(agent):
            if message.id not in held:
                return True
        return False

    async def _objection(self, message: Message, now: Instant) -> Wait | Drop | None:
        if message.retry_at is not None and now < message.retry_at <= now + ASIDE:
            return Wait(message.retry_at)
        will_be_sent = message.asked or message.state is not Sending.SENDING
        if not will_be_sent or _is_fresh(message, now):
            return None
        found = await self._second_look(message, now)
        if isinstance(found, Wait) and found.until != message.ready_at:
            await self._store.outbox.wait(message.id, found.until)
        if found is None and not message.reminder_id and now - message.waiting_since > LATENESS:
            return Drop(missed=True)
        return found

    async def _send(self, message: Message, turn: Turn) -> None:
        """Send one message, or what is missing of it; raises if the lane has to pause."""
        channel, firing = turn.channel, turn.firing
        progress = self._unstored.get(message.id) or Progress.of(message)
        if progress.whole:
            await self._note_arrival(turn)
            turn.arrived = message, progress.parts
            return
        if progress.unsure and not message.asked:
            reason = message.error or STOPPED
            await self._end(message, firing, Sending.UNKNOWN, Result.UNKNOWN, f"{reason} It won't be sent again.")
            return
        if firing.failures and not message.asked:
            await self._await_return(channel, firing)
        if progress.unsure:
            message = replace(message, possibly_repeated=True, error=message.error or STOPPED)
        async with firing.fenced():
            await self._write_arrival(turn)
            await self._store.outbox.mark(
                message.id, Sending.SENDING, error=message.error, possibly_repeated=message.possibly_repeated
            )
        self._forget_arrival(turn)
        self._unstored.pop(message.id, None)
        message = replace(message, attempts=message.attempts + 1)

        async def on_part(part: str) -> None:
            nonlocal progress
            progress = progress.and_part(part)
            firing.progressed = True
            async with firing.fenced():
                await self._store.outbox.arrived(message.id, progress.parts)

        try:
            receipt = await channel.send(_outbound(message, progress, on_part, buttons=channel.capabilities.buttons))
        except LostLeaseError:
            raise
        except StoreError:  # before a part or behind one, so no part was under way
            self._unstored[message.id] = progress
            raise
        except Exception as error:
            until = await self._set_back(message, progress, firing, error)
            if until is not None:
                turn.held[message.id] = until
            return
        firing.progressed = True
        turn.sent += 1
        turn.arrived = message, receipt.message_ids
        self._unstored[message.id] = Progress(receipt.message_ids, whole=True)

    async def _await_return(self, channel: Channel, firing: Firing) -> None:
        """Ask a channel that was away whether it is back, before chatter is sent: one attempt that leaves it open
        whether it arrived would use it up."""
        try:
            await channel.check()
        except ChannelUnavailableError:
            firing.policy = Policy.DELIVERY
            raise
        except NudgeError:
            return  # the sending itself will say what is wrong

    async def _note_arrival(self, turn: Turn) -> None:
        """Not fenced: it was sent, whoever holds the lane now."""
        if turn.arrived is not None:
            async with self._store.transaction():
                await self._write_arrival(turn)
            self._forget_arrival(turn)

    def _forget_arrival(self, turn: Turn) -> None:
        """The store knows it."""
        if turn.arrived is not None:
            self._unstored.pop(turn.arrived[0].id, None)
            turn.arrived = None

    async def _write_arrival(self, turn: Turn) -> None:
        """Part of the caller's transaction: the next message is under way, or the turn ends, in the same commit."""
        if turn.arrived is None:
            return
        (message, receipt), now = turn.arrived, turn.firing.now
        waited = now - message.created_at
        words = f"Sent {format_duration(waited // SECOND * SECOND)} after it was ready." if waited >= FRESH else ""
        if message.error:
            marked = ", marked as a possible repeat" if message.possibly_repeated else ""
            words = f"{message.error} Sent on attempt {message.attempts}{marked}."
        await self._store.outbox.mark(message.id, Sending.SENT, sent_at=now, receipt=receipt)
        if words:
            await self._note(message, words, late=waited >= FRESH)

    async def _set_back(self, message: Message, progress: Progress, firing: Firing, error: Exception) -> Instant | None:
        """Write what the error means for the message, and raise the error if the lane has to pause."""
        setback, said = setback_of(error), redact(str(error) or type(error).__name__)
        if setback.retry is None:
            await self._end(message, firing, Sending.FAILED, Result.FAILED, f"The message could not be sent: {said}")
            return None
        firing.policy = setback.retry
        ambiguous = setback.state is Sending.UNSURE
        if ambiguous and not message.asked:
            await self._end(message, firing, Sending.UNKNOWN, Result.UNKNOWN, f"{said} It won't be sent again.")
            raise error
        state = Sending.UNSURE if ambiguous or progress.unsure else Sending.PENDING
        aside = ambiguous and message.attempts >= PATIENCE
        seconds = ASIDE / SECOND if aside else firing.wait_after(error)
        retry_at = Instant(firing.now + ASIDE) if aside else None
        async with firing.fenced():
            await self._store.outbox.mark(message.id, state, error=said, retry_at=retry_at)
            await self._note(message, f"{said} Retrying in {seconds:g} s.")
        if retry_at is None:
            raise error
        return retry_at

    async def _drop(self, message: Message, firing: Firing, drop: Drop) -> None:
        if not drop.missed:
            reason = f"It could not be sent in time. {drop.reason}"
            await self._end(message, firing, Sending.FAILED, Result.SUPPRESSED, reason)
            return
        late = format_duration((firing.now - message.waiting_since) // MINUTE * MINUTE)
        why = message.error or await self._what_paused(firing)
        reason = f"It could not be sent for {late}, and by then it was too late. {why}"
        await self._end(message, firing, Sending.MISSED, Result.MISSED, reason)

    async def _what_paused(self, firing: Firing) -> str:
        """Why nothing could be sent, of a message that has not been tried."""
        timer = firing.timer
        row = await self._store.outcomes.get(timer.agent, timer.key, timer.slot_at) if timer.attempts else None
        return row.reason if row else "nudge was not running, or held it back."

    async def _end(self, message: Message, firing: Firing, state: Sending, result: Result, reason: str) -> None:
        """It is not sent any more."""
        if message.receipt:
            reason = f"{reason} The first {len(message.receipt)} of its parts arrived."
        async with firing.fenced():
            await self._store.outbox.mark(message.id, state, error=reason)
            await self._amend(message, lambda row: replace(row, result=result, reason=reason), "")
            line = FeedLine(firing.now, message.agent, result.value, f"{reason} ({redact(message.text)[:60]})")
            await self._store.feed.add(line)
        self._unstored.pop(message.id, None)

    async def _note(self, message: Message, words: str, *, late: bool = False) -> None:
        """Let the outcome say how the sending goes."""
        from_now_on = {Result.FIRED: Result.FIRED_LATE} if late else {}
        await self._amend(message, lambda row: replace(row, result=from_now_on.get(row.result, row.result)), words)

    async def _amend(self, message: Message, change: Callable[[Outcome], Outcome], words: str) -> None:
        """Correct the outcome of the occurrence that the message belongs to, if there is one."""
        row = None
        if message.slot_at is not None:
            row = await self._store.outcomes.get(message.agent, message.key, message.slot_at)
        if row is not None:
            new = change(row)
            detail = {**row.detail, "delivery": words}
            if not words:
                del detail["delivery"]
            await self._store.outcomes.amend(row.agent, row.key, row.slot_at, new.result, new.reason, detail)


def _is_fresh(message: Message, now: Instant) -> bool:
    return -FRESH < now - message.created_at < FRESH


def _outbound(message: Message, progress: Progress, on_part: OnPart, *, buttons: bool) -> Outbound:
    """The message as the channel gets it; without buttons, its last line says what to type instead."""
    text = REPEAT_MARK + message.text if progress.unsure else message.text
    pressed = tuple(Button(label, data) for label, data in message.buttons)
    if pressed and not buttons:
        text, pressed = f"{text}\n{typed_buttons(message.buttons)}", ()
    return Outbound(message.id, text, pressed, progress.unsure, progress.parts, on_part, message.kind == REPLY)


def held_timer(agent: str, until: Instant) -> Timer:
    return Timer.at(agent, HELD, KIND, until, lane=f"{agent}/out")


async def put_message(store: QueueStore, message: Message) -> int:
    """Put a message into the outbox, with the timer that sends it."""
    async with store.transaction():
        number = await store.outbox.put(message)
        await store.timers.ensure(deliver_timer(message.agent, message.created_at))
    return number


def deliver_timer(agent: str, now: Instant) -> Timer:
    """Sending has its own lane: a slow turn must not hold up a reminder."""
    return Timer.at(agent, KIND, KIND, now, lane=f"{agent}/out")
