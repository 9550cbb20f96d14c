"""Notice that nudge.toml changed while the daemon runs, and let money count at once: whoever paid for a sleeping agent
does not wait for a restart. A look costs one stat; everything but money, tier and models counts from the next start."""

from __future__ import annotations

import logging

from nudge.clock import Clock
from nudge.errors import NudgeError
from nudge.home.settings import Settings
from nudge.home.spending_plan import plan_of, routes_of
from nudge.spending.governor import Spending

log = logging.getLogger("nudge.reload")

LOOK_SECONDS = 0.5


class SpendingReload:
    def __init__(self, settings: Settings, spending: Spending, clock: Clock) -> None:
        self._settings = settings
        self._spending = spending
        self._clock = clock
        self._seen = self._stamp()

    async def run(self) -> None:
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """A file that has a mistake in it changes nothing and is told to the log, once."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            settings = Settings.read(self._settings.home, self._settings.environment)
            plan, routes = plan_of(settings), routes_of(settings)
            await self._spending.reconfigure(plan, routes, self._clock.now())
        except NudgeError as error:
            log.error("the changed configuration was not taken over: %s", error)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = self._settings.home.config.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size
