"""The first signal stops gracefully, the second at once.

At once means at once: a handler that will not be cancelled or a database that does not answer gets a moment, and then
the process ends under it. That loses no more than pulling the plug does, which is nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal

from nudge.queue.dispatch import Dispatcher

log = logging.getLogger("nudge.daemon")

_LAST_SECONDS = 2.0


def handle_signals(dispatcher: Dispatcher) -> list[signal.Signals]:
    """The list fills with what came."""
    came: list[signal.Signals] = []

    def on_signal(which: signal.Signals) -> None:
        came.append(which)
        if len(came) == 1:
            log.info("stopping; press Ctrl-C again to stop at once")
            dispatcher.stop()
        else:
            dispatcher.abort()
            loop.call_later(_LAST_SECONDS, os._exit, 128 + which)

    loop = asyncio.get_running_loop()
    for which in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if which is not signal.SIGHUP or signal.getsignal(which) is not signal.SIG_IGN:  # else nohup was meant
            loop.add_signal_handler(which, on_signal, which)
    return came
