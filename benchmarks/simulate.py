"""Simulation: how long virtual days of the default coach take, and whether a long life costs more per day than a short.

Processor time is reported beside time on the wall: a machine that does other things as well stretches only the latter.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.measure import Row, say
from nudge.home.folder import Home
from nudge.simulation.request import Request, simulations
from nudge.simulation.timeline import Timeline

FIRST = date(2026, 1, 1)
MONTH, YEAR = 30, 365


def lived(days: int, model: str = "offline") -> tuple[float, float, Timeline]:
    """Seconds of the processor, seconds on the wall, and the life."""
    with TemporaryDirectory() as folder:
        request = Request(Home(Path(folder) / "none"), days, FIRST, model=model, environment={"TZ": "America/Toronto"})
        with simulations(request) as lives:
            cpu, wall = process_time(), perf_counter()
            life = lives.run()
            return process_time() - cpu, perf_counter() - wall, life


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
    cpu, _, _ = lived(MONTH, "scripted")
    found.append((f"{MONTH} virtual days with a model's tokens counted, processor time", f"{cpu:.1f} s", "< 10 s"))
    return found


if __name__ == "__main__":
    for row in rows():
        print("{:<65} {:>15}   {}".format(*row))
