"""The heartbeat: every 45 minutes the coach considers whether to say something. Saying nothing is a good result.

Everything that can answer without a model is asked first: asleep, quiet, a conversation, an empty bucket, and whether
anything has changed since the last judgment at all.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nudge.attention.repeats import signature as said_signature
from nudge.attention.rules import Candidate, Kind
from nudge.coach.answering import Answer, Answering
from nudge.coach.bedtime import bedtime_nudge
from nudge.coach.briefings import Briefing, period_key
from nudge.coach.decisions import DECISION_SCHEMA, Action, Decision, parse_decision
from nudge.coach.facts import DueReminder
from nudge.coach.facts import Purpose as FactsPurpose
from nudge.coach.heartbeat_prompt import heartbeat_prompt
from nudge.coach.judgment import Judgment, Signature, should_ask, signature
from nudge.coach.nudges import BUTTONS
from nudge.coach.person_documents import LAST_BEDTIME, Desk
from nudge.coach.store import CoachStore
from nudge.coach.unasked import Speaking, Words, fired
from nudge.defaults import HEARTBEAT, LONGEST_SILENCE
from nudge.errors import BudgetExhaustedError, LostLeaseError, NotConfiguredError, NudgeError, StoreError
from nudge.instants import Instant, rfc3339
from nudge.model import ModelRequest, Purpose, cached, user
from nudge.queue.dispatch import FailureHook, Firing, Settlement
from nudge.queue.outcomes import Result
from nudge.queue.records import Record
from nudge.queue.timers import Timer

log = logging.getLogger("nudge.heartbeat")

KIND = "heartbeat"
JUDGMENT: Record[Judgment] = Record("heartbeat.judgment", Judgment.from_json, Judgment.to_json)
ANSWER_TOKENS = 400
ASLEEP = "asleep"
BUDGET = "budget"
OVERTAKEN = "The documents changed while it was judging; the next heartbeat looks at them as they are."

DueOf = Callable[[str, Instant], Awaitable[tuple[DueReminder, ...]]]
DecisionLog = Callable[[Mapping[str, Any]], None]
"""One line per decision, for whoever wants to know later what the coach was thinking."""
AfterBeat = Callable[[str, Instant], Awaitable[None]]
"""Told, inside the transaction, of every heartbeat that worked, whether or not it spoke."""


async def _nothing(agent: str, now: Instant) -> None:
    return None


class Heartbeat:
    """The handler of heartbeats, and the rhythm they come in."""

    def __init__(
        self,
        store: CoachStore,
        desk: Desk,
        answering: Answering,
        speaking: Speaking,
        due_of: DueOf,
        *,
        every: int = HEARTBEAT,
        change_gate: bool = True,
        longest_silence: int = LONGEST_SILENCE,
        decision_log: DecisionLog = lambda line: None,
        after_beat: AfterBeat = _nothing,
        on_misconfigured: FailureHook | None = None,
    ) -> None:
        self._store = store
        self._desk = desk
        self._answering = answering
        self._speaking = speaking
        self._due_of = due_of
        self._every = every
        self._change_gate = change_gate
        self._longest_silence = longest_silence
        self._decision_log = decision_log
        self._after_beat = after_beat
        self._on_misconfigured = on_misconfigured

    async def ensure(self, agent: str, now: Instant) -> None:
        """Start the rhythm, unless it is running. The first heartbeat is one interval away; one that waits longer than
        that (the rhythm was made faster, the clock was wrong) is brought forward."""
        there = await self._store.timers.get(agent, KIND)
        if there is None or there.due_at > now + self._every:
            await self._store.timers.set(Timer.at(agent, KIND, KIND, Instant(now + self._every)))

    async def beat(self, firing: Firing) -> None:
        """Handle one heartbeat: one outcome, whatever happens, and the next one on the same grid."""
        agent, now = firing.timer.agent, firing.now
        if await self._answering.asleep(agent, now):
            await self._pass(firing, Result.SUPPRESSED, "The agent is asleep until its budget is refreshed.", ASLEEP)
            return
        objection = await self._speaking.objection(agent, Candidate(Kind.HEARTBEAT), now)
        if objection is not None:
            await self._pass(firing, Result.SUPPRESSED, objection.rule.sentence, objection.rule.value)
            return
        due = await self._due_of(agent, now)
        documents, targets = self._desk.documents(agent), self._desk.targets(agent)
        state = await self._desk.state(agent, now)
        current = signature(documents, state, due, now, targets)
        last = await self._store.records.get(agent, JUDGMENT)
        asking = should_ask(last, current, now, targets, self._longest_silence)
        if self._change_gate and not asking.ask:
            await self._pass(firing, Result.SKIPPED, _sentence(asking.reason))
            return
        facts = await self._desk.facts(agent, FactsPurpose.HEARTBEAT, now, due=due)
        prompt = heartbeat_prompt(documents, state, due, now, targets)
        request = ModelRequest(
            Purpose.HEARTBEAT,
            "",
            (cached(prompt.system),),
            (user(prompt.message),),
            ANSWER_TOKENS,
            schema=DECISION_SCHEMA,
            attempt_id=f"{agent}:{KIND}:{firing.timer.slot_at}:{now}",
        )
        try:
            answer = await self._answering.answer(agent, facts, request, now, waited_for=False)
        except (StoreError, LostLeaseError):
            raise
        except BudgetExhaustedError as error:
            await self._pass(firing, Result.SUPPRESSED, f"There is no money for a judgment now: {error}", BUDGET)
            return
        except NudgeError as error:
            await self._without_model(firing, error)
            return
        if self._desk.documents(agent) != documents:  # a talk goes on meanwhile, and what was read may be taken back
            await self._pass(firing, Result.SKIPPED, OVERTAKEN, decision="overtaken")
            return
        await self._judged(firing, answer, current, asking.reason)

    async def _judged(self, firing: Firing, answer: Answer, current: Signature, why: str) -> None:
        agent, now = firing.timer.agent, firing.now
        decision = parse_decision(answer.content, now)
        async with firing.settle() as settlement:
            await self._carry_out(settlement, decision, now, why)
            if not answer.stand_in:  # the model is asked again as soon as it is back
                await self._store.records.set(agent, JUDGMENT, Judgment(now, current))
            await self._go_on(settlement)
        self._log(settlement, decision.action.value, model=answer.model, message=decision.message)

    async def _pass(
        self, firing: Firing, result: Result, reason: str, rule: str = "", decision: str = "not asked"
    ) -> None:
        """There is no judgment; that is a heartbeat too."""
        async with firing.settle() as settlement:
            detail: dict[str, Any] = {"rule": rule} if rule else {}
            settlement.outcome(result, reason, **detail)
            await self._go_on(settlement)
        self._log(settlement, decision)

    async def _without_model(self, firing: Firing, error: NudgeError) -> None:
        """The outcome says so, and the next heartbeat tries again. Nobody but the person can mend a key."""
        async with firing.settle() as settlement:
            settlement.outcome(Result.FAILED, f"There was no judgment this time: {error}")
            if self._on_misconfigured is not None and isinstance(error, NotConfiguredError):
                await self._on_misconfigured(firing.timer, error, firing.now)
            await self._go_on(settlement)
        self._log(settlement, "no answer")

    async def _carry_out(self, settlement: Settlement, decision: Decision, now: Instant, why: str) -> None:
        updates = dict(decision.state_updates)
        match decision.action:
            case Action.MESSAGE:
                # What it notes about having spoken is true only once it has.
                if not await self._speak(settlement, decision, now, why):
                    return
            case Action.SILENCE:
                reason = f"The answer was no decision ({decision.reason}); nothing was sent."
                settlement.outcome(Result.SUPPRESSED, reason, rule="no-decision")
            case Action.OK | Action.STATE_UPDATE:
                refused = [*decision.refused, *(f"{name}: it has not spoken" for name in updates if name in _SPOKEN)]
                detail: dict[str, Any] = {"refused": refused} if refused else {}
                settlement.outcome(fired(settlement), f"{decision.action.value}: {_sentence(why)}", **detail)
        if "quiet_mode_until" in updates:
            await self._quieter(settlement.timer.agent, updates["quiet_mode_until"])

    async def _speak(self, settlement: Settlement, decision: Decision, now: Instant, why: str) -> bool:
        agent, updates = settlement.timer.agent, decision.state_updates
        targets = self._desk.targets(agent)
        bedtime = bool(updates.get("bedtime_nudge_sent"))
        if bedtime:
            verdict = bedtime_nudge(now, targets, await self._desk.state(agent, now))
            if verdict.tone is None:
                settlement.outcome(
                    Result.SUPPRESSED, f"No bedtime message: {_sentence(verdict.reason)}", rule="bedtime"
                )
                return False
        candidate = Candidate(
            Kind.BEDTIME if bedtime else Kind.HEARTBEAT,
            topic=decision.topic or ("bedtime" if bedtime else KIND),
            signature=said_signature(decision.message),
            due_at=settlement.timer.slot_at,
        )
        words = Words(decision.message, KIND, candidate, f"It spoke: {why}.", BUTTONS)
        if not await self._speaking.say(settlement, words, now):
            return False
        if bedtime:
            await self._store.records.set(agent, LAST_BEDTIME, now)
        if updates.get("morning_brief_sent"):
            await self._store.periods.claim(agent, Briefing.MORNING, period_key(Briefing.MORNING, now, targets), now)
        return True

    async def _quieter(self, agent: str, until: Instant) -> None:
        """A model may make itself quieter, never louder: a longer quiet of the person's stays."""
        row = await self._store.attention.get(agent)
        if row is None or row.quiet_until is None or row.quiet_until < until:
            await self._store.attention.set_quiet(agent, until)

    async def _go_on(self, settlement: Settlement) -> None:
        """The next one, in the future and on the same grid."""
        slot, now = settlement.timer.slot_at, settlement.now
        missed = max(0, now - slot) // self._every
        settlement.again(Instant(slot + (missed + 1) * self._every))
        if settlement.recorded is not None and settlement.recorded.result is not Result.FAILED:
            await self._after_beat(settlement.timer.agent, now)

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
        self._decision_log({name: value for name, value in line.items() if value})


_SPOKEN = frozenset({"bedtime_nudge_sent", "morning_brief_sent"})


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
