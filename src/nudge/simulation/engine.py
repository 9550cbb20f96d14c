"""The real daemon on a virtual clock with a simulated person: a week takes as long as the work in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from nudge.attention.bucket import PingBudget
from nudge.clock import Clock
from nudge.coach.person_documents import DocumentFiles
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.world import is_coach
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.seeds import HomeSeeds
from nudge.instants import DAY, HOUR, SECOND, Instant
from nudge.reminders.conditions import Question, Verdict
from nudge.reminders.seeding import ROUTINES
from nudge.simulation.channel import SimulatedPerson
from nudge.simulation.home_copy import Belongings, carry_over
from nudge.simulation.journal import Journal, JournalStore, Record, timeline_of
from nudge.simulation.models import Answerers
from nudge.simulation.person import Profile
from nudge.simulation.timeline import Asked, Plan, Sample, Timeline
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.simulation.work import simulated_work
from nudge.spending.prices import PriceTable
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.store import SqlStore
from nudge.worker.loop import RunOptions
from nudge.worker.sessions import Task


class DocumentsInMemory:
    """What is written stays here and is what is read from then on. A year of edits costs no disk."""

    def __init__(self, original: DocumentFiles) -> None:
        self._original = original
        self._kept: dict[tuple[str, str], bytes | None] = {}
        self._versions: dict[tuple[str, str], int] = {}

    def read(self, agent: str, name: str) -> bytes | None:
        place = agent, name
        if place not in self._kept:
            self._kept[place] = self._original.read(agent, name)
        return self._kept[place]

    def write(self, agent: str, name: str, content: bytes) -> None:
        self._kept[agent, name] = content
        self._versions[agent, name] = self._versions.get((agent, name), 0) + 1

    def version(self, agent: str, name: str) -> str:
        return "" if self.read(agent, name) is None else str(self._versions.get((agent, name), 0))


LONGEST_WAIT = 3600.0
"""Nothing but the simulated person and the timers themselves wakes the daemon, and both poke it."""

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"

Note = Callable[[Asked], None]
MakeAnswerers = Callable[[Clock, Note], Answerers]
"""Given a clock and where to note calls: who answers."""


@dataclass
class Assumed:
    """Conditions are commands of the person's. A simulation runs none of them: each is taken as met."""

    asked: set[str] = field(default_factory=set)

    async def ask(self, question: Question) -> Verdict:
        self.asked.add(question.reminder_id)
        return Verdict(True)

    def notes(self) -> list[str]:
        if not self.asked:
            return []
        if len(self.asked) == 1:
            return ["1 condition is a command; it was not run, and the simulation treats it as met."]
        return [f"{len(self.asked)} conditions are commands; none was run, and the simulation treats them as met."]


@dataclass(frozen=True)
class Engine:
    """One simulation in a home that may be written. `on_day` is told how many days are over. The store is gone at the
    end unless `database` names a file."""

    plan: Plan
    profile: Profile
    home: Home
    options: Options
    prices: PriceTable
    belongings: Belongings
    make_answerers: MakeAnswerers
    on_day: Callable[[int], None] = lambda days: None
    database: str = ":memory:"
    run_options: RunOptions | None = None
    """How the runs of an agent that works are limited; None if it does not."""

    def run(self) -> Timeline:
        with silent_logs():
            return run_virtual(self._live, self.plan.start)

    async def _live(self, clock: VirtualClock) -> Timeline:
        journal = Journal()
        store = JournalStore(SqliteDatabase.open(self.database), journal)
        try:
            notes = await carry_over(self.belongings, store, self.plan)
            person = SimulatedPerson(self.plan, self.profile, store, clock)
            asked: list[Asked] = []
            conditions = Assumed()
            answerers = self.make_answerers(clock, asked.append)
            ports = Ports(
                store,
                clock,
                person,
                DocumentsInMemory(HomeDocuments(self.home)),
                self.prices,
                model=answerers.model,
                model_for=answerers.model_for,
                rules=answerers.rules,
                conditions=conditions,
                seeds=HomeSeeds(self.home),
                new_id=ids_from(self.plan.seed),
                is_coach=lambda agent: is_coach(self.home, agent),
                work=simulated_work(self.home, clock, self.plan.seed, self.run_options) if self.run_options else None,
            )
            daemon = Daemon(ports, replace(self.options, longest_wait=LONGEST_WAIT))
            await daemon.start()
            talks = any(agent.name == self.plan.agent and ports.is_coach(agent) for agent in await store.agents.all())
            samples = await self._run(clock, daemon, person, talks=talks)
            notes += conditions.notes()
            if self.run_options is not None:
                notes.append("No task was run: durations and costs are typical values.")
            elif not talks:
                notes.append(f"{self.plan.agent} is not a coach: nobody talks to it, and its inbox is not read.")
            reminders = await store.reminders.everything(self.plan.agent)
            bucket = self.options.ping_budget
            record = Record(journal.entries, person.arrived, person.did, asked, samples, reminders, bucket, notes)
            return timeline_of(self.plan, record)
        finally:
            await store.close()

    async def _run(self, clock: VirtualClock, daemon: Daemon, person: SimulatedPerson, *, talks: bool) -> list[Sample]:
        """Let them live until the end of the plan. Whoever ends before that ends it all. The person talks to a coach
        and hands tasks to a worker; to others they have nothing to say."""
        agent, samples = self.plan.agent, list[Sample]()
        await daemon.store.timers.cancel(agent, ROUTINES)  # nobody writes files here, so nobody need look for changes
        running = asyncio.create_task(daemon.run(), name="daemon")
        beside = [asyncio.create_task(self._look(clock, daemon, samples), name="samples")]
        if talks:
            living = person.live(lambda update: daemon.coach.listener.hear(agent, update))
            beside.append(asyncio.create_task(living, name="person"))
        elif daemon.working is not None:
            beside.append(asyncio.create_task(person.hand_over(partial(_give, daemon, agent)), name="person"))
        end = asyncio.create_task(clock.sleep((self.plan.end - clock.now()) / SECOND), name="end")
        await asyncio.wait({end, running, *beside}, return_when=asyncio.FIRST_COMPLETED)
        early = [task for task in (running, *beside) if task.done()]
        for task in (end, *beside):
            task.cancel()
        daemon.stop()
        await asyncio.gather(running, end, *beside, return_exceptions=True)
        for task in early:
            task.result()
        return samples

    async def _look(self, clock: VirtualClock, daemon: Daemon, samples: list[Sample]) -> None:
        """Every hour: how full is the bucket, and how much of the day's money is used?"""
        while True:
            now = clock.now()
            samples.append(await self._sample(daemon, daemon.store, now))
            self.on_day((now - self.plan.start) // DAY)
            await clock.sleep(HOUR / SECOND)

    async def _sample(self, daemon: Daemon, store: SqlStore, now: Instant) -> Sample:
        """Before anybody has asked for its bucket there is none, and it counts as full."""
        agent, sample = self.plan.agent, Sample(now)
        if self.options.ping_budget:
            row = await store.attention.get(agent)
            budget = PingBudget(self.options.capacity) if row is None else row.budget
            sample = Sample(now, budget.level_at(now), budget.capacity)
        if self.plan.model == "offline":
            return sample
        status = await daemon.spending.state(agent, now)
        asleep = not status.state.may_go_on
        return replace(sample, spent=status.meter.spent, limit=status.meter.limit, asleep=asleep)


async def _give(daemon: Daemon, agent: str, task: str) -> None:
    assert daemon.working is not None
    await daemon.working.sessions.give(agent, Task(task))
    daemon.poke()


def ids_from(seed: int) -> Callable[[], str]:
    """New ids for reminders that are the same in every run with that seed."""
    random = Random(f"ids:{seed}")
    return lambda: "r-" + "".join(random.choice(_ALPHABET) for _ in range(6))


@contextmanager
def silent_logs() -> Iterator[None]:
    """What the daemon would write to its log is the timeline's business here."""
    log = logging.getLogger("nudge")
    before = log.propagate
    handler = logging.NullHandler()
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = before
