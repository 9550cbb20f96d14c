"""The loop that fires timers.

It asks the store for what is due, so neither start-up nor memory grows with the number of timers. Lanes run side by
side; within a lane one timer fires after the other. Firings that need nothing from outside share a transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from nudge.backoff import Policy, delay, longest
from nudge.clock import Clock
from nudge.errors import LostLeaseError, RetryableError, StoreError
from nudge.instants import SECOND, Instant
from nudge.queue.firing import (
    QUIET_RETRIES,
    AlreadySettledError,
    Batch,
    FailureHook,
    Firing,
    Handler,
    Pace,
    SpinningError,
    TimerChangedError,
    may_share,
)
from nudge.queue.store import QueueStore
from nudge.queue.tables import TimerTable
from nudge.queue.timers import Lease, Timer

log = logging.getLogger("nudge.dispatch")

LEASE = 60 * SECOND
RENEW_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 30.0
SHARED_WAIT_SECONDS = 5.0
GRACE_SECONDS = 10.0
_LONGEST_RETRY = round(longest(Policy.TIMER) * SECOND)
_REST = 10
"""A look at everything that is due passes the timers of lanes that are being worked in. After one that took long, this
many times as long goes by before the next; meanwhile only what has become due since is looked at."""
_NEVER = Instant(-(2**62))


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
        lease: int = LEASE,
        on_failure: FailureHook | None = None,
        timers: TimerTable | None = None,
    ) -> None:
        self.handlers = dict(handlers)
        self.fired = 0
        self.kinds: set[str] = set()
        """Of the timers that were fired."""
        self._store = store
        self._timers = timers  # those of one agent; else all that the store has
        self._clock = clock
        self._owner = owner
        self._lease = lease
        self._concurrency = concurrency
        self._longest_wait = longest_wait or (SHARED_WAIT_SECONDS if store.shared else LONGEST_WAIT_SECONDS)
        self._on_failure = on_failure
        self._poke = asyncio.Event()
        self._stopping = False
        self._until: Instant | None = None  # after then nothing new is started, unless something still runs
        self._running: dict[str, tuple[Lease, asyncio.Task[None]]] = {}
        self._finished: list[Lease] = []  # released together: a commit for each would cost more than the handlers
        self._store_failures = 0  # in a row
        self._looked: Instant | None = None
        self._seen = _NEVER  # what was due until then is in hands
        self._look_at_all = _NEVER  # not before then
        self._saw_all = True  # the last look was one at everything: only a change or a due time asks for another
        self._pace = Pace()

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
                    await asyncio.sleep(0)  # a poke that has come already does not keep others from running
                    await self._clock.wait(self._poke, wait)
        finally:
            await self._hand_back()

    async def run_due(self, seconds: float) -> None:
        """Fire what is due until nothing is. After that many seconds it ends with what runs then: a long handler is not
        cancelled, and while it runs the agent's other lanes go on. A store that fails raises: whoever called retries.
        """
        self._until = Instant(self._clock.now() + round(seconds * SECOND))
        try:
            while not self._stopping and (self._running or self._in_time):
                self._poke.clear()
                wait = await self._look(self._clock.now())
                if not self._running and not self._poke.is_set():
                    return
                await asyncio.sleep(0)
                left = (self._until - self._clock.now()) / SECOND
                await self._clock.wait(self._poke, min(wait, left) if left > 0 else wait)
        finally:
            self.stop()
            await self._hand_back()

    @property
    def _in_time(self) -> bool:
        return self._until is None or self._clock.now() < self._until

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
        try:
            wait = await self._look(self._clock.now())
            self._store_failures = 0 if not self._running else self._store_failures
        except StoreError as error:
            return self._back_off(error)
        return wait

    async def _look(self, now: Instant) -> float:
        await self._notice_clock_change(now)
        await self._renew(now)
        await self._release()
        await self._start(now)
        next_due = await self._due.next_due(now)
        wait = self._longest_wait
        if self._running:
            wait = min(wait, RENEW_SECONDS, self._lease / SECOND / 4)
        if next_due is not None:
            wait = min(wait, max(0, next_due - self._clock.now()) / SECOND)  # looking took time as well
        if not self._saw_all:
            wait = min(wait, max(0, self._look_at_all - self._clock.now()) / SECOND)
        return wait

    @property
    def _due(self) -> TimerTable:
        return self._store.timers if self._timers is None else self._timers

    async def _notice_clock_change(self, now: Instant) -> None:
        """Retry at once if the clock went back: a retry waits for a while, not for a time of day, and would wait that
        much longer. At start-up the jump itself cannot be seen, only a wait that is longer than any should be."""
        if self._looked is None:
            await self._due.hurry(Instant(now + _LONGEST_RETRY))
        elif now < self._looked - SECOND:
            await self._due.hurry(now)
        if self._looked is not None and now < self._looked:
            self._seen = self._look_at_all = _NEVER
        self._looked = now

    async def _start(self, now: Instant) -> None:
        """Claim lanes in which something is due, as many as there is room for. What can be settled at once is, and the
        lanes are given back in the same transaction; in the others somebody starts to work."""
        free = self._concurrency - len(self._running)
        lanes = await self._due_lanes(now, free) if free > 0 else ()
        if not lanes:
            return
        until = Instant(now + self._lease)
        batch = await self._together(
            now, lambda: self._store.lanes.claim_many(lanes, self._owner, now, until), give=True
        )
        for lease in batch.kept:
            work = self._work(lease, alone=lease.lane in batch.aside)
            task = asyncio.create_task(work, name=f"lane {lease.lane}")
            self._running[lease.lane] = (lease, task)
        self._poke.set()  # there may be more

    async def _due_lanes(self, now: Instant, limit: int) -> Sequence[str]:
        everything = self._saw_all = now >= self._look_at_all
        lanes = await self._due.due_lanes(now, limit, after=_NEVER if everything else self._seen)
        if everything:
            took = self._clock.now() - now
            self._look_at_all = Instant(now + took + took * _REST)
        if not lanes:
            self._seen = now
        return lanes

    async def _together(
        self, now: Instant, lanes: Callable[[], Awaitable[Sequence[Lease]]], *, give: bool = False
    ) -> Batch:
        """Settle what needs nothing from outside in one transaction. If one of them fails, nothing is written, and they
        are fired again with a savepoint each: whoever fails then is left to be fired alone."""
        for careful in (False, True):
            batch = Batch(self._store, self.handlers, self._pace, self._clock, now, careful=careful)
            try:
                async with self._store.transaction():
                    await batch.fire(await lanes(), give=give)
                break
            except LostLeaseError:
                raise
            except Exception as error:
                if careful:
                    raise
                log.debug("A batch is repeated with savepoints: %s", error)
        if batch.fired:
            self.fired += len(batch.fired)
            self.kinds.update(firing.timer.kind for firing in batch.fired)
            self._store_failures = 0
            self._changed(now)
        return batch

    def _changed(self, now: Instant) -> None:
        """A firing that began then has set timers: look at what is due since."""
        self._seen = min(self._seen, Instant(now - 1))
        self._poke.set()

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
            if self._lease // 2 <= lease.until - now <= self._lease:
                continue
            # It ends soon; or the clock went back, and it looks like a dead daemon's lease from the future.
            held = await self._store.lanes.renew(lease, Instant(now + self._lease))
            if task.done():
                continue  # it has ended and left `_running`
            if held:
                self._running[lane] = (replace(lease, until=Instant(now + self._lease)), task)
            else:
                log.warning("Another daemon took over the lane %s", lane)
                task.cancel()

    async def _work(self, lease: Lease, *, alone: bool) -> None:
        """Fire the due timers of one lane, one after the other. `alone`: the first does not share a transaction."""

        async def held() -> Sequence[Lease]:
            await self._store.lanes.assert_held(lease)
            return [lease]

        try:
            while not self._stopping:
                now = self._clock.now()
                due = await self._store.timers.due_in_lane(lease.lane, now, 2)
                if len(due) > 1 and not alone and may_share(due[0], self.handlers, self._pace):
                    alone = lease.lane in (await self._together(now, held)).aside
                else:
                    if due:
                        await self._fire(due[0], now, lease)
                    if len(due) < 2:
                        break  # the next step finds what has become due in this lane
                    alone = False
                if not self._in_time:
                    break
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
        firing = Firing(timer, now, lease, self._store, lambda: self._changed(now))
        try:
            if self._pace.spins(timer):
                firing.policy = Policy.SPIN
                raise SpinningError
            await firing.handled_by(self.handlers)
            self.fired += 1
            self.kinds.add(timer.kind)
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
                level = logging.WARNING if timer.attempts <= QUIET_RETRIES else logging.INFO
            log.log(level, "%s of %s failed: %s", timer.key, timer.agent, error, exc_info=level == logging.ERROR)
            with suppress(TimerChangedError):
                await firing.fail(error, self._clock.now(), self._on_failure)
        self._pace.note(timer, now, worked=firing.worked)  # not reached where the store refuses: that has its own wait

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
