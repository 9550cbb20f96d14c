"""The loop that fires timers.

It asks the store for what is due, so neither start-up nor memory grows with the number of timers. Lanes run side by
side; within a lane one timer fires after the other. A handler does its slow work, then settles: everything it changes
is one transaction with the occurrence's outcome and the next timer. After a crash before that commit the timer fires
again; after a crash behind it nothing is left to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from nudge.backoff import Policy, delay, longest
from nudge.clock import Clock
from nudge.errors import LostLeaseError, NudgeError, RetryableError, StoreError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.store import QueueStore
from nudge.queue.timers import Lease, Timer
from nudge.redaction import redact

log = logging.getLogger("nudge.dispatch")

LEASE = 60 * SECOND
RENEW_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 30.0
SHARED_WAIT_SECONDS = 5.0
GRACE_SECONDS = 10.0
_QUIET_RETRIES = 3  # an outage goes to the feed only if it lasts
_LONGEST_RETRY = round(longest(Policy.TIMER) * SECOND)

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
    """The result of a firing. Fill it inside `async with firing.settle()`; it is written when the block ends."""

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
    """

    def __init__(
        self, timer: Timer, now: Instant, lease: Lease, store: QueueStore, after_commit: Callable[[], None]
    ) -> None:
        self.timer = timer
        self.now = now
        self.settled = False
        self.policy = Policy.TIMER
        self.progressed = False
        self.at_settlement: list[Callable[[], Awaitable[None]]] = []
        """Written in the same transaction, for what surrounds the handler."""
        self._lease = lease
        self._store = store
        self._after_commit = after_commit

    @asynccontextmanager
    async def settle(self) -> AsyncIterator[Settlement]:
        """One transaction around everything that this firing changes. Raises, and writes nothing, if the lane was lost,
        the timer has changed, or the occurrence already has its outcome."""
        settlement = Settlement(self.timer, self.now)
        set_before = self._store.timers.times_set
        async with self._store.transaction():
            await self._take()
            yield settlement
            for write in self.at_settlement:
                await write()
            if settlement.recorded is None and self.timer.attempts:
                tries = self.timer.attempts + 1
                settlement.outcome(Result.FIRED_LATE, f"Succeeded on attempt {tries}.", attempts=tries)
            if settlement.recorded and not await self._store.outcomes.record(settlement.recorded):
                raise AlreadySettledError(settlement.following)
            await self._finish(settlement)
        self.settled = True
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
        settlement = Settlement(self.timer, now)
        settlement.outcome(
            Result.FAILED, reason, final=False, attempts=pushed.attempts, retry_at=rfc3339(pushed.due_at)
        )
        settlement.following = pushed
        if before == (_QUIET_RETRIES if isinstance(error, (RetryableError, StoreError)) else 0):
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
        self._finished: list[Lease] = []  # released together: a commit for each would cost more than the handlers
        self._store_failures = 0  # in a row
        self._looked: Instant | None = None

    def poke(self) -> None:
        """Check the store now: somebody changed a timer."""
        self._poke.set()

    @property
    def stopping(self) -> bool:
        return self._stopping

    @property
    def busy(self) -> int:
        return len(self._running)

    async def run(self) -> None:
        """Fire what is due until `stop`. What has not finished ten seconds later is cancelled and fires again."""
        try:
            while not self._stopping:
                self._poke.clear()
                wait = await self._step()
                if not self._stopping:
                    await self._clock.wait(self._poke, wait)
        finally:
            await self._hand_back()

    def stop(self) -> None:
        """Start nothing new; `run` ends when the running handlers have ended, or after ten seconds."""
        self._stopping = True
        self._poke.set()

    def abort(self) -> None:
        """Stop at once: running handlers are cancelled and their timers stay as they are."""
        self.stop()
        for _, task in self._running.values():
            task.cancel()

    async def _step(self) -> float:
        """Start what is due. Returns the seconds to wait before the next step."""
        now = self._clock.now()
        try:
            await self._notice_clock_change(now)
            await self._renew(now)
            await self._release()
            await self._start(now)
            next_due = await self._store.timers.next_due(now)
            self._store_failures = 0 if not self._running else self._store_failures
        except StoreError as error:
            return self._back_off(error)
        wait = self._longest_wait
        if self._running:
            wait = min(wait, RENEW_SECONDS)
        if next_due is not None:
            wait = min(wait, max(0, next_due - self._clock.now()) / SECOND)  # looking took time as well
        return wait

    async def _notice_clock_change(self, now: Instant) -> None:
        """Retry at once if the clock went back: a retry waits for a while, not for a time of day, and would wait that
        much longer. At start-up the jump itself cannot be seen, only a wait that is longer than any should be."""
        if self._looked is None:
            await self._store.timers.hurry(Instant(now + _LONGEST_RETRY))
        elif now < self._looked - SECOND:
            await self._store.timers.hurry(now)
        self._looked = now

    async def _start(self, now: Instant) -> None:
        """Claim lanes in which something is due, as many as there is room for, and start working in them."""
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
        """Seconds until the store (full disk, server away) is tried again. Nothing is lost meanwhile."""
        wait = delay(self._store_failures, Policy.STORE)
        self._store_failures += 1
        log.error("The store failed. Retrying in %.0f s: %s", wait, error)
        return wait

    async def _renew(self, now: Instant) -> None:
        for lane, (lease, task) in list(self._running.items()):
            if LEASE // 2 <= lease.until - now <= LEASE:
                continue
            # It ends soon; or the clock went back, and it looks like a dead daemon's lease from the future.
            held = await self._store.lanes.renew(lease, Instant(now + LEASE))
            if task.done():
                continue  # it has ended and left `_running`
            if held:
                self._running[lane] = (replace(lease, until=Instant(now + LEASE)), task)
            else:
                log.warning("Another daemon took over the lane %s", lane)
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
                    break  # the next step finds what has become due in this lane
                await asyncio.sleep(0)  # SQLite answers inline: let other lanes run in between
        except LostLeaseError as error:
            log.warning("%s", error)
        except StoreError as error:
            await self._clock.sleep(self._back_off(error))
        except Exception:
            wait = delay(0, Policy.LANE)
            log.exception("The lane %s failed. Retrying in %.0f s", lease.lane, wait)
            await self._clock.sleep(wait)
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
                raise NudgeError(f"Unknown kind of timer: {timer.kind!r}.")
            await handler(firing)
            if not firing.settled:
                raise NudgeError(f"The handler of {timer.kind!r} did not settle.")
            self.fired += 1
            self._store_failures = 0
        except TimerChangedError:
            log.debug("%s of %s changed while it ran", timer.key, timer.agent)
        except AlreadySettledError as error:
            log.info("%s of %s already has its outcome", timer.key, timer.agent)
            with suppress(TimerChangedError):
                await firing.move_on(error.following)
        except LostLeaseError:
            raise
        except Exception as error:
            level = logging.ERROR
            if isinstance(error, RetryableError):  # a long outage is not news every time
                level = logging.WARNING if timer.attempts <= _QUIET_RETRIES else logging.INFO
            log.log(level, "%s of %s failed: %s", timer.key, timer.agent, error, exc_info=level == logging.ERROR)
            with suppress(TimerChangedError):
                await firing.fail(error, self._clock.now(), self._on_failure)

    async def _hand_back(self) -> None:
        """Wait ten seconds for running handlers. Those cancelled then have written nothing and run again later."""
        tasks = [task for _, task in self._running.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                log.warning("Cancelled %s: it did not end within %.0f s", task.get_name(), GRACE_SECONDS)
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        # A task that was cancelled before its first step is still here.
        self._finished += [lease for lease, _ in self._running.values()]
        with suppress(StoreError):
            await self._release()


class EarlyWakes:
    """Pokes when another machine sets a timer that is due soon, instead of waiting for the next step."""

    def __init__(self, store: QueueStore, clock: Clock, poke: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._poke = poke

    async def run(self) -> None:
        """Listen until cancelled, or until it is clear that nobody else writes to this store. Nothing depends on it:
        the dispatcher also checks a shared store every few seconds."""
        failures = 0
        while True:
            try:
                async for _ in self._store.wakes():
                    failures = 0
                    self._poke()
                return
            except StoreError as error:
                wait = delay(failures, Policy.STORE)
                failures += 1
                log.warning("No news of early timers. Retrying in %.0f s: %s", wait, error)
            await self._clock.sleep(wait)
