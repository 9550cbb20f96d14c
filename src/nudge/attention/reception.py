"""How pings are taken, noted in the transaction in which it happens: what is sent, what the person does, and silence.

A ping waits in a row of its own. Whoever deletes the row counts it, so each ping is counted once. Silence needs no
timer: it is counted when the next ping goes out or the person does something, and until then whoever reads the
estimates takes it into account.
"""

from __future__ import annotations

from nudge.attention.restraint import Restraint, RestraintKind
from nudge.attention.store import AttentionStore
from nudge.attention.welcome import ANSWER_WITHIN, NEXT_PING, Reception, Waiting
from nudge.instants import Instant

_RESTRAINTS = {
    RestraintKind.BUSY: Reception.REFUSED,
    RestraintKind.LEFT_ALONE: Reception.CURSED,
    RestraintKind.ASK_AGAIN: Reception.SNOOZED,
}


async def sent(store: AttentionStore, agent: str, ping: Waiting) -> None:
    """Note that a ping goes out. An earlier one that is still unanswered was ignored."""
    for earlier in await store.welcomes.waiting(agent):
        if ping.sent_at - earlier.sent_at >= NEXT_PING or earlier.is_over(ping.sent_at):
            await store.welcomes.take(agent, earlier, _silence(earlier), ping.sent_at)
    await store.welcomes.sent(agent, ping)


async def wrote(store: AttentionStore, agent: str, restraint: Restraint | None, said_at: Instant, now: Instant) -> None:
    """Note what the person's message says about the last ping."""
    await received(store, agent, Reception.ANSWERED if restraint is None else _RESTRAINTS[restraint.kind], said_at, now)


async def received(store: AttentionStore, agent: str, reception: Reception, said_at: Instant, now: Instant) -> None:
    """Note how the last ping was taken, if what the person did came soon enough to be about it."""
    waiting = await store.welcomes.waiting(agent)
    last = next((ping for ping in waiting if 0 <= said_at - ping.sent_at <= ANSWER_WITHIN), None)
    for ping in waiting:
        if ping is last:
            await store.welcomes.take(agent, ping, reception, now)
        elif ping.is_over(now):
            await store.welcomes.take(agent, ping, _silence(ping), now)


async def pressed(store: AttentionStore, agent: str, reception: Reception, sent_at: Instant, now: Instant) -> None:
    """Note what a button under a ping says about it. One that was counted as ignored before stays so."""
    for ping in await store.welcomes.waiting(agent):
        if ping.sent_at == sent_at:
            await store.welcomes.take(agent, ping, reception, now)


def _silence(ping: Waiting) -> Reception | None:
    """A ping that never arrived says nothing about the person."""
    return Reception.IGNORED if ping.arrived else None
