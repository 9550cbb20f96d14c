"""The rules by which parallel subagents share one budget: a tree of grants, in memory and in the store.

Each member shares its grant by the same rule: a parent keeps a part for itself, and a child gets at most a share of
what is left and at most its own cap. Amounts are whole numbers of whatever the pool holds: tokens, or micro-dollars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nudge.errors import BudgetExhaustedError, NotFoundError, UsageError
from nudge.instants import Instant
from nudge.numbers import is_whole

PARENT_KEEPS_PERCENT = 25
CHILD_GETS_PERCENT = 60
RESERVATION_LASTS = timedelta(minutes=10)


def kept_back(granted: int, keeps_percent: int = PARENT_KEEPS_PERCENT) -> int:
    """What a parent keeps for itself, rounded up in its favour."""
    return -(-granted * keeps_percent // 100)


def left_for_children(granted: int, used: int, handed_out: int, keeps_percent: int = PARENT_KEEPS_PERCENT) -> int:
    """What a parent can still hand out. Its own use counts against the part it keeps first."""
    return max(0, granted - handed_out - max(used, kept_back(granted, keeps_percent)))


def offer(left: int, cap: int | None = None, gets_percent: int = CHILD_GETS_PERCENT) -> int:
    """What one child gets: at most this share of what is left, so that a later one is not left with nothing, and at
    most its own cap."""
    share = left * gets_percent // 100
    return share if cap is None else min(share, cap)


@dataclass(frozen=True, slots=True)
class Sharing:
    """How a pool is shared out, and how many microseconds a reservation lives after the last sign of its subagent."""

    keeps_percent: int
    gets_percent: int
    lasts: int

    def __post_init__(self) -> None:
        if not is_whole(self.keeps_percent) or not 0 <= self.keeps_percent < 100:
            raise UsageError(f"A parent cannot keep {self.keeps_percent!r} % of a pool.", next_step="Use 0 to 99.")
        if not is_whole(self.gets_percent) or not 0 < self.gets_percent <= 100:
            raise UsageError(f"A child cannot get {self.gets_percent!r} % of what is left.", next_step="Use 1 to 100.")
        if not is_whole(self.lasts) or self.lasts <= 0:
            raise UsageError("A reservation must last longer than 0.", next_step="Use a duration above 0.")


class ReservationState(StrEnum):
    """OPEN until it is given back, taken back with its parent, or forgotten by a subagent that died."""

    OPEN = "open"
    RELEASED = "released"
    REVOKED = "revoked"
    EXPIRED = "expired"


_OPEN = ReservationState.OPEN


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a subagent was given. It is stale at `expires_at`, unless a sign of life moves that on.

    In the store, calls made with this `run` are held on its own account.
    """

    name: str
    parent: str
    granted: int
    expires_at: datetime
    run: str = ""


@dataclass(slots=True)
class Holder:
    """One member of the tree. `used` is its own spending and `absorbed` what members below it spent past their
    grants."""

    name: str
    parent: str | None
    granted: int
    used: int = 0
    absorbed: int = 0
    expires_at: int | None = None
    state: ReservationState = _OPEN

    @property
    def is_open(self) -> bool:
        return self.state is _OPEN


class PoolTree:
    """All members of one pool, the closed ones too: their spending stays, and their names are not used again.

    A member may have used more than it was granted where somebody else does the charging. What is paid is paid: it
    comes out of what those above it have free, the nearest first and the part they keep for themselves included, so
    that nobody is promised money that is gone.

    >>> tree = PoolTree(Holder("parent", None, 100), Sharing(25, 60, lasts=600_000_000))
    >>> tree.add(Holder("child", "parent", 45, used=50))
    >>> tree.claim(tree.member("child")), tree.free(tree.member("parent")), tree.free(tree.member("child"))
    (50, 50, 0)
    """

    __slots__ = ("_below", "_holders", "_show", "owner", "sharing")

    def __init__(self, owner: Holder, sharing: Sharing, show: Callable[[int], str] = str) -> None:
        """`show` writes an amount for people."""
        self.owner = owner
        self.sharing = sharing
        self._show = show
        self._holders = {owner.name: owner}
        self._below: dict[str, list[Holder]] = {owner.name: []}

    def __contains__(self, name: str) -> bool:
        return name in self._holders

    def __iter__(self) -> Iterator[Holder]:
        """Parents before their children."""
        return iter(self._holders.values())

    def add(self, holder: Holder) -> None:
        """Add a member under a known parent."""
        if holder.parent is None or holder.parent not in self._holders or holder.name in self._holders:
            raise ValueError(f"{holder.name!r} has no place in the tree")
        self._holders[holder.name] = holder
        self._below[holder.name] = []
        self._below[holder.parent].append(holder)

    def reserve(self, name: str, parent: str | None, cap: int | None, need: int, now: Instant) -> Holder:
        """Add a member with its share of what an open parent has left (the owner, if none is named). Refused, and
        nothing changed, where the name was used before or the share is below `need`."""
        if name in self._holders:
            raise UsageError(f"This pool already had a {name!r}.", next_step="Choose another name.")
        if cap is not None and not (is_whole(cap) and cap > 0):
            raise UsageError(f"A cap of {cap!r} leaves {name!r} nothing.", next_step="Use a cap above 0, or none.")
        if not is_whole(need):
            raise UsageError(f"{name!r} cannot need {need!r}.", next_step="Give a whole number.")
        above = self.open_member(self.owner.name if parent is None else parent)
        granted = offer(self.left(above), cap, self.sharing.gets_percent)
        if granted < max(need, 1):
            raise BudgetExhaustedError(
                f"{above.name!r} can give {name!r} {self._show(granted)} of the {self._show(max(need, 1))} it needs.",
                next_step="Wait until another subagent is done, or do the work without one.",
            )
        holder = Holder(name, above.name, granted)
        self.add(holder)
        self.heard_of(holder, now)
        return holder

    def renew(self, name: str, now: Instant) -> None:
        """Keep an open member's reservation, and those of its parents."""
        self.heard_of(self.open_member(name), now)

    def release(self, name: str) -> int:
        """Close a member and whoever it started; what comes back at once."""
        holder = self.open_member(name)
        if holder is self.owner:
            raise UsageError(f"{name!r} owns the pool and cannot release it.", next_step="Call revoke to stop it.")
        self._close(holder, ReservationState.RELEASED)
        return max(0, holder.granted - self.consumed(holder))

    def revoke(self, name: str) -> tuple[str, ...]:
        """Stop a member and everyone below it; the names that were open until now, the top one first."""
        return self._close(self.open_member(name), ReservationState.REVOKED)

    def expire(self, now: Instant) -> tuple[str, ...]:
        """Close whoever was not heard of in time, with everybody below; the names. At exactly its expiry a reservation
        is over."""
        stale = [one for one in self if one.is_open and one.expires_at is not None and one.expires_at <= now]
        closed: list[str] = []
        for holder in stale:
            if holder.is_open:
                closed.extend(self._close(holder, ReservationState.EXPIRED))
        return tuple(closed)

    def heard_of(self, holder: Holder, at: Instant) -> None:
        """Keep a member's reservation open for as long as one lasts, and those of its parents: they wait for it.
        Nothing is ever shortened by it. The top has no reservation."""
        until = at + self.sharing.lasts
        for member in (holder, *self.above(holder)):
            if member.parent is not None:
                member.expires_at = max(member.expires_at or 0, until)

    def member(self, name: str) -> Holder:
        holder = self._holders.get(name)
        if holder is None:
            raise NotFoundError(f"There is no {name!r} in this pool.", next_step="Reserve for it first.")
        return holder

    def open_member(self, name: str) -> Holder:
        holder = self.member(name)
        if not holder.is_open:
            raise UsageError(
                f"The reservation of {name!r} is {holder.state.value}: what was left of it went back.",
                next_step="Reserve under a new name.",
            )
        return holder

    def above(self, holder: Holder) -> Iterator[Holder]:
        """The parents of a member, the nearest first."""
        while holder.parent is not None:
            holder = self._holders[holder.parent]
            yield holder

    def consumed(self, holder: Holder) -> int:
        """What a member and everyone below it spent of its grant."""
        return holder.used + holder.absorbed + sum(self.consumed(child) for child in self._below[holder.name])

    def claim(self, holder: Holder) -> int:
        """What a member takes from its parent: its grant while it is open, or more if it needed more; what it and
        everybody below it used once it is closed."""
        needed = holder.used + self._handed_out(holder)
        return max(holder.granted, needed) if holder.is_open else needed

    def reserved(self, holder: Holder) -> int:
        """What the children of a member hold and have not used."""
        return sum(self.claim(child) - self.consumed(child) for child in self._below[holder.name])

    def room(self, holder: Holder) -> int:
        """What a member has neither used nor handed out; less than nothing where it was overspent."""
        return holder.granted - holder.used - self._handed_out(holder)

    def free(self, holder: Holder) -> int:
        """What a member may still spend itself; nothing once it is closed."""
        return max(0, self.room(holder)) if holder.is_open else 0

    def left(self, holder: Holder) -> int:
        """What a member may still hand out."""
        return left_for_children(holder.granted, holder.used, self._handed_out(holder), self.sharing.keeps_percent)

    def _close(self, holder: Holder, state: ReservationState) -> tuple[str, ...]:
        names = [holder.name]
        holder.state = state
        for child in self._below[holder.name]:
            if child.is_open:
                names.extend(self._close(child, ReservationState.REVOKED))
        return tuple(names)

    def _handed_out(self, holder: Holder) -> int:
        """What the children of a member claim, and what it covered for them."""
        return holder.absorbed + sum(self.claim(child) for child in self._below[holder.name])
