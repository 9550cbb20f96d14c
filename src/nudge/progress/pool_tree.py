"""The tree behind a budget pool: who holds how much, under whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from nudge.errors import BudgetExhaustedError, NotFoundError, UsageError
from nudge.instants import Instant
from nudge.numbers import is_whole
from nudge.progress.pool_rules import left_for_children, offer, room


class ReservationState(StrEnum):
    """OPEN until it is given back, taken back with its parent, or forgotten by a subagent that died."""

    OPEN = "open"
    RELEASED = "released"
    REVOKED = "revoked"
    EXPIRED = "expired"


_OPEN = ReservationState.OPEN


@dataclass(slots=True)
class Holder:
    """One member of the tree. `used` is its own spending and `absorbed` what members below it spent past their grants;
    both lie inside `granted`."""

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
    """All members of one pool, the closed ones too: their spending stays, and their names are not used again."""

    __slots__ = ("_below", "_holders", "keeps_percent")

    def __init__(self, top: Holder, keeps_percent: int) -> None:
        self.keeps_percent = keeps_percent
        self._holders = {top.name: top}
        self._below: dict[str, list[Holder]] = {top.name: []}

    def __contains__(self, name: str) -> bool:
        return name in self._holders

    def __iter__(self) -> Iterator[Holder]:
        """Parents before their children."""
        return iter(self._holders.values())

    def add(self, holder: Holder) -> None:
        """A new member under a known parent."""
        if holder.parent is None or holder.parent not in self._holders or holder.name in self._holders:
            raise ValueError(f"{holder.name!r} has no place in the tree")
        self._holders[holder.name] = holder
        self._below[holder.name] = []
        self._below[holder.parent].append(holder)

    def admit(self, name: str, parent: str, cap: int | None, need: int, gets_percent: int) -> Holder:
        """A new member with its share of what an open parent has left. Refused, and nothing changed, where the name was
        used before or the share is below `need`."""
        if name in self._holders:
            raise UsageError(f"There already was a {name!r} in this pool.", next_step="Choose another name.")
        if cap is not None and not (is_whole(cap) and cap > 0):
            raise UsageError(f"A cap of {cap!r} leaves {name!r} nothing.", next_step="Use a cap above 0, or none.")
        if not is_whole(need):
            raise UsageError(f"{name!r} cannot need {need!r}.", next_step="Give a whole number.")
        above = self.open_member(parent)
        granted = offer(self.left(above), cap, gets_percent)
        if granted < max(need, 1):
            raise BudgetExhaustedError(
                f"{above.name!r} can give {name!r} {granted} of the {max(need, 1)} it needs.",
                next_step="Wait until another subagent is done, or do the work without one.",
            )
        holder = Holder(name, above.name, granted)
        self.add(holder)
        return holder

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
        """What a member and everybody below it spent of its grant."""
        return holder.used + holder.absorbed + sum(self.consumed(child) for child in self._below[holder.name])

    def reserved(self, holder: Holder) -> int:
        """What the children of a member hold and have not spent."""
        return sum(child.granted - self.consumed(child) for child in self._below[holder.name] if child.is_open)

    def room(self, holder: Holder) -> int:
        """What a member may still spend itself."""
        return room(holder.granted, holder.used, self._handed_out(holder))

    def left(self, holder: Holder) -> int:
        """What a member may still hand out."""
        return left_for_children(holder.granted, holder.used, self._handed_out(holder), self.keeps_percent)

    def sign_of_life(self, holder: Holder, until: int) -> None:
        """Keep a member's reservation open until then, and those of its parents: they wait for it. Nothing is ever
        shortened by it. The top has no reservation."""
        for member in (holder, *self.above(holder)):
            if member.parent is not None:
                member.expires_at = max(member.expires_at or 0, until)

    def stale(self, now: Instant) -> list[Holder]:
        """Open members of which nothing was heard in time, parents before their children."""
        return [h for h in self if h.is_open and h.expires_at is not None and h.expires_at <= now]

    def close(self, holder: Holder, state: ReservationState) -> tuple[str, ...]:
        """Close a member and revoke everybody below it; the names that were open until now."""
        names = [holder.name]
        holder.state = state
        for child in self._below[holder.name]:
            if child.is_open:
                names.extend(self.close(child, ReservationState.REVOKED))
        return tuple(names)

    def _handed_out(self, holder: Holder) -> int:
        """What the children of a member hold, or had used when they were closed, and what it covered for them."""
        held = sum(child.granted if child.is_open else self.consumed(child) for child in self._below[holder.name])
        return holder.absorbed + held
