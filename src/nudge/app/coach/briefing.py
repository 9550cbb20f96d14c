"""Briefings at the person's own times: morning, bedtime, the weekly review, the month. Each at most once per period.

A timer stands for the next one of each kind. The period's row is written with the message, so that neither a restart
nor a changed target says it twice; one that was missed is told late, or counts as missed when it is of no use any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nudge.app.coach.desk import LAST_BEDTIME, Desk
from nudge.app.coach.speaking import Speaking, Words
from nudge.app.coach.thinking import Thinking
from nudge.app.dispatch import Firing, Settlement
from nudge.app.ports.model import ModelRequest, Purpose, Turn
from nudge.app.ports.store import Store
from nudge.core.attention import Candidate, Kind
from nudge.core.bedtime import BedtimeTone
from nudge.core.coach.briefing_prompt import briefing_prompt
from nudge.core.coach.briefings import Briefing, folds_into_review, next_due, night_of, opens_with_morning, period_key
from nudge.core.coach.escalation import bedtime_nudge, next_look_at
from nudge.core.coach.facts import Purpose as FactsPurpose
from nudge.core.instants import DAY, HOUR, MINUTE, Instant
from nudge.core.outcome import Result
from nudge.core.repeats import signature
from nudge.core.timer import Timer, late_by

KIND = "briefing"
BEDTIME_KEY = "bedtime"
ANSWER_TOKENS = 500
LOOK_AGAIN = 15 * MINUTE
"""While somebody who may still come back is away in the hours around bedtime."""

TOO_LATE = {
    Briefing.MORNING: 6 * HOUR,
    Briefing.WEEKLY_REVIEW: DAY,
    Briefing.MONTHLY: 3 * DAY,
}

OpenReview = Callable[[str, Instant, str], Awaitable[None]]
"""Start the weekly review: (agent, now, opening). Part of the caller's transaction."""


class Briefings:
    def __init__(
        self,
        store: Store,
        desk: Desk,
        thinking: Thinking,
        speaking: Speaking,
        open_review: OpenReview,
    ) -> None:
        self._store = store
        self._desk = desk
        self._thinking = thinking
        self._speaking = speaking
        self._open_review = open_review

    async def schedule(self, agent: str, now: Instant) -> None:
        """See to it that every kind has its timer at the time the targets say. One that is due already stays."""
        for kind in Briefing:
            key = timer_key(kind)
            there = await self._store.timers.get(agent, key)
            if there is not None and (there.due_at <= now or there.due_at != there.slot_at or there.attempts):
                continue
            due = await self._next(agent, kind, now)
            if there is None or there.slot_at != due:
                await self._store.timers.set(Timer.at(agent, key, KIND, due, payload={"kind": kind.value}))

    async def tell(self, firing: Firing) -> None:
        """Handle one briefing that is due."""
        kind = Briefing(firing.timer.payload["kind"])
        if kind is Briefing.BEDTIME:
            await self._bedtime(firing)
            return
        agent, now, slot = firing.timer.agent, firing.now, firing.timer.slot_at
        targets = self._desk.targets(agent)
        period = period_key(kind, slot, targets)
        why_not = ""
        if late_by(slot, now) > TOO_LATE[kind]:
            why_not = "missed"
        elif await self._store.periods.taken(agent, kind, period) is not None:
            why_not = "It was told already in this period."
        elif kind is Briefing.MORNING and folds_into_review(slot, targets):
            why_not = "The weekly review opens the day instead."
        if why_not:
            async with firing.settle() as settlement:
                if why_not == "missed":
                    settlement.outcome(Result.MISSED, f"It was more than {TOO_LATE[kind] // HOUR} hours late.")
                    settlement.feed("missed", f"The {kind.value} briefing was missed.")
                else:
                    settlement.outcome(Result.SKIPPED, why_not)
                await self._go_on(settlement, kind)
            return
        text = await self._words(firing, kind, None)
        async with firing.settle() as settlement:
            if kind is Briefing.WEEKLY_REVIEW:
                await self._begin_review(settlement, text if opens_with_morning(slot, targets) else "")
            elif not text:
                settlement.outcome(Result.SKIPPED, "There was nothing to say.")
            else:
                candidate = Candidate(Kind.BRIEFING, asked_by_person=True, topic=kind.value, due_at=slot)
                words = Words(text, "briefing", candidate, f"The {kind.value} briefing.")
                if await self._speaking.say(settlement, words, now):
                    await self._store.periods.claim(agent, kind, period, now)
            if settlement.following is None:
                await self._go_on(settlement, kind)

    async def _begin_review(self, settlement: Settlement, opening: str) -> None:
        """The review starts like any briefing: the gate is asked. The questions after the first are replies."""
        timer, now = settlement.timer, settlement.now
        agent, targets = timer.agent, self._desk.targets(timer.agent)
        candidate = Candidate(Kind.BRIEFING, asked_by_person=True, topic="weekly_review", due_at=timer.slot_at)
        if not await self._speaking.may_say(settlement, candidate, now):
            return
        period = period_key(Briefing.WEEKLY_REVIEW, timer.slot_at, targets)
        await self._store.periods.claim(agent, Briefing.WEEKLY_REVIEW, period, now)
        if opening:
            await self._store.periods.claim(agent, Briefing.MORNING, period_key(Briefing.MORNING, now, targets), now)
        await self._open_review(agent, now, opening)
        settlement.outcome(Result.FIRED, "The weekly review began.")

    async def _bedtime(self, firing: Firing) -> None:
        """One look at bedtime: say the next of the three, or look again later tonight, or leave it for the next."""
        agent, now, slot = firing.timer.agent, firing.now, firing.timer.slot_at
        targets = self._desk.targets(agent)
        state = await self._desk.state(agent, now)
        verdict = bedtime_nudge(now, targets, state)
        text = await self._words(firing, Briefing.BEDTIME, verdict.tone) if verdict.tone else ""
        async with firing.settle() as settlement:
            if verdict.tone and text:
                night = night_of(now, targets).isoformat()
                candidate = Candidate(
                    Kind.BEDTIME, topic=f"bedtime/{night}/{verdict.tone.value}", signature=signature(text), due_at=slot
                )
                words = Words(text, "briefing", candidate, f"Bedtime, {verdict.tone.value}.")
                if await self._speaking.say(settlement, words, now):
                    await self._store.notes.set(agent, LAST_BEDTIME, int(now))
            else:
                settlement.outcome(
                    Result.SKIPPED, verdict.reason if verdict.tone is None else "There was nothing to say."
                )
            state = await self._desk.state(agent, now)
            look = next_look_at(now, targets, state)
            if look is not None and look <= now:
                look = Instant(now + LOOK_AGAIN)
            later = next_due(Briefing.BEDTIME, now, targets)
            settlement.again(min(look, later) if look is not None else later)

    async def _words(self, firing: Firing, kind: Briefing, tone: BedtimeTone | None) -> str:
        """The text: a model's, or the rules' where none answers. A briefing is never lost to an outage."""
        agent, now = firing.timer.agent, firing.now
        prompt = briefing_prompt(self._desk.documents(agent), kind, now, self._desk.targets(agent), tone)
        request = ModelRequest(
            Purpose.BRIEFING,
            "",
            prompt.system,
            (Turn("user", prompt.message),),
            ANSWER_TOKENS,
            facts=await self._desk.facts(agent, FactsPurpose.BRIEFING, now, briefing=kind),
            attempt_id=f"{agent}:{firing.timer.key}:{firing.timer.slot_at}:{firing.timer.attempts}",
        )
        return (await self._thinking.ask(agent, request, now, waited_for=True)).text.strip()

    async def _go_on(self, settlement: Settlement, kind: Briefing) -> None:
        settlement.again(await self._next(settlement.timer.agent, kind, max(settlement.now, settlement.timer.slot_at)))

    async def _next(self, agent: str, kind: Briefing, after: Instant) -> Instant:
        """The next due time whose period has not had its turn: a wake target moved to a later hour of a day that has
        had its briefing means tomorrow."""
        targets = self._desk.targets(agent)
        due = next_due(kind, after, targets)
        while await self._store.periods.taken(agent, kind, period_key(kind, due, targets)) is not None:
            due = next_due(kind, due, targets)
        return due


def timer_key(kind: Briefing) -> str:
    return f"briefing:{kind.value}"
