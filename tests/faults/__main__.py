"""Replay a seed, or live through many.

python -m tests.faults --seed 17                one life, with its trace
python -m tests.faults --seed 17 --faults 0,3   … with some of its faults
python -m tests.faults --count 10000            many, with counts (make soak)
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from nudge.instants import HOUR
from tests.faults.run import broken, live
from tests.faults.world import World

BATCH = 25


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seed", type=int, help="replay this one")
    parser.add_argument("--faults", help="only these of its faults, by number; 'none' for none")
    parser.add_argument("--count", type=int, default=300, help="how many seeds (default 300)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    args = parser.parse_args()
    if args.seed is not None:
        return replay(args.seed, args.faults)
    return soak(args.start, args.count, args.jobs)


def replay(seed: int, faults: str | None) -> int:
    numbers = None if faults is None else [int(one) for one in faults.split(",") if one.strip().isdigit()]
    world = live(seed, numbers)
    print("\n".join(world.lines))
    print(summary(world))
    if world.violation is None:
        return 0
    if numbers is None:
        print(broken(seed))
    return 1


def summary(world: World) -> str:
    return (
        f"seed {world.seed}: {len(world.happened)} faults, {world.processes} processes, {world.writes} writes, "
        f"{world.invariants.steps} steps checked, {len(world.invariants.arrivals)} messages: "
        f"{world.violation or 'all invariants hold'}"
    )


def soak(start: int, count: int, jobs: int) -> int:
    totals: Counter[str] = Counter()
    violations: list[str] = []
    batches = range(start, start + count, BATCH)
    with ProcessPoolExecutor(jobs) as pool:
        ends = [min(first + BATCH, start + count) for first in batches]
        for counted, found in pool.map(batch, batches, ends, repeat(None)):
            totals.update(counted)
            violations += found
            for one in found:
                print(one, flush=True)
            print(f"\r{totals['seeds']} of {count} seeds, {len(violations)} violations", end="", file=sys.stderr)
    print(file=sys.stderr)
    for name, number in sorted(totals.items()):
        print(f"{number:>12,}  {name}")
    print(f"{len(violations):>12,}  violations")
    return 1 if violations else 0


def batch(first: int, end: int, _: None = None) -> tuple[Counter[str], list[str]]:
    counted: Counter[str] = Counter()
    found = []
    for seed in range(first, end):
        world = live(seed)
        counted["seeds"] += 1
        counted["steps checked"] += world.invariants.steps
        counted["store writes"] += world.writes
        counted["daemon starts"] += world.processes
        counted["messages"] += len(world.invariants.arrivals)
        counted["virtual hours"] += world.lived // HOUR
        for fault in world.happened:
            counted[f"fault: {fault.kind.value}"] += 1
        if world.violation is not None:
            found.append(str(broken(seed)))
    return counted, found


if __name__ == "__main__":
    sys.exit(main())
