"""The requests of the person: quiet, "busy", "leave me alone", "30 more minutes". Each change can be undone."""

from __future__ import annotations

from dataclasses import replace

from nudge.attention.gate import SELF_QUIET, Gate
from nudge.attention.reception import received, wrote
from nudge.attention.restraint import Requests, RestraintKind, recognise
from nudge.attention.rules import Rule
from nudge.attention.store import AttentionStore
from nudge.attention.welcome import Reception
from nudge.instants import Instant
from nudge.queue.delivery import HELD
from nudge.queue.inbox import LETTERS
from nudge.queue.timers import Timer

ASK_AGAIN = "ask-again"
_LONGEST_WORDS = 80

_LIFTED = frozenset(rule.value for rule in (Rule.QUIET_HOURS, Rule.QUIET_MODE, Rule.LEFT_ALONE, Rule.BUSY))
"""Rules that the person may lift early."""


class PersonRequests:
    """Reads and changes the requests. Every change is part of the caller's transaction and returns what was in force
    before it, so that it can be undone."""

    def __init__(self, store: AttentionStore, gate: Gate) -> None:
        self._store = store
        self._gate = gate

    async def now(self, agent: str, now: Instant) -> Requests:
        """What the person has asked for, whether or not its time is over. Changes nothing."""
        found = await self._store.attention.requests(agent)
        return (await self._gate.row(agent, now)).requests if found is None else found

    async def wrote(self, agent: str, said_at: Instant, now: Instant) -> Requests:
        """Note that the person wrote, whatever it was: a conversation is going on, and "leave me alone" is over."""
        before = await self._lock(agent, now)
        await self._store.attention.conversation(agent, said_at)
        await self._change(agent, before, before.after(None, said_at), now)
        return before

    async def heard(self, agent: str, text: str, said_at: Instant, now: Instant) -> Requests | None:
        """The same, and carry out by rule what they said about being interrupted, whatever a model makes of it.
        Returns None if they said nothing about it, or nothing new."""
        restraint = recognise(text, said_at, lambda: self._gate.person(agent))
        before = await self._lock(agent, now)
        after = before.after(restraint, said_at, now)
        await self._store.attention.conversation(agent, said_at)
        refused = None if restraint is None or restraint.kind is RestraintKind.BACK else restraint
        await wrote(self._store, agent, refused, said_at, now)
        await self._change(agent, before, after, now, words=text)
        return None if restraint is None or after == before else before

    async def quiet(self, agent: str, until: Instant | None, now: Instant) -> Requests:
        """Send no messages until then; None lifts quiet, "busy", "leave me alone" and the coach's own silence."""
        before = await self._lock(agent, now)
        await self._change(agent, before, before.quiet(until), now)
        if until is None:
            await self._store.records.delete(agent, SELF_QUIET)
        else:
            await received(self._store, agent, Reception.REFUSED, now, now)
        return before

    async def no_delay(self, agent: str, now: Instant) -> None:
        """Do not check back: what the person wanted to hear again comes by itself."""
        before = await self._lock(agent, now)
        await self._change(agent, before, replace(before, delayed_until=None), now)

    async def restore(self, agent: str, requests: Requests, now: Instant) -> None:
        """Put back what was in force. "Leave me alone" ended when the person wrote, so it stays ended."""
        delayed = requests.delayed_until
        after = replace(requests, left_alone=False, delayed_until=delayed if delayed and delayed > now else None)
        await self._change(agent, await self._lock(agent, now), after, now)

    async def _lock(self, agent: str, now: Instant) -> Requests:
        found = await self._store.attention.requests(agent, to_change=True)
        return (await self._gate.row(agent, now, to_change=True)).requests if found is None else found

    async def _change(self, agent: str, before: Requests, after: Requests, now: Instant, words: str = "") -> None:
        if after == before:
            return
        await self._store.attention.set_requests(agent, after)
        if after.lifts(before):
            await look_again(self._store, agent, now)
        if after.delayed_until == before.delayed_until:
            return
        if after.delayed_until is None:
            await self._store.timers.cancel(agent, ASK_AGAIN)
        else:
            quoted = " ".join(words.split())[:_LONGEST_WORDS]
            await self._store.timers.set(ask_again_timer(agent, after.delayed_until, quoted))


async def stay_quiet(store: AttentionStore, agent: str, until: Instant) -> None:
    """Let the coach keep its own ideas to itself until then at least, inside the caller's transaction. A model may ask
    for that. What the person set, and how quiet they want it, stays as it is."""
    before = await store.records.get(agent, SELF_QUIET)
    if before is None or before < until:
        await store.records.set(agent, SELF_QUIET, until)


async def end_delay(store: AttentionStore, agent: str) -> None:
    """Note that a delay is over and the person was asked again, inside the caller's transaction."""
    row = await store.attention.get(agent, to_change=True)
    if row is not None:
        await store.attention.set_requests(agent, replace(row.requests, delayed_until=None))


async def look_again(store: AttentionStore, agent: str, now: Instant) -> None:
    """Let the gate decide again about everything it holds back. Part of the transaction that lifted a rule."""
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


def ask_again_timer(agent: str, at: Instant, words: str = "") -> Timer:
    """The timer of "30 more min": check back at that time. `words` are what the person said."""
    return Timer.at(agent, ASK_AGAIN, ASK_AGAIN, at, payload={"words": words})
