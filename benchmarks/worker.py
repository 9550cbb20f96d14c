"""Snapshots of 10,000 files / 200 MB beside restic and borg (where they are installed), verification beside sha256sum,
and what a sandbox adds to a command."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Row, in_turns, median, say, scratch
from nudge.blobs.obstore import open_blobs
from nudge.clock import SystemClock
from nudge.sandbox.choose import candidates, unconfined
from nudge.worker.sandbox import Job
from nudge.worker.snapshots import Snapshots
from nudge.worker.workspace import Workspace

_FILES, _BYTES, _CHANGED, _ROUNDS = 10_000, 20_000, 10, 5


def rows() -> list[Row]:
    with scratch() as folder:
        tree = folder / "tree"
        say(f"{_FILES:,} files of {_BYTES:,} bytes")
        _plant(tree)
        return [*_snapshots(folder, tree), *_verification(folder, tree), *_sandboxes(folder)]


def _plant(tree: Path) -> None:
    """Contents that no program can compress or find twice."""
    luck = random.Random(7)
    for number in range(_FILES):
        path = tree / f"{number % 100:02d}" / f"{number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(luck.randbytes(_BYTES))


def _change(tree: Path, turn: int) -> None:
    for number in range(_CHANGED):
        (tree / f"{number:02d}" / f"{number}.bin").write_bytes(os.urandom(_BYTES) + bytes([turn]))
    time.sleep(0.2)  # a change in the last tenth of a second is read again, and the other programs look at times too


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _snapshots(folder: Path, tree: Path) -> list[Row]:
    clock = SystemClock()
    turn = 0

    def ours() -> tuple[float, float]:
        place = folder / f"ours{turn}"
        snapshots = Snapshots(open_blobs(str(place), {}), "a", folder / f"cache{turn}")
        with Workspace(tree) as workspace:
            first = _seconds(lambda: snapshots.create(workspace, clock.now()))
            _change(tree, turn)
            second = _seconds(lambda: snapshots.create(workspace, clock.now()))
        shutil.rmtree(place)
        return first, second

    def by(make: list[str], back: Callable[[str], list[str]], environment: dict[str, str]) -> tuple[float, float]:
        run = lambda command: subprocess.run(  # noqa: E731
            command, check=True, capture_output=True, cwd=tree, env={**os.environ, **environment}
        )
        run(make)
        first = _seconds(lambda: run(back("1")))
        _change(tree, turn)
        return first, _seconds(lambda: run(back("2")))

    def restic() -> tuple[float, float]:
        place = str(folder / f"restic{turn}")
        environment = {"RESTIC_PASSWORD": "x", "RESTIC_CACHE_DIR": str(folder / "restic-cache")}
        return by(["restic", "-r", place, "init"], lambda n: ["restic", "-r", place, "backup", "."], environment)

    def borg() -> tuple[float, float]:
        place = str(folder / f"borg{turn}")
        environment = {"BORG_BASE_DIR": str(folder / "borg-base"), "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}
        make = ["borg", "init", "--encryption=none", place]
        return by(make, lambda n: ["borg", "create", "--compression=none", f"{place}::{n}", "."], environment)

    sides = {"ours": ours} | {name: side for name, side in (("restic", restic), ("borg", borg)) if shutil.which(name)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for turn in range(3):  # noqa: B007 - the sides read it
        for name, side in sides.items():
            found[name].append(side())
    lines = []
    for name, times in found.items():
        first, second = median([one for one, _ in times]), median([two for _, two in times])
        lines.append((f"first snapshot, {name}", f"{first:.2f} s", "-"))
        lines.append((f"second with {_CHANGED} changed, {name}", f"{second * 1e3:.0f} ms", "-"))
        target = "at most 10 %" if name == "ours" else "-"
        lines.append((f"second of first, {name}", f"{100 * second / first:.1f} %", target))
    missing = [name for name in ("restic", "borg") if name not in sides]
    return lines + [(f"{name} is not installed", "-", "-") for name in missing]


def _verification(folder: Path, tree: Path) -> list[Row]:
    snapshots = Snapshots(open_blobs(str(folder / "verified"), {}), "a")
    with Workspace(tree) as workspace:
        snapshots.create(workspace, SystemClock().now())

        def verify() -> float:
            def work() -> None:
                assert not snapshots.verify(workspace).changes

            return _seconds(work)

        def sha256sum() -> float:
            command = "find . -type f -print0 | xargs -0 sha256sum >/dev/null"
            return _seconds(lambda: subprocess.run(command, shell=True, check=True, cwd=tree))

        found = in_turns({"verify": verify, "sha256sum": sha256sum}, _ROUNDS)
    ours, theirs = median(found["verify"]), median(found["sha256sum"])
    return [
        ("verification of all of it", f"{ours:.2f} s", "-"),
        ("sha256sum over the same tree", f"{theirs:.2f} s", "-"),
        ("verification ÷ sha256sum", f"{ours / theirs:.2f} ×", "at most 2 ×"),
    ]


def _sandboxes(folder: Path) -> list[Row]:
    (folder / "work").mkdir()
    places = {"none": unconfined()} | {one.name: one for one, problem in candidates() if not problem}

    def timed(name: str) -> float:
        return _seconds(lambda: asyncio.run(places[name].run(Job("true", folder / "work"))))

    found = in_turns({name: lambda name=name: timed(name) for name in places}, 20)  # type: ignore[misc]
    return [(f"a command in {name}", f"{median(times) * 1e3:.0f} ms", "-") for name, times in found.items()]
