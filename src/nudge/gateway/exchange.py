"""One request and its answer: let in, read, relayed as it comes, or refused in words that its client understands."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from nudge.errors import BudgetExhaustedError, NotFoundError, NudgeError, UsageError
from nudge.gateway import tokens
from nudge.gateway.calls import Protocol
from nudge.gateway.payment import Payment
from nudge.gateway.refusals import GatewayError, refusal_of, warnings
from nudge.gateway.routes import KEY_HEADER, Kind, Route, read_route
from nudge.gateway.upstream import TOKEN_HEADER, Answer, ServiceError, Unpacked, answer_headers
from nudge.gateway.usage import BodyReader, StreamReader
from nudge.queue.agents import Agent
from nudge.spending.allowance import SpendingDay

if TYPE_CHECKING:
    from nudge.gateway.app import Gateway

log = logging.getLogger("nudge.gateway")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_ONCE = ("host", "content-length", "transfer-encoding", "authorization", "x-api-key", KEY_HEADER, TOKEN_HEADER)
"""Headers that decide something. Twice, they could decide it differently here and at the service."""


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
        self.raw_headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(self.raw_headers)}
        self._agent: Agent | None = None
        self.protocol = Protocol.MESSAGES
        self._own_key = False
        self.started = False
        self._ended = False
        self.day: SpendingDay | None = None
        self._events: StreamReader | None = None
        """Set while an answer of events is under way that another event can be put into."""

    @property
    def agent(self) -> Agent:
        """Who pays; known once the request was let in."""
        assert self._agent is not None
        return self._agent

    def body_is_plain(self) -> None:
        """What is sent on is not packed, however the client sent it."""
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-encoding"]

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
        names = [name.decode("latin-1") for name, _ in self.raw_headers]
        if twice := next((name for name in _ONCE if names.count(name) > 1), None):
            raise UsageError(f"The header {twice} is there twice.")
        if "content-length" in names and "transfer-encoding" in names:
            raise UsageError("A request has a content-length or a transfer-encoding, not both.")
        if not all(_is_utf8(name) and _is_utf8(value) for name, value in self.raw_headers):
            raise UsageError("A header of this request is not UTF-8.", next_step="Write it in ASCII.")
        host = self.headers.get("host", "")
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        hosts = self._gateway.options.hosts
        if hosts is not None and name.lower() not in hosts:
            raise GatewayError(421, "This gateway does not answer to that name.", next_step="Use its address.")

    def _route(self) -> Route:
        raw_path = self._scope.get("raw_path") or self._scope["path"].encode()
        route = read_route(self._scope["method"], raw_path, self._scope["query_string"], self.headers)
        self.protocol = route.protocol
        if route.kind is Kind.UNCOUNTED:
            raise GatewayError(
                403,
                f"nudge cannot count what {self._scope['method']} /{route.path} costs, so it does not pass.",
                next_step="Use /v1/messages, /v1/chat/completions, /v1/responses or generateContent.",
            )
        return route

    async def _let_in(self, route: Route) -> None:
        """Find the agent that pays. A token in place of the provider's key means that ours is used."""
        options, store = self._gateway.options, self._gateway.store
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        given = (self.headers.get("x-api-key", ""), self.headers.get(KEY_HEADER, ""), bearer, route.key)
        ours = next((one for one in given if tokens.is_token(one)), "")
        self._own_key = bool(ours)
        token = ours or self.headers.get(TOKEN_HEADER, "")
        owner = None
        if token:
            of_run = bool(options.token) and hmac.compare_digest(token.encode(), options.token.encode())
            owner = options.agent if of_run else await tokens.agent_of(store, token)
            if owner is None or (route.agent and owner != route.agent):
                raise GatewayError(401, "This token is not valid here.", next_step="Run 'nudge gateway token NAME'.")
        elif options.tokens_required or not route.agent:
            raise GatewayError(
                401, "A token is needed here.", next_step="Run 'nudge gateway token NAME' and use it as the API key."
            )
        name = owner or route.agent
        agent = await store.agents.get(name)
        if agent is None:
            raise NotFoundError(f"There is no agent called {name!r}.", next_step="Run 'nudge agent list'.")
        self._agent = agent

    async def _body(self) -> bytes:
        """The whole body, unpacked if need be: what we cannot read we cannot hold money for."""
        options, body = self._gateway.options, bytearray()
        announced = self.headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 15 or int(announced) > options.largest_request:
            raise self.too_large()
        try:
            async with asyncio.timeout(options.body_seconds):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise _GoneError
                    body += message.get("body", b"")
                    if len(body) > options.largest_request:
                        raise self.too_large()
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise GatewayError(408, "The body of this request took too long.") from None

    def too_large(self) -> GatewayError:
        return GatewayError(413, f"A request has at most {self._gateway.options.largest_request >> 20} MB.")

    async def _answer(self, route: Route, body: bytes) -> None:
        try:
            if route.kind is Kind.CALL:
                await Payment(self._gateway, self, route, body).make()
            else:
                answer = await self.ask(route, body or None)
                try:
                    await self.relay(answer)
                finally:
                    answer.close()
        except NudgeError as error:
            await self._refuse(error)
        except ServiceError as error:
            await self._refuse(GatewayError(502, f"The service did not answer ({error})."))

    async def ask(self, route: Route, body: bytes | None) -> Answer:
        return await self._gateway.upstreams.send(
            self._scope["method"], route, self.raw_headers, body, own_key=self._own_key
        )

    async def relay(
        self, answer: Answer, reader: BodyReader | StreamReader | None = None, unpacked: Unpacked | None = None
    ) -> None:
        """Send the answer on, piece by piece, as it comes."""
        if isinstance(reader, StreamReader) and unpacked is not None and unpacked.plain:
            self._events = reader
        headers = answer_headers(answer.headers)
        if self.day is not None:
            headers += warnings(self.protocol, self.day, self._clock.now(), headers)
        await self._start(answer.status, headers)
        async for piece in answer.pieces():
            if reader is not None and unpacked is not None:
                reader.feed(unpacked.feed(piece))
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        self._events = None
        await self._end(b"")

    async def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _end(self, body: bytes) -> None:
        self._ended = True
        await self._send({"type": "http.response.body", "body": body})

    async def _refuse(self, error: NudgeError, *, close: bool = False) -> None:
        """Tell the client, also in the middle of a stream; where that is not possible, cut the connection.

        `close` is for a request whose body was not read: what follows on the connection is not a request."""
        refusal = refusal_of(error, self.protocol, self._clock.now())
        if isinstance(error, BudgetExhaustedError):
            log.info("A call of %s was refused: %s", self.agent.name, refusal.message)
        if not self.started:
            body = refusal.body(self.protocol)
            headers = [*refusal.headers(), (b"content-length", str(len(body)).encode())]
            if close:
                headers.append((b"connection", b"close"))
            await self._start(refusal.status, headers)
            await self._end(body if self._scope["method"] != "HEAD" else b"")
            return
        if self._events is None or not self._events.between_events:
            raise _GoneError
        await self._end(refusal.event(self.protocol))

    async def _disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _cut(self) -> None:
        """End the connection in the middle of an answer, so that the client knows that it is not whole."""
        drop = self._scope.get("state", {}).get("drop")
        if drop is not None:
            drop()
            await self._disconnected()


def _is_utf8(data: bytes) -> bool:
    """Headers go on as text. What is no UTF-8 would arrive as something else."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
