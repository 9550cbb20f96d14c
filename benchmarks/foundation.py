"""The foundation: a million timers, a thousand due at once, APScheduler beside it, the commands, the idle daemon.

Everything runs in processes of its own on a compiled copy of nudge, and what is compared runs in turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import (
    Row,
    in_turns,
    median,
    megabytes,
    new_database,
    percentile,
    postgres,
    running,
    say,
    scratch,
    until,
)

_SCRIPT = Path(sys.executable).with_name("nudge")
NUDGE = [str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-m", "nudge.cli.main"]
ROOT = Path(__file__).parent.parent
PLAIN = [sys.executable, "-c", "import sqlite3, json, argparse"]

LANES = (1, 1000)
SLOWER = "3"
"""Milliseconds that a commit takes longer on the slow disk."""

Environment = Mapping[str, str]


def process(environment: Environment, *words: str) -> str:
    """Run one of benchmarks.processes to its end; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.processes", *words], env=dict(environment), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def new_home(folder: Path, environment: Environment) -> dict[str, str]:
    """The environment of a home that is ready to run."""
    inside = {**environment, "NUDGE_HOME": str(folder)}
    subprocess.run([*NUDGE, "init"], env=inside, capture_output=True, check=True)
    return inside


def first_fire(command: Sequence[str], environment: Environment) -> tuple[float, float]:
    """Seconds from the start of a process to the first timer it fires, and its memory then, in MB."""
    started = time.perf_counter()
    with running(command, environment) as child:
        assert child.stdout
        if not any("fired" in line for line in child.stdout):
            raise RuntimeError(f"{' '.join(command)} ended without firing")
        taken = time.perf_counter() - started
        time.sleep(0.3)  # what it does after the first is part of its memory
        return taken, megabytes(child.pid)


def million_rows(folder: Path, environment: Environment) -> list[Row]:
    """The whole daemon with a few and with very many timers that are not due; the least disturbed start of each."""
    sizes = {"few": 1_000, "many": 1_000_000}
    homes = {}
    for name, size in sizes.items():
        say(f"{size:,} timers")
        homes[name] = new_home(folder / name, environment)
        process(environment, "seed", str(folder / name / "nudge.db"), str(size))
    memory: dict[str, list[float]] = {name: [] for name in sizes}

    def start(name: str) -> float:
        process(environment, "post", str(folder / name / "nudge.db"))
        seconds, used = first_fire([*NUDGE, "run"], homes[name])
        memory[name].append(used)
        return seconds

    taken = in_turns({name: partial(start, name) for name in sizes}, rounds(5))
    few, many = min(taken["few"]), min(taken["many"])
    small, large = median(memory["few"]), median(memory["many"])
    what = "1,000,000 timers instead of 1,000, SQLite, whole daemon"
    return [
        (
            f"{what}: process start to first message, longer by",
            f"{(many - few) * 1000:.0f} ms ({many:.2f} s, {many / few:.2f} times)",
            "at most 300 ms",
        ),
        (
            f"{what}: memory, more by",
            f"{large - small:.1f} MB ({large:.1f} MB, {large / small:.2f} times)",
            "at most 20 MB",
        ),
    ]


def lag(environment: Environment, *words: str) -> float:
    """The 99th percentile, in seconds."""
    return percentile(json.loads(process(environment, *words)), 0.99)


def rounds(few: int) -> int:
    return few * 3 if measure.full else few


def due_rows(folder: Path, environment: Environment) -> list[Row]:
    """A thousand due at one instant, on an empty store each time.

    The least disturbed round counts: each firing waits for the disk, and on a busy machine for the processor after it.
    The same number of bare commits, in turns with the rest, shows how disturbed the rounds were.
    """
    say("1,000 due in the same second")
    count = 0

    def on_sqlite(lanes: int) -> float:
        nonlocal count
        count += 1
        return lag(environment, "due", f"sqlite:///{folder}/due{count}.db", str(lanes), "1000")

    with postgres() as url:

        def on_postgres(lanes: int) -> float:
            nonlocal count
            count += 1
            return lag(environment, "due", new_database(url, f"due{count}"), str(lanes), "1000")

        sides: dict[str, Callable[[], float]] = {
            "commits": lambda: sum(json.loads(process(environment, "commits", str(folder / "c.db"), "1000")))
        }
        for lanes in LANES:
            name = f"{lanes:,} lane{'s' if lanes > 1 else ''}"
            sides[f"SQLite, {name}"] = partial(on_sqlite, lanes)
            sides[f"PostgreSQL, {name}"] = partial(on_postgres, lanes)
        found = in_turns(sides, rounds(4))
    commits = found.pop("commits")

    def shown(values: Sequence[float]) -> str:
        return f"{min(values) * 1000:.0f} ms (median {median(values) * 1000:.0f} ms)"

    return [
        *((f"1,000 due in the same second, {name}: p99 lag", shown(lags), "< 1 s") for name, lags in found.items()),
        *(
            (
                f"1,000 due in the same second, {name} ÷ 1,000 bare commits",
                f"{median(lags) / median(commits):.2f} ×",
                "at most 0.5 ×",
            )
            for name, lags in found.items()
            if name.startswith("SQLite")
        ),
        ("1,000 bare commits of SQLite, one after the other, for scale", shown(commits), "-"),
    ]


def slow_disk_rows(folder: Path, environment: Environment) -> list[Row]:
    """The same where a commit takes three milliseconds longer than here."""
    say("1,000 due in the same second on a slow disk")
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return str(folder / f"slow{count}.db")

    def pairs(tasks: int, number: int) -> float:
        return float(process(environment, "ledger", fresh(), str(tasks), str(number), SLOWER))

    sides: dict[str, Callable[[], float]] = {
        "commits": lambda: sum(json.loads(process(environment, "commits", fresh(), "1000", SLOWER)))
    }
    for lanes in LANES:
        sides[f"{lanes:,} lane{'s' if lanes > 1 else ''}"] = lambda lanes=lanes: lag(  # type: ignore[misc]
            environment, "due", f"sqlite:///{fresh()}", str(lanes), "1000", SLOWER
        )
    sides["one task"] = lambda: pairs(1, 200)
    sides["100 tasks"] = lambda: pairs(100, 2000)
    found = {name: median(values) for name, values in in_turns(sides, rounds(2)).items()}
    ratio = found["100 tasks"] / found["one task"]
    return [
        *(
            (
                f"with commits that take 3 ms longer: 1,000 due, {name} ÷ 1,000 bare commits",
                f"{value / found['commits']:.3f} ×",
                "at most 0.1 ×",
            )
            for name, value in found.items()
            if "lane" in name
        ),
        (
            "with commits that take 3 ms longer: reserve + settle, 100 tasks ÷ one task",
            f"{ratio:.1f} × ({found['100 tasks']:,.0f} a second)",
            "at least 10 ×",
        ),
        (
            "with commits that take 3 ms longer: reserve + settle of one task ÷ two bare commits",
            f"{1 / found['one task'] / (2 * found['commits'] / 1000):.2f} ×",
            "at most 1.25 ×",
        ),
    ]


def flood_rows(folder: Path, environment: Environment) -> list[Row]:
    """Very many reminders of one agent at once in the whole daemon, while the person says hello."""
    found: list[Row] = []
    commits = 1000 / sum(json.loads(process(environment, "commits", str(folder / "scale.db"), "1000")))
    for count in (5_000, 100_000):
        say(f"{count:,} reminders due at once")
        taken = json.loads(process(environment, "reminders_due", str(folder / f"flood{count}"), str(count)))
        rate = count / taken["all"]
        found.append(
            (
                f"{count:,} reminders of an agent due at once: firings a second",
                f"{rate:,.0f} ({rate / commits:.1f} × the bare commits)",
                "at least 1,000",
            )
        )
        found.append(
            (
                f"{count:,} reminders of an agent due at once: processor time of a firing",
                f"{taken['cpu'] / count * 1000:.2f} ms",
                "< 1 ms",
            )
        )
        found.append(
            (
                f"{count:,} reminders of an agent due at once: a person's answer in between",
                f"{taken['answer'] * 1000:.0f} ms",
                "< 1 s",
            )
        )
    return found


def apscheduler_rows(folder: Path, environment: Environment) -> list[Row]:
    """The queue alone beside APScheduler with its SQLite job store: 10,000 one-shots each, and a thousand more due."""
    say("APScheduler with 10,000 jobs")
    ours, theirs = str(folder / "ours.db"), str(folder / "theirs.db")
    process(environment, "seed", ours, "10000")
    process(environment, "apscheduler_seed", theirs, "10000")
    memory: dict[str, list[float]] = {"ours": [], "theirs": []}

    def start(name: str, prefix: str, path: str) -> float:
        process(environment, f"{prefix}set_due", path)
        seconds, used = first_fire([sys.executable, "-m", "benchmarks.processes", f"{prefix}first", path], environment)
        memory[name].append(used)
        return seconds

    starts = in_turns(
        {"ours": partial(start, "ours", "", ours), "theirs": partial(start, "theirs", "apscheduler_", theirs)},
        rounds(3),
    )
    lags = in_turns(
        {
            "ours": lambda: lag(environment, "due", f"sqlite:///{ours}", "1000", "1000"),
            "theirs": lambda: lag(environment, "apscheduler_due", theirs, "1000"),
        },
        rounds(2),
    )

    def beside(what: str, found: Mapping[str, Sequence[float]], unit: str, factor: float) -> Row:
        a, b = min(found["ours"]), min(found["theirs"])
        text = f"{b / a:.1f} × ours ({b * factor:.0f} {unit}, ours {a * factor:.0f} {unit})"
        return (f"APScheduler 3.11, SQLite job store, 10,000 jobs: {what}", text, "-")

    return [
        beside("process start to first job", starts, "ms", 1000),
        beside("memory after it", memory, "MB", 1),
        beside("p99 lag of 1,000 due in the same second", lags, "ms", 1000),
    ]


def command_rows(folder: Path, environment: Environment) -> list[Row]:
    """The commands that people wait for, as multiples of a Python that imports what they cannot do without."""
    say("commands")
    home = new_home(folder / "cli", environment)
    wanted = {"status": ["status"], "--help": ["--help"], "reminder list": ["reminder", "list"]}
    for n in range(10):
        _succeeds(["reminder", f"stretch {n} every 2 hours"], home)
    with running([*NUDGE, "run"], home):
        until(lambda: _succeeds(["status"], home), "the daemon answers")
        commands = {"": PLAIN, **{name: [*NUDGE, *words] for name, words in wanted.items()}}
        taken = in_turns(
            {name: partial(measure.seconds_of, words, home) for name, words in commands.items()},
            rounds(25),
        )
    plain = median(taken[""])
    what = 'time in multiples of python -c "import sqlite3, json, argparse"'
    return [
        (
            f"nudge {name}: {what}",
            f"{median(taken[name]) / plain:.2f} × ({median(taken[name]) * 1000:.0f} ms)",
            "at most 3 ×",
        )
        for name in wanted
    ]


def _succeeds(words: Sequence[str], home: Environment) -> bool:
    return subprocess.run([*NUDGE, *words], env=dict(home), capture_output=True, check=False).returncode == 0


def idle_rows(folder: Path, environment: Environment) -> list[Row]:
    """A daemon that has started, answered once, and waits."""
    say("idle daemon")
    used = []
    for turn in range(3):
        home = new_home(folder / f"idle{turn}", environment)
        with running([*NUDGE, "run"], home) as daemon:
            until(lambda: _succeeds(["status"], home), "the daemon answers")  # noqa: B023
            time.sleep(1)
            used.append(megabytes(daemon.pid))
    return [("idle daemon, offline model: memory", f"{median(used):.1f} MB", "< 60 MB")]


def rows() -> list[Row]:
    with scratch() as folder:
        environment = measure.compiled_copy(folder / "copy")
        environment["PYTHONPATH"] += f":{ROOT}"
        return [
            *million_rows(folder, environment),
            *due_rows(folder, environment),
            *slow_disk_rows(folder, environment),
            *flood_rows(folder, environment),
            *apscheduler_rows(folder, environment),
            *command_rows(folder, environment),
            *idle_rows(folder, environment),
        ]
