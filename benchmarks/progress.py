"""The progress governor: how fast a check is, and how true the token count stays through compactions."""

from __future__ import annotations

import asyncio
import json
import random
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from tempfile import TemporaryDirectory
from time import perf_counter

from nudge.clock import SystemClock
from nudge.instants import SECOND, Instant
from nudge.progress.guard import Guard
from nudge.progress.guard_store import StoredGuards
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_limits import RunLimits
from nudge.stores.open import open_store
from nudge.tokens import TokenUse

RUNS = 50
CALLS = 200
COMPACT_AT = 100_000


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """How one run ended. `true` counts every token when it is first written, apart from the code under test."""

    limit: int
    calls: int
    stopped: bool
    counted: int
    true: int
    true_before_last: int
    naive_stop: int | None
    compactions: int

    @property
    def error(self) -> float:
        """How far the count is from the truth, as a share of it."""
        return abs(self.counted - self.true) / self.true

    @property
    def premature(self) -> bool:
        """Stopped although one per cent or more of the budget was still there."""
        return self.stopped and self.true <= self.limit * 0.99

    @property
    def late(self) -> bool:
        """Another call was made although the budget was passed by one per cent or more."""
        return self.true_before_last >= self.limit * 1.01


def simulate_run(seed: int, *, noisy: bool = True) -> SimulatedRun:
    """A run of up to 200 calls: tool results and answers pile up, at 100,000 tokens the conversation is summarised.

    `noisy` lets the harness misjudge the compacted size by up to two per cent, as an estimate does.
    """
    rng = random.Random(seed)
    limit = rng.randrange(150_000, 1_400_000)
    budget = RunBudget(max_tokens=limit, max_cost=None, max_duration=None)
    system = rng.randrange(2_000, 12_000)
    pieces = [system, rng.randrange(50, 2_000)]
    unsent = sum(pieces)
    true = before_last = summed = calls = compactions = 0
    naive_stop: int | None = None

    def call(added: int, output: int, iteration: bool) -> None:
        nonlocal true, summed, unsent
        prompt = sum(pieces) + added
        cached = rng.randrange(prompt)
        use = TokenUse(input=prompt - cached, output=output, cache_read=cached // 2, cache_write=cached - cached // 2)
        budget.record_call(use, iteration=iteration)
        true += unsent + added + output
        summed += prompt + output
        unsent = 0

    while calls < CALLS and budget.check(Instant(calls * SECOND)).can_continue:
        before_last = true
        calls += 1
        output = rng.randrange(50, 1_500)
        call(0, output, iteration=True)
        if naive_stop is None and summed >= limit:
            naive_stop = calls
        unsent = rng.randrange(20, 9_000)
        pieces += [output, unsent]
        if sum(pieces) >= COMPACT_AT:
            summary = rng.randrange(1_500, 4_000)
            call(rng.randrange(100, 500), summary, iteration=False)
            pieces = [system, summary, *pieces[-4:]]
            budget.update_baseline(sum(pieces) * (rng.randrange(980, 1_021) if noisy else 1_000) // 1_000)
            compactions += 1
    return SimulatedRun(
        limit=limit,
        calls=calls,
        stopped=not budget.check(Instant(calls * SECOND)).can_continue,
        counted=budget.incremental_tokens,
        true=true,
        true_before_last=before_last,
        naive_stop=naive_stop,
        compactions=compactions,
    )


def rows_economics() -> list[tuple[str, str, str]]:
    """The run budget's part of the table."""
    runs = [simulate_run(seed) for seed in range(RUNS)]
    stopped = [run for run in runs if run.stopped]
    naive = [run.naive_stop / run.calls for run in runs if run.naive_stop is not None]
    at = Instant(0)
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    free, warned = RunBudget(max_iterations=1_000), RunBudget(max_iterations=1_000)
    warned.record_call(TokenUse(input=750_000))
    use = TokenUse(input=10, output=10, cache_read=100)
    return [
        ("economics check, nothing to say", _micros(lambda: free.check(at)), "< 5 µs"),
        ("economics check, above 70 %", _micros(lambda: warned.check(at)), "< 5 µs"),
        ("economics check, above 70 %, given a datetime", _micros(lambda: warned.check(moment)), "< 5 µs"),
        ("record one model call", _micros(lambda: free.record_call(use)), "-"),
        (
            f"{RUNS} runs of up to {CALLS} calls, {sum(run.compactions for run in runs)} compactions: premature stops",
            f"{sum(run.premature for run in runs)} (of {len(stopped)} stops; late: {sum(run.late for run in runs)})",
            "0",
        ),
        ("largest distance from the true count of new tokens", f"{max(run.error for run in runs):.2%}", "< 1 %"),
        (
            "adding up whole prompts instead would have stopped after this share of the calls",
            f"{sum(naive) / len(naive):.0%} on average",
            "-",
        ),
    ]


def rows_guard() -> list[tuple[str, str, str]]:
    """The guard's part: everything but the model and the tools, for one turn of a loop."""
    guard, numbers = Guard(10**12, max_duration=None), count()
    clock = SystemClock()

    def turn() -> None:
        number = next(numbers)
        guard.before_call("m", guard.context_tokens + 500, 4_096)
        guard.after_call({"input_tokens": 400, "cache_read_input_tokens": 50_000, "output_tokens": 300})
        guard.before_tool("read_file", {"path": f"src/{number}.py"})
        guard.after_tool("read_file", {"path": f"src/{number}.py"}, result=f"text {number}\n" * 100)

    async def stored(url: str, turns: int) -> tuple[float, float]:
        """Milliseconds for the hooks of one tool call, and for two commits that write as much and do nothing else."""
        store = await open_store(url)
        session = StoredGuards(store, clock, limits=RunLimits(cost=None)).session("bench", "s1")
        began = perf_counter()
        for number in range(turns):
            async with session.open() as inside:
                inside.before_tool("read_file", {"path": f"src/{number}.py"})
            async with session.open() as inside:
                inside.after_tool("read_file", {"path": f"src/{number}.py"}, result=f"text {number}\n" * 100)
        taken = perf_counter() - began
        text = await store.guards.get("bench", "s1")
        began = perf_counter()
        for _ in range(2 * turns):
            await store.guards.save("bench", "s1", text, clock.now())
        bare = perf_counter() - began
        await store.close()
        return taken / turns * 1_000, bare / turns * 1_000

    one = _micros(turn, number=20)
    size = len(json.dumps(guard.state()))
    moved = _micros(lambda: Guard.from_state(json.loads(json.dumps(guard.state()))), number=5)
    with TemporaryDirectory() as folder:
        taken, bare = asyncio.run(stored(f"sqlite:///{folder}/nudge.db", 100))
    return [
        ("guard: one turn with a call and a tool", one, "< 5000 µs"),
        (f"guard: its state ({size:,} bytes) to JSON and back", moved, "< 5000 µs"),
        (
            "guard in SQLite: the two hooks of one tool call",
            f"{taken:.1f} ms, {taken / bare:.1f}× two commits",
            "< 5 ms",
        ),
    ]


def rows() -> list[tuple[str, str, str]]:
    return [*rows_economics(), *rows_guard()]


def _micros(call: Callable[[], object], number: int = 100) -> str:
    """The best of many short batches: what it costs when nothing else runs on the machine."""
    return f"{min(timeit.repeat(call, number=number, repeat=1_000)) / number * 1e6:.1f} µs"


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
