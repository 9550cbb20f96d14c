"""OpenAI's Responses API on loopback: scripted answers, function calls, streaming with usage, faults on demand.

Runs inside a test (`with FakeResponses() as service`) or as a process (`python -m nudge.testing.responses_server`,
which prints its URL) that is driven over HTTP: see `nudge.testing.model_server`. The API's base URL is that URL with
`/v1`. Items that were sent before, in the same order, count as cached if they are long enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nudge.testing.model_server import Answer, BadRequestError, Reply, pieces_of, tokens_of, written
from nudge.testing.openai_server import API_KEY, OpenAIService, run


class FakeResponses(OpenAIService):
    """The service. A text becomes a message, a `Reply` what it says; its thinking is counted and not shown.

    >>> import httpx2
    >>> with FakeResponses(api_key=None) as service:
    ...     service.reply("Bed?")
    ...     said = httpx2.post(f"{service.base_url}/responses", json={"model": "m", "input": "hi"}).json()
    >>> said["output"][0]["content"][0]["text"], said["usage"]["output_tokens"]
    ('Bed?', 1)
    """

    def __init__(
        self,
        api_key: str | None = API_KEY,
        *,
        default: str | Mapping[str, Any] = "HEARTBEAT_OK",
        answer: Answer | None = None,
        shortest_cached: int = 1024,
    ) -> None:
        super().__init__("/v1/responses", api_key, default, answer, shortest_cached)
        self._kept: dict[str, list[Any]] = {}

    def _check(self, body: dict[str, Any]) -> None:
        if not isinstance(body.get("model"), str) or not body.get("input"):
            raise BadRequestError("Missing required parameter: 'model' or 'input'.")
        if (before := body.get("previous_response_id")) is not None and before not in self._kept:
            raise BadRequestError(f"Previous response with id '{before}' not found.")
        called: list[str] = []
        for item in self._items(body):
            kind = str(item.get("type", "message")) if isinstance(item, dict) else "message"
            if kind.endswith("_call"):
                called.append(str(item.get("call_id")))
            elif kind.endswith("_call_output") and item.get("call_id") not in called:
                raise BadRequestError(f"No tool call found for function call output with call_id {item['call_id']}.")

    def _say(self, reply: Reply, body: dict[str, Any], number: int) -> dict[str, Any]:
        items = self._items(body)
        head = json.dumps([body.get("instructions"), body.get("tools")], sort_keys=True)
        said = response_of(reply, body, *self._prompt(head, items), number)
        if body.get("store") is not False:
            self._kept[said["id"]] = [*items, *said["output"]]
        return said

    def _items(self, body: dict[str, Any]) -> list[Any]:
        """The whole conversation, with what was kept of it."""
        given = body["input"] if isinstance(body["input"], list) else [body["input"]]
        return [*self._kept.get(body.get("previous_response_id") or "", ()), *given]

    def _events(self, said: dict[str, Any], body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        return events_of(said)

    def _error_event(self, status: int, message: str) -> str:
        return _event({"type": "error", "code": "server_error", "message": message or "Error", "param": None}, 0)

    def _forget(self) -> None:
        super()._forget()
        self._kept.clear()


def response_of(reply: Reply, body: dict[str, Any], prompt: int, cached: int, number: int) -> dict[str, Any]:
    """The response. Words beyond the limit are cut, as the service does."""
    text, limit, cut = reply.text, body.get("max_output_tokens"), False
    if isinstance(limit, int) and tokens_of(text) > limit:
        text, cut = text.encode()[: limit * 4].decode("utf-8", "ignore"), True
    output: list[dict[str, Any]] = []
    if text or not reply.tools:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        message = {"id": f"msg_{number:06d}", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    for index, (name, given) in enumerate(reply.tools):
        call = {"id": f"fc_{number:06d}_{index}", "type": "function_call", "call_id": f"call_{number:06d}_{index}"}
        output.append({**call, "name": name, "arguments": written(given), "status": "completed"})
    thought = tokens_of(reply.thinking)
    spoken = sum(tokens_of(words) for words in (text, *(written(given) for _, given in reply.tools)))
    total = max(1, thought + spoken)
    return {
        "id": f"resp_{number:06d}",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": total,
            "output_tokens_details": {"reasoning_tokens": thought},
            "total_tokens": prompt + total,
        },
    }


def events_of(response: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The same response as server-sent events, in pieces of a few characters."""
    opening = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[tuple[dict[str, Any], bool]] = [
        ({"type": "response.created", "response": opening}, False),
        ({"type": "response.in_progress", "response": opening}, False),
    ]
    for index, item in enumerate(response["output"]):
        place = {"item_id": item["id"], "output_index": index}
        empty = {**item, "status": "in_progress", **({"content": []} if "content" in item else {"arguments": ""})}
        events.append(({"type": "response.output_item.added", "output_index": index, "item": empty}, False))
        if "content" in item:
            place["content_index"] = 0
            part = item["content"][0]
            events.append(({"type": "response.content_part.added", **place, "part": {**part, "text": ""}}, False))
            for piece in pieces_of(part["text"]):
                delta = {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
                events.append((delta, True))
            done = {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
            events.append((done, False))
            events.append(({"type": "response.content_part.done", **place, "part": part}, False))
        else:
            kind = "response.function_call_arguments.delta"
            events.extend(({"type": kind, **place, "delta": piece}, True) for piece in pieces_of(item["arguments"]))
            whole = {"name": item["name"], "arguments": item["arguments"]}
            events.append(({"type": "response.function_call_arguments.done", **place, **whole}, False))
        events.append(({"type": "response.output_item.done", "output_index": index, "item": item}, False))
    events.append(({"type": f"response.{response['status']}", "response": response}, False))
    for number, (event, is_piece) in enumerate(events):
        yield _event(event, number), is_piece


def _event(data: Mapping[str, Any], number: int) -> str:
    return f"event: {data['type']}\ndata: {json.dumps({**data, 'sequence_number': number})}\n\n"


if __name__ == "__main__":
    run(FakeResponses, "responses_server", "A fake Responses API.")
