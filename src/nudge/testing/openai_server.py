"""A chat completions API on loopback, as OpenAI, Ollama, vLLM and LM Studio have it: scripted answers, tools, answers
of a given form, streaming with usage, faults on demand, and models that refuse what they cannot do.

Runs inside a test (`with FakeOpenAI() as service`) or as a process (`python -m nudge.testing.openai_server --port 0`,
which prints its URL) that is driven over HTTP: see `nudge.testing.model_server`. The API's base URL is that URL with
`/v1`. Messages that were sent before, in the same order, count as cached if they are long enough.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nudge.testing.loopback import serve
from nudge.testing.model_server import Answer, BadRequestError, ModelServer, Reply, pieces_of, tokens_of, written

API_KEY = "sk-fake-key-of-nobody"
_MODELS = {"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "nobody"}]}
_ROLES = ("system", "developer", "user", "assistant", "tool")
_LIMITS = ("max_tokens", "max_completion_tokens")


class OpenAIService(ModelServer):
    """What the services of OpenAI share: the key, the shape of an error, and a cache of prompts."""

    def __init__(
        self,
        path: str,
        api_key: str | None,
        default: str | Mapping[str, Any],
        answer: Answer | None,
        shortest_cached: int,
        lacks: Sequence[str] = (),
    ) -> None:
        super().__init__(path, default, answer, lacks, _MODELS)
        self.api_key = api_key
        self._shortest_cached = shortest_cached
        self._cached: set[str] = set()

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def _check_key(self, request: Request) -> Response | None:
        if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return self._error(401, "Incorrect API key provided.")
        return None

    def _error(self, status: int, message: str, retry_after: float | str | None = None) -> Response:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        error = {"message": message or "Error", "type": "invalid_request_error", "param": None, "code": None}
        return JSONResponse({"error": error}, status_code=status, headers=headers)

    def _forget(self) -> None:
        self._cached.clear()

    def _prompt(self, head: str, items: Iterable[Any]) -> tuple[int, int]:
        """How long a prompt is, and how much of it is cached: every item that ends a prefix of an earlier request."""
        text, cached = head, 0
        with self.bell.lock:
            for item in items:
                text += json.dumps(item, sort_keys=True)
                if text in self._cached and tokens_of(text) >= self._shortest_cached:
                    cached = tokens_of(text)
                self._cached.add(text)
        length = tokens_of(text)
        return length, min(cached, length)


class FakeOpenAI(OpenAIService):
    """The service. A text becomes text, a mapping an answer of the form that is asked for, a `Reply` what it says.

    `api_key` None asks for no key. `limit` is the one name for the token limit that it knows, where it knows only one.

    >>> import httpx2
    >>> with FakeOpenAI(api_key=None) as service:
    ...     service.reply("Bed?")
    ...     body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    ...     said = httpx2.post(f"{service.base_url}/chat/completions", json=body).json()
    >>> said["choices"][0]["message"]["content"], said["usage"]["completion_tokens"]
    ('Bed?', 1)
    """

    def __init__(
        self,
        api_key: str | None = API_KEY,
        *,
        default: str | Mapping[str, Any] = "HEARTBEAT_OK",
        answer: Answer | None = None,
        shortest_cached: int = 1024,
        lacks: Sequence[str] = (),
        limit: str = "",
    ) -> None:
        super().__init__("/v1/chat/completions", api_key, default, answer, shortest_cached, lacks)
        self._limit = limit

    def _check(self, body: dict[str, Any]) -> None:
        if not isinstance(body.get("model"), str) or not isinstance(body.get("messages"), list) or not body["messages"]:
            raise BadRequestError("you must provide a model and at least one message")
        for name in _LIMITS:
            if name in body and self._limit not in ("", name):
                raise BadRequestError(
                    f"Unsupported parameter: '{name}' is not supported with this model. Use '{self._limit}' instead."
                )
        if body.get("tools") and "tools" in self.lacks:
            raise BadRequestError(f"registry.ollama.ai/library/{body['model']}:latest does not support tools")
        if body.get("response_format") and "json" in self.lacks:
            raise BadRequestError("This response_format type is unavailable now")
        _check_messages(body["messages"])

    def _say(self, reply: Reply, body: dict[str, Any], number: int) -> dict[str, Any]:
        return completion_of(reply, body, self._usage(body), number)

    def _usage(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt, cached = self._prompt(
            json.dumps(body["tools"], sort_keys=True) if body.get("tools") else "", body["messages"]
        )
        return {"prompt_tokens": prompt, "prompt_tokens_details": {"cached_tokens": cached}}

    def _events(self, said: dict[str, Any], body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        return chunks_of(said, with_usage=with_usage)

    def _error_event(self, status: int, message: str) -> str:
        return _event({"error": {"message": message or "Error", "type": "server_error", "code": status}})


def _check_messages(messages: list[dict[str, Any]]) -> None:
    """Every tool call is answered by a message of its own, right after it, and nothing else is."""
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in _ROLES:
            raise BadRequestError(f"Invalid value: '{role}'. Supported values are: {', '.join(_ROLES)}.")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise BadRequestError(
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            raise BadRequestError(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following did not have response messages: {', '.join(open_calls)}"
            )
        calls = message.get("tool_calls") or []
        if not message.get("content") and not calls:
            raise BadRequestError(f"messages.{index}: content must not be empty")
        open_calls = [str(call.get("id")) for call in calls]


def completion_of(reply: Reply, body: dict[str, Any], usage: dict[str, Any], number: int) -> dict[str, Any]:
    """The completion. Words beyond the limit are cut, as the service does."""
    text, calls = reply.text, list(reply.tools)
    if reply.data is not None and body.get("tools"):
        calls.insert(0, (body["tools"][0]["function"]["name"], reply.data))
    elif reply.data is not None:
        text = json.dumps(reply.data)
    finish = "tool_calls" if calls else "stop"
    limit = next((body[name] for name in _LIMITS if isinstance(body.get(name), int)), None)
    if limit is not None and tokens_of(text) > limit:
        text, finish = text.encode()[: limit * 4].decode("utf-8", "ignore"), "length"
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number:06d}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": written(given)},
            }
            for index, (name, given) in enumerate(calls)
        ]
    thought = tokens_of(reply.thinking)
    answer = sum(tokens_of(words) for words in (text, *(written(given) for _, given in calls)))
    output = max(1, thought + answer)
    return {
        "id": f"chatcmpl-{number:06d}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.stop_reason or finish, "logprobs": None}],
        "usage": {
            **usage,
            "completion_tokens": output,
            "total_tokens": usage["prompt_tokens"] + output,
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }


def chunks_of(completion: dict[str, Any], *, with_usage: bool) -> Iterator[tuple[str, bool]]:
    """The same completion as server-sent events, in pieces of a few characters; with each, whether it is such a
    piece."""
    choice = completion["choices"][0]
    message = choice["message"]

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
        part = {"index": 0, "delta": delta, "finish_reason": finish}
        usage = {"usage": None} if with_usage else {}
        return _event({**_head(completion), "choices": [part], **usage})

    yield chunk({"role": "assistant", "content": ""}), False
    for piece in pieces_of(message.get("reasoning_content") or ""):
        yield chunk({"reasoning_content": piece}), True
    for piece in pieces_of(message["content"] or ""):
        yield chunk({"content": piece}), True
    for index, call in enumerate(message.get("tool_calls") or ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {"name": name, "arguments": ""}}]}), True
        for piece in pieces_of(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}), True
    yield chunk({}, choice["finish_reason"]), False
    if with_usage:
        yield _event({**_head(completion), "choices": [], "usage": completion["usage"]}), False
    yield "data: [DONE]\n\n", False


def _head(completion: dict[str, Any]) -> dict[str, Any]:
    same = {name: completion[name] for name in ("id", "created", "model")}
    return {**same, "object": "chat.completion.chunk"}


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def run(service: Callable[..., OpenAIService], module: str, description: str) -> None:
    """Run a service as a process of its own until it is ended."""
    parser = argparse.ArgumentParser(prog=f"python -m nudge.testing.{module}", description=description)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--api-key", default=API_KEY)
    parser.add_argument("--default", default="HEARTBEAT_OK", help="the answer where nothing is scripted")
    options = parser.parse_args()
    serve(service(options.api_key, default=options.default).app, options.port)


if __name__ == "__main__":
    run(FakeOpenAI, "openai_server", "A fake chat completions API.")
