"""Fifty lives under faults, and some kills of the real process. Ten thousand and 200: `make soak`. One life again:
`python -m tests.faults --seed N`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import kills
from tests.faults.faults import COUNTED, Kind
from tests.faults.run import live
from tests.faults.world import seeded

SEEDS = 50
ROOT = Path(__file__).parents[2]


def run(*words: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """In processes of their own, as `make soak` does: nothing there measures coverage, which would double the time."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.process
def test_fifty_lives_under_faults_keep_every_invariant() -> None:
    done = run("--count", str(SEEDS), "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {line[14:]: int(line[:12].replace(",", "")) for line in done.stdout.splitlines()}
    assert counts["seeds"] == SEEDS
    assert counts["violations"] == 0
    for kind in Kind:
        assert counts[f"fault: {kind.value}"] > 0, "a fault that never happens proves nothing"


@pytest.mark.process
def test_a_seed_is_the_same_life_in_every_process() -> None:
    one, other = run("--seed", "17", hash_seed="1"), run("--seed", "17", hash_seed="2")
    assert one.stdout == other.stdout
    assert one.stdout.count("\n") > 20
    assert "all invariants hold" in one.stdout


def test_a_life_can_be_lived_with_some_of_its_faults() -> None:
    _, faults = seeded(17)
    timed = [number for number, fault in enumerate(faults) if fault.kind not in COUNTED]
    world = live(17, timed)
    assert world.happened == sorted((faults[number] for number in timed), key=lambda fault: fault.at)
    assert live(17, []).happened == []


@pytest.mark.process
def test_a_home_survives_kills_in_the_middle_of_what_it_does(tmp_path: Path) -> None:
    life = kills.live(4, tmp_path / "home")
    assert sum(life.kills.values()) == 4
