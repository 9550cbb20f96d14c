"""The pool in the store and the pure one, step by step."""

from __future__ import annotations

import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nudge.inline import run_inline
from nudge.instants import MINUTE
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from tests.progress.pool_twins import Twins


class Pooling(RuleBasedStateMachine):
    """Any order of steps on a pool in a database and on the pure one."""

    def __init__(self) -> None:
        super().__init__()
        self.store = open_sqlite(":memory:")
        self.twins = Twins(self.store)

    def _name(self, number: int) -> str:
        return self.twins.names[number % len(self.twins.names)]

    @initialize()
    def open(self) -> None:
        run_inline(self.twins.open())

    @rule(parent=st.integers(0, 20), cap=st.none() | st.integers(-1, 3_000), need=st.integers(0, 300))
    def reserve(self, parent: int, cap: int | None, need: int) -> None:
        run_inline(self.twins.reserve(f"child-{len(self.twins.names)}", self._name(parent), cap, need))

    @rule(number=st.integers(0, 20), percent=st.integers(0, 100))
    def spend(self, number: int, percent: int) -> None:
        run_inline(self.twins.spend(self._name(number), percent))

    @rule(number=st.integers(0, 20))
    def spend_too_much(self, number: int) -> None:
        run_inline(self.twins.spend_too_much(self._name(number)))

    @rule(number=st.integers(0, 20))
    def renew(self, number: int) -> None:
        run_inline(self.twins.renew(self._name(number)))

    @rule(number=st.integers(0, 20))
    def release(self, number: int) -> None:
        run_inline(self.twins.release(self._name(number)))

    @rule(number=st.integers(1, 20))
    def revoke(self, number: int) -> None:
        run_inline(self.twins.revoke(self._name(number)))

    @rule(minutes=st.integers(-3, 7), microseconds=st.sampled_from([-1, 0, 1]))
    def wait(self, minutes: int, microseconds: int) -> None:
        run_inline(self.twins.wait(minutes * MINUTE + microseconds))

    @invariant()
    def agree(self) -> None:
        if len(self.twins.names) > 1:
            run_inline(self.twins.agree())

    def teardown(self) -> None:
        run_inline(self.store.close())


TestPooling = Pooling.TestCase
TestPooling.settings = settings(max_examples=40, stateful_step_count=30)


@pytest.mark.parametrize("seed", range(4))
async def test_every_store_shares_out_as_the_pure_pool_does(store: SqlStore, seed: int) -> None:
    chance, twins = random.Random(seed), Twins(store)
    await twins.open()
    for number in range(60):
        name = chance.choice(twins.names)
        match chance.randrange(8):
            case 0 | 1 | 2:
                cap = chance.choice([None, None, chance.randrange(1, 2_000)])
                await twins.reserve(f"child-{number}", name, cap, 1)
            case 3 | 4:
                await twins.spend(name, chance.randrange(101))
            case 5:
                await (twins.release(name) if chance.random() < 0.7 or name == "parent" else twins.revoke(name))
            case 6:
                await twins.renew(name)
            case _:
                await twins.wait(chance.randrange(-MINUTE, 5 * MINUTE))
        await twins.agree()
