"""Briefings at the person's own times: morning, bedtime, the weekly review, the month. Each at most once per period.

A timer stands for the next one of each kind. The period's row is written with the message, so that neither a restart
nor a changed target says it twice; one that was missed is told late, or counts as missed when it is of no use any more.
"""

from __future__ import annotations

from dataclasses import replace

from nudge.attention.bedtime import BedtimeTone
from nudge.attention.preferences import forbids
from nudge.attention.rules import Candidate, Kind
from nudge.coach.answering import Answering
from nudge.coach.briefings import (
    PLANS,
    Briefing,
    bedtime_nudge,
    folds_into_review,
    next_due,
    next_look_at,
    opens_with_morning,
    period_key,
    start_of_period,
)
from nudge.coach.fact_reader import LAST_BEDTIME, FactReader
from nudge.coach.facts import CoachState, says_nothing
from nudge.coach.judgment import LONGEST_MESSAGE
from nudge.coach.messages import NOTHING_TO_SAY, Ping, Pings, fired, note_objection
from nudge.coach.own_words import ASKED_TO_GO_ON, QUESTION, OpenQuestion
from nudge.coach.person_reminders import BUTTONS
from nudge.coach.prompts import briefing_prompt
from nudge.coach.review_talk import ReviewTalk
from nudge.coach.store import CoachStore
from nudge.coach.targets import Targets
from nudge.errors import RetryableError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, local_date
from nudge.model import ModelRequest, Purpose, cached, user
from nudge.queue.firing import Firing, Settlement
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer, late_by
from nudge.text import is_blank

KIND = "briefing"
ANSWER_TOKENS = 500
BEDTIME = "bedtime"
"""What a bedtime message is about, whatever its words."""
GO_ON = (
    "You asked me to leave you alone, and I have. Shall I write as usual again? Please answer yes or no. "
    "Until you do, I stay quiet."
)
LOOK_AGAIN = 15 * MINUTE
"""While somebody who may still come back is away in the hours around bedtime."""


class Briefings:
    """The handler of briefings, and their timers."""

    def __init__(
        self,
        store: CoachStore,
        facts: FactReader,
        answering: Answering,
        pings: Pings,
        review: ReviewTalk,
    ) -> None:
        self._store = store
        self._facts = facts
        self._answering = answering
        self._pings = pings
        self._review = review

    async def schedule(self, agent: str, now: Instant) -> None:
        """See to it that every kind has its timer at the time the targets say. One that is due already, was put off or
        is being tried again stays: it has its time. Part of the caller's transaction."""
        for kind in Briefing:
            key = timer_key(kind)
            there = await self._store.timers.get(agent, key)
            if there is not None and (there.due_at <= now or there.due_at != there.slot_at or there.attempts):
                continue
            due = await self._planned(agent, kind, now, there)
            if there is None or there.slot_at != due:
                await self._store.timers.set(Timer.at(agent, key, KIND, due, payload={"kind": kind.value}))

    async def tell(self, firing: Firing) -> None:
        """Handle one briefing that is due."""
        kind = Briefing(firing.timer.payload["kind"])
        if kind is Briefing.BEDTIME:
            await self._bedtime(firing)
            return
        agent, now, slot = firing.timer.agent, firing.now, firing.timer.slot_at
        if await self._left_alone_for_a_day(agent, now):
            await self._ask_to_go_on(firing, kind)
            return
        why_not = await self._why_not(agent, kind, slot, now)
        if why_not is not None:
            async with firing.settle() as settlement:
                settlement.outcome(*why_not)
                if why_not[0] is Result.MISSED:
                    settlement.feed("missed", f"Missed the {PLANS[kind].title}.")
                await self._go_on(settlement, kind)
            return
        latest = Instant(slot + PLANS[kind].too_late)
        candidate = Candidate(Kind.BRIEFING, asked_by_person=True, topic=kind.value, due_at=slot, latest=latest)
        objection = await self._pings.objection(agent, candidate, now)
        opens = kind is not Briefing.WEEKLY_REVIEW or await self._opens_the_day(agent, slot, now)
        text = await self._words(firing, kind) if opens and objection is None else ""
        async with firing.settle() as settlement:
            if objection is not None:
                note_objection(settlement, objection)
            elif kind is Briefing.WEEKLY_REVIEW:
                await self._begin_review(settlement, candidate, text)
            elif not text:
                settlement.outcome(Result.SKIPPED, NOTHING_TO_SAY)
            else:
                ping = Ping(text, KIND, replace(candidate, about=text), f"The {PLANS[kind].title}.")
                if await self._pings.send(settlement, ping, now):
                    await self._claim(agent, kind, slot, now)
            if settlement.following is None:
                await self._go_on(settlement, kind)

    async def _left_alone_for_a_day(self, agent: str, now: Instant) -> bool:
        """Whether they asked to be left alone a day ago or more, and were not asked since whether to go on."""
        row = await self._store.attention.get(agent)
        if row is None or not row.requests.left_alone or row.last_conversation is None:
            return False
        return now - row.last_conversation >= DAY and await self._store.records.get(agent, ASKED_TO_GO_ON) is None

    async def _ask_to_go_on(self, firing: Firing, kind: Briefing) -> None:
        """Instead of the briefing, once: shall I write again? Until there is an answer everything stays quiet."""
        agent, now = firing.timer.agent, firing.now
        asked = OpenQuestion(now // SECOND, now, ())
        candidate = Candidate(Kind.BRIEFING, asked_by_person=True, due_at=firing.timer.slot_at, asks_to_go_on=True)
        ping = Ping(GO_ON, KIND, candidate, "You asked to be left alone a day ago.", asked.buttons)
        async with firing.settle() as settlement:
            if await self._pings.send(settlement, ping, now):
                await self._store.records.set(agent, QUESTION, asked)
                await self._store.records.set(agent, ASKED_TO_GO_ON, now)
                if not await self._told(agent, kind, firing.timer.slot_at, self._facts.targets(agent)):
                    await self._claim(agent, kind, firing.timer.slot_at, now)
            if settlement.following is None:
                await self._go_on(settlement, kind)

    async def bedtime_words(self, firing: Firing, tone: BedtimeTone) -> str:
        """What to say about bedtime now, in that tone."""
        return await self._words(firing, Briefing.BEDTIME, tone)

    async def _why_not(self, agent: str, kind: Briefing, slot: Instant, now: Instant) -> tuple[Result, str] | None:
        """Why this one is not told at all, or None."""
        targets = self._facts.targets(agent)
        if late_by(slot, now) > PLANS[kind].too_late:
            return Result.MISSED, f"More than {PLANS[kind].too_late // HOUR} hours late."
        if await self._told(agent, kind, slot, targets):
            return Result.SKIPPED, "Already sent for this period."
        if kind is Briefing.MORNING and folds_into_review(slot, targets):
            review = next_due(Briefing.WEEKLY_REVIEW, Instant(slot - 1), targets)
            if not await self._told(agent, Briefing.WEEKLY_REVIEW, review, targets):
                return Result.SKIPPED, "The weekly review opens the day instead."
        return None

    async def _opens_the_day(self, agent: str, slot: Instant, now: Instant) -> bool:
        """Whether the review that is due then also says good morning: on its own day, and if nobody has."""
        targets = self._facts.targets(agent)
        if not opens_with_morning(slot, targets) or local_date(now, targets.zone) != local_date(slot, targets.zone):
            return False
        return not await self._told(agent, Briefing.MORNING, now, targets)

    async def _begin_review(self, settlement: Settlement, candidate: Candidate, opening: str) -> None:
        """The review starts like any briefing: the gate is asked. The questions after the first are replies."""
        timer, now = settlement.timer, settlement.now
        if not await self._pings.admit(settlement, candidate, now):
            return
        await self._claim(timer.agent, Briefing.WEEKLY_REVIEW, timer.slot_at, now)
        if opening:
            await self._claim(timer.agent, Briefing.MORNING, now, now)
        await self._review.start(timer.agent, now, opening)
        settlement.outcome(fired(settlement), "The weekly review.")

    async def _bedtime(self, firing: Firing) -> None:
        """One look at bedtime: say the next of the three, or look again later tonight, or leave it for the next."""
        agent, now = firing.timer.agent, firing.now
        targets = self._facts.targets(agent)
        state = await self._facts.state(agent, now)
        verdict = bedtime_nudge(now, targets, state)
        text, objection = "", None
        candidate = Candidate(Kind.BEDTIME, topic="bedtime", due_at=firing.timer.slot_at, about=BEDTIME)
        if verdict.tone is not None:
            objection = await self._pings.objection(agent, candidate, now)
            text = await self.bedtime_words(firing, verdict.tone) if objection is None else ""
        async with firing.settle() as settlement:
            if verdict.tone is None:
                settlement.outcome(Result.SKIPPED, verdict.reason)
            elif objection is not None:
                note_objection(settlement, objection)
            elif not text:
                settlement.outcome(Result.SKIPPED, NOTHING_TO_SAY)
            elif await self._pings.send(settlement, Ping(text, KIND, candidate, verdict.reason, BUTTONS), now):
                await self._store.records.set(agent, LAST_BEDTIME, now)
            state = await self._facts.state(agent, now)
            settlement.again(_next_look(now, targets, state) or next_due(Briefing.BEDTIME, now, targets))

    async def _words(self, firing: Firing, kind: Briefing, tone: BedtimeTone | None = None) -> str:
        """The text: a model's, or the rules' where none answers or what it says is no message. A briefing is never lost
        to an outage. A model may say that there is nothing to say; what the person does not want to hear is not its
        to say."""
        agent, now = firing.timer.agent, firing.now

        def ask() -> ModelRequest:
            prompt = briefing_prompt(self._facts.texts(agent), kind, facts, tone)
            return ModelRequest(
                Purpose.BRIEFING,
                "",
                (cached(prompt.system),),
                (user(prompt.message),),
                ANSWER_TOKENS,
                attempt_id=f"{agent}:{firing.timer.key}:{firing.timer.slot_at}:{now}",
            )

        facts = await self._facts.for_briefing(agent, kind, now)
        text = (await self._answering.answer(agent, facts, ask, now, waited_for=True)).text.strip()
        if says_nothing(text):
            return ""
        if is_blank(text) or len(text) > LONGEST_MESSAGE or forbids(facts.memory.preferences, text):
            text = self._answering.by_rules(facts, ask).text.strip()
        return text

    async def _claim(self, agent: str, kind: Briefing, due: Instant, now: Instant) -> None:
        """Take the period's turn, with the message. Somebody who took it a moment ago makes us look again."""
        if not await self._store.periods.claim(agent, kind, period_key(kind, due, self._facts.targets(agent)), now):
            raise RetryableError(f"Another process sent the {PLANS[kind].title} just now.", retry_after=1)

    async def _told(self, agent: str, kind: Briefing, due: Instant, targets: Targets) -> bool:
        return await self._store.periods.taken(agent, kind, period_key(kind, due, targets)) is not None

    async def _go_on(self, settlement: Settlement, kind: Briefing) -> None:
        """The next one in the future. After one that was missed it is the latest that is still of use, if there is one:
        a machine that was off for two days says good morning today."""
        slot, now = settlement.timer.slot_at, settlement.now
        assert settlement.recorded is not None
        missed = settlement.recorded.result is Result.MISSED
        after = max(slot, now - PLANS[kind].too_late - 1 if missed else now)
        settlement.again(await self._next(settlement.timer.agent, kind, Instant(after)))

    async def _planned(self, agent: str, kind: Briefing, now: Instant, there: Timer | None) -> Instant:
        """When the timer should be due. A target that was moved to an earlier hour, which is over, does not lose the
        briefing that was still to come: it is due now."""
        targets = self._facts.targets(agent)
        if kind is Briefing.BEDTIME:
            look = next_look_at(now, targets, await self._facts.state(agent, now))
            if look is None:
                return next_due(kind, now, targets)
            if look <= now and there is not None and there.slot_at <= now + LOOK_AGAIN:
                return there.slot_at
            return look
        if there is not None:
            moved = next_due(kind, Instant(start_of_period(kind, there.slot_at, targets) - 1), targets)
            if moved <= now <= moved + PLANS[kind].too_late and not await self._told(agent, kind, moved, targets):
                return moved
        return await self._next(agent, kind, now)

    async def _next(self, agent: str, kind: Briefing, after: Instant) -> Instant:
        """The next due time whose period has not had its turn: a wake target moved to a later hour of a day that has
        had its briefing means tomorrow."""
        targets = self._facts.targets(agent)
        due = next_due(kind, after, targets)
        while await self._told(agent, kind, due, targets):
            due = next_due(kind, due, targets)
        return due


def _next_look(now: Instant, targets: Targets, state: CoachState) -> Instant | None:
    """When to look again tonight; a look that would be now comes a little later, if the night lasts that long."""
    look = next_look_at(now, targets, state)
    return look if look is None or look > now else next_look_at(Instant(now + LOOK_AGAIN), targets, state)


def timer_key(kind: Briefing) -> str:
    return f"briefing:{kind.value}"
