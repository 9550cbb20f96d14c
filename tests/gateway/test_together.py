"""A hundred streams of twenty agents on one limit: nothing above it, no refusal while money was free, all served."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx2
import pytest

from nudge.errors import BudgetExhaustedError
from nudge.spending.holds import AccountKey, AccountKind
from nudge.testing import FakeAnthropic
from tests.gateway.kit import HEADERS, Rig, ask, cost_of, gateway_on

LIMIT = 300_000
AGENTS = [f"agent-{number}" for number in range(20)]
KEY = AccountKey(AccountKind.RUN, "together")


async def room(rig: Rig) -> int:
    """What of the limit is not spent, whoever holds it."""
    (row,) = (await rig.store.ledger.get([KEY])).values()
    return row.account.settled_room


@pytest.mark.slow
async def test_a_hundred_streams_share_a_limit_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    served: Counter[str] = Counter()
    refused: list[str] = []
    free: list[tuple[int, int]] = []
    with FakeAnthropic(default="word " * 150) as upstream:
        async with gateway_on(upstream.url, agents=AGENTS, patience=120) as rig:
            await rig.spending.open_run(AGENTS[0], "together", LIMIT / 1_000_000)
            ledger: Any = rig.spending._ledger
            decide = ledger._hold

            async def noted(attempt: Any, *more: Any) -> Any:
                """In the transaction that decides: what was not spent when a call was refused, and what it needs."""
                answer = await decide(attempt, *more)
                if isinstance(answer.answer, BudgetExhaustedError):
                    free.append((await room(rig), attempt.call.least_cost))
                return answer

            monkeypatch.setattr(ledger, "_hold", noted)
            limits = httpx2.Limits(max_connections=None)
            async with httpx2.AsyncClient(timeout=180, limits=limits) as client:

                async def work(agent: str) -> None:
                    headers = {**HEADERS, "x-nudge-run": "together"}
                    while True:
                        answer = await client.post(
                            f"{rig.base(agent)}/v1/messages", json=ask(max_tokens=32_000, stream=True), headers=headers
                        )
                        if answer.status_code != 200:
                            refused.append(answer.json()["error"]["message"])
                            return
                        served[agent] += 1

                await asyncio.gather(*(work(agent) for agent in AGENTS for _ in range(5)))
            await rig.settled()
            left = await room(rig)
    assert cost_of(upstream.served) == LIMIT - left <= LIMIT
    assert len(refused) == 100
    assert all("does not cover this call" in message for message in refused), "nobody's patience ran out"
    assert all(unspent < needed for unspent, needed in free), "no refusal while money was free"
    assert left < max(needed for _, needed in free)
    fair = served.total() / len(AGENTS)
    assert all(served[agent] >= fair / 3 for agent in AGENTS), served
