"""An agent wants to tell the person something: through the gate, now, later or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nudge.attention.gate import Gate
from nudge.attention.repeats import signature
from nudge.attention.rules import Allow, Candidate, Defer, Kind, Refuse, Rule
from nudge.instants import Instant, rfc3339
from nudge.queue.outbox import Message
from nudge.queue.outcomes import FeedLine
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.reminders.store import ReminderStore
from nudge.text import short

MESSAGE_KIND = "notify"
_FOR_GOOD = (Rule.SILENT, Rule.PREFERENCE, Rule.REPEATED)
"""Rules that do not pass with time."""


@dataclass(frozen=True, slots=True)
class Notified:
    """What became of it: the number of the message, or until when which rule holds it back, or which rule refused."""

    message: int = 0
    until: Instant | None = None
    rule: Rule | None = None

    @property
    def result(self) -> str:
        return "sent" if self.message else "refused" if self.until is None else "deferred"


async def notify(
    store: ReminderStore,
    gate: Gate,
    reminders: Reminders,
    post: Callable[[Message], Awaitable[int]],
    *,
    agent: str,
    speaker: str,
    text: str,
    now: Instant,
    topic: str = "",
    critical: bool = False,
) -> Notified:
    """Send it, or keep it until the rule that holds it back is over, or drop it. One transaction.

    It comes from `speaker`, who talks to the person. It is not asked for, so it takes a ping, a repetition is dropped,
    and what it calls critical is believed a few times a day. A deferred one is a reminder of a model's: it passes the
    gate again.
    """
    words = text if agent == speaker else f"{agent}: {text}"

    def candidate(*, waits: bool) -> Candidate:
        return Candidate(
            Kind.NOTICE,
            asked_by_person=waits,
            topic=topic or agent,
            signature=signature(text),
            about=text,
            claims_critical=critical,
        )

    async def became() -> Notified:
        first = await gate.decide(speaker, candidate(waits=False), now)
        if isinstance(first, Refuse) and first.rule in _FOR_GOOD:
            return Notified(rule=first.rule)
        decision = await gate.admit(speaker, candidate(waits=True), now)
        match decision:
            case Allow():
                return Notified(await post(Message(speaker, words, MESSAGE_KIND, now, topic=topic or agent)))
            case Defer(until, rule):
                definition = {"message": words, "schedule": {"at": rfc3339(until)}, "to_person": True}
                await reminders.add(speaker, definition, now, Source.MODEL)
                return Notified(until=until, rule=rule)
            case Refuse(rule):
                return Notified(rule=rule)

    async with store.transaction():
        found = await became()
        why = f" — {found.rule.sentence}" if found.rule else ""
        await store.feed.add(FeedLine(now, agent, found.result, f"“{short(text)}”{why}"))
        return found
