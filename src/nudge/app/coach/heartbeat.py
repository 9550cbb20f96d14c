"""The heartbeat: every 45 minutes the coach considers whether to say something. Saying nothing is a good result.

Everything that can answer without a model is asked first: asleep, quiet, a conversation, an empty bucket, and whether
anything has changed since the last judgment at all.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nudge.app.attention import Gate
from nudge.app.coach.desk import LAST_BEDTIME, Desk
from nudge.app.coach.speaking import Speaking, Words
from nudge.app.coach.thinking import Thinking
from nudge.app.dispatch import Firing, Settlement
from nudge.app.ports.model import ModelRequest, Purpose, Turn
from nudge.app.ports.store import Store
from nudge.core.attention import Allow, Candidate, Kind
from nudge.core.coach.briefings import Briefing, period_key
from nudge.core.coach.decisions import DECISION_SCHEMA, Action, Decision, parse_decision
from nudge.core.coach.facts import DueReminder
from nudge.core.coach.facts import Purpose as FactsPurpose
from nudge.core.coach.heartbeat import heartbeat_prompt
from nudge.core.coach.judgment import Judgment, Signature, should_ask, signature
from nudge.core.instants import Instant, rfc3339
from nudge.core.outcome import Result
from nudge.core.repeats import signature as said_signature
from nudge.core.timer import Timer
from nudge.errors import BudgetExhaustedError, ModelUnavailableError

log = logging.getLogger("nudge.heartbeat")

KIND = "heartbeat"
JUDGMENT = "heartbeat.judgment"
ANSWER_TOKENS = 400

DueOf = Callable[[str, Instant], Awaitable[tuple[DueReminder, ...]]]
DecisionLog = Callable[[Mapping[str, Any]], None]
"""One line per decision, for whoever wants to know later what the coach was thinking."""


class Heartbeat:
    def __init__(
        self,
        store: Store,
        desk: Desk,
        gate: Gate,
        thinking: Thinking,
        speaking: Speaking,
        due_of: DueOf,
        *,
        every: int,
        change_gate: bool = True,
        decision_log: DecisionLog = lambda line: None,
    ) -> None:
        self._store = store
        self._desk = desk
        self._gate = gate
        self._thinking = thinking
        self._speaking = speaking
        self._due_of = due_of
        self._every = every
        self._change_gate = change_gate
        self._decision_log = decision_log

    async def ensure(self, agent: str, now: Instant) -> None:
        """Start the rhythm, unless it is running. The first heartbeat is one interval away."""
        await self._store.timers.ensure(Timer.at(agent, KIND, KIND, Instant(now + self._every)))

    async def beat(self, firing: Firing) -> None:
        """Handle one heartbeat: one outcome, whatever happens, and the next one on the same grid."""
        agent, now = firing.timer.agent, firing.now
        refusal = await self._refusal(agent, now)
        if refusal:
            async with firing.settle() as settlement:
                settlement.outcome(Result.SUPPRESSED, refusal)
                self._go_on(settlement)
            self._log(firing, "suppressed", refusal)
            return
        due = await self._due_of(agent, now)
        documents, targets = self._desk.documents(agent), self._desk.targets(agent)
        state = await self._desk.state(agent, now)
        current = signature(documents, state, due, now, targets)
        asking = should_ask(await self._last_judgment(agent), current, now, targets)
        if self._change_gate and not asking.ask:
            async with firing.settle() as settlement:
                settlement.outcome(Result.SKIPPED, asking.reason)
                self._go_on(settlement)
            self._log(firing, "skipped", asking.reason)
            return
        prompt = heartbeat_prompt(documents, state, due, now, targets)
        request = ModelRequest(
            Purpose.HEARTBEAT,
            "",
            prompt.system,
            (Turn("user", prompt.message),),
            ANSWER_TOKENS,
            schema=DECISION_SCHEMA,
            facts=await self._desk.facts(agent, FactsPurpose.HEARTBEAT, now, due=due),
            attempt_id=f"{agent}:{KIND}:{firing.timer.slot_at}:{firing.timer.attempts}",
        )
        try:
            reply = await self._thinking.ask(agent, request, now, waited_for=False)
        except (ModelUnavailableError, BudgetExhaustedError) as error:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FAILED, f"No judgment this time: {error}")
                self._go_on(settlement)
            self._log(firing, "failed", str(error))
            return
        decision = parse_decision(reply.data if reply.data is not None else reply.text, now)
        async with firing.settle() as settlement:
            await self._carry_out(settlement, decision, now, asking.reason)
            await self._store.notes.set(agent, JUDGMENT, {"at": now, **current.as_fields()})
            if settlement.following is None:  # a deferred one comes back by itself
                self._go_on(settlement)
        self._log(firing, decision.action.value, decision.reason or asking.reason, message=decision.message)

    async def _refusal(self, agent: str, now: Instant) -> str:
        """Why no model need be asked, or nothing."""
        if await self._thinking.asleep(agent, now):
            return "The agent is asleep until its budget is refreshed."
        decision = await self._gate.decide(agent, Candidate(Kind.HEARTBEAT), now)
        return "" if isinstance(decision, Allow) else decision.rule.sentence

    async def _carry_out(self, settlement: Settlement, decision: Decision, now: Instant, why: str) -> None:
        agent = settlement.timer.agent
        updates = decision.state_updates
        if "quiet_mode_until" in updates:
            await self._store.attention.set_quiet(agent, updates["quiet_mode_until"])
        if updates.get("morning_brief_sent"):
            period = period_key(Briefing.MORNING, now, self._desk.targets(agent))
            await self._store.periods.claim(agent, Briefing.MORNING, period, now)
        if decision.action is Action.MESSAGE:
            bedtime = bool(updates.get("bedtime_nudge_sent"))
            candidate = Candidate(
                Kind.BEDTIME if bedtime else Kind.HEARTBEAT,
                topic=decision.topic or ("bedtime" if bedtime else "heartbeat"),
                signature=said_signature(decision.message),
                due_at=settlement.timer.slot_at,
            )
            words = Words(decision.message, "heartbeat", candidate, f"It spoke: {why}.")
            if await self._speaking.say(settlement, words, now) and bedtime:
                await self._store.notes.set(agent, LAST_BEDTIME, int(now))
        elif decision.action is Action.SILENCE:
            settlement.outcome(Result.SUPPRESSED, f"The answer was no decision ({decision.reason}); nothing was sent.")
        else:
            settlement.outcome(Result.FIRED, f"{decision.action.value}: {why}.", refused=list(decision.refused))

    def _go_on(self, settlement: Settlement) -> None:
        """The next one, in the future and on the same grid."""
        slot, now = settlement.timer.slot_at, settlement.now
        missed = max(0, now - slot) // self._every
        settlement.again(Instant(slot + (missed + 1) * self._every))

    async def _last_judgment(self, agent: str) -> Judgment | None:
        kept = await self._store.notes.get(agent, JUDGMENT)
        if not isinstance(kept, dict):
            return None
        fields = {name: str(kept.get(name, "")) for name in Signature.__slots__}
        return Judgment(Instant(int(kept["at"])), Signature(**fields))

    def _log(self, firing: Firing, decision: str, reason: str, message: str = "") -> None:
        line = {"at": rfc3339(firing.now), "agent": firing.timer.agent, "decision": decision, "reason": reason}
        self._decision_log({**line, "message": message} if message else line)
