from __future__ import annotations

from dataclasses import replace

from nudge.cli.log_lines import Follow, call_entry
from nudge.coach.explain import explain
from nudge.gateway.tokens import agent_of, new_token, revoke_tokens
from nudge.instants import SECOND, Instant
from nudge.spending.call_log import CallTable, LoggedCall
from nudge.spending.governor import Spending
from nudge.spending.store import UsageRow
from nudge.stores.store import SqlStore
from nudge.testing import VirtualClock
from nudge.tokens import TokenUse
from tests.gateway.kit import PRICES
from tests.spending.kit import prepared


def logged(number: int, run: str, result: str = "done") -> LoggedCall:
    at = Instant(number)
    return LoggedCall(f"c{number}", "builder", run, at, "messages", "sdk", "m", 9, granted=5, held=70, result=result)


async def test_calls_of_a_run_are_found_with_all_that_is_below_it(store: SqlStore) -> None:
    calls = CallTable(store.database)
    for number, run in enumerate(["s_1", "s_1/reviewer", "sx1/a", "s_1%", ""]):
        await calls.add(logged(number, run))
    await calls.add(logged(9, "s_1", "refused"))
    use = TokenUse(1, 2, 3, 4)
    await store.usage.put(UsageRow("c1", "builder", Instant(1), "work", "m", use, 55, "s_1/reviewer"))
    found = await calls.recent("builder", run="s_1")
    assert [(call.id, call.cost) for call in found] == [("c9", None), ("c1", 55), ("c0", None)]
    assert (found[1].use, found[1].clamped) == (use, True)
    total = await calls.total("builder", "s_1")
    assert (total.calls, total.refused, total.use, total.cost) == (3, 1, use, 55)
    assert len(await calls.recent()) == 6
    assert await calls.recent("nobody") == []


async def test_a_run_is_known_once_money_was_held_for_it(store: SqlStore) -> None:
    await prepared(store, "builder")
    calls, clock = CallTable(store.database), VirtualClock(Instant(0))
    spending = Spending(store, clock, prices=PRICES)
    assert not await calls.run_known("builder", "s_1")
    async with spending.hold("builder", model="sonnet", input_bound=1, max_tokens=9, run="s_1/reviewer") as hold:
        assert await calls.run_known("builder", "s_1")
        assert not await calls.run_known("builder", "sx1")
        assert not await calls.run_known("other", "s_1")
        hold.settle(TokenUse())
    assert await calls.run_known("builder", "s_1")


async def test_tokens_are_kept_as_hashes_and_can_be_revoked(store: SqlStore) -> None:
    await prepared(store, "builder")
    first, second = [await new_token(store, "builder", Instant(5)) for _ in range(2)]
    assert [await agent_of(store, token) for token in (first, second)] == ["builder", "builder"]
    assert await agent_of(store, first.replace("builder", "other")) is None
    assert await revoke_tokens(store, "builder") == 2
    assert await agent_of(store, first) is None


async def test_a_call_is_told_in_the_log_and_explained(store: SqlStore) -> None:
    await prepared(store, "builder")
    asked = LoggedCall("c1", "builder", "s1/reviewer", Instant(5 * SECOND), "messages", "sdk", "opus", 32_000)
    made = replace(asked, granted=4_096, waited=2 * SECOND, lasted=9 * SECOND, status=200, result="done")
    await store.calls.add(made)
    await store.usage.put(UsageRow("c1", "builder", Instant(14 * SECOND), "work", "opus", TokenUse(1_000, 200), 55))
    await store.calls.add(replace(asked, id="c2", result="refused", reason="builder is asleep until Tuesday."))
    follow = Follow()
    await follow.start(store)
    later = replace(made, id="c3", lasted=SECOND)
    await store.calls.add(later)
    assert [entry.data["id"] for entry in await follow.news(store)] == ["c3"]
    assert await follow.news(store) == []
    told = call_entry((await store.calls.recent(run="s1"))[1])
    assert (told.at, told.word) == (5 * SECOND, "refused")
    assert told.text == "opus in s1/reviewer, refused: builder is asleep until Tuesday.  (c2)"
    why = await explain(store, "c1")
    assert why.thing is not None
    assert why.thing.text == (
        "opus in s1/reviewer, 1,000 tokens in, 200 out, clamped from 32,000 to 4,096 tokens, waited 2.0 s for money, "
        "took 9.0 s"
    )
    run = await explain(store, "s1")
    assert run.thing is not None
    assert run.thing.text == "3 calls, 1 refused, 1,000 tokens in, 200 out. builder is asleep until Tuesday."
