"""The heartbeat: every 45 minutes the coach considers whether to say something. Saying nothing is a good result.

Everything that can answer without a model is asked first: asleep, quiet, a conversation, an empty bucket, and whether
anything has changed since the last judgment at all.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from nudge.attention.forward_schedule import upcoming
from nudge.attention.preamble import background_preamble
from nudge.attention.repeats import signature as said_signature
from nudge.attention.requests import stay_quiet
from nudge.attention.rules import Candidate, Kind
from nudge.coach.answering import RULES, Answer, Answering
from nudge.coach.briefings import Briefing, bedtime_nudge, period_key
from nudge.coach.fact_reader import LAST_BEDTIME, FactReader
from nudge.coach.facts import CoachFacts
from nudge.coach.housekeeping import alive_timer
from nudge.coach.judgment import (
    READ_TWICE,
    Action,
    Decision,
    Judgment,
    Signature,
    first_ask,
    parse_decision,
    should_ask,
    signature,
)
from nudge.coach.messages import Ping, Pings
from nudge.coach.notices import Notices
from nudge.coach.outside import Outside
from nudge.coach.person_reminders import BUTTONS
from nudge.coach.prompts import Prompt, ago, clip, heartbeat_prompt
from nudge.coach.store import CoachStore
from nudge.defaults import HEARTBEAT, LONGEST_SILENCE
from nudge.errors import BudgetExhaustedError, LostLeaseError, NotConfiguredError, NudgeError, StoreError
from nudge.instants import DAY, Instant, rfc3339
from nudge.queue.firing import Firing, Settlement
from nudge.queue.outcomes import Result
from nudge.queue.records import Record
from nudge.queue.timers import Timer
from nudge.text import short

log = logging.getLogger("nudge.heartbeat")

KIND = "heartbeat"
JUDGMENT: Record[Judgment] = Record("heartbeat.judgment", Judgment.from_json, Judgment.to_json)
MOST_LINES = 30
PREAMBLE_CAP = 900
"""Lines of the schedule, and tokens of all that is said about pings: a heartbeat has 4,000 for everything."""
ASLEEP = "asleep"
BUDGET = "budget"
OVERTAKEN = "Your documents changed during the judgment. The next heartbeat reads them again."


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often the coach considers whether to speak, and how rarely it asks a model while nothing changes. With
    `sleeps_through`, heartbeats that would find nothing changed are left out: for a process that has to be woken for
    each, and that calls `ensure` when something else happens."""

    every: int = HEARTBEAT
    change_gate: bool = True
    longest_silence: int = LONGEST_SILENCE
    sleeps_through: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """Why the model was asked, and what it saw: with its own reason, that is why a heartbeat spoke or did not."""

    why: str
    saw: str
    by_rules: bool = False

    def because(self, what: str, decision: Decision) -> str:
        unsaid = "Decided by simple rules." if self.by_rules else "The model gave no reason."
        return f"{what} {decision.because or unsaid}"

    @property
    def detail(self) -> dict[str, Any]:
        return {"asked": self.why, "saw": self.saw}


def what_it_saw(facts: CoachFacts, now: Instant) -> str:
    """In a line: what a judgment is made of, besides the documents."""
    state = facts.state
    parts = []
    for what, at in (("last message", state.last_user_message), ("last activity", state.last_activity)):
        parts.append(f"{what} {ago(at, now) if at is not None else 'never'}")
    parts.append(f"{state.proactive_today} unasked today")
    if facts.due_reminders:
        parts.append(f"open: {', '.join(short(one.text, 40) for one in facts.due_reminders)}")
    return "; ".join(parts)


class Heartbeat:
    """The handler of heartbeats, and the rhythm they come in."""

    def __init__(
        self,
        store: CoachStore,
        facts: FactReader,
        answering: Answering,
        pings: Pings,
        notices: Notices,
        outside: Outside,
        *,
        rhythm: Rhythm,
    ) -> None:
        self._store = store
        self._facts = facts
        self._answering = answering
        self._pings = pings
        self._notices = notices
        self._outside = outside
        self._rhythm = rhythm

    @property
    def sleeps_through(self) -> bool:
        return self._rhythm.sleeps_through

    async def ensure(self, agent: str, now: Instant) -> None:
        """Start the rhythm, unless it is running. The first heartbeat is one interval away; one that waits longer than
        that (the rhythm was made faster, the clock was wrong) is brought forward."""
        there = await self._store.timers.get(agent, KIND)
        if there is None or there.due_at > now + self._rhythm.every:
            await self._store.timers.set(Timer.at(agent, KIND, KIND, Instant(now + self._rhythm.every)))

    async def beat(self, firing: Firing) -> None:
        """Handle one heartbeat: one outcome, whatever happens, and the next one on the same grid."""
        agent, now = firing.timer.agent, firing.now
        if await self._answering.asleep(agent, now):
            await self._pass(firing, Result.SUPPRESSED, "Asleep until the budget is refreshed.", ASLEEP)
            return
        objection = await self._pings.objection(agent, Candidate(Kind.HEARTBEAT), now)
        if objection is not None:
            await self._pass(firing, Result.SUPPRESSED, objection.rule.sentence, objection.rule.value)
            return
        facts = await self._facts.for_heartbeat(agent, now, due=await self._facts.due(agent, now))
        documents, targets = self._facts.texts(agent), facts.targets
        current = signature(documents, facts.state, facts.due_reminders, now, targets)
        last = await self._store.records.get(agent, JUDGMENT)
        asking = should_ask(last, current, now, targets, self._rhythm.longest_silence)
        if self._rhythm.change_gate and not asking.ask:
            await self._pass(firing, Result.SKIPPED, asking.reason, following=self._following(firing, last, facts))
            return

        coming = upcoming(await self._facts.upcoming(agent, now), now, limit=MOST_LINES)
        preamble = background_preamble(await self._pings.budget(agent, now), coming, now, targets.zone)

        def prompt() -> Prompt:
            told = clip(preamble, PREAMBLE_CAP)
            return heartbeat_prompt(documents, facts, preamble=told)

        attempt = f"{agent}:{KIND}:{firing.timer.slot_at}:{now}"
        try:
            answer = await self._answering.judgment(agent, facts, prompt, self._facts.tasks, attempt, now)
        except (StoreError, LostLeaseError):
            raise
        except BudgetExhaustedError as error:
            await self._pass(firing, Result.SUPPRESSED, f"Not enough budget for a judgment: {error}", BUDGET)
            return
        except NudgeError as error:
            await self._without_model(firing, error)
            return
        if self._facts.texts(agent) != documents:  # a talk goes on meanwhile, and what was read may be taken back
            await self._pass(firing, Result.SKIPPED, OVERTAKEN, decision="overtaken")
            return
        asked = Asked(asking.reason, what_it_saw(facts, now), by_rules=answer.model == RULES)
        following = self._following(firing, Judgment(now, current), facts) if not answer.stand_in else None
        await self._judged(firing, answer, current, asked, following)

    async def _judged(
        self, firing: Firing, answer: Answer, current: Signature, asked: Asked, following: Instant | None
    ) -> None:
        agent, now = firing.timer.agent, firing.now
        decision = parse_decision(answer.content, now)
        async with firing.settle() as settlement:
            await self._carry_out(settlement, decision, now, asked)
            if not answer.stand_in:  # the model is asked again as soon as it is back
                await self._store.records.set(agent, JUDGMENT, Judgment(now, current))
            await self._go_on(settlement, following)
        self._log(settlement, decision.action.value, model=answer.model, message=decision.message)

    def _following(self, firing: Firing, last: Judgment | None, facts: CoachFacts) -> Instant | None:
        """The next heartbeat that might find something changed, a day away at most; None is simply the next one."""
        if not (self._rhythm.sleeps_through and self._rhythm.change_gate):
            return None
        documents, now, every = self._facts.texts(firing.timer.agent), firing.now, self._rhythm.every
        first = firing.timer.slot_at + (max(0, now - firing.timer.slot_at) // every + 1) * every
        slots = map(Instant, range(first, max(first, now + DAY) + 1, every))

        def at(slot: Instant) -> Signature:
            return signature(documents, facts.state, facts.due_reminders, slot, facts.targets)

        return first_ask(slots, last, at, facts.targets, self._rhythm.longest_silence)

    async def _pass(
        self,
        firing: Firing,
        result: Result,
        reason: str,
        rule: str = "",
        decision: str = "not asked",
        following: Instant | None = None,
    ) -> None:
        """There is no judgment; that is a heartbeat too."""
        async with firing.settle() as settlement:
            detail: dict[str, Any] = {"rule": rule} if rule else {}
            settlement.outcome(result, reason, **detail)
            await self._go_on(settlement, following)
        self._log(settlement, decision)

    async def _without_model(self, firing: Firing, error: NudgeError) -> None:
        """The outcome says so, and the next heartbeat tries again. Only the person can fix a key."""
        async with firing.settle() as settlement:
            settlement.outcome(Result.FAILED, f"No judgment this time: {error}")
            if isinstance(error, NotConfiguredError):
                await self._notices.failed(firing.timer, error, firing.now)
            await self._go_on(settlement)
        self._log(settlement, "no answer")

    async def _carry_out(self, settlement: Settlement, decision: Decision, now: Instant, asked: Asked) -> None:
        updates = dict(decision.state_updates)
        match decision.action:
            case Action.MESSAGE:
                # What it notes about having spoken is true only once it has.
                if not await self._speak(settlement, decision, now, asked):
                    return
            case Action.SILENCE | Action.READ:
                reason = (
                    f"The model's answer was not a decision ({decision.reason or READ_TWICE}), so nothing was sent."
                )
                settlement.outcome(Result.SUPPRESSED, reason, rule="no-decision")
            case Action.OK | Action.STATE_UPDATE:
                refused = [*decision.refused, *(f"{name}: nothing was sent" for name in updates if name in _SPOKEN)]
                detail: dict[str, Any] = {"refused": refused} if refused else {}
                said = asked.because(_QUIET_ENDS[decision.action], decision)
                settlement.outcome(Result.SILENT, said, **detail, **asked.detail)
        if "quiet_mode_until" in updates:
            await stay_quiet(self._store, settlement.timer.agent, updates["quiet_mode_until"])

    async def _speak(self, settlement: Settlement, decision: Decision, now: Instant, asked: Asked) -> bool:
        agent, updates = settlement.timer.agent, decision.state_updates
        targets = self._facts.targets(agent)
        bedtime = bool(updates.get("bedtime_nudge_sent"))
        if bedtime:
            verdict = bedtime_nudge(now, targets, await self._facts.state(agent, now))
            if verdict.tone is None:
                settlement.outcome(Result.SUPPRESSED, f"No bedtime message. {verdict.reason}", rule="bedtime")
                return False
        candidate = Candidate(
            Kind.BEDTIME if bedtime else Kind.HEARTBEAT,
            topic=decision.topic or ("bedtime" if bedtime else KIND),
            signature=said_signature(decision.message),
            due_at=settlement.timer.slot_at,
            about=f"{decision.message} {decision.topic}{' bedtime' if bedtime else ''}",
            claims_critical=decision.critical,
        )
        ping = Ping(decision.message, KIND, candidate, asked.because("It spoke.", decision), BUTTONS)
        if not await self._pings.send(settlement, ping, now, **asked.detail):
            return False
        if bedtime:
            await self._store.records.set(agent, LAST_BEDTIME, now)
        if updates.get("morning_brief_sent"):
            await self._store.periods.claim(agent, Briefing.MORNING, period_key(Briefing.MORNING, now, targets), now)
        return True

    async def _go_on(self, settlement: Settlement, following: Instant | None = None) -> None:
        """The next one, in the future and on the same grid."""
        slot, now = settlement.timer.slot_at, settlement.now
        missed = max(0, now - slot) // self._rhythm.every
        settlement.again(following or Instant(slot + (missed + 1) * self._rhythm.every))
        worked = settlement.recorded is not None and settlement.recorded.result is not Result.FAILED
        if worked and self._outside.sign_of_life is not None:
            await self._store.timers.set(alive_timer(settlement.timer.agent, now))

    def _log(self, settlement: Settlement, decision: str, *, model: str = "", message: str = "") -> None:
        outcome = settlement.recorded
        assert outcome is not None
        line = {
            "at": rfc3339(settlement.now),
            "agent": settlement.timer.agent,
            "decision": decision,
            "result": outcome.result.value,
            "rule": outcome.detail.get("rule", ""),
            "reason": outcome.reason,
            "model": model,
            "message": message,
        }
        self._outside.decision_log({name: value for name, value in line.items() if value})


_SPOKEN = frozenset({"bedtime_nudge_sent", "morning_brief_sent"})
_QUIET_ENDS = {Action.OK: "Nothing to say.", Action.STATE_UPDATE: "Noted something, and said nothing."}
