"""What the tests of spending share: a model whose answers cost what a test says, and prices to be read as tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nudge.model import ModelReply, ModelRequest, Purpose, text_reply, user
from nudge.queue.agents import Agent
from nudge.queue.dispatch import Dispatcher
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.budgets import SpendingPlan
from nudge.spending.governor import Spending, input_bound
from nudge.spending.holds import End, settle
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.times import NOON

KINDS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
PENNY = PriceTable.of({"models": {"penny": dict.fromkeys(KINDS, 1)}})
"""One micro-dollar a token, whichever kind: money reads as tokens."""
ROUTES = Routes.of(
    {"*": dict.fromkeys(["heartbeat", "conversation", "briefing", "review", "summary", "work"], "penny")}
)

Answer = Callable[[ModelRequest], Awaitable[TokenUse] | TokenUse]


class PricedModel:
    """Answers after `seconds`, with the usage that `usage` gives for the request."""

    name = "priced"

    def __init__(self, usage: Answer, *, clock: VirtualClock | None = None, seconds: float = 0) -> None:
        self.usage = usage
        self.asked: list[ModelRequest] = []
        self.cancelled = 0
        self._clock = clock
        self._seconds = seconds

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        try:
            if self._clock and self._seconds:
                await self._clock.sleep(self._seconds)
            usage = self.usage(request)
            usage = await usage if isinstance(usage, Awaitable) else usage
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return text_reply("ok", request.model, usage)

    async def close(self) -> None: ...


def costs(amount: int) -> Answer:
    """A call that costs so many micro-dollars."""
    return lambda request: TokenUse(input=amount)


def everything(request: ModelRequest) -> TokenUse:
    """All that was held: the whole bound of the input and every token of the answer."""
    return TokenUse(input=input_bound(request), output=request.max_tokens)


def question(
    max_tokens: int = 1_000, *, purpose: Purpose = Purpose.CONVERSATION, text: str = "Hi", attempt_id: str = ""
) -> ModelRequest:
    return ModelRequest(purpose, "", (), (user(text),), max_tokens, attempt_id=attempt_id)


INPUT = input_bound(question())
"""What is held for the input of that question."""


async def prepared(store: SqlStore, *agents: str) -> None:
    for name in agents or ("coach",):
        await store.agents.add(Agent(name, "coach", NOON))


def spending_on(store: SqlStore, clock: Any, window: int, model: Any = None, **options: Any) -> Spending:
    """A window of thirty days: with `window` micro-dollars, a thirtieth of it on the first."""
    plan = SpendingPlan(window, options.pop("renews", None), options.pop("tier", "standard"))
    return Spending(store, clock, prices=PENNY, routes=ROUTES, plan=plan, model=model, **options)


def dispatcher_of(spending: Spending, store: SqlStore, clock: Any, **handlers: Any) -> Dispatcher:
    known = {"wake": spending.wake, "sweep": spending.sweep, **handlers}
    dispatcher = Dispatcher(store, clock, known, owner="d", longest_wait=3600)
    spending.on_timers = dispatcher.poke
    return dispatcher


def settled(amount: int) -> End:
    """The end of a call that cost so many micro-dollars."""
    return lambda hold: settle(hold, amount)


async def feed(store: SqlStore, *kinds: str) -> list[str]:
    """The lines of the feed, oldest first, of those kinds or all."""
    lines = await store.feed.after_id(0)
    return [line.text for line in lines if not kinds or line.kind in kinds]
