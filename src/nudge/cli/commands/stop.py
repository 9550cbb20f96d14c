"""Stop the daemon gracefully. Running work may finish, for up to ten seconds."""

from __future__ import annotations

import argparse
import time

from nudge.cli.render import note
from nudge.daemon.control_client import call
from nudge.daemon.lock import holder_of
from nudge.errors import DaemonUnreachableError, NudgeError
from nudge.home.folder import Home

_PATIENCE_SECONDS = 15


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home).require()
    try:
        pid = call(home.socket, "POST", "/stop")["pid"]
    except DaemonUnreachableError:
        if not (holder := holder_of(home)):
            raise
        raise _stays(holder.pid) from None
    note(f"Stopping process {pid} …")
    for _ in range(_PATIENCE_SECONDS * 20):
        if holder_of(home) is None:
            note("Stopped.")
            return 0
        time.sleep(0.05)
    raise _stays(pid)


def _stays(pid: int) -> NudgeError:
    return NudgeError(f"Process {pid} is still running.", next_step=f"Run 'kill -9 {pid}'. Nothing is lost.")
