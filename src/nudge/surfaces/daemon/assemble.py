"""Put the parts together: which use case handles which kind of timer, over which adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.app.agents import Agents
from nudge.app.attention import Gate
from nudge.app.delivery import KIND as DELIVER
from nudge.app.delivery import Delivery
from nudge.app.dispatch import Dispatcher
from nudge.app.person import Person, PersonOf
from nudge.app.ports.clock import Clock
from nudge.app.ports.conditions import Conditions, Question, Verdict
from nudge.app.ports.messenger import Messenger
from nudge.app.ports.seeds import Seeds
from nudge.app.ports.store import Store
from nudge.app.reminders import ROUTINES, Handover, ReminderFiring, Reminders, Seeding
from nudge.core.instants import rfc3339, zone_of
from nudge.core.reminder import KIND as REMINDER


class Daemon:
    """The whole of nudge on given ports. The process, the simulator and the tests run the same one."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        messenger: Messenger,
        *,
        owner: str,
        longest_wait: float | None = None,
        person_of: PersonOf | None = None,
        conditions: Conditions | None = None,
        seeds: Seeds | None = None,
    ) -> None:
        person_of = person_of or _somebody
        self.store = store
        self.clock = clock
        self.agents = Agents(store)
        self.delivery = Delivery(store, lambda agent: messenger)
        self.reminders = Reminders(store, person_of)
        self.gate = Gate(store, person_of, self.reminders.claims)
        firing = ReminderFiring(store, Handover(store, self.delivery.post), self.gate, conditions or _NoCommands())
        self.seeding = Seeding(store, person_of, seeds) if seeds else None
        handlers = {DELIVER: self.delivery.deliver, REMINDER: firing.fire}
        if self.seeding:
            handlers[ROUTINES] = self.seeding.poll
        self.dispatcher = Dispatcher(store, clock, handlers, owner=owner, longest_wait=longest_wait)
        self._started = clock.now()

    async def start(self) -> None:
        """Bring the store in line with the home before the first timer fires."""
        now = self.clock.now()
        await self.agents.ensure_default(now)
        if self.seeding:
            await self.seeding.seed_all(now)

    async def run(self) -> None:
        await self.dispatcher.run()

    async def status(self) -> Mapping[str, Any]:
        now = self.clock.now()
        next_due = await self.store.timers.next_due(now)
        return {
            "started_at": rfc3339(self._started),
            "now": rfc3339(now),
            "agents": [agent.name for agent in await self.store.agents.all()],
            "timers": await self.store.timers.count(),
            "next_due": rfc3339(next_due) if next_due is not None else None,
            "busy_lanes": self.dispatcher.busy,
            "fired": self.dispatcher.fired,
        }


def _somebody(agent: str) -> Person:
    return Person(zone_of("UTC"))


class _NoCommands:
    """Where there is no machine to run them on, as in a simulation."""

    async def ask(self, question: Question) -> Verdict:
        return Verdict(False, "commands are not run here")
