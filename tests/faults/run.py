"""Run seeds; where one breaks, find the fewest faults that break it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from tests.faults.faults import Fault, Kind
from tests.faults.invariants import Violation
from tests.faults.scenario import Scenario
from tests.faults.world import World, seeded

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
                f"replay: python -m tests.faults --seed {self.seed} --faults {numbers}",
            ]
        )


def live(
    seed: int,
    numbers: Sequence[int] | None = None,
    kinds: Sequence[Kind] = tuple(Kind),
    change: Callable[[Scenario], Scenario] = lambda scenario: scenario,
) -> World:
    """Run a seed, with all of its faults or with some of them, in its own life or in a changed one."""
    scenario, faults = seeded(seed, kinds)
    chosen = faults if numbers is None else [faults[number] for number in numbers]
    world = World(seed, change(scenario), chosen)
    world.run()
    return world


def broken(seed: int, kinds: Sequence[Kind] = tuple(Kind)) -> Broken | None:
    """What a seed breaks, shrunk; None where everything holds."""
    world = live(seed, kinds=kinds)
    return None if world.violation is None else shrunk(seed, world, kinds)


def shrunk(seed: int, world: World, kinds: Sequence[Kind] = tuple(Kind)) -> Broken:
    """The fewest faults that break the same invariant: none of them, then each alone, then two together, and so on."""
    _, faults = seeded(seed, kinds)
    assert world.violation is not None
    invariant, every = world.violation.invariant, range(len(faults))
    for numbers in chain.from_iterable(combinations(every, size) for size in every):
        tried = live(seed, numbers, kinds)
        if tried.violation is not None and tried.violation.invariant == invariant:
            return _broken(tried, tried.violation, faults, numbers)
    return _broken(world, world.violation, faults, tuple(every))


def _broken(world: World, violation: Violation, faults: Sequence[Fault], numbers: tuple[int, ...]) -> Broken:
    return Broken(world.seed, violation, tuple(faults[one] for one in numbers), numbers, tuple(world.lines))
