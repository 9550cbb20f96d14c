"""Anthropic's Messages API on loopback: scripted answers, plausible token counts, streaming, and faults on demand.

Runs inside a test (`with FakeAnthropic() as anthropic`) or as a process (`python -m nudge.testing.anthropic_server
--port 0`, which prints its URL) that is driven over HTTP:

POST /control/reply     {"text": "…"} or {"data": {…}}, with "stop_reason" and "times" if wanted
POST /control/fault     {"kind": "status", "status": 529, "retry_after": 3, "times": 1}
POST /control/reset
GET  /control/requests  ?at_least=N&timeout=S waits for that many; answers {"requests": [{…}]}

Without a script it answers `default`. Tokens are a quarter of the bytes, rounded up. What stands before the last mark
of the prompt cache is written to the cache the first time and read from it later, if it is long enough to be cached.
The key is taken from `x-api-key` or as a bearer token, as the service does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nudge.testing.anthropic_replies import (
    BadRequestError,
    Reply,
    as_reply,
    check,
    error_body,
    message_of,
    prefix_of,
    stream_of,
    tokens_of,
)
from nudge.testing.faults import Fault, FaultKind, Faults
from nudge.testing.loopback import Bell, Loopback, serve

API_KEY = "sk-ant-fake-key-of-nobody"
Answer = Callable[[dict[str, Any]], "str | Mapping[str, Any] | Reply"]


class FakeAnthropic(Loopback):
    """The service. `answer` is asked where the script is used up; a text becomes text, a mapping becomes a tool call.

    >>> import httpx2
    >>> with FakeAnthropic() as anthropic:
    ...     anthropic.reply("Bed?")
    ...     body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    ...     headers = {"x-api-key": anthropic.api_key, "anthropic-version": "2023-06-01"}
    ...     said = httpx2.post(f"{anthropic.url}/v1/messages", json=body, headers=headers).json()
    >>> said["content"][0]["text"], said["usage"]["output_tokens"]
    ('Bed?', 1)
    """

    def __init__(
        self,
        api_key: str = API_KEY,
        *,
        default: str | Mapping[str, Any] = "HEARTBEAT_OK",
        answer: Answer | None = None,
        shortest_cached: int = 1024,
    ) -> None:
        self.api_key = api_key
        self.bell = Bell()
        self.faults = Faults(self.bell)
        self._default = default
        self._answer = answer
        self._shortest_cached = shortest_cached
        self._script: list[Reply] = []
        self._requests: list[dict[str, Any]] = []
        self._cached: set[str] = set()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/models", self._models, methods=["GET"]),
                Route("/control/reply", self._control_reply, methods=["POST"]),
                Route("/control/fault", self._control_fault, methods=["POST"]),
                Route("/control/reset", self._control_reset, methods=["POST"]),
                Route("/control/requests", self._control_requests, methods=["GET"]),
            ]
        )
        super().__init__(self.app)

    def reply(self, answer: str | Mapping[str, Any] | Reply, *, times: int = 1, stop_reason: str | None = None) -> None:
        """Queue an answer."""
        with self.bell.lock:
            self._script.extend([as_reply(answer, stop_reason)] * times)

    def fail(self, fault: Fault, times: int = 1) -> None:
        self.faults.add(fault, times)

    def reset(self) -> None:
        with self.bell.lock:
            self._script.clear()
            self._requests.clear()
            self._cached.clear()
            self.faults.clear()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all calls that came, failed ones too."""
        with self.bell.lock:
            return list(self._requests)

    def wait_for_requests(self, count: int, timeout: float = 10.0) -> list[dict[str, Any]]:
        """All bodies, once it is that many. Blocks the thread: use `asyncio.to_thread` in a coroutine."""
        if not self.bell.wait_for(lambda: len(self._requests) >= count, timeout):
            raise TimeoutError(f"{len(self._requests)} of {count} requests came within {timeout} s.")
        return self.requests

    async def _messages(self, request: Request) -> Response:
        refusal = self._check_key(request)
        try:
            body: dict[str, Any] = json.loads(await request.body())
        except ValueError:
            return _error(400, "The request body is not valid JSON")
        with self.bell.lock:
            self._requests.append(body)
        self.bell.ring()
        if refusal is not None:
            return refusal
        fault = self.faults.take("messages")
        if fault is not None and fault.kind is FaultKind.STATUS:
            return _error(fault.status, fault.message, fault.retry_after)
        if fault is not None:
            return await self.faults.play(fault, request)
        try:
            check(body)
        except BadRequestError as wrong:
            return _error(400, str(wrong))
        message = message_of(self._next_reply(body), body, self._usage(body))
        if body.get("stream"):
            return StreamingResponse(stream_of(message), media_type="text/event-stream")
        return JSONResponse(message, headers={"request-id": f"req_{len(self._requests):06d}"})

    async def _models(self, request: Request) -> Response:
        refusal = self._check_key(request)
        fault = self.faults.take("models") if refusal is None else None
        if fault is not None and fault.kind is FaultKind.STATUS:
            return _error(fault.status, fault.message, fault.retry_after)
        model = {"type": "model", "id": "claude-fake", "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z"}
        listed = {"data": [model], "has_more": False, "first_id": "claude-fake", "last_id": "claude-fake"}
        return refusal or JSONResponse(listed)

    def _check_key(self, request: Request) -> Response | None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key not in (bearer, request.headers.get("x-api-key")):
            return _error(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return _error(400, "anthropic-version: header is required")
        return None

    def _next_reply(self, body: dict[str, Any]) -> Reply:
        with self.bell.lock:
            if self._script:
                return self._script.pop(0)
        return as_reply(self._answer(body) if self._answer is not None else self._default)

    def _usage(self, body: dict[str, Any]) -> dict[str, int]:
        prefix, rest = prefix_of(body)
        cached = tokens_of(prefix)
        if not prefix or cached < self._shortest_cached:
            return {"input_tokens": tokens_of(prefix + rest)}
        with self.bell.lock:
            known = prefix in self._cached
            self._cached.add(prefix)
        return {
            "input_tokens": tokens_of(rest),
            "cache_read_input_tokens": cached if known else 0,
            "cache_creation_input_tokens": 0 if known else cached,
        }

    async def _control_reply(self, request: Request) -> Response:
        wanted: dict[str, Any] = await request.json()
        answer = wanted["data"] if "data" in wanted else wanted["text"]
        self.reply(answer, times=int(wanted.get("times", 1)), stop_reason=wanted.get("stop_reason"))
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


def _error(status: int, message: str, retry_after: float | str | None = None) -> Response:
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return JSONResponse(error_body(status, message), status_code=status, headers=headers)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m nudge.testing.anthropic_server", description="A fake Messages API."
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--api-key", default=API_KEY)
    parser.add_argument("--default", default="HEARTBEAT_OK", help="the answer where nothing is scripted")
    options = parser.parse_args()
    serve(FakeAnthropic(options.api_key, default=options.default).app, options.port)


if __name__ == "__main__":
    main()
