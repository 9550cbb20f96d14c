"""A budget shared by an agent and the subagents it starts in parallel, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from nudge.errors import UsageError
from nudge.instants import Instant, Moment, as_instant, from_timedelta, to_datetime
from nudge.numbers import is_whole
from nudge.progress.pool_rules import (
    CHILD_GETS_PERCENT,
    PARENT_KEEPS_PERCENT,
    RESERVATION_LASTS,
    Holder,
    PoolTree,
    Reservation,
    ReservationState,
    Sharing,
)

JSON_VERSION = 1


@dataclass(frozen=True, slots=True)
class Spending:
    """Where an amount went: into the subagent's own grant, into free budget of those above it, or past the pool."""

    charged: int
    absorbed: int = 0
    overrun: int = 0


class BudgetPool:
    """One budget for an agent and its subagents, theirs and so on.

    Each member shares its grant by the same rule: a parent keeps 25 % of its grant for itself, a child gets at most
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

    __slots__ = ("_overrun", "_tree")

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
        sharing = Sharing(keeps_percent, gets_percent, from_timedelta(lasts))
        self._overrun = 0
        self._tree = PoolTree(Holder(owner, None, total), sharing)

    def __repr__(self) -> str:
        return (
            f"<BudgetPool of {self._tree.owner.name!r}: {self.used} used and {self.reserved} reserved of {self.total}>"
        )

    @property
    def total(self) -> int:
        return self._tree.owner.granted

    @property
    def used(self) -> int:
        """What is spent inside the pool, by everyone."""
        return self._tree.consumed(self._tree.owner)

    @property
    def reserved(self) -> int:
        """What subagents hold and have not spent."""
        return self._tree.reserved(self._tree.owner)

    @property
    def overrun(self) -> int:
        """What was spent although the pool had nothing left for it."""
        return self._overrun

    def reserve(
        self, name: str, *, now: Moment, parent: str | None = None, cap: int | None = None, need: int = 1
    ) -> Reservation:
        """Reserve budget for a new subagent, out of its parent's (the owner's, if none is named).

        Names are used once. Refused where the share would be below `need`: a subagent that cannot finish should not
        start.
        """
        holder = self._at(now).reserve(name, parent, cap, need, as_instant(now))
        assert holder.parent is not None
        assert holder.expires_at is not None
        return Reservation(name, holder.parent, holder.granted, to_datetime(Instant(holder.expires_at)))

    def available(self, name: str, now: Moment) -> int:
        """What a member may spend now: everything it neither spent nor handed on; nothing once it is closed.

        What went stale is taken back first, as by every method that is told the time.
        """
        tree = self._at(now)
        return tree.free(tree.member(name))

    def spend(self, name: str, amount: int, now: Moment) -> Spending:
        """Record what a member spent. It counts as a sign of life, for it and everyone above it.

        A reservation that is closed already, as when a call of a stopped subagent came back late, is not opened by it;
        the amount is covered from above. The owner covers what it can even after it was stopped.
        """
        tree = self._at(now)
        holder = tree.member(name)
        if not is_whole(amount) or amount < 0:
            raise UsageError(f"{name!r} cannot spend {amount!r}.", next_step="Give a whole number from 0.")
        charged = 0
        if holder.is_open or holder is tree.owner:
            charged = min(amount, tree.room(holder))
            holder.used += charged
        if holder.is_open:
            tree.heard_of(holder, as_instant(now))
        rest = amount - charged
        for above in tree.above(holder):
            if above.is_open or above is tree.owner:
                covered = min(rest, tree.left(above) if above.is_open else tree.room(above))
                above.absorbed += covered
                rest -= covered
        self._overrun += rest
        return Spending(charged, amount - charged - rest, rest)

    def renew(self, name: str, now: Moment) -> None:
        """Give a sign of life without spending."""
        self._at(now).renew(name, as_instant(now))

    def release(self, name: str, now: Moment) -> int:
        """Close the reservation of a subagent that is done: what it did not use goes back to its parent, and that
        amount is returned. The subagents it started are stopped with it. Nothing is given back twice."""
        return self._at(now).release(name)

    def revoke(self, name: str, now: Moment) -> tuple[str, ...]:
        """Stop a member and everyone below it. Returns the names that were open until now, the top one first, so that
        the caller can cancel them. A pool whose owner is stopped hands out nothing any more."""
        return self._at(now).revoke(name)

    def expire(self, now: Moment) -> tuple[str, ...]:
        """Take back what went stale, with everyone below it; the names. Every other method does this first."""
        return self._tree.expire(as_instant(now))

    def state(self, name: str) -> ReservationState:
        return self._tree.member(name).state

    def to_json(self) -> dict[str, Any]:
        """The whole pool, closed reservations included, as plain JSON values."""
        return {
            "version": JSON_VERSION,
            **asdict(self._tree.sharing),
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
            pool = cls(owner.granted, owner=owner.name)
            sharing = Sharing(data["keeps_percent"], data["gets_percent"], data["lasts"])
            pool._overrun, pool._tree = int(data["overrun"]), PoolTree(owner, sharing)
            for holder in others:
                pool._tree.add(holder)
            if owner.parent is not None or any(pool._tree.room(holder) < 0 for holder in pool._tree):
                raise ValueError("its sums do not add up")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"This is not a budget pool: {error}.", next_step="Start with a new one.") from error
        return pool

    def _at(self, now: Moment) -> PoolTree:
        """The members as they are then."""
        self.expire(now)
        return self._tree


def _holder(item: Mapping[str, Any]) -> Holder:
    holder = Holder(**{**item, "state": ReservationState(item["state"])})
    numbers = (holder.granted, holder.used, holder.absorbed, 0 if holder.expires_at is None else holder.expires_at)
    if not isinstance(item["name"], str) or not all(is_whole(number) and number >= 0 for number in numbers):
        raise ValueError(f"{item} is no member")
    return holder
