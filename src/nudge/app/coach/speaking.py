"""Saying something unasked: the gate's decision, its debit, the message and what was said, in one settlement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nudge.app.attention import Gate
from nudge.app.coach.desk import Desk
from nudge.app.delivery import Delivery
from nudge.app.dispatch import Settlement
from nudge.app.ports.records import Message
from nudge.core.attention import Allow, Candidate, Defer, Refuse
from nudge.core.instants import Instant
from nudge.core.outcome import Result
from nudge.core.timer import late_by

LATE = 60_000_000
"""From a minute on, what is said counts as late."""


@dataclass(frozen=True, slots=True)
class Words:
    """What wants to be said, and as what."""

    text: str
    kind: str
    candidate: Candidate
    reason: str = ""
    buttons: Sequence[tuple[str, str]] = ()


class Speaking:
    def __init__(self, gate: Gate, delivery: Delivery, desk: Desk) -> None:
        self._gate = gate
        self._delivery = delivery
        self._desk = desk

    async def may_say(self, settlement: Settlement, candidate: Candidate, now: Instant) -> bool:
        """Inside the settlement: the gate's decision and, where it allows, the debit; else the outcome says why not.

        Both happen in the transaction that writes the message, so that nothing can come between them.
        """
        agent = settlement.timer.agent
        decision = await self._gate.decide(agent, candidate, now)
        if isinstance(decision, Allow) and not await self._gate.take(agent, decision, candidate, now):
            # Only on a shared database: another daemon took the ping between our look and our debit.
            decision = await self._gate.decide(agent, candidate, now)
        match decision:
            case Defer(until, rule):
                settlement.defer(until, rule.sentence, rule=rule.value)
            case Refuse(rule):
                settlement.outcome(Result.SUPPRESSED, rule.sentence, rule=rule.value)
            case Allow():
                return True
        return False

    async def say(self, settlement: Settlement, words: Words, now: Instant) -> bool:
        """Say it, or write down why not. True if it was said."""
        if not await self.may_say(settlement, words.candidate, now):
            return False
        timer = settlement.timer
        agent = timer.agent
        await self._delivery.post(
            Message(
                agent,
                words.text,
                words.kind,
                now,
                asked=words.candidate.set_for_time,
                buttons=words.buttons,
                topic=words.candidate.topic or "",
                key=timer.key,
                slot_at=timer.slot_at,
            )
        )
        await self._desk.say(agent, "assistant", words.text, now, words.kind)
        late = late_by(timer.slot_at, now) >= LATE
        settlement.outcome(Result.FIRED_LATE if late else Result.FIRED, words.reason or "It spoke.", text=words.text)
        return True
