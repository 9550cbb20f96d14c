"""Simulation: how long virtual days of the default coach take, and whether a long life costs more per day than a short.

Processor time is reported beside time on the wall: a machine that does other things as well stretches only the latter.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.measure import Row, say
from nudge.attention.quiet import Person
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.instants import as_instant, zone_of
from nudge.queue.agents import Agent
from nudge.reminders.service import Reminders
from nudge.simulation.request import Request, simulations
from nudge.simulation.timeline import Timeline
from nudge.stores.open import open_sqlite

FIRST = date(2026, 1, 1)
START = as_instant(datetime(2026, 1, 1, 5, tzinfo=UTC))
MONTH, YEAR = 30, 365


def lived(days: int, model: str = "offline") -> tuple[float, float, Timeline]:
    """Seconds of the processor, seconds on the wall, and the life."""
    with TemporaryDirectory() as folder:
        request = Request(Home(Path(folder) / "none"), days, FIRST, model=model, environment={"TZ": "America/Toronto"})
        with simulations(request) as lives:
            cpu, wall = process_time(), perf_counter()
            life = lives.run()
            return process_time() - cpu, perf_counter() - wall, life


def crowded(days: int, count: int, frequent: int = 3) -> tuple[float, float]:
    """The same with so many reminders to the coach and to the person, many of them at the same instants: some come back
    every quarter, half or whole hour, the others are daily."""

    async def fill(path: Path) -> None:
        store = open_sqlite(str(path))
        await store.agents.add(Agent("coach", "coach", START))
        zone = zone_of("America/Toronto")
        reminders = Reminders(store, lambda agent: Person(zone))
        for number in range(count):
            often = ({"every": "15m"}, {"every": "30m"}, {"every": "1h"})
            daily = {"cron": f"{number % 2 * 30} {9 + number % 12} * * *"}
            definition = {
                "message": f"Look at {number}",
                "name": f"reminder {number}",
                "schedule": often[number % len(often)] if number < frequent else daily,
                "to_person": number % 7 == 4,
            }
            await reminders.add("coach", definition, START)
        await store.close()

    with TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        make_home(home)
        asyncio.run(fill(home.database))
        request = Request(home, days, FIRST, environment={"TZ": "America/Toronto"}, now=START)
        with simulations(request) as lives:
            cpu, wall = process_time(), perf_counter()
            lives.run()
            return process_time() - cpu, perf_counter() - wall


def rows() -> list[Row]:
    lived(2)  # imports and caches are not the simulation's
    found: list[Row] = []
    per_day = {}
    for days, limit in ((MONTH, 10), (YEAR, 90)):
        say(f"simulate: {days} days")
        cpu, wall, life = lived(days)
        per_day[days] = cpu / days
        found.append((f"{days} virtual days, processor time", f"{cpu:.1f} s", f"< {limit} s"))
        found.append((f"{days} virtual days, on the wall", f"{wall:.1f} s", f"< {limit} s"))
        found.append((f"{days} virtual days, events", f"{len(life.events):,}", "–"))
    ratio = per_day[YEAR] / per_day[MONTH]
    found.append(("a day of a year ÷ a day of a month", f"{ratio:.2f}", "≤ 1.25"))
    say("simulate: 50 reminders")
    cpu, wall = crowded(MONTH, 50)
    found.append((f"{MONTH} virtual days of a home with 50 reminders, on the wall", f"{wall:.1f} s", "< 20 s"))
    found.append((f"{MONTH} virtual days of a home with 50 reminders, processor time", f"{cpu:.1f} s", "< 20 s"))
    say("simulate: 50 reminders, 20 of them frequent")
    cpu, _ = crowded(MONTH, 50, frequent=20)
    found.append((f"{MONTH} virtual days with 20 frequent ones of 50, processor time", f"{cpu:.1f} s", "< 20 s"))
    cpu, _, _ = lived(MONTH, "scripted")
    found.append((f"{MONTH} virtual days with a model's tokens counted, processor time", f"{cpu:.1f} s", "< 10 s"))
    return found


if __name__ == "__main__":
    for row in rows():
        print("{:<65} {:>15}   {}".format(*row))
