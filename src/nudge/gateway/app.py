"""The gateway itself, an ASGI application: read a request, hold its worst case, relay it, settle what it used.

Bytes pass as they come. A copy of the answer is read for its usage on the way. A client that goes away takes its call
to the service with it, and pays for what had been produced.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nudge.clock import Clock
from nudge.daemon.listening import listening
from nudge.errors import StoreError
from nudge.gateway.calls import ModelCall
from nudge.gateway.exchange import Exchange, Receive, Scope, Send
from nudge.gateway.limits import Limit
from nudge.gateway.memory import Memory
from nudge.gateway.repeats import Conversation, Repeats, RepeatsError, Watch
from nudge.gateway.upstream import Upstreams
from nudge.progress.loops import LoopAction, LoopResult
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine
from nudge.spending.call_log import CallTable, LoggedCall
from nudge.spending.governor import Spending
from nudge.spending.plan_windows import read_plan
from nudge.spending.prices import PriceTable
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.gateway")

LARGEST_REQUEST = 32 * 1024 * 1024
"""What Anthropic takes; a larger one would be refused there."""
BODY_SECONDS = 60.0
FEED = "repeats"


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """`hosts` are the names that a client may use for us (None: any); a page in a browser that was led here uses
    another. With `tokens_required` a path alone proves nothing. `token` is one that counts for this process, for
    `agent`. `repeats` says what happens to an agent's runs that repeat themselves."""

    hosts: Collection[str] | None = ("127.0.0.1", "localhost", "[::1]")
    tokens_required: bool = False
    agent: str = ""
    token: str = ""
    largest_request: int = LARGEST_REQUEST
    body_seconds: float = BODY_SECONDS
    repeats: Callable[[Agent], Repeats] = lambda agent: Repeats.OFF


Observe = Callable[[LoggedCall, Mapping[str, str]], None]
"""Hears of every call that ended, with the headers of its request. It must not raise, nor take long."""


class Gateway:
    """The application. `limit`, if there is one, may clamp or refuse a call before money is held for it."""

    def __init__(
        self,
        store: SqlStore,
        spending: Spending,
        clock: Clock,
        *,
        prices: PriceTable,
        upstreams: Upstreams,
        options: GatewayOptions | None = None,
        limit: Limit | None = None,
        observe: Observe | None = None,
    ) -> None:
        self.store = store
        self.spending = spending
        self.clock = clock
        self.prices = prices
        self.upstreams = upstreams
        self.options = options or GatewayOptions()
        self.limit = limit
        self.observe = observe
        self.calls = CallTable(store.database)
        self.memory = Memory(self.calls)
        self.watch = Watch()
        self.in_flight = 0
        self._writing: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.in_flight += 1
            try:
                await Exchange(self, scope, receive, send).run()
            finally:
                self.in_flight -= 1
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    def note_windows(self, agent: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep what the service says about the windows of a plan, if it says anything new."""
        told = read_plan(headers, self.clock.now())
        if self.memory.is_new(agent, told.windows):
            self._later(self.spending.note_plan(agent, told), f"The windows of {agent} are not kept")

    def look_for_repeats(
        self, agent: Agent, run: str, call: ModelCall, said: Mapping[str, Any]
    ) -> tuple[Conversation, LoopResult] | None:
        """What the conversation in a body repeats, reported once for each step of a loop. None if nobody wants to know.
        Raises RepeatsError where the agent's runs are refused for it."""
        wanted = self.options.repeats(agent)
        if wanted is Repeats.OFF:
            return None
        conversation, seen = self.watch.look(agent.name, run, call.protocol, said, call.follows)
        if seen.is_loop and self.watch.is_news(agent.name, run, seen):
            where = f" in {run}" if run else ""
            refused = wanted is Repeats.REFUSE and seen.action is LoopAction.REFUSE
            text = f"{seen.message}{where}{': its calls are refused' if refused else ''}"
            line = FeedLine(self.clock.now(), agent.name, FEED, text)
            self._later(self.store.feed.add(line), f"A loop of {agent.name} is not in the feed")
        if wanted is Repeats.REFUSE and seen.action is LoopAction.REFUSE:
            raise RepeatsError(seen)
        return conversation, seen

    async def close(self) -> None:
        """Write what is still to be written, and let go of the services."""
        while self._writing:
            await asyncio.wait(self._writing)
        await self.upstreams.close()

    def write(self, call: LoggedCall) -> None:
        """Log a call, whatever becomes of its client meanwhile."""
        self._later(self.calls.add(call), f"A call of {call.agent} is not in the log")

    def _later(self, write: Awaitable[Any], otherwise: str) -> None:
        async def tried() -> None:
            try:
                await write
            except StoreError as error:
                log.error("%s: %s", otherwise, error)

        task = asyncio.create_task(tried())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)


@asynccontextmanager
async def serving(gateway: Gateway, listener: socket.socket) -> AsyncIterator[str]:
    """Answer on the socket for as long as the block runs; gives the address."""
    try:
        async with listening(gateway, listener) as address:
            yield address
    finally:
        await gateway.close()
