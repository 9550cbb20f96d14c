"""What a model call asks for, read from its raw body: the model, the limit of its answer, and the most it can cost.

The body goes on as it came. Only the number of its token limit is ever replaced, in place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.spending.prices import Caching
from nudge.tokens import most_tokens

LEAST_ANSWER = 2_048
"""Coding agents ask for 32 to 64 thousand tokens and use about two. An answer is not clamped below this."""
MOST_ANSWER = 128_000
"""The longest answer of a model, for a call that sets no limit."""
MOST_INPUT = 1_050_000
"""The longest prompt that a service takes; it refuses longer ones, free of charge."""
MOST_HISTORY = 400_000
"""For a conversation that the service keeps, where nobody knows its length."""
MESSAGE_TOKENS = 12
TOOLS_TOKENS = 700
VALUE_TOKENS = 4
"""For what stands around a value: quotes, colons, brackets."""
IMAGE_TOKENS = 5_000
DOCUMENT_TOKENS = 200_000
"""For a document that the body only points at."""
BYTES_PER_DOCUMENT_TOKEN = 8
SEARCHES = 3
"""For a tool of the service that sets no limit. Codex offers a web search with every call and hardly ever uses it."""
SEARCH_TOKENS = 10_000
"""For the results of one use, which the model reads. There is no bound: what costs more is charged as an overrun."""

_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()
_THINKS = ("enabled", "adaptive")
_SERVER_TOOLS = ("web_search", "web_fetch", "file_search", "code_execution", "code_interpreter", "image_generation")


class BadCallError(UsageError):
    """The body of the call cannot be read."""


class Protocol(StrEnum):
    """How a client and a service talk about a model call."""

    MESSAGES = "messages"
    CHAT = "chat"
    RESPONSES = "responses"
    GOOGLE = "google"

    @property
    def provider(self) -> str:
        return _PROVIDERS[self]

    @property
    def limits(self) -> tuple[str, ...]:
        """The fields that limit the answer; the first is the one to add where there is none."""
        return _LIMITS[self]


_PROVIDERS = {
    Protocol.MESSAGES: "anthropic",
    Protocol.CHAT: "openai",
    Protocol.RESPONSES: "openai",
    Protocol.GOOGLE: "google",
}
_LIMITS = {
    Protocol.MESSAGES: ("max_tokens",),
    Protocol.CHAT: ("max_completion_tokens", "max_tokens"),
    Protocol.RESPONSES: ("max_output_tokens",),
    Protocol.GOOGLE: ("maxOutputTokens",),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A field of the body's object: what it says, and where that stands in the text."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it came, and its fields."""

    text: str
    fields: Mapping[str, Value]

    @property
    def said(self) -> dict[str, Any]:
        return {name: field.value for name, field in self.fields.items()}


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that costs money.

    `max_tokens` and `least_tokens` count the output of all `choices` together. `hidden` says that the model may think
    without showing it. `opens` says that no answer stands in the conversation yet. `follows` is the id of a response
    that the service kept; its length is not part of `input_bound`. Where there is no limit, `added` is how to write one
    at `opening`, the beginning of an object.
    """

    protocol: Protocol
    model: str
    stream: bool
    max_tokens: int
    least_tokens: int
    input_bound: int
    caching: Caching
    searches: int = 0
    choices: int = 1
    hidden: bool = False
    opens: bool = True
    follows: str = ""
    text: str = field(default="", repr=False)
    limits: tuple[Value, ...] = ()
    opening: int = 0
    added: str = ""

    def limited(self, max_tokens: int) -> bytes:
        """The body with its answers limited to that many tokens in all. What is limited enough stays as it came."""
        each = max_tokens // self.choices
        text = self.text
        if not self.limits:
            if max_tokens >= self.max_tokens:
                return text.encode()
            rest = text[self.opening :]
            comma = "" if rest.lstrip(_SPACE).startswith("}") else ", "
            return f"{text[: self.opening]}{self.added.format(each)}{comma}{rest}".encode()
        for limit in sorted(self.limits, key=lambda limit: limit.start, reverse=True):
            if limit.value > each:
                text = f"{text[: limit.start]}{each}{text[limit.end :]}"
        return text.encode()


def read_call(protocol: Protocol, body: bytes) -> ModelCall:
    """The call that a body makes. Raises BadCallError where it cannot be read for certain.

    >>> call = read_call(Protocol.MESSAGES, b'{"model": "m", "max_tokens": 32000, "messages": []}')
    >>> call.max_tokens, call.limited(4096)
    (32000, b'{"model": "m", "max_tokens": 4096, "messages": []}')
    """
    return call_of(protocol, read_body(body))


def call_of(protocol: Protocol, body: Body) -> ModelCall:
    """The same for a body that is parsed already."""
    text, fields, said = body.text, body.fields, body.said
    model = said.get("model")
    if not isinstance(model, str) or not model:
        raise BadCallError("model: Field required")
    stream = said.get("stream")
    if stream not in (None, True, False):
        raise BadCallError("stream: Input should be a boolean")
    limits = tuple(limit_of(name, fields[name]) for name in protocol.limits if said.get(name) is not None)
    if not limits and protocol is Protocol.MESSAGES:
        raise BadCallError("max_tokens: Field required")
    choices = whole_from(fields.get("n"), "n", 1, 128) if protocol is Protocol.CHAT else 1
    each = max((limit.value for limit in limits), default=MOST_ANSWER)
    searches, server_tools = _server_tools(said)
    follows = said.get("previous_response_id") or ""
    kept = bool(said.get("conversation")) or bool(said.get("prompt"))
    around = MESSAGE_TOKENS + (TOOLS_TOKENS if said.get("tools") else 0)
    bound = around + SEARCH_TOKENS * server_tools + (MOST_HISTORY if kept else 0)
    bound += sum(tokens_in(said[name], _binary) for name in _READ if name in said)
    return ModelCall(
        protocol=protocol,
        model=model,
        stream=bool(stream),
        max_tokens=each * choices,
        least_tokens=min(each, LEAST_ANSWER + _thinking_budget(said, each)) * choices,
        input_bound=min(bound, MOST_INPUT),
        caching=_caching(protocol, text),
        searches=searches,
        choices=choices,
        hidden=_hides(protocol, said),
        opens=not _has_answer(said),
        follows=follows if isinstance(follows, str) else "",
        text=text,
        limits=limits,
        opening=text.index("{") + 1,
        added=f'"{protocol.limits[0]}": {{}}',
    )


_READ = (
    "messages",
    "input",
    "system",
    "instructions",
    "tools",
    "functions",
    "response_format",
    "text",
    "output_config",
    "output_format",
    "mcp_servers",
    "prediction",
)
"""The fields whose content the model reads."""


def read_body(body: bytes) -> Body:
    """The fields of the one JSON object in a body. A name that is there twice is refused: whoever comes next may
    read the other one. Raises BadCallError where it cannot be read for certain."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise BadCallError("The request body is not UTF-8") from None
    return Body(text, fields_in(text, 0, len(text)))


def fields_in(text: str, start: int, end: int) -> dict[str, Value]:
    """The fields of the one object that stands in that part of a text."""
    try:
        return dict(_scan(text, start, end))
    except (ValueError, IndexError, RecursionError):
        raise BadCallError("The request body is not a JSON object") from None


def _scan(text: str, at: int, whole: int) -> Iterator[tuple[str, Value]]:
    seen: set[str] = set()
    at = _skip(text, at)
    if text[at] != "{":
        raise ValueError
    at = _skip(text, at + 1)
    while text[at] != "}":
        if seen:
            if text[at] != ",":
                raise ValueError
            at = _skip(text, at + 1)
        if text[at] != '"':
            raise ValueError
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] != ":" or name in seen:
            raise ValueError
        seen.add(name)
        start = _skip(text, at + 1)
        value, end = _DECODER.raw_decode(text, start)
        yield name, Value(value, start, end)
        at = _skip(text, end)
    if _skip(text, at + 1) < whole:
        raise ValueError


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def limit_of(name: str, found: Value) -> Value:
    if not is_whole(found.value) or found.value < 1:
        raise BadCallError(f"{name}: Input should be a whole number greater than or equal to 1")
    return found


def whole_from(found: Value | None, name: str, least: int, most: int) -> int:
    """The number in a field; the least if it is not there."""
    if found is None or found.value is None:
        return least
    if not is_whole(found.value) or not least <= found.value <= most:
        raise BadCallError(f"{name}: Input should be a whole number from {least} to {most}")
    return int(found.value)


def _thinking_budget(said: Mapping[str, Any], each: int) -> int:
    """What has to be left for thinking: a limit at or below it is refused by the service."""
    thinking = said.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return min(budget, each) if is_whole(budget) and budget > 0 else 0


def _hides(protocol: Protocol, said: Mapping[str, Any]) -> bool:
    if protocol is not Protocol.MESSAGES:
        return True  # most of OpenAI's models think, and none shows it
    thinking = said.get("thinking")
    return isinstance(thinking, Mapping) and thinking.get("type") in _THINKS


def _caching(protocol: Protocol, text: str) -> Caching:
    """OpenAI writes to its cache by itself, and what that costs is in the price of its models."""
    if protocol is Protocol.MESSAGES and '"cache_control"' not in text:
        return Caching.NONE
    return Caching.LONG if '"1h"' in text else Caching.SHORT


def _server_tools(said: Mapping[str, Any]) -> tuple[int, int]:
    """How many web searches the service may do, and how many uses of its tools in all."""
    tools = said.get("tools")
    searches = uses = 0
    for tool in tools if isinstance(tools, list) else ():
        kind = tool.get("type") if isinstance(tool, Mapping) else None
        if not isinstance(kind, str) or not kind.startswith(_SERVER_TOOLS):
            continue
        most = tool.get("max_uses")
        often = min(most, 100) if is_whole(most) and most > 0 else SEARCHES
        uses += often
        searches += often if kind.startswith("web_search") else 0
    if said.get("web_search_options") is not None:
        return searches + SEARCHES, uses + SEARCHES
    return searches, uses


def _has_answer(said: Mapping[str, Any]) -> bool:
    if said.get("previous_response_id"):
        return True
    turns = said.get("messages", said.get("input"))
    return isinstance(turns, list) and any(
        isinstance(turn, Mapping) and (turn.get("role") == "assistant" or "function_call" in str(turn.get("type", "")))
        for turn in turns
    )


def tokens_in(value: Any, binary: Callable[[Mapping[str, Any]], int | None]) -> int:
    """More tokens than a part of the body has. Images and documents count by what they are, not by their bytes, as
    `binary` says."""
    if isinstance(value, str):
        return most_tokens(value) + 1
    if isinstance(value, list):
        return sum([tokens_in(inner, binary) for inner in value]) + len(value)
    if isinstance(value, dict):
        tokens = binary(value)
        if tokens is not None:
            return tokens
        around = MESSAGE_TOKENS if "role" in value else VALUE_TOKENS
        return around + sum([_name_tokens(name) + tokens_in(inner, binary) for name, inner in value.items()])
    return len(str(value)) if is_whole(value) or isinstance(value, float) else VALUE_TOKENS


@lru_cache(maxsize=4_096)
def _name_tokens(name: str) -> int:
    """Kept, because a conversation has the same few names over and over."""
    return most_tokens(name) + VALUE_TOKENS


def _binary(block: Mapping[str, Any]) -> int | None:
    """The tokens of an image or a document; None for anything else."""
    match block.get("type"):
        case "image" | "image_url" | "input_image":
            return IMAGE_TOKENS
        case "document" | "file" | "input_file" | "input_audio":
            inner = block.get("source") or block.get("file") or block.get("input_audio") or block
            data = (inner.get("data") or inner.get("file_data")) if isinstance(inner, Mapping) else None
            if not isinstance(data, str):
                return DOCUMENT_TOKENS
            if inner.get("type") == "text":
                return most_tokens(data) + MESSAGE_TOKENS
            return IMAGE_TOKENS + len(data) // BYTES_PER_DOCUMENT_TOKEN
    return None
