"""Notice that somebody wrote a document: editor, git or another process. Looking costs a few stats."""

from __future__ import annotations

import logging
from collections.abc import Callable

from nudge.clock import Clock
from nudge.coach.person_documents import Desk, documents_timer
from nudge.coach.store import CoachStore
from nudge.errors import NudgeError

log = logging.getLogger("nudge.watch")

LOOK_SECONDS = 10.0


class Watch:
    """Runs beside the dispatcher. A change becomes a timer that is due now, so that it is handled like everything.

    What has been seen is what the targets were last checked against: a document that is written while nobody looks,
    also between the start and the first look, is not overlooked.
    """

    def __init__(
        self, store: CoachStore, clock: Clock, desk: Desk, poke: Callable[[], None], every: float = LOOK_SECONDS
    ) -> None:
        self._store = store
        self._clock = clock
        self._desk = desk
        self._poke = poke
        self._every = every

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (NudgeError, OSError) as error:
                log.warning("the documents could not be looked at: %s", error)
            await self._clock.sleep(self._every)

    async def look(self) -> None:
        for agent in await self._store.agents.all():
            if self._desk.changed(agent.name):
                await self._store.timers.set(documents_timer(agent.name, self._clock.now()))
                self._poke()
