"""Keeping reminders in line with what roles and routines ask for.

They are matched by name. A new one is created. One that the file changed is replaced, edits of the person included, and
keeps how far it has come. One that the file no longer asks for is paused. What the person removed stays removed until
the file changes it. A file that cannot be read changes nothing: its last good version stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import Protocol

from nudge.attention.quiet import PersonOf
from nudge.errors import NudgeError
from nudge.instants import SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.firing import Firing
from nudge.queue.outcomes import FeedLine
from nudge.queue.records import Record, items, text
from nudge.queue.timers import Timer
from nudge.reminders.changes import Change, change, kept, timer_at
from nudge.reminders.definition import (
    UNKNOWN_VERSION,
    Definition,
    make_reminder,
    replaced,
    same_timing,
    same_version,
    timing_edited,
)
from nudge.reminders.reminder import Reminder, Source, Status
from nudge.reminders.service import Reminders, random_id
from nudge.reminders.slots import first_slot
from nudge.reminders.store import ReminderStore


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that cannot be used. `version` tells a file that is still broken from one that is broken in
    another way; `ref` names the file whose last good reminder stays."""

    text: str
    version: str
    ref: str = ""


PROBLEMS: Record[tuple[Problem, ...]] = Record(
    "problems",
    lambda data: tuple(Problem(text(one), text(version)) for one, version in items(data)),
    lambda problems: [[problem.text, problem.version] for problem in problems],
)
"""What is wrong now with what roles or routine files ask for: one record for each source."""


@dataclass(frozen=True, slots=True)
class FileReminder:
    """One reminder that a file asks for. `place` names it in a problem: "routines/chores.md"."""

    name: str
    definition: Definition
    place: str
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`where` is said in sentences: "the role coach". If the whole could not be read, nothing is taken away."""

    source: Source
    where: str
    reminders: tuple[FileReminder, ...] = ()
    problems: tuple[Problem, ...] = ()
    readable: bool = True


class Seeds(Protocol):
    def of_role(self, agent: Agent) -> Wanted: ...

    def of_routines(self, agent: Agent) -> Wanted: ...

    def stamp(self, agent: Agent) -> Hashable:
        """Another value whenever a routine's file came, went or changed. Cheap: asked every half minute."""
        ...


log = logging.getLogger("nudge.seeding")

ROUTINES = "routines"
"""The kind, and the key, of the timer that looks whether a routine's file has changed."""

POLL = 30 * SECOND
_NOT_WANTED = "no longer asked for by "


class Seeding:
    def __init__(
        self, store: ReminderStore, person_of: PersonOf, seeds: Seeds, *, new_id: Callable[[], str] = random_id
    ) -> None:
        self._store = store
        self._person_of = person_of
        self._seeds = seeds
        self._reminders = Reminders(store, person_of, new_id=new_id)
        self._stamps: dict[str, Hashable] = {}

    async def seed_all(self, now: Instant) -> None:
        """At start-up: every agent's role and routines."""
        for agent in await self._store.agents.all():
            await self.seed(agent, now)

    async def seed(self, agent: Agent, now: Instant) -> None:
        self._stamps[agent.name] = self._seeds.stamp(agent)
        for wanted in (self._seeds.of_role(agent), self._seeds.of_routines(agent)):
            await self._apply(agent.name, wanted, now)
        await self._store.timers.ensure(
            Timer.at(agent.name, ROUTINES, ROUTINES, Instant(now + POLL), lane=f"{agent.name}/{ROUTINES}")
        )

    def forget(self, agent: str) -> None:
        """Keep nothing of an agent in memory: the next poll reads its routines again."""
        self._stamps.pop(agent, None)

    async def poll(self, firing: Firing) -> None:
        """The handler of the kind `routines`: read the files again if one of them has changed."""
        agent, now = await self._store.agents.get(firing.timer.agent), firing.now
        stamp = None if agent is None else self._seeds.stamp(agent)
        async with firing.settle() as settlement:
            if agent is None:
                return
            if self._stamps.get(agent.name) != stamp:
                await self._apply(agent.name, self._seeds.of_routines(agent), now)
            settlement.again(Instant(now + POLL))
        if agent is not None:
            self._stamps[agent.name] = stamp

    async def _apply(self, agent: str, wanted: Wanted, now: Instant) -> None:
        async with self._store.transaction():
            existing = await self._store.reminders.seeded(agent, wanted.source)
            problems = list(wanted.problems)
            names: set[str] = set()
            for asked in wanted.reminders:
                try:
                    await self._one(agent, wanted, asked, existing, names, now)
                except NudgeError as error:
                    version = blake2s(repr(asked.definition).encode(), digest_size=8).hexdigest()
                    problems.append(Problem(f"{asked.place}: {error}", version, asked.ref))
                names.add(asked.name)
            if wanted.readable:
                broken = {problem.ref for problem in wanted.problems if problem.ref}
                for old in existing:
                    if old.status is Status.ACTIVE and old.name not in names and old.ref not in broken:
                        await self._set_aside(old, wanted, now)
            await self._report(agent, wanted.source, problems, now)

    async def _one(
        self,
        agent: str,
        wanted: Wanted,
        asked: FileReminder,
        existing: Sequence[Reminder],
        names: set[str],
        now: Instant,
    ) -> None:
        if asked.name in names:
            raise NudgeError(f"Two reminders are called {asked.name!r}.", next_step="Rename one of them.")
        zone = self._person_of(agent).zone.key
        made = make_reminder(asked.definition, agent=agent, now=now, zone=zone, source=wanted.source, ref=asked.ref)
        old = _of_name(existing, made.name)
        for other in await self._store.reminders.named(made.name, agent):
            if other.source is not wanted.source:
                raise NudgeError(
                    f"The reminder {made.name!r} of {wanted.where} has the same name as {other.id} "
                    f"(from {other.source.value}).",
                    next_step=f"Rename one of them, or run 'nudge reminder remove {other.id}'.",
                )
        if old is None:
            await self._reminders.put(made, now)
        elif _is_news(old, made):
            await self._update(old, made, wanted, now)

    async def _update(self, old: Reminder, made: Reminder, wanted: Wanted, now: Instant) -> None:
        def step(before: Reminder, timer: Timer | None) -> Change:
            same = same_timing(before.spec, made.spec)
            after = replaced(before, made)
            if same:
                after = replace(after, schedule=before.schedule, rhythm=before.rhythm)
            if _comes_back(before, after, same):
                after = replace(after, status=Status.ACTIVE, ended_reason="", asked=0)
                timer = None
            said = f"Updated from {wanted.where}: {after.title}."
            if after.status is not Status.ACTIVE:
                return Change(after, None, said, "seeded")
            if same and timer is not None:
                return Change(after, kept(timer, after), said, "seeded")
            first = first_slot(after, now)
            if first is None:
                ended = replace(after, status=Status.COMPLETED, ended_reason="Its time has passed.")
                return Change(ended, None, said, "seeded")
            return Change(after, timer_at(after, first), said, "seeded")

        await change(self._store, old.id, now, step)

    async def _set_aside(self, old: Reminder, wanted: Wanted, now: Instant) -> None:
        def step(before: Reminder, timer: Timer | None) -> Change:
            after = replace(before, status=Status.PAUSED, ended_reason=f"{_NOT_WANTED}{wanted.where}")
            said = f"Paused: {before.title} ({before.id}) is {after.ended_reason}."
            return Change(after, None, said, "paused")

        await change(self._store, old.id, now, step)

    async def _report(self, agent: str, source: Source, problems: Sequence[Problem], now: Instant) -> None:
        """Each problem once per version in the feed; all that there are now in the log and, for `nudge doctor`, in a
        record."""
        record = PROBLEMS.of(source.value)
        before = await self._store.records.get(agent, record) or ()
        current = tuple(Problem(problem.text, problem.version) for problem in problems)
        for problem in current:
            log.warning("%s: %s", agent, problem.text)
            if problem not in before:
                await self._store.feed.add(FeedLine(now, agent, "problem", f"⚠️ {problem.text}"))
        if current != before:
            await self._store.records.set(agent, record, current)


def _is_news(old: Reminder, made: Reminder) -> bool:
    """Whether the file asks for something else than it did, or the person has moved to another zone. A timing that the
    person edited does not follow them: it stays until the file changes."""
    if old.ended_reason.startswith(_NOT_WANTED) or not same_version(old.spec, made.spec):
        return True
    return not (old.status.ended or timing_edited(old.spec) or same_timing(old.spec, made.spec))


def _comes_back(before: Reminder, after: Reminder, same: bool) -> bool:
    """Whether a reminder that has stopped fires again with this version of its file.

    One that was imported without its version cannot be compared with the file, so it stays as it was.
    """
    if before.ended_reason.startswith(_NOT_WANTED):
        return True
    if before.spec == UNKNOWN_VERSION or same_version(before.spec, after.spec):
        return False
    if before.status is Status.COMPLETED:
        return not (same and before.condition == after.condition)
    return before.status is Status.CANCELLED


def _of_name(existing: Sequence[Reminder], name: str) -> Reminder | None:
    """The one that lives, else the newest of that name."""
    named = [one for one in existing if one.name == name]
    return next((one for one in named if not one.status.ended), named[0] if named else None)
