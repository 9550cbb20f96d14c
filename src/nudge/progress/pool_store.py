"""What the store keeps about pools: who has a part of a run's budget, and under whom.

The money itself is in accounts of the ledger. Whoever changes a pool locks its run's account first: all that moves
money of its members passes that account before theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nudge.instants import Instant
from nudge.progress.pool_tree import ReservationState
from nudge.spending.money import Micros


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A run whose budget is shared out, and by which rule. `lasts` is how long a reservation lives without a sign."""

    run: str
    agent: str
    owner: str
    keeps_percent: int
    gets_percent: int
    lasts: int


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member of a pool. The owner has neither a parent nor an expiry."""

    run: str
    name: str
    parent: str | None
    granted: Micros
    expires_at: Instant | None = None
    state: ReservationState = ReservationState.OPEN


@dataclass(frozen=True, slots=True)
class MemberBooks:
    """A member with what its account says: its limit, what was charged to it, what is held on it, and when its last
    call ended (one that nobody reported on does not count)."""

    row: MemberRow
    limit: Micros
    committed: Micros
    held: Micros
    called_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class ClosedUse:
    """What the closed members right below `parent` were charged with and still hold; `above` is that one's parent."""

    parent: str
    above: str | None
    used: Micros


class PoolStore(Protocol):
    async def create(self, row: PoolRow) -> bool:
        """False, and nothing written, if the run has one already."""
        ...

    async def get(self, run: str) -> PoolRow | None: ...

    async def add(self, row: MemberRow) -> None:
        """A new member, whose account is open already."""
        ...

    async def put(self, row: MemberRow) -> None:
        """Write a member's state and expiry."""
        ...

    async def members(self, run: str, *, closed: bool = False) -> Sequence[MemberBooks]:
        """The owner and whoever is open, with `closed` everybody, each parent before its children."""
        ...

    async def member(self, run: str, name: str) -> MemberRow | None: ...

    async def closed_use(self, run: str) -> Sequence[ClosedUse]:
        """The closed members in sums, so that a pool that has had many is not slower for it."""
        ...
