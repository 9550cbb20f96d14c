"""A budget shared by an agent and the subagents it starts in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from nudge.errors import UsageError
from nudge.instants import MINUTE, Instant, Moment, as_instant, from_timedelta, to_datetime
from nudge.numbers import is_whole
from nudge.progress.pool_rules import CHILD_GETS_PERCENT, PARENT_KEEPS_PERCENT, check_percents
from nudge.progress.pool_tree import Holder, PoolTree, ReservationState

RESERVATION_LASTS = timedelta(microseconds=10 * MINUTE)
JSON_VERSION = 1


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a subagent was given. It is stale at `expires_at`, unless spending or `renew` moves that on."""

    name: str
    parent: str
    granted: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Spending:
    """Where an amount went: into the subagent's own grant, into free budget of those above it, or past the pool."""

    charged: int
    absorbed: int = 0
    overrun: int = 0


class BudgetPool:
    """One budget for an agent and its subagents, theirs and so on.

    Whoever has a grant shares it by the same rule: a parent keeps 25 % of its grant for itself, a child gets at most
    60 % of what is left and at most its own cap. What is used and what is reserved together never pass the pool. What a
    subagent does not use comes back when it releases its reservation, when it is stopped, or when nothing was heard of
    it until its reservation expired (that moment included).

    Spending is a fact: where a subagent spent more than it held, free budget of those above it covers the rest, and
    what nothing covers is counted in `overrun`, outside the pool.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    >>> pool = BudgetPool(100_000)
    >>> pool.reserve("research", now=now).granted, pool.reserve("tests", cap=5_000, now=now).granted
    (45000, 5000)
    >>> pool.spend("research", 20_000, now=now).charged
    20000
    >>> pool.release("research", now=now)
    25000
    >>> pool.used, pool.reserved
    (20000, 5000)
    """

    __slots__ = ("_gets", "_lasts", "_overrun", "_owner", "_tree")

    def __init__(
        self,
        total: int,
        *,
        owner: str = "parent",
        keeps_percent: int = PARENT_KEEPS_PERCENT,
        gets_percent: int = CHILD_GETS_PERCENT,
        lasts: timedelta = RESERVATION_LASTS,
    ) -> None:
        """`owner` is the name under which the agent at the top spends; `lasts` is how long a reservation lives after
        the last sign of its subagent."""
        if not is_whole(total) or total <= 0:
            raise UsageError(f"A pool of {total!r} has nothing to share.", next_step="Use a whole number above 0.")
        check_percents(keeps_percent, gets_percent)
        self._gets = gets_percent
        self._lasts = from_timedelta(lasts)
        if self._lasts <= 0:
            raise UsageError("A reservation that lasts no time is never open.", next_step="Use a duration above 0.")
        self._overrun = 0
        self._owner = Holder(owner, None, total)
        self._tree = PoolTree(self._owner, keeps_percent)

    @property
    def total(self) -> int:
        return self._owner.granted

    @property
    def used(self) -> int:
        """What is spent inside the pool, by everybody."""
        return self._tree.consumed(self._owner)

    @property
    def reserved(self) -> int:
        """What subagents hold and have not spent."""
        return self._tree.reserved(self._owner)

    @property
    def overrun(self) -> int:
        """What was spent although the pool had nothing left for it."""
        return self._overrun

    def reserve(
        self, name: str, *, now: Moment, parent: str | None = None, cap: int | None = None, need: int = 1
    ) -> Reservation:
        """Reserve budget for a new subagent, out of its parent's (the owner's, if none is named).

        Names are used once. Refused where the share would be below `need`: a subagent that cannot finish had better not
        start.
        """
        instant = as_instant(now)
        self.expire(instant)
        above = self._owner.name if parent is None else parent
        holder = self._tree.admit(name, above, cap, need, self._gets)
        self._tree.sign_of_life(holder, instant + self._lasts)
        return Reservation(name, above, holder.granted, to_datetime(Instant(instant + self._lasts)))

    def available(self, name: str, now: Moment) -> int:
        """What a member may spend now: everything it neither spent nor handed on; nothing once it is closed."""
        self.expire(now)
        holder = self._tree.member(name)
        return self._tree.room(holder) if holder.is_open else 0

    def spend(self, name: str, amount: int, now: Moment) -> Spending:
        """Record what a member spent. It counts as a sign of life, for it and for everybody above it.

        A reservation that is closed already, as when a call of a stopped subagent came back late, is not opened by it;
        the amount is covered from above. The owner covers what it can even after it was stopped.
        """
        instant = as_instant(now)
        self.expire(instant)
        holder = self._tree.member(name)
        if not is_whole(amount) or amount < 0:
            raise UsageError(f"{name!r} cannot spend {amount!r}.", next_step="Give a whole number from 0.")
        charged = 0
        if holder.is_open or holder is self._owner:
            charged = min(amount, self._tree.room(holder))
            holder.used += charged
        if holder.is_open:
            self._tree.sign_of_life(holder, instant + self._lasts)
        rest = amount - charged
        for above in self._tree.above(holder):
            if above.is_open or above is self._owner:
                covered = min(rest, self._tree.left(above) if above.is_open else self._tree.room(above))
                above.absorbed += covered
                rest -= covered
        self._overrun += rest
        return Spending(charged, amount - charged - rest, rest)

    def renew(self, name: str, now: Moment) -> None:
        """A sign of life without spending."""
        instant = as_instant(now)
        self.expire(instant)
        self._tree.sign_of_life(self._tree.open_member(name), instant + self._lasts)

    def release(self, name: str, now: Moment) -> int:
        """A subagent is done: what it did not use goes back to its parent, and that amount is returned. Whoever it
        started is stopped with it. What was given back already, in whatever way, cannot be given back again."""
        self.expire(now)
        holder = self._tree.open_member(name)
        if holder is self._owner:
            raise UsageError(f"{name!r} owns the pool and cannot release it.", next_step="Call revoke to stop it.")
        self._tree.close(holder, ReservationState.RELEASED)
        return holder.granted - self._tree.consumed(holder)

    def revoke(self, name: str, now: Moment) -> tuple[str, ...]:
        """Stop a member and everybody below it. Returns the names that were open until now, the top one first, so that
        the caller can cancel them. A pool whose owner is stopped hands out nothing any more."""
        self.expire(now)
        return self._tree.close(self._tree.open_member(name), ReservationState.REVOKED)

    def expire(self, now: Moment) -> tuple[str, ...]:
        """Take back what went stale, with everybody below it. Every other method does this first."""
        closed: list[str] = []
        for holder in self._tree.stale(as_instant(now)):
            if holder.is_open:
                closed.extend(self._tree.close(holder, ReservationState.EXPIRED))
        return tuple(closed)

    def state(self, name: str) -> ReservationState:
        return self._tree.member(name).state

    def to_json(self) -> dict[str, Any]:
        """The whole pool, closed reservations included, as plain JSON values."""
        return {
            "version": JSON_VERSION,
            "keeps_percent": self._tree.keeps_percent,
            "gets_percent": self._gets,
            "lasts": self._lasts,
            "overrun": self._overrun,
            "holders": [asdict(holder) | {"state": holder.state.value} for holder in self._tree],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BudgetPool:
        """The pool that `to_json` wrote; one whose sums do not add up is refused."""
        try:
            if data["version"] != JSON_VERSION:
                raise ValueError(f"version {data['version']!r} is not {JSON_VERSION}")
            owner, *others = map(_holder, data["holders"])
            pool = cls(
                owner.granted,
                owner=owner.name,
                keeps_percent=data["keeps_percent"],
                gets_percent=data["gets_percent"],
                lasts=timedelta(microseconds=data["lasts"]),
            )
            pool._owner, pool._overrun = owner, int(data["overrun"])
            pool._tree = PoolTree(owner, data["keeps_percent"])
            for holder in others:
                pool._tree.add(holder)
            if owner.parent is not None or any(pool._tree.room(holder) < 0 for holder in pool._tree):
                raise ValueError("its sums do not add up")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"This is not a budget pool: {error}.", next_step="Start with a new one.") from error
        return pool


def _holder(item: Mapping[str, Any]) -> Holder:
    holder = Holder(**{**item, "state": ReservationState(item["state"])})
    numbers = (holder.granted, holder.used, holder.absorbed, 0 if holder.expires_at is None else holder.expires_at)
    if not isinstance(item["name"], str) or not all(is_whole(number) and number >= 0 for number in numbers):
        raise ValueError(f"{item} is no member")
    return holder
