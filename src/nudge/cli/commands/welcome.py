"""What to do next."""

from __future__ import annotations

import argparse

from nudge.cli.render import out
from nudge.daemon.lock import holder_of
from nudge.home.folder import Home


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home)
    if not home.exists:
        steps = [
            ("nudge chat", "talk to the coach here: no key, no account; sets up a home too"),
            ("nudge init", f"only set up the home, in {home.path}"),
        ]
    elif holder_of(home) is None:
        steps = [
            ("nudge chat", "talk to the coach here"),
            ("nudge run", "start the daemon and leave it running"),
            ('nudge reminder "call mum friday 5pm"', "set a reminder; it fires while the daemon runs"),
            ("nudge doctor", "check the set-up first"),
        ]
    else:
        steps = [
            ("nudge chat", "talk to the coach"),
            ('nudge reminder "call mum friday 5pm"', "set a reminder"),
            ("nudge status", "see what the daemon is doing"),
            ("nudge log", "see what happened"),
            ("nudge why", "see why it acted, or didn't"),
        ]
    out("nudge acts on time, knows when not to interrupt, never overspends, and can prove it.\n")
    out("Next:")
    steps.append(("nudge --help", "everything else"))
    width = max(len(command) for command, _ in steps) + 2
    for command, meaning in steps:
        out(f"  {command:<{width}}{meaning}", hang=width + 2)
    return 0
