"""The gateway itself, an ASGI application: read a request, hold its worst case, relay it, settle what it used.

Bytes pass as they come. A copy of the answer is read for its usage on the way. A client that goes away takes its call
to the service with it, and pays for what had been produced.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from nudge.clock import Clock
from nudge.daemon.listening import listening
from nudge.errors import BudgetExhaustedError, NotFoundError, NudgeError, StoreError, UsageError
from nudge.gateway import tokens
from nudge.gateway.calls import MOST_HISTORY, ModelCall, Protocol, read_call
from nudge.gateway.refusals import GatewayError, refusal_of, warnings
from nudge.gateway.routes import Kind, Route, read_route, run_of
from nudge.gateway.upstream import (
    TOKEN_HEADER,
    Answer,
    ServiceError,
    Unpacked,
    UnreachableError,
    Upstreams,
    answer_headers,
)
from nudge.gateway.usage import BodyReader, StreamReader, Told, Used, used
from nudge.instants import SECOND, Instant
from nudge.spending.allowance import SpendingDay
from nudge.spending.call_log import CallTable, LoggedCall
from nudge.spending.governor import Spending
from nudge.spending.ledger import HeldCall
from nudge.spending.money import Micros
from nudge.spending.plan_windows import PLAN_WINDOWS, PlanWindow, read_windows
from nudge.spending.prices import PriceTable
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse

log = logging.getLogger("nudge.gateway")

K = TypeVar("K")
V = TypeVar("V")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LARGEST_REQUEST = 32 * 1024 * 1024
"""What Anthropic takes; a larger one would be refused there."""
BODY_SECONDS = 60.0
REMEMBERED = 10_000
"""How many runs and responses are kept in mind; what is forgotten is looked up, or taken at its bound."""

LONGEST_REASON = 500

_ONCE = ("host", "content-length", "transfer-encoding", "authorization", "x-api-key", TOKEN_HEADER)
"""Headers that decide something. Twice, they could decide it differently here and at the service."""


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """`hosts` are the names that a client may use for us (None: any); a page in a browser that was led here uses
    another. With `tokens_required` a path alone proves nothing. `token` is one that counts for this process, for
    `agent`."""

    hosts: Collection[str] | None = ("127.0.0.1", "localhost", "[::1]")
    tokens_required: bool = False
    agent: str = ""
    token: str = ""
    largest_request: int = LARGEST_REQUEST
    body_seconds: float = BODY_SECONDS


Limit = Callable[[ModelCall], Awaitable["Allowed"]]
Observe = Callable[[LoggedCall, Mapping[str, str]], None]
"""Hears of every call that ended, with the headers of its request. It must not raise, nor take long."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call as a limit of the run allows it. `ended` is told what it used."""

    max_tokens: int
    ended: Callable[[TokenUse | None], None] = lambda use: None


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
        self.in_flight = 0
        self.lengths = Remembered[str, int]()
        self._begun = Remembered[tuple[str, str], bool]()
        self._windows = Remembered[str, tuple[PlanWindow, ...]]()
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
        windows = read_windows(headers)
        if windows and self._windows.get(agent) != windows:
            self._windows[agent] = windows
            self._later(self.store.records.set(agent, PLAN_WINDOWS, windows), f"The windows of {agent} are not kept")

    async def close(self) -> None:
        """Write what is still to be written, and let go of the services."""
        while self._writing:
            await asyncio.wait(self._writing)
        await self.upstreams.close()

    async def begins_task(self, agent: str, run: str, call: ModelCall) -> bool:
        """Whether a call starts something new: a run that never had a call, or a conversation without an answer."""
        if not run:
            return call.opens
        root = run.partition("/")[0]
        return (agent, root) not in self._begun and not await self.calls.run_known(agent, root)

    def begun(self, agent: str, run: str) -> None:
        if run:
            self._begun[agent, run.partition("/")[0]] = True

    def write(self, call: LoggedCall) -> None:
        """Log a call, whatever becomes of its client meanwhile."""
        self._later(self.calls.add(call), f"A call of {call.agent} is not in the log")

    def _later(self, write: Awaitable[None], otherwise: str) -> None:
        async def tried() -> None:
            try:
                await write
            except StoreError as error:
                log.error("%s: %s", otherwise, error)

        task = asyncio.create_task(tried())
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)


class Remembered(dict[K, V]):
    """The newest entries; older ones are forgotten."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > REMEMBERED:
            del self[next(iter(self))]


class _GoneError(Exception):
    """The answer cannot be brought to its end, so the connection is cut."""


class Exchange:
    """One request and its answer."""

    def __init__(self, gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
        self._gateway = gateway
        self._clock = gateway.clock
        self._scope = scope
        self._receive = receive
        self._send = send
        self._raw_headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        self._headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(self._raw_headers)}
        self._protocol = Protocol.MESSAGES
        self._agent = ""
        self._own_key = False
        self._started = False
        self._ended = False
        self._day: SpendingDay | None = None
        self._events: StreamReader | None = None
        """Set while an answer of events is under way that another event can be put into."""

    async def run(self) -> None:
        try:
            self._check_headers()
            route = self._route()
            await self._let_in(route)
            body = await self._body()
        except NudgeError as error:
            await self._refuse(error, close=True)
            return
        except _GoneError:
            return
        work = asyncio.create_task(self._answer(route, body))
        gone = asyncio.create_task(self._disconnected())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if self._ended:  # the server also says that a client has gone when it has all of its answer
                await asyncio.wait({work})
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.wait({work})
        failure = None if work.cancelled() else work.exception()
        if isinstance(failure, _GoneError):
            await self._cut()
        elif failure is not None:
            raise failure

    def _check_headers(self) -> None:
        names = [name.decode("latin-1") for name, _ in self._raw_headers]
        if twice := next((name for name in _ONCE if names.count(name) > 1), None):
            raise UsageError(f"The header {twice} stands there twice.")
        if "content-length" in names and "transfer-encoding" in names:
            raise UsageError("A request has a content-length or a transfer-encoding, not both.")
        if not all(_is_utf8(name) and _is_utf8(value) for name, value in self._raw_headers):
            raise UsageError("A header of this request is not UTF-8.", next_step="Write it in ASCII.")
        host = self._headers.get("host", "")
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        hosts = self._gateway.options.hosts
        if hosts is not None and name.lower() not in hosts:
            raise GatewayError(421, "This gateway does not answer to that name.", next_step="Use its address.")

    def _route(self) -> Route:
        raw_path = self._scope.get("raw_path") or self._scope["path"].encode()
        route = read_route(self._scope["method"], raw_path, self._scope["query_string"], self._headers)
        self._protocol = route.protocol
        if route.kind is Kind.UNCOUNTED:
            raise GatewayError(
                403,
                f"nudge cannot count what {self._scope['method']} /{route.path} costs, so it does not pass.",
                next_step="Use /v1/messages, /v1/chat/completions or /v1/responses.",
            )
        return route

    async def _let_in(self, route: Route) -> None:
        """Find the agent that pays. A token in place of the provider's key means that ours is used."""
        options, store = self._gateway.options, self._gateway.store
        key = self._headers.get("x-api-key") or self._headers.get("authorization", "").removeprefix("Bearer ")
        self._own_key = tokens.is_token(key)
        token = key if self._own_key else self._headers.get(TOKEN_HEADER, "")
        owner = None
        if token:
            ours = bool(options.token) and hmac.compare_digest(token.encode(), options.token.encode())
            owner = options.agent if ours else await tokens.agent_of(store, token)
            if owner is None or (route.agent and owner != route.agent):
                raise GatewayError(401, "This token is not valid here.", next_step="Run 'nudge gateway token NAME'.")
        elif options.tokens_required or not route.agent:
            raise GatewayError(
                401, "A token is needed here.", next_step="Run 'nudge gateway token NAME' and use it as the API key."
            )
        self._agent = owner or route.agent
        if await store.agents.get(self._agent) is None:
            raise NotFoundError(f"There is no agent called {self._agent!r}.", next_step="Run 'nudge agent list'.")

    async def _body(self) -> bytes:
        """The whole body, unpacked if need be: what we cannot read we cannot hold money for."""
        options, body = self._gateway.options, bytearray()
        announced = self._headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 15 or int(announced) > options.largest_request:
            raise self._too_large()
        try:
            async with asyncio.timeout(options.body_seconds):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise _GoneError
                    body += message.get("body", b"")
                    if len(body) > options.largest_request:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise GatewayError(408, "The body of this request took too long.") from None

    def _too_large(self) -> GatewayError:
        return GatewayError(413, f"A request has at most {self._gateway.options.largest_request >> 20} MB.")

    async def _answer(self, route: Route, body: bytes) -> None:
        try:
            if route.kind is Kind.CALL:
                await self._pay(route, body)
            else:
                answer = await self._ask(route, body or None)
                try:
                    await self._relay(answer, None)
                finally:
                    answer.close()
        except NudgeError as error:
            await self._refuse(error)
        except ServiceError as error:
            await self._refuse(GatewayError(502, f"The service did not answer ({error})."))

    async def _pay(self, route: Route, body: bytes) -> None:
        gateway = self._gateway
        packed = self._headers.get("content-encoding", "")
        call = read_call(route.protocol, self._unpacked(body, packed))
        run = run_of(route, self._headers)
        row = LoggedCall(
            id=secrets.token_hex(12),
            agent=self._agent,
            run=run,
            at=self._clock.now(),
            protocol=route.protocol.value,
            client=self._headers.get("user-agent", "").split(" ")[0][:80],
            model=call.model[:200],
            asked=call.max_tokens,
        )
        paid = _Paid(call, row)
        try:
            limited = await gateway.limit(call) if gateway.limit else Allowed(call.max_tokens)
            paid.allowed = limited
            starts = await gateway.begins_task(self._agent, run, call)
            block = gateway.spending.hold(
                self._agent,
                model=call.model,
                input_bound=call.input_bound + self._history(call),
                max_tokens=limited.max_tokens,
                min_tokens=min(call.least_tokens, limited.max_tokens),
                run=run,
                starts_task=starts,
                caching=call.caching,
                searches=call.searches,
                attempt_id=row.id,
            )
            async with block as hold:
                self._day = block.day
                began = self._clock.now()
                gateway.begun(self._agent, run)
                granted = hold.max_tokens
                paid.row = replace(row, granted=granted, held=int(hold.amount), waited=began - row.at)
                sent = call.limited(granted) if granted < call.max_tokens else body
                if sent is not body and packed:
                    self._raw_headers = [
                        (name, value) for name, value in self._raw_headers if name != b"content-encoding"
                    ]
                try:
                    await self._asked(route, sent, hold, paid)
                finally:
                    paid.cost = int(hold.charged)
        except NudgeError as error:
            refusal = refusal_of(error, self._protocol, self._clock.now())
            paid.result, paid.reason = "cut" if self._started else refusal.result, refusal.message[:LONGEST_REASON]
            raise
        except ServiceError:
            paid.result = "service broke off"
            raise
        except asyncio.CancelledError:
            paid.result = "client gone"
            raise
        finally:
            paid.allowed.ended(paid.use)
            ended = replace(
                paid.row,
                status=paid.status,
                result=paid.result or "done",
                reason=paid.reason,
                lasted=self._clock.now() - row.at,
            )
            gateway.write(ended)
            if gateway.observe is not None:
                gateway.observe(replace(ended, use=paid.use, cost=paid.cost), self._headers)

    def _history(self, call: ModelCall) -> int:
        """The length of a conversation that the service keeps."""
        return self._gateway.lengths.get(call.follows, MOST_HISTORY) if call.follows else 0

    def _unpacked(self, body: bytes, encoding: str) -> bytes:
        if not encoding:
            return body
        unpacker = Unpacked([encoding])
        plain = unpacker.feed(body, self._gateway.options.largest_request + 1)
        if not unpacker.readable:
            raise GatewayError(415, f"A body in {encoding} cannot be read here.", next_step="Send it plain or as gzip.")
        if len(plain) > self._gateway.options.largest_request:
            raise self._too_large()
        return plain

    async def _ask(self, route: Route, body: bytes | None) -> Answer:
        return await self._gateway.upstreams.send(
            self._scope["method"], route, self._raw_headers, body, own_key=self._own_key
        )

    async def _asked(self, route: Route, body: bytes, hold: HeldCall, paid: _Paid) -> None:
        began = self._clock.now()
        try:
            answer = await self._ask(route, body)
        except UnreachableError as error:
            hold.settle(TokenUse())  # nothing was sent
            raise GatewayError(502, f"The service cannot be reached ({error}).") from error
        try:
            paid.status = answer.status
            self._gateway.note_windows(self._agent, answer.headers)
            if answer.status >= 400:
                hold.settle(TokenUse())  # an error is free
                paid.result = "service refused"
                await self._relay(answer, None)
                return
            reader = StreamReader(route.protocol) if _is_stream(answer) else BodyReader(route.protocol)
            unpacked = Unpacked(answer.header(b"content-encoding"))
            try:
                await self._relay(answer, reader, unpacked)
                reader.end()
            finally:
                self._settle(hold, paid, reader.told if unpacked.readable else None, began)
            if reader.told.error or not reader.told.finished:
                paid.result = "service broke off"
        finally:
            answer.close()

    def _settle(self, hold: HeldCall, paid: _Paid, told: Told | None, began: Instant) -> None:
        """Charge what the answer says it used, or what it can have used at most."""
        seconds = (self._clock.now() - began) / SECOND
        charge = Used() if told is None else used(told, paid.call, seconds, cut=not told.finished)
        if charge.use is not None:
            assert told is not None
            known = bool(told.model) and self._gateway.prices.quote(told.model).known
            hold.settle(charge.use, model=told.model if known else None)
            paid.use = charge.use
            if told.response_id:
                self._gateway.lengths[told.response_id] = charge.use.prompt + charge.use.output
            return
        hold.produced(hold.max_tokens if charge.output is None else charge.output)
        hold.cancel()

    async def _relay(
        self, answer: Answer, reader: BodyReader | StreamReader | None, unpacked: Unpacked | None = None
    ) -> None:
        """Send the answer on, piece by piece, as it comes."""
        if isinstance(reader, StreamReader) and unpacked is not None and unpacked.plain:
            self._events = reader
        headers = answer_headers(answer.headers)
        if self._day is not None:
            headers += warnings(self._protocol, self._day, self._clock.now(), headers)
        await self._start(answer.status, headers)
        async for piece in answer.pieces():
            if reader is not None and unpacked is not None:
                reader.feed(unpacked.feed(piece))
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        self._events = None
        await self._end(b"")

    async def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _end(self, body: bytes) -> None:
        self._ended = True
        await self._send({"type": "http.response.body", "body": body})

    async def _refuse(self, error: NudgeError, *, close: bool = False) -> None:
        """Tell the client, also in the middle of a stream; where that is not possible, cut the connection.

        `close` is for a request whose body was not read: what follows on the connection is not a request."""
        refusal = refusal_of(error, self._protocol, self._clock.now())
        if isinstance(error, BudgetExhaustedError):
            log.info("A call of %s was refused: %s", self._agent, refusal.message)
        if not self._started:
            body = refusal.body(self._protocol)
            headers = [*refusal.headers(), (b"content-length", str(len(body)).encode())]
            if close:
                headers.append((b"connection", b"close"))
            await self._start(refusal.status, headers)
            await self._end(body if self._scope["method"] != "HEAD" else b"")
            return
        if self._events is None or not self._events.between_events:
            raise _GoneError
        await self._end(refusal.event(self._protocol))

    async def _disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _cut(self) -> None:
        """End the connection in the middle of an answer, so that the client knows that it is not whole."""
        drop = self._scope.get("state", {}).get("drop")
        if drop is not None:
            drop()
            await self._disconnected()


@dataclass(slots=True)
class _Paid:
    """What is known about a call that costs money."""

    call: ModelCall
    row: LoggedCall
    allowed: Allowed = field(default_factory=lambda: Allowed(0))
    status: int = 0
    result: str = ""
    reason: str = ""
    use: TokenUse | None = None
    cost: Micros | None = None


def _is_utf8(data: bytes) -> bool:
    """Headers go on as text. What is no UTF-8 would arrive as something else."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_stream(answer: Answer) -> bool:
    return "".join(answer.header(b"content-type")).partition(";")[0].strip().lower() == "text/event-stream"


@asynccontextmanager
async def serving(gateway: Gateway, listener: socket.socket) -> AsyncIterator[str]:
    """Answer on the socket for as long as the block runs; gives the address."""
    try:
        async with listening(gateway, listener) as address:
            yield address
    finally:
        await gateway.close()
