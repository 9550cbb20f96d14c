"""Background runs: the coach reads its inbox and acts on what its routines and reminders ask of it.

One letter is one run, and a run sends one ping at most. Letters are read by priority, as they came; one that can wait
until the agent is idle waits for the end of a conversation. While the agent sleeps on its budget its letters are kept.
"""

from __future__ import annotations

from dataclasses import replace

from nudge.attention.forward_schedule import upcoming
from nudge.attention.gate import Gate
from nudge.attention.preamble import background_preamble
from nudge.attention.repeats import signature
from nudge.attention.rules import CONVERSATION, Candidate, Defer, Kind
from nudge.coach.answering import RULES, Answering
from nudge.coach.fact_reader import FactReader
from nudge.coach.judgment import READ_TWICE, Action, Decision, parse_decision
from nudge.coach.messages import Ping, Pings
from nudge.coach.person_reminders import BUTTONS
from nudge.coach.prompts import Prompt, background_prompt
from nudge.coach.store import CoachStore
from nudge.errors import BudgetExhaustedError
from nudge.instants import HOUR, MINUTE, Instant, rfc3339
from nudge.queue.firing import Firing, Settlement, batched
from nudge.queue.inbox import LETTERS, Letter, Priority, letter_key
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from nudge.reminders.conditions import MET, SKIP
from nudge.reminders.service import Reminders
from nudge.reminders.text import counted
from nudge.spending.lifecycle import AsleepError

LOOK_AGAIN = HOUR
"""After a call that the day's money does not cover: it may be enough when others have settled theirs."""


def letters_timer(agent: str, now: Instant) -> Timer:
    """There is something in the inbox. It waits its turn in the agent's own lane."""
    return Timer.at(agent, LETTERS, LETTERS, now)


class Background:
    def __init__(
        self,
        store: CoachStore,
        facts: FactReader,
        gate: Gate,
        answering: Answering,
        pings: Pings,
        reminders: Reminders,
    ) -> None:
        self._store = store
        self._facts = facts
        self._gate = gate
        self._answering = answering
        self._pings = pings
        self._reminders = reminders

    async def arrived(self, agent: str, priority: Priority, now: Instant) -> None:
        """A letter came; part of the transaction that delivered it. What is urgent does not wait for a rest to end. A
        run that is under way goes on: it looks for more letters when it settles."""
        if priority is Priority.IDLE:
            await self._store.timers.ensure(letters_timer(agent, now))
        else:
            await self._store.timers.hasten(letters_timer(agent, now))

    @batched
    async def run(self, firing: Firing) -> None:
        """Handle the most urgent letter, and come back for the others. Each letter is an occurrence of its own, however
        many are read at one instant."""
        agent, now = firing.timer.agent, firing.now
        letters = await self._store.letters.unread(agent, limit=1)
        if not letters:
            async with firing.settle() as settlement:
                if firing.timer.attempts:
                    settlement.outcome(Result.SKIPPED, "There was nothing left to read.")
            return
        letter = letters[0]
        firing.stands_for(letter_key(letter.id, letter.count), letter.created_at)
        wait = await self._wait(agent, letter, now)
        if wait is not None:
            await self._put_off(firing, wait)
            return
        if self._answering.pays:
            firing.needs_outside()
        try:
            decision, text, judged = await self._think(firing, letter)
        except BudgetExhaustedError as error:  # there was money when we looked, and not enough for this
            until = error.refresh_at if isinstance(error, AsleepError) else Instant(now + LOOK_AGAIN)
            await self._put_off(firing, max(until, Instant(now + MINUTE)))
            return
        async with firing.settle() as settlement:
            await self._store.letters.mark_read(letter.id, now, count=letter.count)
            said = decision.message or (SKIP if decision.action is Action.OK else text)
            await self._reminders.agent_replied(letter.id, said, now, judged=judged)
            words = without_marks(decision.message)
            if decision.speaks and words:
                await self._speak(settlement, letter, decision, now)
            else:
                settlement.outcome(Result.SILENT, f"{_name(letter)}: {decision.reason or _silence(decision)}.")
            if settlement.following is not None:
                await self._postpone(letter, settlement)
            elif await self._store.letters.unread(agent, limit=1):
                settlement.again(now)

    async def _put_off(self, firing: Firing, until: Instant) -> None:
        async with firing.settle() as settlement:
            if firing.timer.attempts:  # it has a row, which stays open
                settlement.outcome(Result.DEFERRED, "It waits for its time.", final=False, until=rfc3339(until))
            settlement.again(until)

    async def _wait(self, agent: str, letter: Letter, now: Instant) -> Instant | None:
        """Until when a letter must wait, or None."""
        rest = await self._answering.rests_until(agent, now)
        if rest is not None and rest > now:
            return rest
        if letter.priority is Priority.IDLE:
            said = (await self._gate.row(agent, now)).last_conversation
            if said is not None and said <= now < said + CONVERSATION:
                return Instant(said + CONVERSATION)
        # What could not be said now anyway is not thought about now; a silent task says nothing and need not wait.
        decision = await self._gate.decide(agent, _candidate(letter), now)
        return decision.until if isinstance(decision, Defer) else None

    async def _think(self, firing: Firing, letter: Letter) -> tuple[Decision, str, bool]:
        """The decision, the answer's text, and whether a model gave it: rules cannot judge a condition in words."""
        agent, now = firing.timer.agent, firing.now
        targets = self._facts.targets(agent)
        ref, slot = str(letter.detail.get("ref") or letter.topic), letter.detail.get("slot_at")
        this = (ref, Instant(slot)) if isinstance(slot, int) else None
        schedule = upcoming(await self._reminders.upcoming(agent, now), now, this)
        preamble = background_preamble(await self._pings.budget(agent, now), schedule, now, targets.zone)

        def prompt() -> Prompt:
            task = counted(letter.body, letter.count)
            return background_prompt(self._facts.texts(agent), task, preamble, now, targets)

        facts = await self._facts.for_heartbeat(agent, now, task=letter.body)
        attempt = f"{agent}:letter:{letter.id}:{letter.count}:{now}"
        answer = await self._answering.judgment(agent, facts, prompt, self._facts.tasks, attempt, now)
        return parse_decision(answer.content, now), answer.text, answer.model != RULES

    async def _speak(self, settlement: Settlement, letter: Letter, decision: Decision, now: Instant) -> None:
        text = without_marks(decision.message)
        candidate = replace(
            _candidate(letter), signature=signature(text), about=text, claims_critical=decision.critical
        )
        ping = Ping(text, "routine", candidate, f"{_name(letter)} sent a message.", BUTTONS)
        await self._pings.send(settlement, ping, now)

    async def _postpone(self, letter: Letter, settlement: Settlement) -> None:
        """The gate said later. The letter is put back as it was, so that the run is made again at that time."""
        await self._store.letters.put_back(letter.id)
        settlement.recorded = None


def without_marks(text: str) -> str:
    """What the person reads of an answer: the marks are for the reminder.

    >>> without_marks("[condition-met] The deploy is through.")
    'The deploy is through.'
    """
    return text.replace(MET, "").replace(SKIP, "").strip()


def _candidate(letter: Letter) -> Candidate:
    detail = letter.detail
    return Candidate(
        Kind.ROUTINE,
        asked_by_person=True,
        allow_ping=bool(detail.get("allow_ping", True)),
        critical=bool(detail.get("critical")),
        has_claim=bool(detail.get("reserve")),
        topic=str(detail.get("ref") or letter.topic or "letter"),
        due_at=detail.get("slot_at"),
    )


def _silence(decision: Decision) -> str:
    return READ_TWICE if decision.action is Action.READ else "nothing to say"


def _name(letter: Letter) -> str:
    return str(letter.detail.get("name") or letter.detail.get("ref") or letter.sender)
