"""A call that costs money: hold its worst case, ask the service, settle what it used, and log it, however it ends."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from nudge.errors import NudgeError
from nudge.gateway.calls import ModelCall, Protocol, call_of, read_body
from nudge.gateway.google import read_google
from nudge.gateway.limits import Allowed
from nudge.gateway.refusals import GatewayError, refusal_of
from nudge.gateway.repeats import Conversation
from nudge.gateway.routes import Route, run_of
from nudge.gateway.upstream import Answer, ServiceError, Unpacked, UnreachableError
from nudge.gateway.usage import BodyReader, StreamReader, Told, Used, used
from nudge.instants import SECOND, Instant
from nudge.spending.call_log import LoggedCall
from nudge.spending.ledger import HeldCall
from nudge.spending.money import Micros
from nudge.tokens import TokenUse

if TYPE_CHECKING:
    from nudge.gateway.app import Gateway
    from nudge.gateway.exchange import Exchange

LONGEST_REASON = 500


class Payment:
    """One call, from its body to its row in the log."""

    def __init__(self, gateway: Gateway, exchange: Exchange, route: Route, body: bytes) -> None:
        self._gateway = gateway
        self._exchange = exchange
        self._clock = gateway.clock
        self._route = route
        self._body = body
        self._packed = exchange.headers.get("content-encoding", "")
        self._run = run_of(route, exchange.headers)
        parsed = read_body(self._unpacked())
        self._call: ModelCall = (
            read_google(parsed, route.model, stream=route.stream)
            if route.protocol is Protocol.GOOGLE
            else call_of(route.protocol, parsed)
        )
        self._row = LoggedCall(
            id=secrets.token_hex(12),
            agent=exchange.agent.name,
            run=self._run,
            at=self._clock.now(),
            protocol=route.protocol.value,
            client=exchange.headers.get("user-agent", "").split(" ")[0][:80],
            model=self._call.model[:200],
            asked=self._call.max_tokens,
        )
        self._allowed = Allowed(0)
        self._use: TokenUse | None = None
        self._cost: Micros | None = None
        self._conversation: Conversation | None = None
        self._said = parsed.said
        self._logged = False

    async def make(self) -> None:
        gateway = self._gateway
        try:
            self._look_for_repeats()
            await self._hold()
        except NudgeError as error:
            refusal = refusal_of(error, self._route.protocol, self._clock.now())
            result = "cut" if self._exchange.started else refusal.result
            self._row = replace(self._row, result=result, reason=refusal.message[:LONGEST_REASON])
            raise
        except ServiceError:
            self._row = replace(self._row, result="service broke off")
            raise
        except asyncio.CancelledError:
            self._row = replace(self._row, result="client gone")
            raise
        finally:
            self._allowed.ended(self._use)
            if not self._logged:
                self._end()
                gateway.write(self._row)
            if gateway.observe is not None:
                gateway.observe(replace(self._row, use=self._use, cost=self._cost), self._exchange.headers)

    def _look_for_repeats(self) -> None:
        """Count the tool calls that are new in this conversation, if anybody wants to know of repeats."""
        said, self._said = self._said, {}
        seen = self._gateway.look_for_repeats(self._exchange.agent, self._run, self._call, said)
        if seen is not None:
            self._conversation, result = seen
            self._row = replace(self._row, reason=result.message[:LONGEST_REASON])

    async def _hold(self) -> None:
        gateway, call, agent = self._gateway, self._call, self._row.agent
        self._allowed = await gateway.limit(call) if gateway.limit else Allowed(call.max_tokens)
        most = self._allowed.max_tokens
        block = gateway.spending.hold(
            agent,
            model=call.model,
            input_bound=call.input_bound + gateway.memory.history(call),
            max_tokens=most,
            min_tokens=min(call.least_tokens, most),
            run=self._run,
            starts_task=await gateway.memory.begins_task(agent, self._run, call),
            caching=call.caching,
            searches=call.searches,
            attempt_id=self._row.id,
        )
        async with block as hold:
            self._exchange.day = block.day
            waited = self._clock.now() - self._row.at
            gateway.memory.begun(agent, self._run)
            self._row = replace(self._row, granted=hold.max_tokens, held=int(hold.amount), waited=waited)
            try:
                await self._ask(hold)
                block.beside = self._log
            finally:
                self._cost = int(hold.charged)
        self._logged = True

    async def _log(self) -> None:
        self._end()
        await self._gateway.calls.add(self._row)

    def _end(self) -> None:
        lasted = self._clock.now() - self._row.at
        self._row = replace(self._row, result=self._row.result or "done", lasted=lasted)

    async def _ask(self, hold: HeldCall) -> None:
        began = self._clock.now()
        body = self._body
        if hold.max_tokens < self._call.max_tokens:
            body = self._call.limited(hold.max_tokens)
            self._exchange.body_is_plain()
        try:
            answer = await self._exchange.ask(self._route, body)
        except UnreachableError as error:
            hold.settle(TokenUse())  # nothing was sent
            raise GatewayError(502, f"The service cannot be reached ({error}).") from error
        try:
            self._row = replace(self._row, status=answer.status)
            self._gateway.note_windows(self._row.agent, answer.headers)
            if answer.status >= 400:
                hold.settle(TokenUse())  # an error is free
                self._row = replace(self._row, result="service refused")
                await self._exchange.relay(answer)
                return
            await self._relay(answer, hold, began)
        finally:
            answer.close()

    async def _relay(self, answer: Answer, hold: HeldCall, began: Instant) -> None:
        protocol = self._route.protocol
        reader = StreamReader(protocol) if _is_stream(answer) else BodyReader(protocol)
        unpacked = Unpacked(answer.header(b"content-encoding"))
        try:
            await self._exchange.relay(answer, reader, unpacked)
            reader.end()
        finally:
            self._settle(hold, reader.told if unpacked.readable else None, began)
        if reader.told.error or not reader.told.finished:
            self._row = replace(self._row, result="service broke off")

    def _settle(self, hold: HeldCall, told: Told | None, began: Instant) -> None:
        """Charge what the answer says it used, or what it can have used at most."""
        seconds = (self._clock.now() - began) / SECOND
        charge = Used() if told is None else used(told, self._call, seconds, cut=not told.finished)
        if told is None or charge.use is None:
            hold.produced(hold.max_tokens if charge.output is None else charge.output)
            hold.cancel()
            return
        known = bool(told.model) and self._gateway.prices.quote(told.model).known
        hold.settle(charge.use, model=told.model if known else None)
        self._use = charge.use
        if told.response_id:
            self._gateway.memory.lengths[told.response_id] = charge.use.prompt + charge.use.output
            if self._conversation is not None:
                self._gateway.watch.keep(told.response_id, self._conversation, told.calls)

    def _unpacked(self) -> bytes:
        if not self._packed:
            return self._body
        most = self._gateway.options.largest_request
        unpacker = Unpacked([self._packed])
        plain = unpacker.feed(self._body, most + 1)
        if not unpacker.readable:
            raise GatewayError(
                415, f"A body in {self._packed} cannot be read here.", next_step="Send it plain or as gzip."
            )
        if len(plain) > most:
            raise self._exchange.too_large()
        return plain


def _is_stream(answer: Answer) -> bool:
    return "".join(answer.header(b"content-type")).partition(";")[0].strip().lower() == "text/event-stream"
