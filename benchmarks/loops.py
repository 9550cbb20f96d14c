"""The loop detector: what one call costs, and that its memory does not grow.

The best of many short batches is taken: it is what the code costs when nothing else runs on the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from time import perf_counter_ns

from nudge.progress.loops import LoopDetector

TARGET = "< 20 µs"
BATCHES, SIZE = 300, 50

PAGE = "def area(width, height):\n    return width * height  # in metres\n\n" * 30

Act = Callable[[LoopDetector, int], object]

TYPICAL: list[tuple[str, Act]] = [
    (
        "record, new arguments",
        lambda d, n: d.record("read_file", {"path": f"src/app{n}.py", "offset": 10, "limit": 200}),
    ),
    (
        "record, new arguments, short result",
        lambda d, n: d.record("bash", {"command": f"ls {n}"}, result=f"{n} files", step=n),
    ),
    (
        "record, new arguments, 2 kB result",
        lambda d, n: d.record("read_file", {"path": f"src/app{n}.py"}, result=PAGE, step=n),
    ),
    (
        "record, an edit",
        lambda d, n: d.record("edit_file", {"path": "a.py", "old": f"x = {n}", "new": "y"}, result="ok"),
    ),
    ("record, a job that moves", lambda d, n: d.record("job_status", {"id": 7}, result=f"{n} of many", step=n)),
    ("record, inside a cycle of 8", lambda d, n: d.record("read_file", {"path": f"{n % 8}"}, result="text", step=n)),
    (
        "record, other arguments, same error",
        lambda d, n: d.record("open", {"n": n}, error=f"no such file: {n}", step=n),
    ),
    (
        "record, a shell that edits",
        lambda d, n: d.record("bash", {"command": f"sed -i 's/{n}/x/' src/app.py"}, result="", step=n),
    ),
    ("record, waiting and asking in turn", lambda d, n: _wait_or_ask(d, n)),
    ("peek, new arguments", lambda d, n: d.peek("read_file", {"path": f"src/app{n}.py"})),
    ("record_output, one word", lambda d, n: d.record_output(f"word{n} ")),
]


def _wait_or_ask(detector: LoopDetector, number: int) -> object:
    if number % 2:
        return detector.record("sleep", {"seconds": 30}, result="", step=number)
    return detector.record("job_status", {"id": 7}, result="queued", step=number)


def microseconds(act: Act) -> float:
    detector, numbers = LoopDetector(), count()
    best = float("inf")
    for _ in range(BATCHES):
        start = perf_counter_ns()
        for _ in range(SIZE):
            act(detector, next(numbers))
        best = min(best, (perf_counter_ns() - start) / SIZE / 1000)
    return best


def state_after(calls: int) -> int:
    """The size of the stored state, in bytes."""
    detector = LoopDetector()
    for number in range(calls):
        detector.record("read_file", {"path": f"{number % 50}"}, result=f"text {number % 7}", step=number)
    return len(json.dumps(detector.to_json()))


def rows() -> list[tuple[str, str, str]]:
    speed = [(f"loops: {what}", f"{microseconds(act):.1f} µs", TARGET) for what, act in TYPICAL]
    early, late = state_after(200), state_after(20_000)
    return [*speed, ("loops: state after 20,000 calls : after 200", f"{late / early:.2f}×", "≤ 1.1×")]


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
