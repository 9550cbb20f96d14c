"""Firings that share one transaction.

A commit takes as long as many firings. Timers whose handlers need nothing from outside the store are therefore settled
together, those of many lanes or the next ones of one lane, in the order in which they are due. A timer that cannot be
is left aside, and with it what comes after it in its lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nudge.clock import Clock
from nudge.errors import StoreError
from nudge.instants import SECOND, Instant
from nudge.queue.firing import Firing, Handler, NeedsOutsideError, Pace, is_batched
from nudge.queue.store import QueueStore
from nudge.queue.timers import Lease, Timer

LARGEST = 100
"""More than this do not share a transaction: whoever wants to write next must not wait too long."""
LONGEST = SECOND // 40
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
            each = max(1, (LARGEST - len(self.fired)) // len(again))
            due = await self._due(again, each + 1)
            more = [await self._in_lane(*pair, each) for pair in zip(again, due, strict=True)]
            again = [lease for lease, some in zip(again, more, strict=True) if some]
        left = self.aside.union(lease.lane for lease in again)
        self.kept = [lease for lease in leases if lease.lane in left]
        if give and len(self.kept) < len(leases):
            await self._store.lanes.release_many(lease for lease in leases if lease.lane not in left)

    @property
    def _is_full(self) -> bool:
        return len(self.fired) >= LARGEST or self._clock.now() - self._began >= LONGEST

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
