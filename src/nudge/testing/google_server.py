"""Google's Gemini API on loopback: scripted answers, function calls, streaming with usage, faults on demand.

The model, and whether an answer is streamed, are in the path: `/v1beta/models/MODEL:streamGenerateContent?alt=sse`. A
prompt that begins like an earlier one counts as cached that far, if it is long enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nudge.testing.model_server import Answer, BadRequestError, ModelServer, Reply, pieces_of, tokens_of, written

API_KEY = "AIza-fake-key-of-nobody"
_MODELS = {"models": [{"name": "models/fake", "supportedGenerationMethods": ["generateContent", "countTokens"]}]}
_STATES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
_PATHS = "/v1beta/models/{model}:"


class FakeGoogle(ModelServer):
    """The service. A text becomes text, a `Reply` what it says; its thinking is counted and not shown.

    >>> import httpx2
    >>> with FakeGoogle(api_key=None) as service:
    ...     service.reply("Bed?")
    ...     body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    ...     said = httpx2.post(f"{service.url}/v1beta/models/m:generateContent", json=body).json()
    >>> said["candidates"][0]["content"]["parts"], said["usageMetadata"]["candidatesTokenCount"]
    ([{'text': 'Bed?'}], 1)
    """

    usage_field = "usageMetadata"

    def __init__(
        self,
        api_key: str | None = API_KEY,
        *,
        default: str = "HEARTBEAT_OK",
        answer: Answer | None = None,
        shortest_cached: int = 1024,
    ) -> None:
        more = [
            Route(f"{_PATHS}streamGenerateContent", self._ask, methods=["POST"]),
            Route(f"{_PATHS}countTokens", self._count, methods=["POST"]),
            Route("/v1beta/models", self._list, methods=["GET"]),
        ]
        super().__init__(f"{_PATHS}generateContent", default, answer, (), _MODELS, more)
        self.api_key = api_key
        self._shortest_cached = shortest_cached
        self._cached: set[str] = set()

    def _read(self, request: Request, body: dict[str, Any]) -> dict[str, Any]:
        streamed = request.url.path.endswith(":streamGenerateContent")
        return {**body, "model": request.path_params["model"], "stream": streamed}

    async def _count(self, request: Request) -> Response:
        refusal = self._check_key(request)
        if refusal is not None:
            return refusal
        return JSONResponse({"totalTokens": tokens_of(json.dumps(json.loads(await request.body()).get("contents")))})

    def _check_key(self, request: Request) -> Response | None:
        given = request.headers.get("x-goog-api-key") or request.query_params.get("key")
        if self.api_key is not None and given != self.api_key:
            return self._error(400, "API key not valid. Please pass a valid API key.")
        return None

    def _check(self, body: dict[str, Any]) -> None:
        contents = body.get("contents")
        if not isinstance(contents, list) or not contents:
            raise BadRequestError("* GenerateContentRequest.contents: contents is not specified")
        asked = 0
        for content in contents:
            calls, results = (_count_of(content, name) for name in ("functionCall", "functionResponse"))
            if results != asked:
                raise BadRequestError(
                    "Please ensure that the number of function response parts is equal to the number of function call "
                    "parts of the function call turn."
                )
            asked = calls
        limit = (body.get("generationConfig") or {}).get("maxOutputTokens")
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise BadRequestError(f"Unable to submit request because it has a maxOutputTokens value of {limit}.")

    def _say(self, reply: Reply, body: dict[str, Any], number: int) -> dict[str, Any]:
        text, finish = reply.text, reply.stop_reason or "STOP"
        limit = (body.get("generationConfig") or {}).get("maxOutputTokens")
        if isinstance(limit, int) and tokens_of(text) > limit:
            text, finish = text.encode()[: limit * 4].decode("utf-8", "ignore"), "MAX_TOKENS"
        parts: list[dict[str, Any]] = [{"text": text}] if text or not reply.tools else []
        for name, given in reply.tools:
            parts.append({"functionCall": {"name": name, "args": given if isinstance(given, Mapping) else {}}})
        prompt, cached = self._prompt(body)
        thought = tokens_of(reply.thinking)
        spoken = max(1, sum(tokens_of(words) for words in (text, *(written(given) for _, given in reply.tools))))
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": prompt,
                "candidatesTokenCount": spoken,
                "totalTokenCount": prompt + spoken + thought,
                **({"cachedContentTokenCount": cached} if cached else {}),
                **({"thoughtsTokenCount": thought} if thought else {}),
            },
            "modelVersion": body["model"],
            "responseId": f"resp-{number:06d}",
        }

    def _prompt(self, body: dict[str, Any]) -> tuple[int, int]:
        text, cached = json.dumps([body.get("systemInstruction"), body.get("tools")], sort_keys=True), 0
        with self.bell.lock:
            for content in body["contents"]:
                text += json.dumps(content, sort_keys=True)
                if text in self._cached and tokens_of(text) >= self._shortest_cached:
                    cached = tokens_of(text)
                self._cached.add(text)
        return tokens_of(text), cached

    def _events(self, said: dict[str, Any], body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        """Pieces of the answer, each with the usage so far; the last one says why it ends."""
        (candidate,) = said["candidates"]
        pieces: list[dict[str, Any]] = []
        for part in candidate["content"]["parts"]:
            pieces += [{"text": piece} for piece in pieces_of(part["text"])] if "text" in part else [part]
        so_far = {**said["usageMetadata"], "candidatesTokenCount": 0}
        for part in pieces:
            content = {"content": {"role": "model", "parts": [part]}, "index": 0}
            yield _event({**said, "candidates": [content], "usageMetadata": so_far}), True
        last = {"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0}
        yield _event({**said, "candidates": [{**last, "finishReason": candidate["finishReason"]}]}), False

    def _error_event(self, status: int, message: str) -> str:
        return _event({"error": {"code": status, "message": message or "Error", "status": _state(status)}})

    def _error(self, status: int, message: str, retry_after: float | str | None = None) -> Response:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        error = {"code": status, "message": message or "Error", "status": _state(status)}
        return JSONResponse({"error": error}, status_code=status, headers=headers)

    def _forget(self) -> None:
        self._cached.clear()


def _count_of(content: Mapping[str, Any], name: str) -> int:
    return sum(name in part for part in content.get("parts") or ())


def _state(status: int) -> str:
    return _STATES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"
