"""A pool as its accounts and members say it is, and what may be done to it. Nothing here reads or writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nudge.errors import BudgetExhaustedError, UsageError
from nudge.instants import Instant
from nudge.progress.pool_claims import ClaimTree
from nudge.progress.pool_tree import Holder, ReservationState
from nudge.progress.store import ClosedUse, MemberBooks, MemberRow, PoolRow
from nudge.spending.holds import AccountKey, AccountKind
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow


@dataclass(frozen=True, slots=True)
class PoolShare:
    """What a subagent was given. Calls made with this `run` are held on its own account."""

    name: str
    parent: str
    granted: Micros
    expires_at: Instant
    run: str


@dataclass(frozen=True, slots=True)
class PoolMember:
    """`used` is what the member itself was charged with and what is held for its calls under way."""

    name: str
    parent: str | None
    granted: Micros
    used: Micros
    state: ReservationState
    expires_at: Instant | None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """`used` is everything charged and held, `reserved` what subagents have and did not use. Together they pass the
    total only by `overrun`: what calls cost more than was held for them."""

    run: str
    total: Micros
    used: Micros
    reserved: Micros
    overrun: Micros
    members: tuple[PoolMember, ...]


def run_key(run: str) -> AccountKey:
    return AccountKey(AccountKind.RUN, run)


def member_run(run: str, name: str) -> str:
    """The `run` under which a member of a pool makes its calls, its owner too."""
    return f"{run}/{name}"


def member_key(run: str, name: str) -> AccountKey:
    return AccountKey(AccountKind.POOL, member_run(run, name))


class PoolBooks:
    """One pool, read and perhaps changed, but not yet written.

    A member's account has as its limit what the member used and may still use itself; a closed one has none. So the
    ledger keeps everybody inside the pool, call by call, without knowing of it.
    """

    def __init__(
        self, pool: PoolRow, run: AccountRow, members: Sequence[MemberBooks], closed: Sequence[ClosedUse] = ()
    ) -> None:
        """`members` are everybody, or the owner and whoever is open, and then `closed` says what the others used."""
        self.pool = pool
        self._run = run
        self._members = {member.row.name: member for member in members}
        own = {name: member.committed + member.held for name, member in self._members.items()}
        below = self._inherited(closed)
        others = sum(own.values()) - own[pool.owner] + sum(below.values())
        # Calls that name the run and no member are the owner's as well.
        own[pool.owner] = run.account.committed + run.account.held - others
        holders = [
            Holder(
                member.row.name,
                member.row.parent,
                member.row.granted,
                own[member.row.name],
                below[member.row.name],
                member.row.expires_at,
                member.row.state,
            )
            for member in members
        ]
        self.expired: tuple[str, ...] = ()
        self.tree = ClaimTree(holders[0], pool.keeps_percent)
        for holder in holders[1:]:
            self.tree.add(holder)

    def remember(self, row: MemberRow) -> None:
        """A closed member that is asked for by name: it has nothing any more, but it was there."""
        self.tree.add(Holder(row.name, self.pool.owner, row.granted, state=row.state))

    @property
    def owner(self) -> Holder:
        return self.tree.member(self.pool.owner)

    @property
    def next_expiry(self) -> Instant | None:
        """When the first open reservation is stale if nothing more is heard of it."""
        expiries = [holder.expires_at for holder in self.tree if holder.is_open and holder.expires_at is not None]
        return Instant(min(expiries)) if expiries else None

    def expire(self, now: Instant) -> None:
        """Take back what went stale, with everybody below it; the names are in `expired`. Calls that ended and calls
        under way are signs of whoever made them."""
        for name, member in self._members.items():
            holder = self.tree.member(name)
            if holder.is_open and member.called_at is not None:
                self._sign_of_life(holder, member.called_at)
            if holder.is_open and member.held:
                self._sign_of_life(holder, now)
        closed: list[str] = []
        for holder in self.tree.stale(now):
            if holder.is_open:
                closed.extend(self.tree.close(holder, ReservationState.EXPIRED))
        self.expired = tuple(closed)

    def reserve(self, name: str, parent: str | None, cap: Micros | None, need: Micros, now: Instant) -> PoolShare:
        """A share for a new member. Whoever asks again for an open member of the same parent gets the same share."""
        above = self.pool.owner if parent is None else parent
        known = self.tree.member(name) if name in self.tree else None
        if known is not None and known.is_open and known.parent == above:
            holder = known
            if holder.granted < need:
                raise BudgetExhaustedError(
                    f"{name!r} was given {holder.granted} before, and needs {need}.",
                    next_step="Release it and reserve under a new name.",
                )
        else:
            holder = self.tree.admit(name, above, cap, need, self.pool.gets_percent)
        self._sign_of_life(holder, now)
        assert holder.expires_at is not None
        return PoolShare(name, above, holder.granted, Instant(holder.expires_at), member_run(self.pool.run, name))

    def renew(self, name: str, now: Instant) -> None:
        self._sign_of_life(self.tree.open_member(name), now)

    def revoke(self, name: str) -> tuple[str, ...]:
        """Stop a member and everybody below it; the names that were open until now."""
        return self.tree.close(self.tree.open_member(name), ReservationState.REVOKED)

    def release(self, name: str) -> Micros:
        """Close a member and whoever it started; what comes back at once. What is held for calls under way does when
        they end."""
        holder = self.tree.open_member(name)
        if holder is self.owner:
            raise UsageError(f"{name!r} owns the pool and cannot release it.", next_step="Call revoke to stop it.")
        self.tree.close(holder, ReservationState.RELEASED)
        return max(0, holder.granted - self.tree.consumed(holder))

    def available(self, name: str) -> Micros:
        """What a member may spend itself, as far as the pool still has it."""
        return min(self.tree.free(self.tree.member(name)), self._run.account.available)

    def status(self) -> PoolStatus:
        members = tuple(
            PoolMember(
                holder.name,
                holder.parent,
                holder.granted,
                holder.used,
                holder.state,
                None if holder.expires_at is None else Instant(holder.expires_at),
            )
            for holder in self.tree
        )
        owner = self.owner
        return PoolStatus(
            self.pool.run,
            owner.granted,
            self.tree.consumed(owner),
            self.tree.reserved(owner),
            self.tree.overrun(owner),
            members,
        )

    def new_members(self) -> Iterator[MemberRow]:
        return (self._row(holder) for holder in self.tree if holder.is_open and holder.name not in self._members)

    def changed_members(self) -> Iterator[MemberRow]:
        rows = (self._row(holder) for holder in self.tree if holder.name in self._members)
        return (row for row in rows if row != self._members[row.name].row)

    def changed_limits(self) -> Mapping[AccountKey, Micros]:
        """The limits that differ from what the accounts have. A run whose owner was stopped takes no call at all."""
        run = self.pool.run
        wanted = {run_key(run): self.owner.granted if self.owner.is_open else 0}
        known = {run_key(run): self._run.account.limit}
        for holder in self.tree:
            key, member = member_key(run, holder.name), self._members.get(holder.name)
            if member is None and not holder.is_open:
                continue
            spent = member.committed + member.held if member else 0
            wanted[key] = spent + self.tree.free(holder) if holder.is_open else 0
            known[key] = member.limit if member else -1
        return {key: limit for key, limit in wanted.items() if limit != known[key]}

    def _row(self, holder: Holder) -> MemberRow:
        expires_at = None if holder.expires_at is None else Instant(holder.expires_at)
        return MemberRow(self.pool.run, holder.name, holder.parent, holder.granted, expires_at, holder.state)

    def _inherited(self, closed: Sequence[ClosedUse]) -> Counter[str]:
        """What closed members used, by the nearest one above them that is still there."""
        above = {use.parent: use.above for use in closed}
        inherited: Counter[str] = Counter()
        for use in closed:
            heir = use.parent
            while heir not in self._members:
                heir = above[heir] or self.pool.owner
            inherited[heir] += use.used
        return inherited

    def _sign_of_life(self, holder: Holder, at: Instant) -> None:
        self.tree.sign_of_life(holder, at + self.pool.lasts)
