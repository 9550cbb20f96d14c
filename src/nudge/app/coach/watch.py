"""Notice that somebody wrote a document: editor, git or another process. Looking costs a stat, and no database."""

from __future__ import annotations

import logging
from collections.abc import Callable

from nudge.app.coach.desk import Desk
from nudge.app.coach.proactive import documents_timer
from nudge.app.ports.clock import Clock
from nudge.app.ports.store import Store
from nudge.errors import NudgeError

log = logging.getLogger("nudge.watch")

LOOK_SECONDS = 10.0


class Watch:
    """Runs beside the dispatcher. A change becomes a timer that is due now, so that it is handled like everything."""

    def __init__(self, store: Store, clock: Clock, desk: Desk, poke: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._desk = desk
        self._poke = poke
        self._seen: dict[str, dict[str, str]] = {}

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (NudgeError, OSError) as error:
                log.warning("the documents could not be looked at: %s", error)
            await self._clock.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        for agent in await self._store.agents.all():
            versions = self._desk.versions(agent.name)
            before = self._seen.get(agent.name)
            self._seen[agent.name] = versions
            if before is not None and before != versions:
                await self._store.timers.set(documents_timer(agent.name, self._clock.now()))
                self._poke()
