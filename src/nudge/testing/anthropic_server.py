"""Anthropic's Messages API on loopback: scripted answers, plausible token counts, tools, streaming, faults on demand.

Runs inside a test (`with FakeAnthropic() as anthropic`) or as a process (`python -m nudge.testing.anthropic_server
--port 0`, which prints its URL) that is driven over HTTP: see `nudge.testing.model_server`.

The prompt cache works by its marks: see `anthropic_replies.cache_counts`. The key is taken from `x-api-key` or as a
bearer token, as the service does.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nudge.testing.anthropic_replies import cache_counts, check, error_body, event_of, message_of, stream_of
from nudge.testing.loopback import serve
from nudge.testing.model_server import Answer, BadRequestError, ModelServer, Reply, tokens_of

API_KEY = "sk-ant-fake-key-of-nobody"
CACHE_SECONDS = 300.0
_MODEL = {"type": "model", "id": "claude-fake", "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z"}
_MODELS = {"data": [_MODEL], "has_more": False, "first_id": "claude-fake", "last_id": "claude-fake"}


class FakeAnthropic(ModelServer):
    """The service. A text becomes text, a mapping a call of the tool that is asked for, a `Reply` what it says.

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
        lacks: Sequence[str] = (),
        now: Callable[[], float] = lambda: 0.0,
        first_word_after: float = 0.0,
    ) -> None:
        """`now` is the clock, in seconds, by which a prefix leaves the prompt cache five minutes after its last use;
        without one it stays. `first_word_after` is how many seconds an answer takes to begin."""
        more = [
            Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
            Route("/api/hello", self._hello, methods=["GET"]),
        ]
        super().__init__("/v1/messages", default, answer, lacks, _MODELS, more)
        self.api_key = api_key
        self._shortest_cached = shortest_cached
        self._cached: dict[str, float] = {}
        self._now = now
        self.first_word_after = first_word_after

    def _check_key(self, request: Request) -> Response | None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key not in (bearer, request.headers.get("x-api-key")):
            return self._error(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return self._error(400, "anthropic-version: header is required")
        return None

    def _check(self, body: dict[str, Any]) -> None:
        check(body)
        if body.get("tools") and "tools" in self.lacks:
            raise BadRequestError(f"{body['model']} does not support tools")

    def _say(self, reply: Reply, body: dict[str, Any], number: int) -> dict[str, Any]:
        with self.bell.lock:
            now = self._now()
            known = {prefix for prefix, until in self._cached.items() if now < until}
            counts, cached = cache_counts(body, known, self._shortest_cached)
            self._cached.update(dict.fromkeys(cached, now + CACHE_SECONDS))
        return message_of(reply, body, counts, number)

    def _events(self, said: dict[str, Any], body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        return stream_of(said)

    def _error_event(self, status: int, message: str) -> str:
        return event_of(error_body(status, message))

    def _error(self, status: int, message: str, retry_after: float | str | None = None) -> Response:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return JSONResponse(error_body(status, message), status_code=status, headers=headers)

    async def _count(self, request: Request) -> Response:
        refusal = self._check_key(request)
        return refusal or JSONResponse({"input_tokens": tokens_of((await request.body()).decode("utf-8", "replace"))})

    async def _hello(self, request: Request) -> Response:
        return JSONResponse({"message": "hello"})

    def _forget(self) -> None:
        self._cached.clear()


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
