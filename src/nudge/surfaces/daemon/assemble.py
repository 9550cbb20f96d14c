"""Put the parts together: which use case handles which kind of timer, over which adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.app.agents import Agents
from nudge.app.delivery import KIND as DELIVER
from nudge.app.delivery import Delivery
from nudge.app.dispatch import Dispatcher
from nudge.app.ports.clock import Clock
from nudge.app.ports.messenger import Messenger
from nudge.app.ports.store import Store
from nudge.core.instants import rfc3339


class Daemon:
    """The whole of nudge on given ports. The process, the simulator and the tests run the same one."""

    def __init__(
        self, store: Store, clock: Clock, messenger: Messenger, *, owner: str, longest_wait: float | None = None
    ) -> None:
        self.store = store
        self.clock = clock
        self.agents = Agents(store)
        self.delivery = Delivery(store, lambda agent: messenger)
        self.dispatcher = Dispatcher(
            store, clock, {DELIVER: self.delivery.deliver}, owner=owner, longest_wait=longest_wait
        )
        self._started = clock.now()

    async def start(self) -> None:
        """Bring the store in line with the home before the first timer fires."""
        await self.agents.ensure_default(self.clock.now())

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
