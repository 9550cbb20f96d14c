"""What the fakes of model services share: a script of answers, the requests that came, faults, and control over HTTP.

POST /control/reply     {"text": "…"}, {"data": {…}} or {"tools": [["name", {…}]]}, with "stop_reason" and "times"
POST /control/fault     {"kind": "status", "status": 529, "retry_after": 3, "times": 1}
POST /control/reset
GET  /control/requests  ?at_least=N&timeout=S waits for that many; answers {"requests": [{…}]}
GET  /control/bill      what it would bill: {"calls": [{"model": "…", "usage": {…}}]}

Tokens are a quarter of the bytes, rounded up.
"""

from __future__ import annotations

import asyncio
import json
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nudge.testing.faults import Fault, FaultKind, Faults
from nudge.testing.loopback import Bell, Loopback

PIECE = 8
"""Characters of one piece of a stream."""
_IN_STREAMS = (FaultKind.CUT, FaultKind.GIVE_UP, FaultKind.STALL)


class BadRequestError(Exception):
    """The service would answer 400 with this message."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: words, tool calls, or both. The stop reason follows from it unless given.

    `data` is an answer of the form that was asked for, or a call of the tool that was. `tools` are calls by name; an
    input that is a text is sent as it is, so that broken JSON can be tried too. `thinking` comes before all of it, with
    services that show it. `usage` is told in place of the true one, which is billed.
    """

    text: str = ""
    data: Mapping[str, Any] | None = None
    stop_reason: str | None = None
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    thinking: str = ""
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Billed:
    """A call that the service did, with what it used, whether or not its answer arrived."""

    model: str
    usage: Mapping[str, Any]


Said: TypeAlias = str | Mapping[str, Any] | Reply
Answer: TypeAlias = Callable[[dict[str, Any]], Said]


def as_reply(answer: Said, stop_reason: str | None = None) -> Reply:
    if isinstance(answer, Reply):
        return answer
    return Reply(answer, None, stop_reason) if isinstance(answer, str) else Reply("", answer, stop_reason)


def tokens_of(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // 4)


def pieces_of(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def written(given: Mapping[str, Any] | str) -> str:
    return given if isinstance(given, str) else json.dumps(given)


class ModelServer(Loopback):
    """A service. Where the script is used up, `answer` is asked, or `default` is given. `lacks` names what its model
    cannot do: "tools", "json".

    What it does is on its `bill`, also where the answer gets lost on its way or never comes. Error answers are free.
    """

    usage_field = "usage"

    def __init__(
        self,
        path: str,
        default: Said,
        answer: Answer | None,
        lacks: Sequence[str],
        models: Mapping[str, Any],
        more: Sequence[Route] = (),
    ) -> None:
        self.bell = Bell()
        self.faults = Faults(self.bell)
        self.lacks = frozenset(lacks)
        self._default = default
        self._answer = answer
        self._models = models
        self._script: list[Reply] = []
        self._requests: list[dict[str, Any]] = []
        self._bill: list[Billed] = []
        self._served: list[dict[str, Any]] = []
        self._abandoned = 0
        self.first_word_after = 0.0
        self.app = Starlette(
            routes=[
                Route(path, self._ask, methods=["POST"]),
                Route("/v1/models", self._list, methods=["GET"]),
                *more,
                Route("/control/reply", self._control_reply, methods=["POST"]),
                Route("/control/fault", self._control_fault, methods=["POST"]),
                Route("/control/reset", self._control_reset, methods=["POST"]),
                Route("/control/requests", self._control_requests, methods=["GET"]),
                Route("/control/bill", self._control_bill, methods=["GET"]),
            ]
        )
        super().__init__(self.app)

    def reply(self, answer: Said, *, times: int = 1, stop_reason: str | None = None) -> None:
        """Queue an answer."""
        with self.bell.lock:
            self._script.extend([as_reply(answer, stop_reason)] * times)

    def fail(self, fault: Fault, times: int = 1) -> None:
        self.faults.add(fault, times)

    def reset(self) -> None:
        with self.bell.lock:
            self._script.clear()
            self._requests.clear()
            self._bill.clear()
            self._served.clear()
            self._abandoned = 0
            self.faults.clear()
            self._forget()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all calls that came, failed ones too."""
        with self.bell.lock:
            return list(self._requests)

    @property
    def bill(self) -> list[Billed]:
        """All calls that it did, oldest first."""
        with self.bell.lock:
            return list(self._bill)

    @property
    def served(self) -> list[dict[str, Any]]:
        """All answers that were given, each with its usage. Streams count as a whole. `bill` has the lost ones too."""
        with self.bell.lock:
            return list(self._served)

    def wait_for_abandoned(self, count: int, timeout: float = 10.0) -> bool:
        """Whether that many clients have left a stalled stream. Blocks the thread, as `wait_for_requests` does."""
        return self.bell.wait_for(lambda: self._abandoned >= count, timeout)

    def wait_for_requests(self, count: int, timeout: float = 10.0) -> list[dict[str, Any]]:
        """All bodies, once it is that many. Blocks the thread: use `asyncio.to_thread` in a coroutine."""
        if not self.bell.wait_for(lambda: len(self._requests) >= count, timeout):
            raise TimeoutError(f"{len(self._requests)} of {count} requests came within {timeout} s.")
        return self.requests

    @abstractmethod
    def _check_key(self, request: Request) -> Response | None:
        """What to answer to a client that may not ask; None to one that may."""

    @abstractmethod
    def _check(self, body: dict[str, Any]) -> None:
        """Raise BadRequestError for what the service refuses."""

    @abstractmethod
    def _say(self, reply: Reply, body: dict[str, Any], number: int) -> dict[str, Any]:
        """The answer to the request of that number, in the service's shape."""

    @abstractmethod
    def _events(self, said: dict[str, Any], body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        """The same answer as server-sent events, each with whether it is a piece of the answer itself."""

    @abstractmethod
    def _error_event(self, status: int, message: str) -> str:
        """What the service sends when it gives up in the middle of a stream."""

    @abstractmethod
    def _error(self, status: int, message: str, retry_after: float | str | None = None) -> Response: ...

    @abstractmethod
    def _forget(self) -> None:
        """Empty the prompt cache."""

    def _read(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        """The body with what only the path says."""
        return body

    async def _ask(self, request: Request) -> Response:
        refusal = self._check_key(request)
        try:
            body = self._read(request, json.loads(await request.body()))
        except ValueError:
            return self._error(400, "The request body is not valid JSON")
        with self.bell.lock:
            self._requests.append(body)
            number = len(self._requests)
        self.bell.ring()
        if refusal is not None:
            return refusal
        fault = self.faults.take("messages")
        if fault is not None and fault.kind is FaultKind.STATUS:
            return self._error(fault.status, fault.message, fault.retry_after)
        try:
            self._check(body)
        except BadRequestError as wrong:
            return self._error(400, str(wrong))
        if fault is not None and fault.kind not in _IN_STREAMS:
            self._charge(body, self._say(self._lost_reply(), body, number))
            return await self.faults.play(fault, request)
        reply = self._next_reply(body)
        if self.first_word_after:
            await asyncio.sleep(self.first_word_after)
        said = self._say(reply, body, number)
        self._charge(body, said)
        if reply.usage is not None:
            said = {**said, self.usage_field: reply.usage}
        with self.bell.lock:
            self._served.append(said)
        if not body.get("stream"):
            name = f"req_{number:06d}"
            return JSONResponse(said, headers={"request-id": name, "x-request-id": name})
        return StreamingResponse(self._streamed(self._events(said, body), fault), media_type="text/event-stream")

    async def _streamed(self, events: Iterator[tuple[str, bool]], fault: Fault | None) -> AsyncIterator[str]:
        """A stream, which with a fault ends after some pieces, with an error or without a word, or does not end."""
        pieces = 0
        for event, is_piece in events:
            pieces += is_piece
            if fault is not None and pieces > fault.pieces:
                break
            yield event
        if fault is not None and fault.kind is FaultKind.GIVE_UP:
            yield self._error_event(fault.status, fault.message)
        if fault is not None and fault.kind is FaultKind.STALL:
            try:
                await asyncio.Event().wait()
            finally:
                with self.bell.lock:
                    self._abandoned += 1
                self.bell.ring()

    async def _list(self, request: Request) -> Response:
        refusal = self._check_key(request)
        fault = self.faults.take("models") if refusal is None else None
        if fault is not None and fault.kind is FaultKind.STATUS:
            return self._error(fault.status, fault.message, fault.retry_after)
        return refusal or JSONResponse(self._models)

    def _next_reply(self, body: dict[str, Any]) -> Reply:
        with self.bell.lock:
            if self._script:
                return self._script.pop(0)
        return as_reply(self._answer(body) if self._answer is not None else self._default)

    def _lost_reply(self) -> Reply:
        """The answer that does not arrive. A scripted one stays for the next who asks."""
        with self.bell.lock:
            return self._script[0] if self._script else as_reply(self._default)

    def _charge(self, body: dict[str, Any], said: dict[str, Any]) -> None:
        with self.bell.lock:
            self._bill.append(Billed(str(body["model"]), said[self.usage_field]))

    async def _control_bill(self, request: Request) -> Response:
        return JSONResponse({"calls": [{"model": one.model, "usage": dict(one.usage)} for one in self.bill]})

    async def _control_reply(self, request: Request) -> Response:
        wanted: dict[str, Any] = await request.json()
        tools = [(str(name), given) for name, given in wanted.get("tools", ())]
        reply = Reply(wanted.get("text", ""), wanted.get("data"), wanted.get("stop_reason"), tools)
        self.reply(reply, times=int(wanted.get("times", 1)))
        return JSONResponse({})

    async def _control_fault(self, request: Request) -> Response:
        wanted: dict[str, Any] = await request.json()
        times = int(wanted.pop("times", 1))
        self.fail(Fault.from_json(wanted), times)
        return JSONResponse({})

    async def _control_reset(self, request: Request) -> Response:
        self.reset()
        return JSONResponse({})

    async def _control_requests(self, request: Request) -> Response:
        await request.body()
        at_least = int(request.query_params.get("at_least", 0))
        within = float(request.query_params.get("timeout", 10))
        await self.bell.heard(lambda: len(self._requests) >= at_least, within, request)
        return JSONResponse({"requests": self.requests})
