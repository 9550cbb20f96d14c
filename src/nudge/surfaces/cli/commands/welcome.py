"""What to do next."""

from __future__ import annotations

import argparse

from nudge.adapters.home import Home
from nudge.surfaces.cli.render import out
from nudge.surfaces.daemon.lock import holder_of


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home)
    if not home.exists:
        steps = [
            ("nudge init", f"make a home in {home.path}"),
            ("nudge run --terminal", "try it here, with no key and no account"),
        ]
    elif holder_of(home) is None:
        steps = [
            ("nudge run", "start the daemon"),
            ("nudge doctor", "check the set-up first"),
        ]
    else:
        steps = [
            ("nudge status", "what the daemon is doing"),
            ("nudge log", "what happened"),
            ("nudge why", "why it acted, or didn't"),
        ]
    out("nudge acts on time, knows when not to interrupt, never overspends, and can prove it.\n")
    out("Next:")
    for command, meaning in [*steps, ("nudge --help", "everything else")]:
        out(f"  {command:<22}{meaning}")
    return 0
