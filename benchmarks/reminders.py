"""A hundred thousand reminders against a hundred: listing the next twenty, and adding one.

python -m benchmarks.reminders [MANY]

Both sizes are measured in turns, so that a busy machine slows both. Once inside one process, where nothing hides the
store, and once as a person types it, with the start of the process.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nudge.attention.quiet import Person
from nudge.instants import SECOND, Instant, as_instant, zone_of
from nudge.queue.agents import Agent
from nudge.queue.timers import Timer
from nudge.reminders.definition import make_reminder
from nudge.reminders.reminder import KIND, Source, key_of
from nudge.reminders.service import Reminders
from nudge.reminders.tables import _params
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore

FEW, MANY = 100, 100_000
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_NUDGE = [sys.executable, "-m", "nudge.cli.main"]


def _now() -> Instant:
    from datetime import UTC, datetime

    return as_instant(datetime.now(UTC))


def _id(number: int) -> str:
    letters = ""
    for _ in range(6):
        number, digit = divmod(number, 36)
        letters = _ALPHABET[digit] + letters
    return f"r-{letters}"


async def fill(store: SqlStore, count: int, now: Instant) -> None:
    """So many reminders of the coach, each with its timer, spread over a year."""
    await store.agents.add(Agent("coach", "coach", now))
    model = make_reminder(
        {"message": "Stand up and stretch for two minutes.", "schedule": {"every": "30m"}},
        agent="coach",
        now=now,
        zone="UTC",
        source=Source.CLI,
    )
    rows, timers = [], []
    params = _params(model)
    for number in range(count):
        one = replace(model, id=_id(number * 7919 % 2_000_000_011))
        rows.append({**params, "id": one.id, "name": f"reminder {number}"})
        due = Instant(now + (number * 104_729 % 31_536_000 + 3600) * SECOND)
        timers.append(Timer.at("coach", key_of(one.id), KIND, due, lane=one.lane))
    await store.database.run_many("reminders_add", rows)
    await store.timers.set_many(timers)


def made_home(folder: Path, count: int) -> Path:
    home = folder / str(count)
    environment = {**os.environ, "NUDGE_HOME": str(home)}
    subprocess.run([*_NUDGE, "init"], env=environment, check=True, capture_output=True)
    store = open_sqlite(str(home / "nudge.db"))
    asyncio.run(fill(store, count, _now()))
    asyncio.run(store.close())
    return home


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_turns(few: Callable[[], object], many: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The medians of both, measured in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        times[0].append(seconds(few))
        times[1].append(seconds(many))
    return statistics.median(times[0]), statistics.median(times[1])


def _inside(home: Path) -> tuple[Callable[[], object], Callable[[], object], Callable[[], object]]:
    store = open_sqlite(str(home / "nudge.db"))
    person = Person(zone_of("UTC"))
    reminders = Reminders(store, lambda agent: person)
    loop = asyncio.new_event_loop()
    definition = {"message": "Call mum.", "schedule": {"every": "1h"}}

    def close() -> None:
        loop.run_until_complete(store.close())
        loop.close()

    return (
        lambda: loop.run_until_complete(reminders.list("coach", limit=20)),
        lambda: loop.run_until_complete(reminders.add("coach", definition, _now())),
        close,
    )


def _command(home: Path, *words: str) -> Callable[[], object]:
    environment = {**os.environ, "NUDGE_HOME": str(home)}
    return lambda: subprocess.run([*_NUDGE, "reminder", *words], env=environment, check=True, capture_output=True)


def _row(what: str, times: tuple[float, float], many: int) -> tuple[str, str, str]:
    few_ms, many_ms = (1000 * one for one in times)
    measured = f"{times[1] / times[0]:.2f}× ({few_ms:.2f} → {many_ms:.2f} ms)"
    return f"reminders: {what}, {many:,} against {FEW}", measured, "≤ 1.5×"


def rows(many: int = MANY, rounds: int = 200, commands: int = 15) -> list[tuple[str, str, str]]:
    folder = Path(tempfile.mkdtemp(prefix="nudge-bench-"))
    try:
        small, large = made_home(folder, FEW), made_home(folder, many)
        list_few, add_few, close_few = _inside(small)
        list_many, add_many, close_many = _inside(large)
        table = [
            _row("list the next 20, in the store", in_turns(list_few, list_many, rounds), many),
            _row("add one, in the store", in_turns(add_few, add_many, rounds), many),
        ]
        close_few()
        close_many()
        listing = ("list", "coach", "--limit", "20")
        adding = ("add", "coach", "-m", "Call mum.", "--every", "1h")
        for what, words in (("nudge reminder list coach --limit 20", listing), ("nudge reminder add", adding)):
            table.append(_row(what, in_turns(_command(small, *words), _command(large, *words), commands), many))
        return table
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else MANY):
        print("{:<75} {:>30}   {}".format(*row))
