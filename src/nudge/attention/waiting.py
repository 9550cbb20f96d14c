"""What waits for a better hour: looked at again as soon as that hour may have come."""

from __future__ import annotations

from nudge.attention.rules import Rule
from nudge.coach.background import KIND as LETTERS
from nudge.instants import Instant
from nudge.queue.delivery import HELD
from nudge.queue.store import Store
from nudge.queue.timers import Timer

_LIFTED = frozenset(rule.value for rule in (Rule.QUIET_HOURS, Rule.QUIET_MODE, Rule.LEFT_ALONE, Rule.BUSY))
"""Rules that the person may lift before their time."""


async def look_again(store: Store, agent: str, now: Instant) -> None:
    """The person changed what held messages back: ask the gate about them now, in the transaction that changes it."""
    for timer in await store.timers.of_agent(agent):
        if timer.due_at > now and not timer.attempts and await _is_held(store, timer):
            await store.timers.set(timer.deferred(now))


async def _is_held(store: Store, timer: Timer) -> bool:
    if timer.key in (HELD, LETTERS):
        return True
    if timer.due_at == timer.slot_at:
        return False
    row = await store.outcomes.get(timer.agent, timer.key, timer.slot_at)
    return row is not None and row.detail.get("rule") in _LIFTED
