"""The first signal stops gracefully, the second at once."""

from __future__ import annotations

import asyncio
import logging
import signal

from nudge.app.dispatch import Dispatcher

log = logging.getLogger("nudge.daemon")


def handle_signals(dispatcher: Dispatcher) -> list[signal.Signals]:
    """The list fills with what came."""
    came: list[signal.Signals] = []

    def on_signal(which: signal.Signals) -> None:
        came.append(which)
        if len(came) == 1:
            log.info("stopping; once more to stop at once")
            dispatcher.stop()
        else:
            dispatcher.abort()

    loop = asyncio.get_running_loop()
    for which in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(which, on_signal, which)
    return came
