"""The loop that fires timers.

It asks the store for what is due, so that neither start-up nor memory grows with the number of timers. Lanes run side
by side; within a lane one timer is fired after the other. A handler does its slow work, then settles: everything it
changes is one transaction with the occurrence's outcome and the next timer. A crash before that leaves the timer as it
was, and it is fired again; a crash after it leaves the whole of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from nudge.clock import Clock
from nudge.errors import LostLeaseError, NudgeError, RetryableError, StoreError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import LONGEST_DELAY, Lease, Timer
from nudge.redaction import redact

log = logging.getLogger("nudge.dispatch")

LEASE = 60 * SECOND
RENEW_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 30.0
SHARED_WAIT_SECONDS = 5.0
GRACE_SECONDS = 10.0
_QUIET_RETRIES = 3  # a service or a store that hiccups is news only when it stays away

Handler = Callable[["Firing"], Awaitable[None]]
FailureHook = Callable[[Timer, Exception, Instant], Awaitable[None]]


class TimerChangedError(NudgeError):
    """The timer was moved or cancelled while its handler ran."""


class AlreadySettledError(NudgeError):
    """This occurrence already has its outcome."""

    def __init__(self, following: Timer | None) -> None:
        super().__init__()
        self.following = following


@dataclass
class Settlement:
    """What a firing comes to. Filled inside `async with firing.settle()`, written when the block ends."""

    timer: Timer
    now: Instant
    recorded: Outcome | None = None
    following: Timer | None = None
    lines: list[FeedLine] = field(default_factory=list)

    def outcome(self, result: Result, reason: str = "", *, final: bool = True, **detail: Any) -> None:
        timer = self.timer
        self.recorded = Outcome(
            timer.agent, timer.key, timer.kind, timer.slot_at, self.now, result, reason, detail, final
        )

    def defer(self, until: Instant, reason: str, **detail: Any) -> None:
        """The same occurrence later; its row stays open until then."""
        self.outcome(Result.DEFERRED, reason, final=False, until=rfc3339(until), **detail)
        self.following = self.timer.deferred(until)

    def again(self, slot_at: Instant, payload: Mapping[str, Any] | None = None) -> None:
        """The next occurrence."""
        self.following = self.timer.next_slot(slot_at, payload)

    def feed(self, kind: str, text: str) -> None:
        self.lines.append(FeedLine(self.now, self.timer.agent, kind, text))


class Firing:
    """One due timer in the hands of its handler. `now` was read once, when it was picked up."""

    def __init__(
        self, timer: Timer, now: Instant, lease: Lease, store: QueueStore, after_commit: Callable[[], None]
    ) -> None:
        self.timer = timer
        self.now = now
        self.settled = False
        self._lease = lease
        self._store = store
        self._after_commit = after_commit

    @asynccontextmanager
    async def settle(self) -> AsyncIterator[Settlement]:
        """One transaction around all that this firing changes. Raises, and writes nothing, if the lane was lost, the
        timer changed meanwhile, or the occurrence has ended already."""
        settlement = Settlement(self.timer, self.now)
        set_before = self._store.timers.times_set
        async with self._store.transaction():
            await self._take()
            yield settlement
            if settlement.recorded is None and self.timer.attempts:
                settlement.outcome(Result.FIRED_LATE, "It worked at last.", attempts=self.timer.attempts + 1)
            if settlement.recorded and not await self._store.outcomes.record(settlement.recorded):
                raise AlreadySettledError(settlement.following)
            await self._finish(settlement)
        self.settled = True
        if self._store.timers.times_set != set_before:
            self._after_commit()

    @asynccontextmanager
    async def fenced(self) -> AsyncIterator[None]:
        """A transaction before the settlement, for a step that must be known to others before the next one. Raises, and
        writes nothing, if the lane was lost: a machine that slept must not go on where another has taken over."""
        async with self._store.transaction():
            await self._store.lanes.assert_held(self._lease)
            yield

    async def move_on(self, following: Timer | None) -> None:
        """Leave an occurrence that has ended already, without doing it again."""
        async with self._store.transaction():
            await self._take()
            if following:
                await self._store.timers.set(following)
        self._after_commit()

    async def fail(self, error: Exception, now: Instant, hook: FailureHook | None) -> None:
        """Push the timer out, counted from `now`, and say so. A hook that fails itself keeps nothing back."""
        asked = error.retry_after if isinstance(error, RetryableError) else None
        # What comes from outside may be no number at all; in this order NaN is nothing, and infinity a day.
        retry_after = None if asked is None else int(min(86_400.0, max(0.0, asked)) * SECOND)
        pushed = self.timer.pushed_out(now, retry_after)
        reason = redact(str(error) or type(error).__name__)
        settlement = Settlement(self.timer, now)
        settlement.outcome(
            Result.FAILED, reason, final=False, attempts=pushed.attempts, retry_at=rfc3339(pushed.due_at)
        )
        settlement.following = pushed
        if self.timer.attempts == (_QUIET_RETRIES if isinstance(error, (RetryableError, StoreError)) else 0):
            settlement.feed("failed", f"⚠️ {self.timer.kind} failed: {reason.rstrip('.')}. Check logs.")
        if not (hook and settlement.lines):
            await self._push_out(settlement)
            return
        try:
            await self._push_out(settlement, lambda: hook(self.timer, error, now))
        except (TimerChangedError, LostLeaseError):
            raise
        except Exception:
            log.exception("telling of the failure of %s failed too", self.timer.key)
            await self._push_out(settlement)

    async def _push_out(self, settlement: Settlement, tell: Callable[[], Awaitable[None]] | None = None) -> None:
        async with self._store.transaction():
            await self._take()
            assert settlement.recorded
            await self._store.outcomes.record(settlement.recorded)
            await self._finish(settlement)
            if tell:
                await tell()
        self._after_commit()

    async def _take(self) -> None:
        if not await self._store.timers.take_held(self.timer, self._lease):
            await self._store.lanes.assert_held(self._lease)
            raise TimerChangedError

    async def _finish(self, settlement: Settlement) -> None:
        if settlement.following:
            await self._store.timers.set(settlement.following)
        for line in settlement.lines:
            await self._store.feed.add(line)


class Dispatcher:
    def __init__(
        self,
        store: QueueStore,
        clock: Clock,
        handlers: Mapping[str, Handler],
        *,
        owner: str,
        concurrency: int = 64,
        longest_wait: float | None = None,
        on_failure: FailureHook | None = None,
    ) -> None:
        self.handlers = dict(handlers)
        self.fired = 0
        self._store = store
        self._clock = clock
        self._owner = owner
        self._concurrency = concurrency
        self._longest_wait = longest_wait or (SHARED_WAIT_SECONDS if store.shared else LONGEST_WAIT_SECONDS)
        self._on_failure = on_failure
        self._poke = asyncio.Event()
        self._stopping = False
        self._running: dict[str, tuple[Lease, asyncio.Task[None]]] = {}
        self._finished: list[Lease] = []  # given back together: a commit for each would cost more than the handlers
        self._sick = 0  # how many times in a row the store has refused
        self._looked: Instant | None = None

    def poke(self) -> None:
        """Look again now: somebody changed a timer."""
        self._poke.set()

    @property
    def stopping(self) -> bool:
        return self._stopping

    @property
    def busy(self) -> int:
        return len(self._running)

    async def run(self) -> None:
        """Fire what is due until `stop`. Ends by handing back whatever has not finished in the time of grace."""
        try:
            while not self._stopping:
                self._poke.clear()
                wait = await self._step()
                if not self._stopping:
                    await self._clock.wait(self._poke, wait)
        finally:
            await self._hand_back()

    def stop(self) -> None:
        """Start nothing new; `run` ends when what runs has ended, or after ten seconds."""
        self._stopping = True
        self._poke.set()

    def abort(self) -> None:
        """Stop at once: what runs is cancelled, and its timers stay as they are."""
        self.stop()
        for _, task in self._running.values():
            task.cancel()

    async def _step(self) -> float:
        """Start what is due; how long to wait then, in seconds."""
        now = self._clock.now()
        try:
            await self._notice(now)
            await self._renew(now)
            await self._release()
            await self._start(now)
            next_due = await self._store.timers.next_due(now)
            self._sick = 0 if not self._running else self._sick
        except StoreError as error:
            return self._back_off(error)
        wait = self._longest_wait
        if self._running:
            wait = min(wait, RENEW_SECONDS)
        if next_due is not None:
            wait = min(wait, max(0, next_due - self._clock.now()) / SECOND)  # looking took time as well
        return wait

    async def _notice(self, now: Instant) -> None:
        """A retry waits for a while, not for a time of day: where the clock went back it would wait as much longer.
        While we run that is seen, and all are tried now; at a start only that a wait is longer than any may be."""
        if self._looked is None:
            await self._store.timers.hurry(Instant(now + LONGEST_DELAY))
        elif now < self._looked - SECOND:
            await self._store.timers.hurry(now)
        self._looked = now

    async def _start(self, now: Instant) -> None:
        """Claim the lanes in which something is due, as many as there is room for, and set to work in them."""
        while (free := self._concurrency - len(self._running)) > 0:
            lanes = await self._store.timers.due_lanes(now, free)
            if not lanes:
                break
            for lease in await self._store.lanes.claim_many(lanes, self._owner, now, Instant(now + LEASE)):
                task = asyncio.create_task(self._work(lease), name=f"lane {lease.lane}")
                self._running[lease.lane] = (lease, task)

    async def _release(self) -> None:
        while self._finished:
            leases = self._finished[:]
            await self._store.lanes.release_many(leases)
            del self._finished[: len(leases)]

    def _back_off(self, error: StoreError) -> float:
        """A store that refuses (full disk, server away) is asked again with growing pauses; nothing is lost."""
        self._sick += 1
        wait = min(30.0, 2.0 ** min(self._sick, 5) / 2)
        log.error("the store refuses; trying again in %.0f s: %s", wait, error)
        return wait

    async def _renew(self, now: Instant) -> None:
        for lane, (lease, task) in list(self._running.items()):
            if LEASE // 2 <= lease.until - now <= LEASE:
                continue
            # About to end; or the clock went back, and it looks like one of a dead daemon's from the future.
            held = await self._store.lanes.renew(lease, Instant(now + LEASE))
            if task.done():
                continue  # it ended meanwhile and is not in `_running` any more
            if held:
                self._running[lane] = (replace(lease, until=Instant(now + LEASE)), task)
            else:
                log.warning("lost the lane %s to another daemon", lane)
                task.cancel()

    async def _work(self, lease: Lease) -> None:
        """Fire the due timers of one lane, one after the other."""
        try:
            while not self._stopping:
                now = self._clock.now()
                due = await self._store.timers.due_in_lane(lease.lane, now, 2)
                if due:
                    await self._fire(due[0], now, lease)
                if len(due) < 2:
                    break  # what became due in this lane meanwhile is found by the next look
                await asyncio.sleep(0)  # a store that answers inline would keep everybody else out until the last one
        except LostLeaseError as error:
            log.warning("%s", error)
        except StoreError as error:
            await self._clock.sleep(self._back_off(error))
        except Exception:
            log.exception("the lane %s stands still for a while", lease.lane)
            await self._clock.sleep(LONGEST_WAIT_SECONDS)
        finally:
            self._finished.append(lease)
            if (mine := self._running.get(lease.lane)) and mine[1] is asyncio.current_task():
                del self._running[lease.lane]
            self._poke.set()

    async def _fire(self, timer: Timer, now: Instant, lease: Lease) -> None:
        firing = Firing(timer, now, lease, self._store, self._poke.set)
        try:
            handler = self.handlers.get(timer.kind)
            if handler is None:
                raise NudgeError(f"This nudge does not know timers of the kind {timer.kind!r}.")
            await handler(firing)
            if not firing.settled:
                raise NudgeError(f"The handler of {timer.kind!r} settled nothing.")
            self.fired += 1
            self._sick = 0
        except TimerChangedError:
            log.debug("%s of %s changed while it ran", timer.key, timer.agent)
        except AlreadySettledError as error:
            log.info("%s of %s has its outcome already", timer.key, timer.agent)
            with suppress(TimerChangedError):
                await firing.move_on(error.following)
        except LostLeaseError:
            raise
        except Exception as error:
            level = logging.ERROR
            if isinstance(error, RetryableError):  # an outage is news at its beginning
                level = logging.WARNING if timer.attempts <= _QUIET_RETRIES else logging.INFO
            log.log(level, "%s of %s failed: %s", timer.key, timer.agent, error, exc_info=level == logging.ERROR)
            with suppress(TimerChangedError):
                await firing.fail(error, self._clock.now(), self._on_failure)

    async def _hand_back(self) -> None:
        """Wait for what runs, ten seconds at most; what is cancelled then has written nothing and runs again later."""
        tasks = [task for _, task in self._running.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                log.warning("handing back %s: it did not end within %.0f s", task.get_name(), GRACE_SECONDS)
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        # A task that was cancelled before its first step is here still; whatever ended by itself is not.
        self._finished += [lease for lease, _ in self._running.values()]
        with suppress(StoreError):
            await self._release()
