"""Run seeds; where one breaks, find the fewest faults that break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.simulation.faults import Fault, Kind
from tests.simulation.invariants import Violation
from tests.simulation.world import World, seeded

TRACE = 40


@dataclass(frozen=True)
class Broken:
    """A seed that breaks an invariant, with the faults that are enough for it."""

    seed: int
    violation: Violation
    faults: tuple[Fault, ...]
    numbers: tuple[int, ...]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        numbers = ",".join(str(number) for number in self.numbers) or "none"
        return "\n".join(
            [
                f"seed {self.seed} breaks: {self.violation}",
                f"shortest set of faults ({len(self.faults)}):",
                *(f"  {number}: {fault}" for number, fault in zip(self.numbers, self.faults, strict=True)),
                "trace:",
                *(f"  {line}" for line in self.lines[-TRACE:]),
                f"replay: python -m tests.simulation --seed {self.seed} --faults {numbers}",
            ]
        )


def live(seed: int, numbers: Sequence[int] | None = None, kinds: Sequence[Kind] = tuple(Kind)) -> World:
    """Run a seed, with all of its faults or with some of them."""
    scenario, faults = seeded(seed, kinds)
    chosen = faults if numbers is None else [faults[number] for number in numbers]
    world = World(seed, scenario, chosen)
    world.run()
    return world


def broken(seed: int, kinds: Sequence[Kind] = tuple(Kind)) -> Broken | None:
    """What a seed breaks, shrunk; None where everything holds."""
    world = live(seed, kinds=kinds)
    return None if world.violation is None else shrunk(seed, world, kinds)


def shrunk(seed: int, world: World, kinds: Sequence[Kind] = tuple(Kind)) -> Broken:
    """Leave out one fault after the other for as long as the same invariant breaks."""
    _, faults = seeded(seed, kinds)
    assert world.violation is not None
    invariant, best = world.violation.invariant, world
    numbers = list(range(len(faults)))
    for number in reversed(range(len(faults))):
        fewer = [one for one in numbers if one != number]
        tried = live(seed, fewer, kinds)
        if tried.violation is not None and tried.violation.invariant == invariant:
            numbers, best = fewer, tried
    assert best.violation is not None
    return Broken(seed, best.violation, tuple(faults[one] for one in numbers), tuple(numbers), tuple(best.lines))
