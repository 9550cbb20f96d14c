"""Notice that nudge.toml changed while the daemon runs, and let money count at once: whoever paid for a sleeping agent
does not wait for a restart. A look costs one stat; everything but money, tier and models counts from the next start."""

from __future__ import annotations

import logging
import os

from nudge.clock import Clock
from nudge.errors import NudgeError
from nudge.home.config import Config
from nudge.home.read_config import read_config
from nudge.spending.governor import Spending

log = logging.getLogger("nudge.reload")

LOOK_SECONDS = 0.5


class SpendingReload:
    """`problem` is what is wrong with the changed file, until it is fixed."""

    def __init__(self, config: Config, spending: Spending, clock: Clock) -> None:
        self._config = config
        self._spending = spending
        self._clock = clock
        self._seen = self._stamp()
        self.problem: NudgeError | None = None

    async def run(self) -> None:
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """A file with a mistake in it changes nothing; the mistake is logged once. Neither does a file that is gone:
        some editors remove it for a moment."""
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return
        self._seen = stamp
        self.problem = None
        try:
            config = read_config(self._config.home, {**os.environ, **self._config.environment})
            await self._spending.reconfigure(config.spending.plan, config.spending.routes, self._clock.now())
        except NudgeError as error:
            self.problem = error
            log.error("The changed configuration was not applied: %s", error)

    def _stamp(self) -> tuple[int, int, int] | None:
        """When the entry itself changed counts too: permissions can be what is wrong."""
        try:
            stat = self._config.home.config.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size
