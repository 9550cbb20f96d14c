"""The coach's desk: the person's documents, their targets, and everything known at one moment, ready to be used.

Documents are read when they are needed and parsed again only when the file changed. What the last good Schedule Targets
were is in the store, so that a broken edit changes nothing and is reported once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from nudge.app.person import Person
from nudge.app.ports.coach import Saying
from nudge.app.ports.documents import DocumentFiles
from nudge.app.ports.store import Store
from nudge.core.coach.briefings import Briefing, night_of, period_key
from nudge.core.coach.documents import Document
from nudge.core.coach.facts import CoachFacts, CoachState, DueReminder, Purpose, Turn
from nudge.core.coach.goals import Goals, parse_goals
from nudge.core.coach.heartbeat import Documents
from nudge.core.coach.memory import parse_memory
from nudge.core.coach.review import Review
from nudge.core.coach.targets import Choice, Targets, choose
from nudge.core.instants import HOUR, Instant, local_date, start_of_day

GOALS, MEMORY, AGENTS, HEARTBEAT = "GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md"
PROACTIVE = ("heartbeat", "briefing")

GOOD_TARGETS = "targets.good"
REPORTED_VERSION = "targets.reported"
REVIEW = "review"
DELAYED_UNTIL = "delayed_until"
LAST_BEDTIME = "bedtime.last"


@dataclass(frozen=True, slots=True)
class _Read:
    version: str
    goals: Goals
    choice: Choice


class Desk:
    def __init__(self, store: Store, files: DocumentFiles, default_timezone: str) -> None:
        self._store = store
        self._files = files
        self._default = Targets(timezone=default_timezone)
        self._goals: dict[str, _Read] = {}
        self._good: dict[str, Targets | None] = {}

    def text(self, agent: str, name: str) -> str:
        """A document as text; bytes that are not UTF-8 survive the way back."""
        content = self._files.read(agent, name)
        return "" if content is None else Document.decode(content).text

    def write(self, agent: str, name: str, text: str) -> None:
        self._files.write(agent, name, Document.parse(text).encode())

    def documents(self, agent: str) -> Documents:
        return Documents(*(self.text(agent, name) for name in (GOALS, MEMORY, AGENTS, HEARTBEAT)))

    def goals(self, agent: str) -> Goals:
        return self._read(agent).goals

    def targets(self, agent: str) -> Targets:
        """The targets in force: those of GOALS.md, or the last good ones while the file is broken or missing."""
        return self._read(agent).choice.targets

    def person(self, agent: str) -> Person:
        targets = self.targets(agent)
        return Person(
            targets.zone,
            targets.quiet_hours,
            wake=_minutes(targets.wake_target),
            bedtime=_minutes(targets.bedtime_target),
        )

    def versions(self, agent: str) -> dict[str, str]:
        return {name: self._files.version(agent, name) for name in (GOALS, MEMORY, AGENTS, HEARTBEAT)}

    async def open(self, agent: str) -> None:
        """Read the last good targets from the store, once, before anybody asks for them."""
        kept = await self._store.notes.get(agent, GOOD_TARGETS)
        self._good[agent] = Targets.from_fields(kept) if isinstance(kept, dict) else None
        self._goals.pop(agent, None)

    async def check_targets(self, agent: str) -> tuple[bool, str | None]:
        """Look at GOALS.md: whether the targets changed since the last look, and the notice for the person where this
        very version is broken and has not been reported. Part of the caller's transaction."""
        before = self._good.get(agent)
        choice = self._read(agent).choice
        if choice.notice is None:
            if choice.targets != before:
                await self._store.notes.set(agent, GOOD_TARGETS, choice.targets.as_fields())
                self._good[agent] = choice.targets
            return choice.targets != before, None
        if await self._store.notes.get(agent, REPORTED_VERSION) == choice.version:
            return False, None
        await self._store.notes.set(agent, REPORTED_VERSION, choice.version)
        return False, choice.notice

    async def review(self, agent: str) -> Review | None:
        kept = await self._store.notes.get(agent, REVIEW)
        return Review.from_json(kept) if isinstance(kept, dict) else None

    async def save_review(self, agent: str, review: Review | None) -> None:
        await self._store.notes.set(agent, REVIEW, review.to_json() if review else None)

    async def state(self, agent: str, now: Instant) -> CoachState:
        targets = self.targets(agent)
        row = await self._store.attention.get(agent)
        midnight = start_of_day(local_date(now, targets.zone), targets.zone)
        sent = await self._store.outbox.recent(agent, since=midnight, limit=200)
        morning = period_key(Briefing.MORNING, now, targets)
        review = await self.review(agent)
        notes = await self._store.notes.all(agent)
        return CoachState(
            last_user_message=row.last_conversation if row else None,
            last_activity=row.last_activity if row else None,
            proactive_today=sum(message.kind in PROACTIVE for message in sent),
            bedtime_nudges=row.bedtime.in_night(night_of(now, targets)) if row else 0,
            last_bedtime_nudge=_instant(notes.get(LAST_BEDTIME)),
            morning_brief_sent=await self._store.periods.taken(agent, Briefing.MORNING, morning) is not None,
            review_in_progress=review is not None and review.in_progress,
            quiet_until=row.quiet_until if row else None,
            delayed_until=_instant(notes.get(DELAYED_UNTIL)),
        )

    async def turns(self, agent: str, now: Instant, limit: int = 40) -> tuple[Turn, ...]:
        """What was said lately, oldest first; words older than a day are another conversation."""
        said = await self._store.conversations.recent(agent, limit)
        return tuple(
            Turn(one.role, one.content, one.at, one.forwarded)
            for one in reversed(said)
            if one.role in ("user", "assistant") and now - one.at < 24 * HOUR
        )

    async def facts(
        self,
        agent: str,
        purpose: Purpose,
        now: Instant,
        *,
        due: tuple[DueReminder, ...] = (),
        text: str = "",
        briefing: Briefing | None = None,
        degraded: bool = False,
    ) -> CoachFacts:
        targets = self.targets(agent)
        return CoachFacts(
            now=now,
            purpose=purpose,
            targets=targets,
            goals=self.goals(agent),
            memory=parse_memory(self.text(agent, MEMORY), local_date(now, targets.zone)),
            state=await self.state(agent, now),
            due_reminders=due,
            turns=await self.turns(agent, now),
            text=text,
            briefing=briefing,
            review=await self.review(agent),
            degraded=degraded,
        )

    async def say(self, agent: str, role: str, text: str, now: Instant, kind: str = "conversation") -> int:
        return await self._store.conversations.add(Saying(agent, now, role, text, kind))

    def _read(self, agent: str) -> _Read:
        version = self._files.version(agent, GOALS)
        known = self._goals.get(agent)
        if known is not None and known.version == version:
            return known
        content = self._files.read(agent, GOALS)
        if content is None:
            targets = self._good.get(agent) or self._default
            read = _Read(version, Goals(), Choice(targets, None, "missing"))
        else:
            goals = parse_goals(Document.decode(content).text)
            read = _Read(version, goals, choose(self._good.get(agent), goals.parsed))
        self._goals[agent] = read
        return read


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _instant(value: object) -> Instant | None:
    return Instant(value) if isinstance(value, int) else None
