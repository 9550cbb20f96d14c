"""Some lives of a worker under faults; two thousand: `make soak`. One life again: `python -m tests.faults.workers
--seed N`. And the harness can find faults: with a safeguard switched off, an invariant breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from nudge.progress.checkpoints import Checkpoints
from nudge.progress.store import Session
from nudge.worker.worker import Worker
from nudge.worker.workspaces import KeptWorkspaces
from tests.faults.workers import Kind, draw, live

SEEDS = range(6)
Patch = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_disturbed_working_life_ends_as_a_calm_one(seed: int) -> None:
    world = live(seed)
    assert world.violation is None, "\n".join(world.lines[-40:])


def test_a_hundred_seeds_have_every_fault() -> None:
    drawn = {fault.kind for seed in range(100) for fault in draw(seed)[1]}
    assert drawn == set(Kind)


def forget_results(patch: pytest.MonkeyPatch) -> None:
    """Every third checkpoint is lost."""
    write, written = Checkpoints.write, [0]

    async def forgets(self: Checkpoints, session: Session, new: Sequence[Any], now: Any) -> Session:
        written[0] += 1
        return session if written[0] % 3 == 0 and session.status.is_open else await write(self, session, new, now)

    patch.setattr(Checkpoints, "write", forgets)


def trust_any_workspace(patch: pytest.MonkeyPatch) -> None:
    async def trusts(self: KeptWorkspaces, agent: str, snapshot: str) -> Sequence[str]:
        return ()

    patch.setattr(KeptWorkspaces, "put_back", trusts)


def let_reservations_go(patch: pytest.MonkeyPatch) -> None:
    async def as_it_is(self: Worker, parent: Session, child: Session) -> Session:
        return child

    patch.setattr(Worker, "_paid_for", as_it_is)


@pytest.mark.parametrize(
    ("break_it", "seed"), [(forget_results, 0), (trust_any_workspace, 5), (let_reservations_go, 7)]
)
def test_the_harness_finds_what_is_broken(break_it: Patch, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    break_it(monkeypatch)
    world = live(seed)
    assert world.violation is not None
    assert world.violation.invariant == "a disturbed life ends as a calm one"
