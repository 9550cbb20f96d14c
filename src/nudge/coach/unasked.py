"""Saying something unasked: the gate's decision, its debit, the message and what was said, in one settlement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nudge.attention.gate import Gate
from nudge.attention.rules import Allow, Candidate, Defer, Refuse, Rule
from nudge.coach.documents import readable
from nudge.coach.person_documents import Desk
from nudge.instants import MINUTE, Instant
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Settlement
from nudge.queue.outbox import Message
from nudge.queue.outcomes import Result
from nudge.queue.timers import late_by
from nudge.redaction import HIDDEN

LATE = MINUTE
"""From a minute on, what is said counts as late."""
_ASKS = 3
_SHORTEST_SECRET = 6
_LOST = Rule.BUCKET_EMPTY
"""Where others take every ping before we can."""

Objection = Defer | Refuse
"""What stands between the coach and the person, and whether waiting helps."""


@dataclass(frozen=True, slots=True)
class Words:
    """What wants to be said, and as what."""

    text: str
    kind: str
    candidate: Candidate
    reason: str = ""
    buttons: Sequence[tuple[str, str]] = ()


class Speaking:
    """The only way in which the coach says something that nobody asked for."""

    def __init__(self, gate: Gate, delivery: Delivery, desk: Desk, secrets: Iterable[str] = ()) -> None:
        self._gate = gate
        self._delivery = delivery
        self._desk = desk
        self._secrets = tuple(one for one in secrets if len(one) >= _SHORTEST_SECRET)

    async def objection(self, agent: str, candidate: Candidate, now: Instant) -> Objection | None:
        """A look before anybody thinks about the words: thinking costs money, and looking does not."""
        decision = await self._gate.decide(agent, candidate, now)
        return None if isinstance(decision, Allow) else decision

    async def may_say(self, settlement: Settlement, candidate: Candidate, now: Instant) -> bool:
        """Inside the settlement: the gate's decision and, where it allows, the debit; else the outcome says why not.

        Both happen in the transaction that writes the message, so that nothing can come between them.
        """
        agent = settlement.timer.agent
        asked = candidate.asked_by_person
        objection: Objection = Defer(Instant(now + MINUTE), _LOST) if asked else Refuse(_LOST)
        for _ in range(_ASKS):  # more than once only on a shared database, where another daemon takes pings too
            decision = await self._gate.decide(agent, candidate, now)
            if not isinstance(decision, Allow):
                objection = decision
                break
            if await self._gate.take(agent, decision, candidate, now):
                return True
        note_objection(settlement, objection)
        return False

    async def say(self, settlement: Settlement, words: Words, now: Instant) -> bool:
        """Say it, or write down why not. True if it was said."""
        text = self._clean(words.text)
        if not text:
            settlement.outcome(Result.SUPPRESSED, "There was nothing to say.")
            return False
        if not await self.may_say(settlement, words.candidate, now):
            return False
        timer = settlement.timer
        agent = timer.agent
        await self._delivery.post(
            Message(
                agent,
                text,
                words.kind,
                now,
                asked=words.candidate.set_for_time,
                buttons=words.buttons,
                topic=words.candidate.topic or "",
                key=timer.key,
                slot_at=timer.slot_at,
            )
        )
        await self._desk.say(agent, "assistant", text, now, words.kind)
        settlement.outcome(fired(settlement), words.reason or "It spoke.", text=text)
        return True

    def _clean(self, text: str) -> str:
        """Without what no store or channel takes, and without this home's own secrets, whoever put them there."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return readable(text).replace("\0", "").strip()


def note_objection(settlement: Settlement, objection: Objection) -> None:
    """The outcome of what may not be said: later, or not at all."""
    rule = objection.rule
    if isinstance(objection, Defer):
        settlement.defer(objection.until, rule.sentence, rule=rule.value)
    else:
        settlement.outcome(Result.SUPPRESSED, rule.sentence, rule=rule.value)


def fired(settlement: Settlement) -> Result:
    """On time, or late."""
    late = late_by(settlement.timer.slot_at, settlement.now) >= LATE
    return Result.FIRED_LATE if late else Result.FIRED
