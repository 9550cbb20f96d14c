"""The line of calls that wait for money."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import BudgetExhaustedError, UsageError
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.waiting import Line, NotYet
from tests.times import NOON

REFUSAL = BudgetExhaustedError("No room.")


class Money:
    """Accounts with so much in each, and a line in front of them."""

    def __init__(self, line: Line, **has: int) -> None:
        self.line = line
        self.has = has
        self.log: list[str] = []

    async def take(self, name: str, **needs: int) -> str:
        async def ask() -> str | NotYet:
            await asyncio.sleep(0)
            short: frozenset[Hashable] = frozenset(key for key, amount in needs.items() if self.has[key] < amount)
            if short:
                return NotYet(short, REFUSAL)
            for key, amount in needs.items():
                self.has[key] -= amount
            self.log.append(name)
            return name

        return await self.line.turn(needs, ask)

    def give(self, **amounts: int) -> None:
        for key, amount in amounts.items():
            self.has[key] += amount
        self.line.ring()


async def settle_down() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_first_come_first_served_and_a_large_call_is_not_starved_by_small_ones() -> None:
    money = Money(Line(), pot=5)
    tasks = []
    for name, needs in (("large", 9), ("a", 1), ("b", 1)):
        tasks.append(asyncio.create_task(money.take(name, pot=needs)))
        await settle_down()
    assert (money.log, len(money.line)) == ([], 3)
    money.give(pot=1)
    await settle_down()
    assert money.log == []
    money.give(pot=5)
    await asyncio.gather(*tasks)
    assert money.log == ["large", "a", "b"]


async def test_whoever_takes_from_other_accounts_passes() -> None:
    money = Money(Line(), mine=0, yours=5)
    waits = asyncio.create_task(money.take("waits", mine=1))
    await settle_down()
    assert await money.take("passes", yours=1) == "passes"
    assert (money.line.blocks(["mine"]), money.line.blocks(["yours"])) == (True, False)
    money.give(mine=1)
    await waits


async def test_somebody_who_waits_for_one_of_two_accounts_does_not_block_the_other() -> None:
    money = Money(Line(), day=5, run=0)
    waits = asyncio.create_task(money.take("waits", day=1, run=1))
    await settle_down()
    assert await money.take("passes", day=1) == "passes"
    money.give(run=1)
    await waits


async def test_whoever_gives_up_lets_those_behind_on() -> None:
    money = Money(Line(), pot=5)
    impatient = asyncio.create_task(money.take("impatient", pot=9))
    await settle_down()
    behind = asyncio.create_task(money.take("behind", pot=5))
    await settle_down()
    assert not behind.done()
    impatient.cancel()
    assert await behind == "behind"
    assert len(money.line) == 0


async def test_a_refusal_leaves_the_line_and_lets_those_behind_on() -> None:
    line, asked = Line(), []

    async def refused() -> str | NotYet:
        asked.append(1)
        if len(asked) == 1:
            return NotYet(frozenset(["pot"]), REFUSAL)
        raise UsageError("hopeless")

    money = Money(line, pot=5)
    first = asyncio.create_task(line.turn(["pot"], refused))
    await settle_down()
    behind = asyncio.create_task(money.take("behind", pot=5))
    await settle_down()
    line.ring()
    with pytest.raises(UsageError):
        await first
    assert await behind == "behind"


async def test_a_call_that_waits_for_another_account_than_before_lets_go_of_the_first() -> None:
    money = Money(Line(), day=0, run=0)
    first = asyncio.create_task(money.take("first", day=2, run=1))
    await settle_down()
    second = asyncio.create_task(money.take("second", day=1))
    await settle_down()
    money.give(day=2)  # now only the run is short for the first, and the second does not take from it
    await second
    money.give(day=1, run=1)
    await first


def test_with_a_clock_it_looks_again_by_itself_and_loses_patience() -> None:
    async def scenario(clock: VirtualClock) -> None:
        money = Money(Line(clock, patience=60), pot=0)
        waits = asyncio.create_task(money.take("waits", pot=1))
        await clock.sleep(10)
        money.has["pot"] = 1  # another process gave it, and nobody rings here
        await clock.sleep(1.1)
        assert waits.done()
        with pytest.raises(BudgetExhaustedError, match="No room"):
            await money.take("in vain", pot=1)
        assert 70 <= (clock.now() - NOON) / 1_000_000 <= 73

    run_virtual(scenario, NOON)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_everybody_gets_a_turn_in_the_order_of_coming(needs: list[int]) -> None:
    """One account that is filled up by ones: nobody is passed and nobody waits for ever."""

    async def main() -> list[str]:
        money = Money(Line(), pot=0)
        tasks = [asyncio.create_task(money.take(str(number), pot=need)) for number, need in enumerate(needs)]
        await settle_down()
        for _ in range(sum(needs)):
            money.give(pot=1)
            await settle_down()
        await asyncio.gather(*tasks)
        return money.log

    assert asyncio.run(main()) == [str(number) for number in range(len(needs))]
