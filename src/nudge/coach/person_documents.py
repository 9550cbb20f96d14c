"""The person's documents: their texts, what GOALS.md says, and whether somebody changed them.

Documents are read when they are needed and parsed again only after the file changed. The last Schedule Targets that
worked are in the store, so that a broken edit changes nothing and is reported once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from typing import Protocol

from nudge.attention.quiet import Person
from nudge.clock import Clock
from nudge.coach.documents import GOALS, MEMORY, NAMES, Document, DocumentTexts, is_placeholder, too_long
from nudge.coach.goals import Goals, parse_goals
from nudge.coach.memory import PREFERENCES
from nudge.coach.store import CoachStore
from nudge.coach.targets import Targets, choose
from nudge.errors import NotConfiguredError, NudgeError
from nudge.instants import Instant
from nudge.queue.records import Record, fields, text, texts
from nudge.queue.timers import Timer

log = logging.getLogger("nudge.documents")

DOCUMENTS = "documents"
"""The kind and the key of the timer that stands for a changed document."""
LOOK_SECONDS = 10.0

GOOD_TARGETS: Record[Targets] = Record(
    "targets.good",
    lambda data: Targets.from_fields({text(name): text(value) for name, value in fields(data).items()}),
    Targets.as_fields,
)
"""The last targets that worked."""
REPORTED: Record[tuple[str, ...]] = Record("targets.reported", texts, list)
"""The broken versions of GOALS.md that the person was told about."""
_MOST_REPORTED = 50


def documents_timer(agent: str, now: Instant) -> Timer:
    """Look at the documents now: somebody changed one."""
    return Timer.at(agent, DOCUMENTS, DOCUMENTS, now, lane=f"{agent}/chores")


class DocumentFiles(Protocol):
    def read(self, agent: str, name: str) -> bytes | None:
        """The file's bytes; None if it does not exist."""
        ...

    def write(self, agent: str, name: str, content: bytes) -> None:
        """Replace the file in one step: a reader sees the old text or the new one, even after a power cut."""
        ...

    def version(self, agent: str, name: str) -> str:
        """Changes when the file may have changed. Cheap."""
        ...


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why GOALS.md cannot be used as it is, in words for the person. Each `version` is reported once."""

    text: str
    version: str


@dataclass(frozen=True, slots=True)
class _Read:
    version: str
    goals: Goals
    targets: Targets
    complaint: Complaint | None
    exists: bool = True


class PersonDocuments:
    """The documents of each agent's person.

    >>> class Files:
    ...     def read(self, agent, name): return b"## Schedule Targets\\n- wake_target: \\"08:30\\"\\n"
    ...     def version(self, agent, name): return "1"
    >>> PersonDocuments(store=None, files=Files(), default_timezone="UTC").person("coach").wake
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
        """A document as text, empty if it does not exist. Bytes that are not UTF-8 survive the way back.

        Raises NotConfiguredError if the file cannot be read or is too long to parse. Treating it as empty would let
        somebody write over it.
        """
        try:
            content = self._files.read(agent, name)
        except OSError as error:
            raise NotConfiguredError(
                f"{name} of {agent} cannot be read: {error.strerror or error}.", next_step="Check its permissions."
            ) from error
        found = "" if content is None else _decoded(content)
        if (excess := too_long(found)) is not None:
            raise NotConfiguredError(
                f"{name} of {agent} is too long: {excess}.", next_step="Move what you no longer need to another file."
            )
        return found

    def write(self, agent: str, name: str, text: str) -> None:
        self._files.write(agent, name, text.encode("utf-8", "surrogateescape"))

    def shown(self, agent: str, name: str) -> str:
        """The text for somebody who only reads it, empty if it cannot be used: a coach without a checklist is better
        than none."""
        try:
            return self.text(agent, name)
        except NotConfiguredError as error:
            log.warning("%s", error)
            return ""

    def texts(self, agent: str) -> DocumentTexts:
        return DocumentTexts(*(self.shown(agent, name) for name in NAMES))

    def goals(self, agent: str) -> Goals:
        return self._read(agent).goals

    def has_goals(self, agent: str) -> bool:
        """Whether there is a GOALS.md that can be read."""
        read = self._read(agent)
        return read.exists and read.complaint is None

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

    def preferences(self, agent: str) -> tuple[str, ...]:
        """What the person said about what they want to hear, in MEMORY.md."""
        document = Document.parse(self.shown(agent, MEMORY))
        return tuple(item.text for item in document.items(PREFERENCES) if not is_placeholder(item.text))

    def changed(self, agent: str) -> bool:
        """Whether somebody may have written a document since the targets were last checked. Agents that were never
        opened here are not ours to coach, and neither are their files."""
        return agent in self._good and self._checked.get(agent) != self._versions(agent)

    def complaint(self, agent: str) -> Complaint | None:
        """What is wrong with GOALS.md now."""
        return self._read(agent).complaint

    async def open(self, agent: str) -> None:
        """Read the last good targets from the store, once, before anybody needs them."""
        good = await self._store.records.get(agent, GOOD_TARGETS)
        self._good[agent] = good
        self._goals.pop(agent, None)
        self._checked.pop(agent, None)

    def forget(self, agent: str) -> None:
        """Keep nothing of an agent in memory until it is opened again."""
        for kept in (self._good, self._goals, self._checked):
            kept.pop(agent, None)

    async def check_targets(self, agent: str) -> tuple[bool, Complaint | None]:
        """Look at GOALS.md, inside the caller's transaction. Returns whether the targets changed since the last look,
        and the complaint to pass on if this version cannot be used and has not been reported yet.

        What was reported is in the store, not in memory: a look whose transaction failed is repeated in full.
        """
        self._checked[agent] = self._versions(agent)  # before reading: what is written from here on is news
        read = self._read(agent)
        records = self._store.records
        if not read.exists and read.complaint is None:
            return False, None
        if read.complaint is None:
            before = await records.get(agent, GOOD_TARGETS)
            if read.targets != before:
                await records.set(agent, GOOD_TARGETS, read.targets)
            self._good[agent] = read.targets
            await records.delete(agent, REPORTED)  # if it breaks in the same way again, that is news again
            return read.targets != before, None
        reported = await records.get(agent, REPORTED) or ()
        if read.complaint.version in reported:
            return False, None
        await records.set(agent, REPORTED, (*reported[-_MOST_REPORTED:], read.complaint.version))
        return False, read.complaint

    def _versions(self, agent: str) -> dict[str, str]:
        return {name: self._files.version(agent, name) for name in NAMES}

    def _read(self, agent: str) -> _Read:
        version = self._files.version(agent, GOALS)
        known = self._goals.get(agent)
        if known is not None and known.version == version:
            return known
        self._goals[agent] = read = self._parsed(agent, version)
        return read

    def _parsed(self, agent: str, version: str) -> _Read:
        good = self._good.get(agent)
        kept = good or self._default
        try:
            content = self._files.read(agent, GOALS)
        except OSError as error:
            reason = f"I'm not allowed to read it ({error.strerror})" if error.strerror else "I cannot read it"
            return _Read(version, Goals(), kept, _unusable(reason, kept))
        if content is None:
            # A file that never existed needs no complaint.
            return _Read(version, Goals(), kept, _unusable("it is gone", kept) if good else None, exists=False)
        if (excess := too_long(_decoded(content))) is not None:
            return _Read(version, Goals(), kept, _unusable(excess, kept))
        goals = parse_goals(_decoded(content))
        choice = choose(good, goals.parsed)
        complaint = Complaint(choice.notice, choice.version) if choice.notice else None
        return _Read(version, goals, choice.targets, complaint)


class DocumentWatch:
    """Notices that an editor, git or another process wrote a document. A look costs a few stats.

    It runs beside the dispatcher. A change becomes a timer that is due now, so that it is handled like everything
    else. A look compares with what the targets were last checked against, so that nothing written while nobody looked
    is missed.
    """

    def __init__(
        self,
        store: CoachStore,
        clock: Clock,
        documents: PersonDocuments,
        poke: Callable[[], None],
        every: float = LOOK_SECONDS,
    ) -> None:
        self._store = store
        self._clock = clock
        self._documents = documents
        self._poke = poke
        self._every = every

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (NudgeError, OSError) as error:
                log.warning("could not check the documents for changes: %s", error)
            await self._clock.sleep(self._every)

    async def look(self) -> None:
        for agent in await self._store.agents.all():
            if self._documents.changed(agent.name):
                await self._store.timers.set(documents_timer(agent.name, self._clock.now()))
                self._poke()


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _unusable(reason: str, targets: Targets) -> Complaint:
    in_force = ", ".join(f"{name} {value}" for name, value in targets.as_fields().items())
    return Complaint(
        f"I can't use GOALS.md: {reason}. Until that changes I keep the last schedule targets: {in_force}.",
        f"lost: {reason}",
    )


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute
