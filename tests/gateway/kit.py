"""What the tests of the gateway share: a gateway on loopback over a store in memory, and a service behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nudge.clock import SystemClock
from nudge.daemon.listening import bound
from nudge.gateway.app import Gateway, GatewayOptions, serving
from nudge.gateway.upstream import Upstreams
from nudge.home.prices import load_prices
from nudge.queue.agents import Agent
from nudge.spending.budgets import SpendingPlan
from nudge.spending.call_log import LoggedCall
from nudge.spending.governor import Spending
from nudge.spending.prices import PriceTable
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore

KEY = "sk-ant-fake-key-of-nobody"
OPENAI_KEY = "sk-fake-key-of-nobody"
GOOGLE_KEY = "AIza-fake-key-of-nobody"
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
MODEL = "claude-sonnet-5-5"
PRICES = load_prices()


def ask(text: str = "Hi", *, max_tokens: int = 1_000, **more: Any) -> dict[str, Any]:
    """The body of a call to Anthropic."""
    return {"model": MODEL, "max_tokens": max_tokens, "messages": [{"role": "user", "content": text}], **more}


@dataclass
class Rig:
    url: str
    gateway: Gateway
    store: SqlStore
    spending: Spending
    clock: SystemClock

    def base(self, agent: str = "builder") -> str:
        return f"{self.url}/agents/{agent}"

    async def settled(self) -> None:
        """Wait until nothing is under way and everything is written."""
        async with asyncio.timeout(10):
            while self.gateway.in_flight or self.gateway._writing:
                await asyncio.sleep(0.005)

    async def calls(self, agent: str | None = None) -> Sequence[LoggedCall]:
        """What the log has, newest first."""
        await self.settled()
        return await self.gateway.calls.recent(agent, limit=1_000)

    async def spent(self, agent: str = "builder") -> int:
        await self.settled()
        return (await self.spending.state(agent, self.clock.now())).meter.spent

    async def held(self, agent: str = "builder") -> int:
        await self.settled()
        return (await self.spending.state(agent, self.clock.now())).held


@asynccontextmanager
async def gateway_on(
    anthropic: str = "",
    openai: str = "",
    google: str = "",
    *,
    window: float = 3_000,
    agents: Sequence[str] = ("builder",),
    store: str = "sqlite://:memory:",
    keys: Mapping[str, str] | None = None,
    prices: PriceTable = PRICES,
    options: GatewayOptions | None = None,
    patience: float = 30,
    **more: Any,
) -> AsyncIterator[Rig]:
    """A gateway for these services. `window` is for thirty days: a day has a thirtieth of it."""
    clock = SystemClock()
    opened = await open_store(store)
    for name in agents:
        await opened.agents.add(Agent(name, "worker", clock.now()))
    spending = Spending(opened, clock, prices=prices, plan=SpendingPlan.of(window), patience=patience)
    addresses = {"anthropic": anthropic, "openai": openai, "google": google}
    upstreams = Upstreams({name: url for name, url in addresses.items() if url}, keys or {})
    gateway = Gateway(opened, spending, clock, prices=prices, upstreams=upstreams, options=options, **more)
    try:
        async with serving(gateway, bound("127.0.0.1", 0)) as url:
            yield Rig(url, gateway, opened, spending, clock)
    finally:
        await opened.close()


def cost_of(served: Sequence[Mapping[str, Any]], prices: PriceTable = PRICES) -> int:
    """What a service bills for its answers."""
    return sum(
        prices.cost(answer.get("model") or answer["modelVersion"], answer.get("usage") or answer["usageMetadata"])
        for answer in served
    )
