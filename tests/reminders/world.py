"""A small world for reminders: an agent, a person, a channel, the daemon's own parts, and virtual time."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from nudge.attention.gate import Gate
from nudge.attention.quiet import Person, QuietHours
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.outcomes import Outcome
from nudge.reminders.definition import make_reminder
from nudge.reminders.firing import ReminderFiring
from nudge.reminders.handover import Handover
from nudge.reminders.reminder import Reminder, Source
from nudge.reminders.seeding import Seeding, Seeds
from nudge.reminders.service import Reminders
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel, ScriptedConditions
from tests.reminders.reminder_values import asked
from tests.times import NOON, TORONTO


class World:
    def __init__(
        self,
        clock: VirtualClock,
        store: SqlStore,
        *,
        conditions: ScriptedConditions | None = None,
        quiet: tuple[int, int] | None = None,
        seeds: Seeds | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.conditions = conditions or ScriptedConditions()
        self.channel = RecordingChannel()
        hours = QuietHours(quiet[0] * 60, quiet[1] * 60, TORONTO) if quiet else None
        self.person = Person(TORONTO, hours)
        self._ids = itertools.count(1)
        self._owners = itertools.count(1)
        self.reminders = Reminders(store, lambda agent: self.person, new_id=self._new_id)
        self.seeding = Seeding(store, lambda agent: self.person, seeds, new_id=self._new_id) if seeds else None

    def _new_id(self) -> str:
        return f"r-{next(self._ids):06}"

    async def prepare(self, *agents: str) -> World:
        for name in agents or ("coach",):
            await self.store.agents.add(Agent(name, "coach", NOON))
        return self

    async def add(self, message: str = "Stretch.", source: Source = Source.CLI, **fields: Any) -> Reminder:
        agent, ref = fields.pop("agent", "coach"), fields.pop("ref", "")
        definition = asked(message, **fields)
        if not ref:
            return (await self.reminders.add(agent, definition, self.now, source)).reminder
        made = make_reminder(definition, agent=agent, now=self.now, zone=TORONTO.key, source=source, ref=ref)
        return (await self.reminders.put(made, self.now)).reminder

    @property
    def now(self) -> Instant:
        return self.clock.now()

    def daemon(self, longest_wait: float = 7200) -> Dispatcher:
        """The loop with what reminders need. It looks rarely unless told otherwise: a quiet month costs nothing."""
        store = self.store
        delivery = Delivery(store, lambda agent: self.channel)
        gate = Gate(store, lambda agent: self.person, self.reminders.claims)
        firing = ReminderFiring(store, Handover(store, delivery.post), gate, self.conditions)
        handlers = {"deliver": delivery.deliver, "reminder": firing.fire}
        if self.seeding:
            handlers["routines"] = self.seeding.poll
        owner = f"d{next(self._owners)}"
        return Dispatcher(store, self.clock, handlers, owner=owner, longest_wait=longest_wait)

    async def run_for(self, microseconds: int) -> None:
        """The daemon runs for a while, then stops."""
        daemon = self.daemon()
        if self.seeding:
            await self.seeding.seed_all(self.now)
        running = asyncio.create_task(daemon.run())
        await self.clock.sleep(microseconds / 1_000_000)
        daemon.stop()
        await running

    async def down_for(self, microseconds: int) -> None:
        """Nothing runs for a while."""
        await self.clock.sleep(microseconds / 1_000_000)

    async def state(self, reminder: Reminder) -> Reminder:
        found = await self.store.reminders.get(reminder.id)
        assert found is not None
        return found

    async def outcomes(self) -> list[Outcome]:
        return list(await self.store.outcomes.after_id(0))

    async def results(self) -> list[tuple[int, str]]:
        """(slot, result) of all outcomes, the slot as minutes after the start."""
        return [((row.slot_at - NOON) // 60_000_000, row.result.value) for row in await self.outcomes()]

    async def inbox(self, agent: str = "coach") -> list[str]:
        return [letter.body for letter in await self.store.letters.unread(agent)]

    async def next_in(self, reminder: Reminder) -> int | None:
        timer = await self.store.timers.get(reminder.agent, reminder.key)
        return None if timer is None else timer.due_at - NOON

    async def feed(self) -> list[str]:
        return [line.text for line in reversed(await self.store.feed.recent(limit=100))]
