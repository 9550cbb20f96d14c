"""The coach's desk: the person's documents, their targets, and everything known at one moment, ready to be used.

Documents are read when they are needed and parsed again only when the file changed. What the last good Schedule Targets
were is in the store, so that a broken edit changes nothing and is reported once.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import time

from nudge.attention.quiet import Person
from nudge.coach.blocks import too_long
from nudge.coach.briefings import Briefing, night_of, period_key
from nudge.coach.document_files import DocumentFiles
from nudge.coach.facts import CoachFacts, CoachState, DueReminder, Purpose, Turn
from nudge.coach.goals import Goals, parse_goals
from nudge.coach.memory import parse_memory
from nudge.coach.prompts import Documents
from nudge.coach.review import Review
from nudge.coach.store import CoachStore, Saying
from nudge.coach.targets import Targets, choose
from nudge.errors import NotConfiguredError
from nudge.instants import HOUR, Instant, local_date, start_of_day
from nudge.queue.records import Record, fields, instant, text, texts

log = logging.getLogger("nudge.desk")

GOALS, MEMORY, AGENTS, HEARTBEAT = "GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md"
NAMES = (GOALS, MEMORY, AGENTS, HEARTBEAT)
PROACTIVE = ("heartbeat", "briefing", "routine")

GOOD_TARGETS: Record[Targets] = Record(
    "targets.good",
    lambda data: Targets.from_fields({text(name): text(value) for name, value in fields(data).items()}),
    Targets.as_fields,
)
"""The last targets that worked."""
REPORTED: Record[tuple[str, ...]] = Record("targets.reported", texts, list)
"""The broken versions of GOALS.md that the person was told about."""
REVIEW: Record[Review] = Record("review", Review.from_json, Review.to_json)
LAST_BEDTIME: Record[Instant] = instant("bedtime.last")
"""When the last bedtime message went out."""
_MOST_REPORTED = 50


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why GOALS.md cannot be used as it is, in words for the person. One `version` is complained about once."""

    text: str
    version: str


@dataclass(frozen=True, slots=True)
class _Read:
    version: str
    goals: Goals
    targets: Targets
    complaint: Complaint | None
    there: bool = True


class Desk:
    """What an agent knows about its person.

    >>> class Files:
    ...     def read(self, agent, name): return b"## Schedule Targets\\n- wake_target: \\"08:30\\"\\n"
    ...     def version(self, agent, name): return "1"
    >>> Desk(store=None, files=Files(), default_timezone="UTC").person("coach").wake
    510
    """

    def __init__(self, store: CoachStore, files: DocumentFiles, default_timezone: str) -> None:
        self._store = store
        self._files = files
        self._default = Targets(timezone=default_timezone)
        self._goals: dict[str, _Read] = {}
        self._good: dict[str, Targets | None] = {}
        self._checked: dict[str, dict[str, str]] = {}

    def text(self, agent: str, name: str) -> str:
        """A document as text, empty if it is not there; bytes that are not UTF-8 survive the way back. One that the
        system does not let us read, or that is too long to parse, raises: taking it for empty, somebody would write
        over it."""
        try:
            content = self._files.read(agent, name)
        except OSError as error:
            raise NotConfiguredError(
                f"{name} of {agent} cannot be read: {error.strerror or error}.", next_step="Check its permissions."
            ) from error
        text = "" if content is None else content.decode("utf-8", "surrogateescape")
        if (reason := too_long(text)) is not None:
            raise NotConfiguredError(
                f"{name} of {agent} is too long: {reason}.", next_step="Move what is no longer needed to another file."
            )
        return text

    def write(self, agent: str, name: str, text: str) -> None:
        self._files.write(agent, name, text.encode("utf-8", "surrogateescape"))

    def documents(self, agent: str) -> Documents:
        """The texts as somebody reads them. One that cannot be read is left out: a coach without a checklist is better
        than none."""
        return Documents(*(self._shown(agent, name) for name in NAMES))

    def _shown(self, agent: str, name: str) -> str:
        try:
            return self.text(agent, name)
        except NotConfiguredError as error:
            log.warning("%s", error)
            return ""

    def goals(self, agent: str) -> Goals:
        return self._read(agent).goals

    def targets(self, agent: str) -> Targets:
        """The targets in force: those of GOALS.md, or the last good ones while the file is broken or missing."""
        return self._read(agent).targets

    def person(self, agent: str) -> Person:
        targets = self.targets(agent)
        return Person(
            targets.zone,
            targets.quiet_hours,
            wake=_minutes(targets.wake_target),
            bedtime=_minutes(targets.bedtime_target),
        )

    def versions(self, agent: str) -> dict[str, str]:
        return {name: self._files.version(agent, name) for name in NAMES}

    def changed(self, agent: str) -> bool:
        """Whether somebody may have written a document since the targets were last checked. Agents that were never
        opened here are not coaches of ours; their files are their own."""
        return agent in self._good and self._checked.get(agent) != self.versions(agent)

    def complaint(self, agent: str) -> Complaint | None:
        """What is wrong with GOALS.md now."""
        return self._read(agent).complaint

    async def open(self, agent: str) -> None:
        """Read the last good targets from the store, once, before anybody asks for them."""
        good = await self._store.records.get(agent, GOOD_TARGETS)
        self._good[agent] = good
        self._goals.pop(agent, None)
        self._checked.pop(agent, None)

    async def check_targets(self, agent: str) -> tuple[bool, Complaint | None]:
        """Look at GOALS.md: whether the targets changed since the last look, and the complaint for the person where
        this very version cannot be used and has not been reported. Part of the caller's transaction.

        The store is asked, not memory: a look whose transaction failed is done again as if it had never been.
        """
        self._checked[agent] = self.versions(agent)  # before reading: what is written from here on is news
        read = self._read(agent)
        records = self._store.records
        if not read.there and read.complaint is None:
            return False, None
        if read.complaint is None:
            before = await records.get(agent, GOOD_TARGETS)
            if read.targets != before:
                await records.set(agent, GOOD_TARGETS, read.targets)
            self._good[agent] = read.targets
            await records.delete(agent, REPORTED)  # broken in the same way again, it is news again
            return read.targets != before, None
        reported = await records.get(agent, REPORTED) or ()
        if read.complaint.version in reported:
            return False, None
        await records.set(agent, REPORTED, (*reported[-_MOST_REPORTED:], read.complaint.version))
        return False, read.complaint

    async def review(self, agent: str) -> Review | None:
        return await self._store.records.get(agent, REVIEW)

    async def save_review(self, agent: str, review: Review | None) -> None:
        if review is None:
            await self._store.records.delete(agent, REVIEW)
        else:
            await self._store.records.set(agent, REVIEW, review)

    async def state(self, agent: str, now: Instant) -> CoachState:
        targets = self.targets(agent)
        row = await self._store.attention.get(agent)
        midnight = start_of_day(local_date(now, targets.zone), targets.zone)
        sent = await self._store.outbox.recent(agent, since=midnight, limit=200)
        morning = period_key(Briefing.MORNING, now, targets)
        review = await self.review(agent)
        last_bedtime = await self._store.records.get(agent, LAST_BEDTIME)
        return CoachState(
            last_user_message=row.last_conversation if row else None,
            last_activity=row.last_activity if row else None,
            proactive_today=sum(message.kind in PROACTIVE for message in sent),
            bedtime_nudges=row.bedtime.in_night(night_of(now, targets)) if row else 0,
            last_bedtime_nudge=last_bedtime,
            morning_brief_sent=await self._store.periods.taken(agent, Briefing.MORNING, morning) is not None,
            review_in_progress=review is not None and review.in_progress,
            quiet_until=row.quiet_until if row else None,
            delayed_until=row.delayed_until if row else None,
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
        task: str = "",
        degraded: bool = False,
    ) -> CoachFacts:
        targets = self.targets(agent)
        return CoachFacts(
            now=now,
            purpose=purpose,
            targets=targets,
            goals=self.goals(agent),
            memory=parse_memory(self._shown(agent, MEMORY), local_date(now, targets.zone)),
            state=await self.state(agent, now),
            due_reminders=due,
            turns=await self.turns(agent, now),
            text=text,
            briefing=briefing,
            review=await self.review(agent),
            task=task,
            degraded=degraded,
        )

    async def say(self, agent: str, role: str, text: str, now: Instant, kind: str = "conversation") -> int:
        return await self._store.conversations.add(Saying(agent, now, role, text, kind))

    def _read(self, agent: str) -> _Read:
        version = self._files.version(agent, GOALS)
        known = self._goals.get(agent)
        if known is not None and known.version == version:
            return known
        self._goals[agent] = read = self._parsed(agent, version)
        return read

    def _parsed(self, agent: str, version: str) -> _Read:
        good = self._good.get(agent)
        try:
            content = self._files.read(agent, GOALS)
        except OSError as error:
            reason = f"I'm not allowed to read it ({error.strerror})" if error.strerror else "I cannot read it"
            return _Read(version, Goals(), good or self._default, _lost(reason, good or self._default))
        if content is None:
            # Nobody need be told about a file that never was there.
            gone = _lost("it is gone", good) if good else None
            return _Read(version, Goals(), good or self._default, gone, there=False)
        text = content.decode("utf-8", "surrogateescape")
        if (excess := too_long(text)) is not None:
            return _Read(version, Goals(), good or self._default, _lost(excess, good or self._default))
        goals = parse_goals(text)
        choice = choose(good, goals.parsed)
        complaint = Complaint(choice.notice, choice.version) if choice.notice else None
        return _Read(version, goals, choice.targets, complaint)


def _lost(reason: str, targets: Targets) -> Complaint:
    fields = ", ".join(f"{name} {value}" for name, value in targets.as_fields().items())
    return Complaint(
        f"I can't use GOALS.md: {reason}. Until it is back I keep the last schedule targets: {fields}.",
        f"lost: {reason}",
    )


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute
