"""The attention governor at work: reads the gate's state from the store, decides, and takes the ping."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date, time

from nudge.attention.bedtime import night_of
from nudge.attention.bucket import PingBudget
from nudge.attention.quiet import Person, PersonOf
from nudge.attention.reception import sent
from nudge.attention.repeats import RepeatLedger
from nudge.attention.rules import (
    Allow,
    Attention,
    Candidate,
    Decision,
    Defer,
    Kind,
    Refuse,
    Rule,
    Takes,
    decide,
    learned_topic,
)
from nudge.attention.store import AttentionRow, AttentionStore
from nudge.attention.welcome import Place, Waiting
from nudge.defaults import PING_CAPACITY, PING_REFILL_MINUTES
from nudge.instants import MINUTE, Instant, as_instant, local_date
from nudge.queue.records import Record, instant, whole

CONFIGURED: Record[tuple[int, int]] = Record(
    "attention.configured", lambda data: (whole(data[0]), whole(data[1])), lambda size: list(size)
)
"""The capacity and the refill time that were last applied from the configuration."""

SELF_QUIET = instant("attention.self_quiet")
"""How long the coach wants to say nothing of its own. A model may set it; it holds back nothing but its own ideas."""

CARE = instant("attention.care")
"""Until when nothing unasked reaches a person who is in trouble."""

_TRIES = 3

ClaimsOf = Callable[[str, Instant], Awaitable[tuple[Instant, ...]]]
"""The coming times of an agent's routines with a reserve."""
PreferencesOf = Callable[[str], Sequence[str]]
"""What an agent's person said about what they want to hear, in their words."""


class Gate:
    """Every path that can reach the person comes through here, with `admit` inside the transaction that writes the
    message. `decide` is for a look before a model is paid to find the words."""

    def __init__(
        self,
        store: AttentionStore,
        person_of: PersonOf,
        claims_of: ClaimsOf,
        *,
        capacity: int = PING_CAPACITY,
        refill_minutes: int = PING_REFILL_MINUTES,
        budget: bool = True,
        reserve: bool = True,
        preferences_of: PreferencesOf = lambda agent: (),
        learning: bool = True,
    ) -> None:
        self._store = store
        self._person_of = person_of
        self._claims_of = claims_of
        self._capacity = capacity
        self._refill_minutes = refill_minutes
        self._budget = budget
        self._reserve = reserve
        self._preferences_of = preferences_of
        self.learning = learning

    def person(self, agent: str) -> Person:
        """When the agent's person lives."""
        return self._person_of(agent)

    async def row(self, agent: str, now: Instant, *, to_change: bool = False) -> AttentionRow:
        """The stored row, with the bucket in the person's zone. The first call creates the row."""
        zone = self._person_of(agent).zone
        row = await self._store.attention.get(agent, to_change=to_change)
        if row is None:
            today = local_date(now, zone)
            await self._store.attention.create(agent, self._capacity, self._refill_minutes, now, today)
            row = await self._store.attention.get(agent, to_change=to_change)
            assert row is not None
        return replace(row, budget=replace(row.budget, tz=zone))

    async def state(self, agent: str, now: Instant, candidate: Candidate | None = None) -> Attention:
        """Everything the rules need, as values: for one candidate, or what holds for all of them. Changes nothing."""
        topic = candidate.topic if candidate is not None else None
        row = await self.row(agent, now)
        person = self._person_of(agent)
        claims = await self._claims_of(agent, now) if self._budget and self._reserve else ()
        said = await self._store.attention.said(agent, topic) if topic else {}
        theirs = candidate is not None and candidate.set_for_time
        care = None
        if not theirs:
            care = await self._store.records.get(agent, CARE)
        learns = self.learning and candidate is not None and candidate.learned_as
        own_silence = None
        if candidate is None or candidate.own_idea:
            own_silence = await self._store.records.get(agent, SELF_QUIET)
        return Attention(
            quiet_hours=person.quiet_hours,
            quiet_until=row.requests.quiet_until,
            left_alone=row.requests.left_alone,
            last_conversation=row.last_conversation,
            busy_until=row.requests.busy_until,
            budget=row.budget if self._budget else None,
            claims=claims,
            repeats=RepeatLedger({(topic or "", signature): at for signature, at in said.items()}),
            bedtime_sent=row.bedtime.in_night(self._night(agent, now)),
            self_quiet_until=own_silence,
            care_until=care,
            preferences=self._preferences_of(agent) if candidate is not None and candidate.about else (),
            critical_used=row.budget.refill(now).critical_used,
            learned=await self._store.welcomes.learned(agent) if learns else None,
            tz=person.zone,
        )

    async def decide(self, agent: str, candidate: Candidate, now: Instant) -> Decision:
        """Look, and change nothing: a decision that is not taken costs nothing."""
        return decide(await self.state(agent, now, candidate), candidate, now)

    async def admit(self, agent: str, candidate: Candidate, now: Instant) -> Decision:
        """Decide and, if it is allowed, take what it costs, inside the transaction that writes the message.

        On a shared database another daemon may take the last ping between the two. Then it decides again, and says
        that the bucket is empty if it loses every time.
        """
        for _ in range(_TRIES):
            decision = await self.decide(agent, candidate, now)
            if not isinstance(decision, Allow) or await self.take(agent, decision, candidate, now):
                return decision
        if candidate.asked_by_person:
            return Defer(Instant(now + MINUTE), Rule.BUCKET_EMPTY)
        return Refuse(Rule.BUCKET_EMPTY)

    async def take(self, agent: str, allow: Allow, candidate: Candidate, now: Instant) -> bool:
        """Take what an allowed message costs and remember what it says, inside the caller's transaction.

        False means that the bucket no longer has it. Nothing was taken then: decide again.
        """
        today = local_date(now, self._person_of(agent).zone)
        taken = True
        if allow.takes is Takes.PING:
            taken = await self._store.attention.take_ping(agent, now, today, allow.at_least)
        elif allow.takes is Takes.CRITICAL:
            taken = await self._store.attention.take_critical(agent, today, allow.at_least)
        if not taken:
            return False
        if candidate.topic and candidate.signature:
            said_at = now if candidate.due_at is None else as_instant(candidate.due_at)
            await self._store.attention.remember_said(agent, candidate.topic, candidate.signature, said_at)
        if self.learning and candidate.learned_as:
            await self._note_sent(agent, candidate, now)
        if candidate.kind is Kind.BEDTIME:
            await self._store.attention.bedtime_sent(agent, self._night(agent, now))
        return True

    async def _note_sent(self, agent: str, candidate: Candidate, now: Instant) -> None:
        """From here on the ping waits for how it is taken."""
        again = False
        if candidate.kind is Kind.BEDTIME:
            again = (await self.row(agent, now)).bedtime.in_night(self._night(agent, now)) > 0
        place = Place.of(now, self._person_of(agent).zone)
        await sent(self._store, agent, Waiting(learned_topic(candidate.learned_as, again=again), place, now))

    async def resize(self, agent: str, capacity: int, refill_minutes: int | None, now: Instant) -> PingBudget:
        """Set another capacity and, if given, another rate. What is in the bucket stays, up to the new capacity."""
        async with self._store.transaction():
            row = await self.row(agent, now, to_change=True)
            budget = row.budget.with_capacity(capacity, refill_minutes, now=now)
            await self._store.attention.set_bucket(agent, budget)
        return budget

    async def take_over(self, agent: str, now: Instant) -> None:
        """Create the row if there is none, and apply a changed configuration, once. What a command has set since the
        last change stays."""
        wanted = (self._capacity, self._refill_minutes)
        async with self._store.transaction():
            await self.row(agent, now)
            before = await self._store.records.get(agent, CONFIGURED)
            if before == wanted:
                return
            if before is not None:
                await self.resize(agent, self._capacity, self._refill_minutes, now)
            await self._store.records.set(agent, CONFIGURED, wanted)

    def _night(self, agent: str, now: Instant) -> date:
        person = self._person_of(agent)
        return night_of(now, person.zone, time(person.wake // 60, person.wake % 60))
