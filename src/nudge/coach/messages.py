"""What the coach says: replies, which are free, and pings, which the gate must admit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nudge.attention.bucket import PingBudget
from nudge.attention.gate import Gate
from nudge.attention.rules import Allow, Candidate, Defer, Refuse
from nudge.coach.documents import readable
from nudge.coach.facts import says_nothing
from nudge.coach.store import CoachStore, Saying
from nudge.instants import Instant
from nudge.queue.delivery import Delivery
from nudge.queue.firing import Settlement
from nudge.queue.outbox import REPLY, Message
from nudge.queue.outcomes import Result
from nudge.queue.timers import LATE_FROM, late_by
from nudge.redaction import hide
from nudge.text import is_blank

LONGEST = 12_000
"""Characters of one reply, about three messages: nobody reads more, and a model that runs wild is cut."""
NOTHING_TO_SAY = "Nothing to say."

Objection = Defer | Refuse
"""What stands between the coach and the person, and whether waiting helps."""


def clean(text: str, secrets: Iterable[str] = ()) -> str:
    """The text as it may leave: without this home's own secrets, whoever put them there, and without characters that
    no store or channel takes."""
    return hide(readable(text), secrets).replace("\0", "").strip()


class Replies:
    """Answers to the person: never unsolicited, so they go out whatever the hour."""

    def __init__(self, delivery: Delivery, secrets: Iterable[str] = ()) -> None:
        self._delivery = delivery
        self._secrets = tuple(secrets)

    async def post(
        self,
        agent: str,
        text: str,
        now: Instant,
        *,
        typed: bool = False,
        kind: str = REPLY,
        buttons: Sequence[tuple[str, str]] = (),
    ) -> str:
        """Put an answer into the outbox, inside the caller's transaction. Returns the text as it goes out, never empty.

        The person waits for it, so it is sent once more if a crash leaves open whether it arrived.
        """
        shown = clean(text, self._secrets)
        shown = "Okay." if is_blank(shown) else shown
        if len(shown) > LONGEST:
            shown = f"{shown[: LONGEST - 1].rstrip()}…"
        await self._delivery.post(Message(agent, shown, kind, now, asked=True, typed=typed, buttons=tuple(buttons)))
        return shown


@dataclass(frozen=True, slots=True)
class Ping:
    """What the coach would like to say unasked. `reason` is the outcome's if it is sent."""

    text: str
    kind: str
    candidate: Candidate
    reason: str
    buttons: Sequence[tuple[str, str]] = ()


class Pings:
    """The only way in which the coach says something that nobody asked for."""

    def __init__(self, store: CoachStore, gate: Gate, delivery: Delivery, secrets: Iterable[str] = ()) -> None:
        self._store = store
        self._gate = gate
        self._delivery = delivery
        self._secrets = tuple(secrets)

    async def objection(self, agent: str, candidate: Candidate, now: Instant) -> Objection | None:
        """A look before a model is asked for words: asking costs money, and looking does not."""
        decision = await self._gate.decide(agent, candidate, now)
        return None if isinstance(decision, Allow) else decision

    async def budget(self, agent: str, now: Instant) -> PingBudget | None:
        """The bucket as it is; None where the ping budget is off."""
        return (await self._gate.state(agent, now)).budget

    async def admit(self, settlement: Settlement, candidate: Candidate, now: Instant) -> Allow | None:
        """Inside the settlement: the gate's permission, with the debit; without it, the outcome says why not.

        Both happen in the transaction that writes the message, so that nothing can come between them.
        """
        decision = await self._gate.admit(settlement.timer.agent, candidate, now)
        if isinstance(decision, Allow):
            return decision
        note_objection(settlement, decision)
        return None

    async def _waited_for(self, settlement: Settlement) -> str:
        """Why it is late, if a rule has put it off."""
        if late_by(settlement.slot_at, settlement.now) < LATE_FROM:
            return ""
        row = await self._store.outcomes.get(settlement.timer.agent, settlement.key, settlement.slot_at)
        return f"It waited: {row.reason}" if row is not None and row.detail.get("rule") else ""

    async def send(self, settlement: Settlement, ping: Ping, now: Instant, **detail: Any) -> bool:
        """Send it, or write down why not. True if it was sent.

        The gate's decision, its debit, the message and the conversation's line are one transaction.
        """
        text = clean(ping.text, self._secrets)
        if is_blank(text) or says_nothing(text):
            settlement.outcome(Result.SUPPRESSED, NOTHING_TO_SAY)
            return False
        allowed = await self.admit(settlement, ping.candidate, now)
        if allowed is None:
            return False
        agent = settlement.timer.agent
        await self._delivery.post(
            Message(
                agent,
                text,
                ping.kind,
                now,
                asked=ping.candidate.set_for_time,
                buttons=ping.buttons,
                topic=ping.candidate.topic or "",
                key=settlement.key,
                slot_at=settlement.slot_at,
            )
        )
        await self._store.conversations.add(Saying(agent, now, "assistant", text, ping.kind))
        reason = " ".join(part for part in (ping.reason, await self._waited_for(settlement)) if part)
        settlement.outcome(fired(settlement), reason, text=text, **_learned(allowed.learned), **detail)
        return True


def note_objection(settlement: Settlement, objection: Objection) -> None:
    """The outcome of what may not be said: later, or not at all."""
    rule, learned = objection.rule, _learned(objection.learned)
    if isinstance(objection, Defer):
        settlement.defer(objection.until, rule.sentence, rule=rule.value, **learned)
    else:
        settlement.outcome(Result.SUPPRESSED, rule.sentence, rule=rule.value, **learned)


def _learned(numbers: str) -> dict[str, Any]:
    """The numbers behind a decision, for whoever asks why."""
    return {"learned": numbers} if numbers else {}


def fired(settlement: Settlement) -> Result:
    """On time, or late."""
    late = late_by(settlement.slot_at, settlement.now) >= LATE_FROM
    return Result.FIRED_LATE if late else Result.FIRED
