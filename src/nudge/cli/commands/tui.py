"""Watch and steer everything in this terminal: agents, budgets, what is next, the feed, sessions and questions.

'?' lists the keys. Needs a running daemon ('nudge run').
"""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.errors import DaemonUnreachableError, needs_extra


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    from nudge.daemon.lock import holder_of

    context = Context(args)
    if holder_of(context.home) is None:
        raise DaemonUnreachableError("No daemon is running here.", next_step="Start it with 'nudge run'.")
    try:
        from nudge.tui.app import NudgeTui
    except ImportError:
        raise needs_extra("The dashboard needs textual, which is not installed.", "tui") from None
    from nudge.clock import SystemClock
    from nudge.tui.client import SocketSurface

    NudgeTui(SocketSurface(context.home.socket), SystemClock()).run()
    return 0
