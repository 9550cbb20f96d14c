"""What is wrong while the daemon runs. `nudge status` shows it first, `nudge doctor` counts it, and what is found at
the start is said at once, in the feed and on stderr: a coach with a bad key must not look like a healthy one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from nudge.clock import Clock
from nudge.daemon.checks import document_findings
from nudge.daemon.findings import Finding
from nudge.daemon.reload import SpendingReload
from nudge.errors import NudgeError, RetryableError
from nudge.home.folder import Home
from nudge.queue.outcomes import FeedLine

log = logging.getLogger("nudge.troubles")

_KEY_SECONDS = 15 * 60.0
"""How long to wait before asking again about a key that was refused, or a service that did not answer."""

AddLine = Callable[[FeedLine], Awaitable[object]]


class KeyCheck:
    """Asks the model's service whether it accepts the key: at the start, and again until it does. Asking is free."""

    def __init__(self, ask: Callable[[], Awaitable[object]], clock: Clock, add_line: AddLine) -> None:
        self._ask = ask
        self._clock = clock
        self._add_line = add_line
        self.problem: NudgeError | None = None

    async def run(self) -> None:
        while not await self.look():
            await self._clock.sleep(_KEY_SECONDS)

    async def look(self) -> bool:
        """Whether the key is good. A service that does not answer says nothing about it."""
        try:
            await self._ask()
        except RetryableError:
            return False
        except NudgeError as error:
            if self.problem is None:
                log.error("%s", error)
                text = f"{error.message} Until it does, the coach answers by its own rules."
                await self._add_line(FeedLine(self._clock.now(), "", "problem", text))
            self.problem = error
            return False
        self.problem = None
        return True


class Troubles:
    def __init__(self, home: Home, key: KeyCheck | None, reload: SpendingReload) -> None:
        self._home = home
        self._sources = [source for source in (key, reload) if source is not None]

    def now(self, coaches: Sequence[str]) -> list[dict[str, Any]]:
        """Every problem, for `nudge status`."""
        return [
            {"level": found.level, "text": found.text, "next_step": found.next_step}
            for found in (*self._errors(), *document_findings(self._home, coaches))
        ]

    def _errors(self) -> Iterator[Finding]:
        for source in self._sources:
            if error := source.problem:
                for line in error.message.splitlines():  # a configuration may have several mistakes
                    yield Finding("daemon", "error", line, error.next_step)
