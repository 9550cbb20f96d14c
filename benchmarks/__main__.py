"""Run the benchmarks and print one table: `python -m benchmarks [TOPIC …] [--full]`.

A topic is a module of this package with a function `rows()`. One that fails is reported and stops no other.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
import time
import traceback
from importlib import import_module

import benchmarks
from benchmarks import measure
from benchmarks.measure import Row, of_target, say


def topics() -> list[str]:
    """The modules that may have rows, those with processes and databases last."""
    names = [found.name for found in pkgutil.iter_modules(benchmarks.__path__)]
    ours = {"__main__", "load", "measure", "processes"}
    return sorted((name for name in names if name not in ours), key=lambda name: (name == "foundation", name))


def measured(topic: str) -> list[Row]:
    """A topic's rows, each under the topic's name."""
    module = import_module(f"benchmarks.{topic}")
    found: list[Row] = list(module.rows()) if hasattr(module, "rows") else []
    return [(what if what.startswith(f"{topic}:") else f"{topic}: {what}", value, goal) for what, value, goal in found]


def table(rows: list[Row]) -> str:
    lines = [("what", "measured", "target", "measured ÷ target")]
    lines += [(*row, of_target(row[1], row[2])) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    drawn = [f"| {a:<{widths[0]}} | {b:>{widths[1]}} | {c:>{widths[2]}} | {d:>{widths[3]}} |" for a, b, c, d in lines]
    rule = "|".join(["", *("-" * (width + 2) for width in widths), ""])
    return "\n".join([drawn[0], rule, *drawn[1:]])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("topic", nargs="*", help=f"of: {', '.join(topics())} (all unless named)")
    parser.add_argument("--full", action="store_true", help="the long measurements too")
    args = parser.parse_args()
    unknown = sorted(set(args.topic) - set(topics()))
    if unknown:
        parser.error(f"there is no topic {', '.join(unknown)}; there are {', '.join(topics())}")
    measure.full = args.full
    found: list[Row] = []
    failed: list[str] = []
    for topic in args.topic or topics():
        say(f"{topic} …")
        started = time.perf_counter()
        try:
            found += measured(topic)
        except Exception:
            traceback.print_exc()
            failed.append(topic)
        say(f"{topic}: {time.perf_counter() - started:.0f} s")
    print(table(found))
    for topic in failed:
        print(f"{topic} failed: see above.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
