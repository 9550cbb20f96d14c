"""Judgment that learns: ninety days of eight simulated persons, without and with what the coach learns about them.

A ping is unwanted if the person ignores or curses it, and welcome if they answer it in any other way. The numbers of
`nudge.attention.welcome` were chosen by looking at the first four persons only; the other four are the test.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, say
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.simulation.request import Request, simulations
from nudge.simulation.summary import Summary, summarise

TUNED_ON = ("early-bird", "night-owl", "busy-week", "silent")
UNSEEN = ("night-worker", "new-parent", "student", "traveller")
DAYS = 90
FIRST = date(2026, 1, 5)
TASKS = {"[Single most important task]": "Write one page of the report", "[Second task if time]": "A walk outside"}


def lived(person: str, learning: str) -> Summary:
    """A life of that person in a fresh home that has something on Today's list."""
    with TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        make_home(home)
        goals = home.path / "agents" / "coach" / "GOALS.md"
        text = goals.read_text(encoding="utf-8")
        for blank, task in TASKS.items():
            text = text.replace(blank, task)
        goals.write_text(text, encoding="utf-8")
        request = Request(home, DAYS, FIRST, person=person, environment={"TZ": "America/Toronto"})
        with simulations(request) as lives:
            return summarise(lives.run({"learning": learning}))


def rows() -> list[Row]:
    lives = [(person, learning) for person in (*TUNED_ON, *UNSEEN) for learning in ("off", "on")]
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1), get_context("spawn")) as pool:
        say(f"learning: {len(lives)} lives of {DAYS} days")
        found = dict(zip(lives, pool.map(lived, *zip(*lives, strict=True)), strict=True))
    table: list[Row] = []
    for person in (*TUNED_ON, *UNSEEN):
        off, on = found[person, "off"], found[person, "on"]
        told = f"{off.unwanted} → {on.unwanted} unwanted, {off.welcome} → {on.welcome} welcome"
        table.append((f"{person}, off → on", told, "–"))
    for title, persons in (
        ("the four it was tuned on", TUNED_ON),
        ("the four it had not seen", UNSEEN),
        ("all eight", (*TUNED_ON, *UNSEEN)),
    ):
        unwanted = [sum(found[person, learning].unwanted for person in persons) for learning in ("off", "on")]
        welcome = [sum(found[person, learning].welcome for person in persons) for learning in ("off", "on")]
        table.append((f"{title}: unwanted pings in {DAYS} days, on", f"{unwanted[1]}", f"≤ {unwanted[0] // 2}"))
        table.append((f"{title}: welcome pings in {DAYS} days, on", f"{welcome[1]}", f"≥ {welcome[0]}"))
    return table


if __name__ == "__main__":
    for row in rows():
        print("{:<65} {:>45}   {}".format(*row))
