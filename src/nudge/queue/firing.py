"""One due timer in the hands of its handler, and how its result becomes durable.

A handler does its slow work, then settles: everything it changes is one transaction with the occurrence's outcome and
the next timer. After a crash before that commit the timer fires again; after a crash behind it nothing is left to do.

**Batches.** A commit takes as long as many firings. Timers whose handlers need nothing from outside the store are
therefore settled together, those of many lanes or the next ones of one lane, in the order in which they are due. A
timer that cannot be is left aside, and with it what comes after it in its lane.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from nudge.backoff import Policy, delay
from nudge.clock import Clock
from nudge.errors import LostLeaseError, NudgeError, RetryableError, StoreError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import Lease, Timer
from nudge.redaction import redact

log = logging.getLogger("nudge.dispatch")

QUIET_RETRIES = 3
"""An outage goes to the feed only if it lasts."""
MOST_AT_ONCE = 20
"""A timer that came back at once this often, and got nothing done, is stopped."""

_MOST_NAMES = 1000

Handler = Callable[["Firing"], Awaitable[None]]
FailureHook = Callable[[Timer, Exception, Instant], Awaitable[None]]
_H = TypeVar("_H", bound=Callable[..., Awaitable[None]])


def batched(handler: _H) -> _H:
    """Mark a handler whose firings may share a transaction with others. It writes to the store alone; before it needs
    anything else (a command, a model, a channel) it calls `firing.needs_outside()`."""
    handler.batched = True  # type: ignore[attr-defined]
    return handler


def is_batched(handler: Handler | None) -> bool:
    return getattr(handler, "batched", False)


class TimerChangedError(NudgeError):
    """The timer was moved or cancelled while its handler ran."""


class AlreadySettledError(NudgeError):
    """This occurrence already has its outcome."""

    def __init__(self, following: Timer | None) -> None:
        super().__init__()
        self.following = following


class NeedsOutsideError(NudgeError):
    """This firing cannot share a transaction: it waits for something outside the store."""


class SpinningError(NudgeError):
    """This timer fired again and again and got nothing done. That is a bug in nudge; please report it."""


@dataclass
class Settlement:
    """The result of a firing. Fill it inside `async with firing.settle()`; it is written when the block ends.

    `now` is when the timer was picked up; a handler that took long may say when it ended.
    """

    timer: Timer
    now: Instant
    occurrence: tuple[str, Instant] | None = None
    recorded: Outcome | None = None
    following: Timer | None = None
    lines: list[FeedLine] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The name under which the outcome is kept: the timer's, unless it stands for whatever waits."""
        return self.timer.key if self.occurrence is None else self.occurrence[0]

    @property
    def slot_at(self) -> Instant:
        return self.timer.slot_at if self.occurrence is None else self.occurrence[1]

    def outcome(self, result: Result, reason: str = "", *, final: bool = True, **detail: Any) -> None:
        timer = self.timer
        self.recorded = Outcome(
            timer.agent, self.key, timer.kind, self.slot_at, self.now, result, reason, detail, final
        )

    def defer(self, until: Instant, reason: str, **detail: Any) -> None:
        """Try the same occurrence later; its outcome stays open until then."""
        self.outcome(Result.DEFERRED, reason, final=False, until=rfc3339(until), **detail)
        self.following = self.timer.deferred(until)

    def again(self, slot_at: Instant, payload: Mapping[str, Any] | None = None) -> None:
        """The next occurrence."""
        self.following = self.timer.next_slot(slot_at, payload)

    def feed(self, kind: str, text: str) -> None:
        self.lines.append(FeedLine(self.now, self.timer.agent, kind, text))


class Firing:
    """One due timer, in the hands of its handler. `now` was read once, when the timer was picked up.

    A handler that raises is retried by `policy`, which it may change before it raises. One that has got something done
    before says so in `progressed`: its failure then counts as the first, and the next wait is short again.

    `in_batch`: other firings share the transaction that is open around it. `surely`: if this one cannot be settled,
    that transaction fails.
    """

    def __init__(
        self,
        timer: Timer,
        now: Instant,
        lease: Lease,
        store: QueueStore,
        after_commit: Callable[[], None],
        *,
        in_batch: bool = False,
        surely: bool = False,
    ) -> None:
        self.timer = timer
        self.now = now
        self.settling = False
        self.settled = False
        self.policy = Policy.TIMER
        self.progressed = False
        self.at_settlement: list[Callable[[], Awaitable[None]]] = []
        """Written in the same transaction, for what surrounds the handler."""
        self.worked = False
        """Whether there was something to do, so that it may come back at once. One that records how an occurrence ended
        has worked; a handler without outcomes says so itself."""
        self.comes_back = False
        """Whether its next time is now."""
        self._occurrence: tuple[str, Instant] | None = None
        self._in_batch = in_batch
        self._surely = surely
        self._lease = lease
        self._store = store
        self._after_commit = after_commit

    async def handled_by(self, handlers: Mapping[str, Handler]) -> None:
        handler = handlers.get(self.timer.kind)
        if handler is None:
            raise NudgeError(f"Unknown kind of timer: {self.timer.kind!r}.")
        await handler(self)
        if not self.settled:
            raise NudgeError(f"The handler of {self.timer.kind!r} did not settle.")

    def stands_for(self, key: str, slot_at: Instant) -> None:
        """Name the occurrence in hand, for a timer that stands for whatever waits: its outcome is kept by this name."""
        self._occurrence = (key, slot_at)

    def needs_outside(self) -> None:
        """What follows waits for something outside the store. In a batch nothing may: this timer fires alone then.
        Called before the settlement."""
        if self._in_batch:
            raise NeedsOutsideError

    @asynccontextmanager
    async def settle(self) -> AsyncIterator[Settlement]:
        """One transaction around everything that this firing changes. Raises, and writes nothing, if the lane was lost,
        the timer has changed, or the occurrence already has its outcome."""
        settlement = Settlement(self.timer, self.now, self._occurrence)
        set_before = self._store.timers.times_set
        self.settling = True
        async with self._store.transaction():
            await self._take()
            yield settlement
            for write in self.at_settlement:
                await write()
            if settlement.recorded is None and self.timer.attempts:
                tries = self.timer.attempts + 1
                settlement.outcome(Result.FIRED_LATE, f"Succeeded on attempt {tries}.", attempts=tries)
            recorded = settlement.recorded
            if recorded and not await self._store.outcomes.record(recorded, surely=self._surely):
                raise AlreadySettledError(settlement.following)
            await self._finish(settlement)
        self.settled = True
        self.worked = self.worked or (settlement.recorded is not None and settlement.recorded.final)
        self.comes_back = settlement.following is not None and settlement.following.due_at <= self.now
        if self._store.timers.times_set != set_before:
            self._after_commit()

    @asynccontextmanager
    async def fenced(self) -> AsyncIterator[None]:
        """A transaction before the settlement, for a step that others must know of before the next one. Raises, and
        writes nothing, if the lane was lost: a machine that slept must not continue what another has taken over."""
        async with self._store.transaction():
            await self._store.lanes.assert_held(self._lease)
            yield

    @property
    def failures(self) -> int:
        """How often it has failed since it last got something done."""
        return 0 if self.progressed else self.timer.attempts

    def wait_after(self, error: Exception) -> float:
        """Seconds until it is retried if it fails with this error."""
        asked = error.retry_after if isinstance(error, RetryableError) else None
        return delay(self.failures, self.policy, asked)

    async def move_on(self, following: Timer | None) -> None:
        """Skip an occurrence that already has its outcome."""
        async with self._store.transaction():
            await self._take()
            if following:
                await self._store.timers.set(following)
        self._after_commit()

    async def fail(self, error: Exception, now: Instant, hook: FailureHook | None) -> None:
        """Retry later, counted from `now`, and record it. If the hook fails too, the rest is still written."""
        before = self.failures
        pushed = replace(self.timer, attempts=before).pushed_out(now, self.wait_after(error))
        reason = redact(str(error) or type(error).__name__)
        settlement = Settlement(self.timer, now, self._occurrence)
        settlement.outcome(
            Result.FAILED, reason, final=False, attempts=pushed.attempts, retry_at=rfc3339(pushed.due_at)
        )
        settlement.following = pushed
        if before == (QUIET_RETRIES if isinstance(error, (RetryableError, StoreError)) else 0):
            settlement.feed("failed", f"⚠️ {self.timer.kind} failed: {reason.rstrip('.')}. Check logs.")
        if not (hook and settlement.lines):
            await self._push_out(settlement)
            return
        try:
            await self._push_out(settlement, lambda: hook(self.timer, error, now))
        except (TimerChangedError, LostLeaseError):
            raise
        except Exception:
            log.exception("The failure hook failed for %s", self.timer.key)
            await self._push_out(settlement)

    async def _push_out(self, settlement: Settlement, tell: Callable[[], Awaitable[None]] | None = None) -> None:
        async with self._store.transaction():
            await self._take()
            assert settlement.recorded
            if not await self._store.outcomes.record(settlement.recorded):  # the occurrence has ended; this is news
                await self._store.outcomes.record(replace(settlement.recorded, slot_at=settlement.now))
            await self._finish(settlement)
            if tell:
                await tell()
        self._after_commit()

    async def _take(self) -> None:
        if not await self._store.timers.take_held(self.timer, self._lease, surely=self._surely):
            await self._store.lanes.assert_held(self._lease)
            raise TimerChangedError

    async def _finish(self, settlement: Settlement) -> None:
        if settlement.following:
            await self._store.timers.set(settlement.following)
        for line in settlement.lines:
            await self._store.feed.add(line)


class Pace:
    """Notices a timer that comes back at once, again and again, and gets nothing done. No handler should do that; one
    that does must not take the whole processor, or pay for the same question forever."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str], tuple[Instant, int]] = {}

    def spins(self, timer: Timer) -> bool:
        return self._times(timer) >= MOST_AT_ONCE

    def note(self, timer: Timer, now: Instant, *, worked: bool) -> None:
        """It fired at that time."""
        name = (timer.agent, timer.key)
        if worked:
            self._idle.pop(name, None)
            return
        self._idle[name] = (now, self._times(timer) + 1)
        if len(self._idle) > _MOST_NAMES:  # those of long ago have not come back at once
            del self._idle[next(iter(self._idle))]

    def _times(self, timer: Timer) -> int:
        """How often it has fired for nothing since it was last due later than its firing before."""
        last, times = self._idle.get((timer.agent, timer.key), (None, 0))
        return times if last is not None and timer.due_at <= last else 0


LARGEST_BATCH = 100
"""More than this do not share a transaction: whoever wants to write next must not wait too long."""
LONGEST_BATCH = SECOND // 40
"""After this a batch ends as well. A firing may take long, and while SQLite works, nobody is answered."""


def may_share(timer: Timer, handlers: Mapping[str, Handler], pace: Pace) -> bool:
    """Whether a timer may be fired in a batch. One that has failed before fires alone."""
    return not timer.attempts and is_batched(handlers.get(timer.kind)) and not pace.spins(timer)


class Batch:
    """One transaction's firings. `careful` gives each a savepoint, so that one that fails leaves nothing and disturbs
    nobody; without it, one that fails takes all of them back."""

    def __init__(
        self,
        store: QueueStore,
        handlers: Mapping[str, Handler],
        pace: Pace,
        clock: Clock,
        now: Instant,
        *,
        careful: bool = False,
    ) -> None:
        self.fired: list[Firing] = []
        self.kept: list[Lease] = []
        """Lanes that have not been given back: there is more to do in them."""
        self.aside: set[str] = set()
        """Lanes whose next timer must fire alone."""
        self._store = store
        self._handlers = handlers
        self._pace = pace
        self._clock = clock
        self._now = now
        self._careful = careful

    async def fire(self, leases: Sequence[Lease], *, give: bool) -> None:
        """Fire what is due in these lanes, inside the caller's transaction. With `give`, lanes in which nothing is left
        are given back in it."""
        again = list(leases)
        self._began = self._clock.now()
        while again and not self._is_full:
            each = max(1, (LARGEST_BATCH - len(self.fired)) // len(again))
            due = await self._due(again, each + 1)
            more = [await self._in_lane(*pair, each) for pair in zip(again, due, strict=True)]
            again = [lease for lease, some in zip(again, more, strict=True) if some]
        left = self.aside.union(lease.lane for lease in again)
        self.kept = [lease for lease in leases if lease.lane in left]
        if give and len(self.kept) < len(leases):
            await self._store.lanes.release_many(lease for lease in leases if lease.lane not in left)

    @property
    def _is_full(self) -> bool:
        return len(self.fired) >= LARGEST_BATCH or self._clock.now() - self._began >= LONGEST_BATCH

    async def _due(self, leases: Sequence[Lease], limit: int) -> Sequence[Sequence[Timer] | None]:
        """What is due in each lane; None where it cannot be read, which stops that lane alone."""
        if not self._careful:
            return await self._store.timers.due_in_lanes([lease.lane for lease in leases], self._now, limit)
        found: list[Sequence[Timer] | None] = []
        for lease in leases:
            try:
                found.append(await self._store.timers.due_in_lane(lease.lane, self._now, limit))
            except StoreError:
                raise
            except Exception:
                found.append(None)
        return found

    async def _in_lane(self, lease: Lease, due: Sequence[Timer] | None, room: int) -> bool:
        """Fire what is due in this lane, one timer at least. True if there may be more."""
        if due is None:
            self.aside.add(lease.lane)
            return False
        more = len(due) > room
        for number, timer in enumerate(due[:room]):
            if number and self._is_full:
                return True
            firing = Firing(timer, self._now, lease, self._store, _nothing, in_batch=True, surely=not self._careful)
            if not may_share(timer, self._handlers, self._pace) or not await self._fire(firing):
                self.aside.add(lease.lane)
                return False
            more = more or firing.comes_back
        return more

    async def _fire(self, firing: Firing) -> bool:
        """False if the timer has to be fired alone; then nothing was written."""
        try:
            if self._careful:
                async with self._store.savepoint():
                    await firing.handled_by(self._handlers)
            else:
                await firing.handled_by(self._handlers)
        except Exception as error:
            if self._careful or (isinstance(error, NeedsOutsideError) and not firing.settling):
                return False
            raise
        self._pace.note(firing.timer, self._now, worked=firing.worked)
        self.fired.append(firing)
        return True


def _nothing() -> None:
    """Others are told after the commit of the batch."""
