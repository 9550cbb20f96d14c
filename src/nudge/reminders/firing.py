"""What happens when a reminder's timer is due: condition, gate, delivery, outcome and next time, in one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nudge.attention.gate import Gate
from nudge.attention.rules import Decision, Defer, Refuse
from nudge.durations import format_duration
from nudge.instants import MINUTE, Instant, rfc3339
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.firing import Firing, Settlement, TimerChangedError, batched
from nudge.queue.outcomes import Result
from nudge.queue.timers import LATE_FROM, Timer, talk_lane
from nudge.redaction import redact
from nudge.reminders.changes import SNOOZED
from nudge.reminders.conditions import Act, Conditions, Judgment, Question, Verdict, judge
from nudge.reminders.handover import Handover, candidate_of
from nudge.reminders.reminder import Reminder, Status
from nudge.reminders.slots import Due, after_firing, after_passing, due
from nudge.reminders.store import ReminderStore
from nudge.reminders.text import delivered_text, late_in_words, time_in_words
from nudge.schedules import Idle

_MOVED_TO = "moved_to"
_SPELL = "spell"


class ReminderFiring:
    def __init__(self, store: ReminderStore, handover: Handover, gate: Gate, conditions: Conditions) -> None:
        self._store = store
        self._handover = handover
        self._gate = gate
        self._conditions = conditions

    @batched
    async def fire(self, firing: Firing) -> None:
        """The handler of the kind `reminder`. Safe to run twice: only the settling writes, and it does so once."""
        reminder = await self._store.reminders.get(firing.timer.key.removeprefix("reminder:"))
        if reminder is None or reminder.status is not Status.ACTIVE:
            async with firing.settle() as settlement:
                settlement.outcome(Result.SUPPRESSED, "The reminder is no longer active.")
            return
        payload: dict[str, Any] = {}
        if isinstance(reminder.schedule, Idle):
            spell = firing.timer.payload.get(_SPELL)
            if _MOVED_TO not in firing.timer.payload:  # one that was put off has been decided already
                spell = await self._idle_since(firing, reminder.schedule, reminder)
                if spell is None:
                    return
            payload = {_SPELL: spell}
        occurrence = _occurrence(firing, reminder)
        if occurrence.starts_chain:
            reminder = replace(reminder, asked=0)
        verdict = None
        if not occurrence.too_late and reminder.condition is not None and reminder.condition.command is not None:
            firing.needs_outside()
            verdict = await self._conditions.ask(
                Question(
                    reminder.condition.command,
                    reminder.agent,
                    reminder.id,
                    reminder.fire_count,
                    reminder.condition.timeout,
                )
            )
        async with firing.settle() as settlement:
            current = await self._store.reminders.lock(reminder.id)
            if current is None or replace(current, asked=reminder.asked) != reminder:
                raise TimerChangedError  # edited while its condition was asked: look at it as it is now
            open_slot, held_by = await self._open_slot(firing.timer, occurrence.slot_at)
            if open_slot is None:
                after = _Turn(settlement, occurrence, reminder, None, payload).passed("")
            else:
                if open_slot != occurrence.slot_at:
                    occurrence = replace(occurrence, slot_at=open_slot, collapsed=0)
                turn = _Turn(settlement, occurrence, reminder, verdict, payload)
                turn.held_by = held_by
                after = await self._decide(turn)
            if after != current:
                await self._store.reminders.save_state(after)

    async def _open_slot(self, timer: Timer, latest: Instant) -> tuple[Instant | None, str]:
        """The slot that still needs its row, and the reason if a rule has put it off: the latest one; or the timer's
        own, if the clock was set back and brought the latest a second time. None if both have theirs."""
        for slot_at in dict.fromkeys((latest, timer.slot_at)):
            row = await self._store.outcomes.get(timer.agent, timer.key, slot_at)
            if row is None:
                return slot_at, ""
            if not row.final:
                return slot_at, row.reason if row.detail.get("rule") else ""
        return None, ""

    async def _decide(self, turn: _Turn) -> Reminder:
        """Fill the settlement; the reminder as it is then."""
        if turn.occurrence.too_late:
            return turn.missed()
        reminder, verdict = turn.reminder, turn.verdict
        judgment = judge(reminder, None if verdict is None else verdict.met)
        if judgment.act is Act.END:
            turn.record(Result.SKIPPED, f"{judgment.ends} There is nothing left to do.")
            return turn.passed(judgment.ends)
        if judgment.act is Act.SKIP:
            reason = verdict.reason if verdict is not None else ""
            turn.record(Result.SKIPPED, f"The condition was not met{f': {reason}' if reason else '.'}")
            return turn.passed(judgment.ends)
        slot_at = turn.occurrence.slot_at
        text = delivered_text(reminder, slot_at, turn.now, output="" if verdict is None else verdict.output)
        if reminder.to_person:
            decision = await self._ask_gate(turn, text)
            if isinstance(decision, Defer):
                return turn.deferred(decision)
            if isinstance(decision, Refuse):
                turn.record(Result.SUPPRESSED, decision.rule.sentence, rule=decision.rule.value)
                return turn.passed(decision.rule.sentence if reminder.one_shot and reminder.chain is None else "")
        row = await self._handover(reminder, text, slot_at, turn.now)
        return turn.fired(judgment, row)

    async def _ask_gate(self, turn: _Turn, text: str) -> Decision:
        """The gate's decision, with its price paid if it allows."""
        candidate = candidate_of(turn.reminder, text, turn.occurrence.slot_at, snoozed=turn.snoozed)
        return await self._gate.admit(turn.reminder.agent, candidate, turn.now)

    async def _idle_since(self, firing: Firing, schedule: Idle, reminder: Reminder) -> Instant | None:
        """Since when the agent has been idle for long enough, or None if the timer was set to look again.

        It fires once per idle spell. In a spell it has fired for, the next look is one time-out later: whatever the
        agent does meanwhile, its next time lies beyond that.
        """
        agent, now = reminder.agent, firing.now
        since = await self._store.records.get(agent, IDLE_SINCE)
        if since is None:
            since = reminder.created_at
        due_at = Instant(since + schedule.timeout_us)
        in_turn = any(lease.lane in (agent, talk_lane(agent)) for lease in await self._store.lanes.held(now))
        had = firing.timer.payload.get(_SPELL) == since
        if due_at <= now and not in_turn and not had:
            return since
        async with firing.settle() as settlement:
            if firing.timer.attempts:
                settlement.outcome(Result.SKIPPED, "The agent was not idle.")
            later = Instant(now + schedule.timeout_us)  # one that says how long it is busy may be done before
            settlement.again(later if in_turn or had else min(due_at, later))
        return None


class _Turn:
    """One occurrence on its way to its outcome: fills the settlement and says what becomes of the reminder."""

    def __init__(
        self,
        settlement: Settlement,
        occurrence: Due,
        reminder: Reminder,
        verdict: Verdict | None,
        payload: dict[str, Any],
    ) -> None:
        self.settlement = settlement
        self.occurrence = occurrence
        self.reminder = reminder
        self.verdict = verdict
        self.now = settlement.now
        self.snoozed = bool(settlement.timer.payload.get(SNOOZED))
        self._payload = payload
        self.held_by = ""
        """The sentence of the rule that put it off."""

    def record(self, result: Result, reason: str = "", **detail: Any) -> None:
        """The one row of the occurrence. Where slots were missed it is the row of the latest, which stands for all."""
        known: dict[str, Any] = {"name": self.reminder.name} if self.reminder.name else {}
        if self.snoozed:
            known["snoozed"] = True
        if self.occurrence.collapsed:
            known["collapsed"] = self.occurrence.collapsed
        if self.verdict is not None:
            known["condition"] = "met" if self.verdict.met else "not met"
            known["exit_code"] = self.verdict.exit_code
            known["output"] = redact(self.verdict.output)
        self.settlement.outcome(result, reason, **known, **detail)
        assert self.settlement.recorded is not None
        self.settlement.recorded = replace(self.settlement.recorded, slot_at=self.occurrence.slot_at)

    def fired(self, judgment: Judgment, row: dict[str, int]) -> Reminder:
        reminder, slot_at = self.reminder, self.occurrence.slot_at
        detail: dict[str, Any] = {"fire_count": reminder.fire_count + 1, **row}
        if reminder.chain is not None:
            detail["link"] = [min(reminder.asked + 1, reminder.chain), reminder.chain]
        if self.held_by or self.now - slot_at >= LATE_FROM:
            late = late_in_words(slot_at, self.now, reminder.zone)
            self.record(Result.FIRED_LATE, f"{late} {self._why_late()}", **detail)
        else:
            self.record(Result.FIRED, "", **detail)
        return self._go_on(*after_firing(self.reminder, self.occurrence.slot_at, self.now, judgment.ends))

    def _why_late(self) -> str:
        """Why it waited, as far as anybody knows."""
        if self.held_by:
            return self.held_by
        if self.settlement.timer.attempts:
            return "An earlier attempt failed, and it was retried."
        return "nudge was not running, or had too much to do."

    def passed(self, ends: str) -> Reminder:
        return self._go_on(*after_passing(self.reminder, self.occurrence.slot_at, self.now, ends))

    def missed(self) -> Reminder:
        reminder, slot_at = self.reminder, self.occurrence.slot_at
        when = time_in_words(slot_at, self.now, reminder.zone)
        late = format_duration(self.occurrence.late_us // MINUTE * MINUTE)
        self.record(Result.MISSED, f"It was due {when}. {late} later was too late.")
        after = self.passed("It came too late." if reminder.one_shot and reminder.chain is None else "")
        following = self.settlement.following
        then = "" if following is None else f" Next: {time_in_words(following.due_at, self.now, reminder.zone)}."
        self.settlement.feed("missed", f"Missed: {_short(reminder)}, due {when}, {late} ago.{then}")
        return after

    def deferred(self, decision: Defer) -> Reminder:
        self.record(Result.DEFERRED, decision.rule.sentence, rule=decision.rule.value, until=rfc3339(decision.until))
        assert self.settlement.recorded is not None
        self.settlement.recorded = replace(self.settlement.recorded, final=False)
        payload = {**self._payload, _MOVED_TO: decision.until} | ({SNOOZED: True} if self.snoozed else {})
        timer = replace(self.settlement.timer, slot_at=self.occurrence.slot_at, payload=payload)
        self.settlement.following = timer.deferred(decision.until)
        return self.reminder

    def _go_on(self, after: Reminder, next_at: Instant | None) -> Reminder:
        if next_at is not None:
            self.settlement.again(next_at, self._payload)
        elif after.condition is not None:
            self.settlement.feed("completed", f"Completed: {_short(after)}. {after.ended_reason}")
        return after


def _occurrence(firing: Firing, reminder: Reminder) -> Due:
    """An occurrence that was put off, by a rule or by an error, keeps its slot: its row is open."""
    timer = firing.timer
    moved_to = timer.payload.get(_MOVED_TO)
    if moved_to is None and timer.attempts:
        moved_to = timer.slot_at
    return due(reminder, timer.slot_at, firing.now, moved_to=None if moved_to is None else Instant(moved_to))


def _short(reminder: Reminder) -> str:
    said = redact(reminder.name or " ".join(reminder.message.split()))
    return f"{said[:60]} ({reminder.id})"
