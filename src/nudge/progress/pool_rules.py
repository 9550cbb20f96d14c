"""The arithmetic of sharing a budget among parallel subagents, as functions of plain numbers.

A database that keeps the same tree in accounts uses these too, so that the library and the daemon share out alike.
Amounts are whole numbers of whatever the pool holds: tokens, or micro-dollars.
"""

from __future__ import annotations

from nudge.errors import UsageError
from nudge.numbers import is_whole

PARENT_KEEPS_PERCENT = 25
CHILD_GETS_PERCENT = 60


def kept_back(granted: int, keeps_percent: int = PARENT_KEEPS_PERCENT) -> int:
    """What a parent keeps for itself, rounded up in its favour."""
    return -(-granted * keeps_percent // 100)


def room(granted: int, used: int, handed_out: int) -> int:
    """What the holder of a grant may still spend itself: all that it neither used nor handed out."""
    return granted - used - handed_out


def left_for_children(granted: int, used: int, handed_out: int, keeps_percent: int = PARENT_KEEPS_PERCENT) -> int:
    """What a parent can still hand out. Its own use counts against the part it keeps first."""
    return max(0, granted - handed_out - max(used, kept_back(granted, keeps_percent)))


def offer(left: int, cap: int | None = None, gets_percent: int = CHILD_GETS_PERCENT) -> int:
    """What one child gets: at most this share of what is left, so that a later one is not left with nothing, and at
    most its own cap."""
    share = left * gets_percent // 100
    return share if cap is None else min(share, cap)


def check_percents(keeps_percent: int, gets_percent: int) -> None:
    """Refuse shares that could hand out more than there is, or nothing."""
    if not is_whole(keeps_percent) or not 0 <= keeps_percent < 100:
        raise UsageError(f"A parent cannot keep {keeps_percent!r} % of a pool.", next_step="Use 0 to 99.")
    if not is_whole(gets_percent) or not 0 < gets_percent <= 100:
        raise UsageError(f"A child cannot get {gets_percent!r} % of what is left.", next_step="Use 1 to 100.")
