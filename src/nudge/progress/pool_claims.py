"""A pool's tree where money is charged by somebody else: what was spent is read from accounts, however much it is."""

from __future__ import annotations

from nudge.progress.pool_tree import Holder, PoolTree


class ClaimTree(PoolTree):
    """The tree of a pool whose members spend from accounts of their own.

    `used` of a member is what its account was charged with and holds; it may be more than was granted, because a call
    may cost more than was held for it. `absorbed` is what closed members below it used that are not in the tree
    themselves. What is paid is paid: it comes out of what the member's parents have free, the
    nearest first and the part they keep for themselves included, so that nobody is promised money that is gone. As
    long as nobody overspends, this shares out exactly as any other pool.

    >>> tree = ClaimTree(Holder("parent", None, 100), 25)
    >>> tree.add(Holder("child", "parent", 45, used=50))
    >>> tree.claim(tree.member("child")), tree.free(tree.member("parent")), tree.free(tree.member("child"))
    (50, 50, 0)
    """

    __slots__ = ()

    def claim(self, holder: Holder) -> int:
        """What a member takes from its parent: its grant while it is open, or more if it needed more; what it and
        everybody below it used once it is closed."""
        needed = holder.used + self._handed_out(holder)
        return max(holder.granted, needed) if holder.is_open else needed

    def free(self, holder: Holder) -> int:
        """What a member may still spend itself; nothing once it is closed."""
        return max(0, self.room(holder)) if holder.is_open else 0

    def reserved(self, holder: Holder) -> int:
        """What the children of a member hold and have not used."""
        return sum(self.claim(child) - self.consumed(child) for child in self._below[holder.name])

    def overrun(self, holder: Holder) -> int:
        """By how much everything that was used and promised passes a member's grant."""
        return max(0, -self.room(holder))

    def _handed_out(self, holder: Holder) -> int:
        return holder.absorbed + sum(self.claim(child) for child in self._below[holder.name])
