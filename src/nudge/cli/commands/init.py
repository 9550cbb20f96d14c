"""Create a home with commented templates: in --home, else NUDGE_HOME, else ~/.nudge. Existing files stay untouched."""

from __future__ import annotations

import argparse

from nudge.cli.render import note, out
from nudge.home.create import make_home
from nudge.home.folder import Home


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    home = Home.find(given=args.home)
    made = make_home(home)
    for path in made:
        out(f"created  {path}")
    if not made:
        note(f"{home.path} has everything already.")
    note("\nNext:")
    note(f"  edit {home.agent('coach') / 'GOALS.md'} — what you want, when you sleep, and your time zone")
    note("  nudge chat                talk to the coach here; needs no key and no account")
    note(f"  nudge pair                talk in your chat app; first put a bot's token into {home.env_file}")
    note(f"  put keys into {home.env_file}; 'nudge doctor' checks everything")
    return 0
