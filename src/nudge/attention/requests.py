"""What the person asked for: quiet, "busy", "leave me alone", "30 more minutes". One value that can be put back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nudge.attention.gate import Gate
from nudge.attention.restraint import RestraintKind, recognise
from nudge.attention.rules import Rule
from nudge.attention.store import AttentionStore
from nudge.instants import Instant
from nudge.queue.delivery import HELD
from nudge.queue.inbox import LETTERS as LETTERS
from nudge.queue.records import moment_or_none
from nudge.queue.timers import Timer

_LIFTED = frozenset(rule.value for rule in (Rule.QUIET_HOURS, Rule.QUIET_MODE, Rule.LEFT_ALONE, Rule.BUSY))
"""Rules that the person may lift before their time."""


async def look_again(store: AttentionStore, agent: str, now: Instant) -> None:
    """The person changed what held messages back: ask the gate about them now, in the transaction that changes it."""
    for timer in await store.timers.of_agent(agent):
        if timer.due_at > now and not timer.attempts and await _is_held(store, timer):
            await store.timers.set(timer.deferred(now))


async def _is_held(store: AttentionStore, timer: Timer) -> bool:
    if timer.key in (HELD, LETTERS):
        return True
    if timer.due_at == timer.slot_at:
        return False
    row = await store.outcomes.get(timer.agent, timer.key, timer.slot_at)
    return row is not None and row.detail.get("rule") in _LIFTED


ASK_AGAIN = "ask-again"


@dataclass(frozen=True, slots=True)
class Wishes:
    """Instants; None where nothing was asked for."""

    quiet_until: Instant | None = None
    busy_until: Instant | None = None
    left_alone: bool = False
    delayed_until: Instant | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Wishes:
        return cls(
            moment_or_none(data["quiet_until"]),
            moment_or_none(data["busy_until"]),
            bool(data["left_alone"]),
            moment_or_none(data["delayed_until"]),
        )


class PersonWishes:
    def __init__(self, store: AttentionStore, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    async def now(self, agent: str, now: Instant) -> Wishes:
        """What is in force, whether or not its time is over."""
        row = await self._gate.row(agent, now)
        return Wishes(row.quiet_until, row.busy_until, row.left_alone, row.delayed_until)

    async def wrote(self, agent: str, said_at: Instant, now: Instant) -> Wishes:
        """The person wrote, whatever it was: a conversation is going on, and "leave me alone" is over. The wishes
        before; part of the caller's transaction."""
        before = await self.now(agent, now)
        await self._store.attention.conversation(agent, said_at)
        if before.left_alone:
            await look_again(self._store, agent, now)
        return before

    async def heard(self, agent: str, text: str, said_at: Instant, now: Instant) -> Wishes | None:
        """The same, and what they said about being interrupted is done here, by rule, whatever a model makes of it. The
        wishes before, where this message changed them."""
        before = await self.wrote(agent, said_at, now)
        wish = recognise(text)
        if wish is None:
            return None
        if wish.kind is RestraintKind.LEFT_ALONE and wish.duration is None:
            await self._store.attention.set_left_alone(agent, True)
            return before
        until = Instant(said_at + (wish.duration or 0))
        if wish.kind is RestraintKind.LEFT_ALONE:
            await self._store.attention.set_quiet(agent, max(until, before.quiet_until or until))
        elif wish.kind is RestraintKind.BUSY:
            await self._store.attention.set_busy(agent, until)
            await look_again(self._store, agent, now)  # it may be over sooner than they said before
        elif until > now:
            await self._delay(agent, until, " ".join(text.split())[:80])
        return before

    async def quiet(self, agent: str, until: Instant | None, now: Instant) -> Wishes:
        """No messages until then; None lifts quiet, "busy" and "leave me alone" alike. The wishes before."""
        before = await self.now(agent, now)
        await self._store.attention.set_quiet(agent, until)
        if until is None:
            await self._store.attention.set_busy(agent, None)
            await self._store.attention.set_left_alone(agent, False)
        await look_again(self._store, agent, now)
        return before

    async def restore(self, agent: str, wishes: Wishes, now: Instant) -> None:
        """Put back what was in force. "Leave me alone" ended when the person wrote, so it stays ended."""
        await self._store.attention.set_quiet(agent, wishes.quiet_until)
        await self._store.attention.set_busy(agent, wishes.busy_until)
        await self._store.attention.set_left_alone(agent, False)
        await look_again(self._store, agent, now)
        if wishes.delayed_until is not None and wishes.delayed_until > now:
            await self._delay(agent, wishes.delayed_until, "")
        else:
            await self._store.attention.set_delayed(agent, None)
            await self._store.timers.cancel(agent, ASK_AGAIN)

    async def _delay(self, agent: str, until: Instant, words: str) -> None:
        await self._store.attention.set_delayed(agent, until)
        await self._store.timers.set(ask_again_timer(agent, until, words))


def ask_again_timer(agent: str, at: Instant, words: str = "") -> Timer:
    """ "30 more min": look again then."""
    return Timer.at(agent, ASK_AGAIN, ASK_AGAIN, at, payload={"words": words})
