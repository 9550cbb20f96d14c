"""What the bodies and the answers of all providers have in common. Answers are read without trust in their shape."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from nudge.errors import UsageError
from nudge.model import Block, ModelReply, ModelRequest, Role, StopReason, Text, ToolResult, ToolUse, Turn, words_of
from nudge.numbers import is_whole
from nudge.tokens import MOST_TOKENS, TokenUse, token_use

if TYPE_CHECKING:
    import httpx2

ANSWER = "answer"
"""The name of the form that a schema describes."""
_BYTES_PER_TOKEN = 3  # on the safe side where the service did not count
_LONGEST_NUMBER = 4_000  # digits; Python refuses to read more than 4,300


class UnreadableReplyError(Exception):
    """The service's answer is not an answer."""


def sendable(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns that a service takes. It refuses empty texts, a conversation that the assistant opens, and the result
    of a tool use that is not there: the rest of a conversation that was cut has all three."""
    kept: list[Turn] = []
    uses: set[str] = set()
    for turn in turns:
        if turn.role is Role.ASSISTANT and not kept:
            continue
        content = tuple(cleaned(block) for block in turn.content if _is_sendable(block, uses))
        if content:
            kept.append(Turn(turn.role, content))
            uses.update(block.id for block in content if isinstance(block, ToolUse))
    return tuple(kept)


def _is_sendable(block: Block, uses: set[str]) -> bool:
    match block:
        case Text():
            return bool(block.text.strip())
        case ToolResult():
            return block.tool_use_id in uses
        case _:
            return True


def cleaned(block: Block) -> Block:
    """A block without halves of surrogate pairs."""
    match block:
        case Text():
            return replace(block, text=clean(block.text))
        case ToolResult():
            return replace(block, content=clean(block.content))
        case ToolUse():
            return replace(block, input=clean_json(dict(block.input)), malformed=clean(block.malformed))
        case _:
            return block


def clean(text: str) -> str:
    """Without halves of surrogate pairs, which no JSON encoder sends and no database takes."""
    return text.encode("utf-8", "replace").decode()


def clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(inner) for inner in value]
    return value


def parse(raw: bytes | str) -> dict[str, Any]:
    """The one JSON object of a body."""
    found = json_object(raw)
    if found is None:
        raise UnreadableReplyError
    return found


def json_object(raw: bytes | str) -> dict[str, Any] | None:
    """One JSON object and nothing around it; None for anything else. NaN and infinities are no JSON."""
    try:
        found = json.loads(raw, parse_constant=_refuse_constant, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def tool_use(id_: str, name: str, arguments: str) -> ToolUse:
    """A tool use whose input was written as JSON. Nothing written is an input without fields."""
    given = json_object(arguments) if arguments.strip() else {}
    return ToolUse(id_, name, {}, arguments) if given is None else ToolUse(id_, name, clean_json(given))


def reply_of(
    request: ModelRequest, content: tuple[Block, ...], stop: StopReason, *, model: str, stop_text: str, told: object
) -> ModelReply:
    """The reply of these blocks, with what is common to all: no half of a tool use, data for a schema, a usage that is
    never free. `told` is the usage as the service told it."""
    blocks = [cleaned(block) for block in content]
    if stop is StopReason.MAX_TOKENS and blocks and isinstance(blocks[-1], ToolUse):
        blocks.pop()
    uses = [block for block in blocks if isinstance(block, ToolUse)]
    data: Mapping[str, Any] | None = None
    if request.schema is not None:
        blocks = [block for block in blocks if not isinstance(block, ToolUse)]
        data = None if stop is StopReason.MAX_TOKENS else _data(uses, blocks)
        stop = StopReason.END_TURN if stop is StopReason.TOOL_USE else stop
    elif uses and stop is StopReason.END_TURN:  # some services say so although they call
        stop = StopReason.TOOL_USE
    usage, counted = counted_usage(told, request, content)
    details = {} if counted else {"usage_estimated": True}
    return ModelReply(tuple(blocks), model, usage, data, stop, stop_text, details)


def _data(uses: list[ToolUse], blocks: list[Block]) -> Mapping[str, Any] | None:
    """The one object that was asked for: in one call of the answer's form or, from a service without tools, as text."""
    if uses:
        one = uses[0]
        return one.input if len(uses) == 1 and one.name == ANSWER and not one.malformed else None
    return json_object("".join(block.text for block in blocks if isinstance(block, Text)))


def counted_usage(told: object, request: ModelRequest, content: tuple[Block, ...]) -> tuple[TokenUse, bool]:
    """What the call used, and whether the service counted it. What it says that cannot be true is not counted: the
    answer is kept, and whoever pays assumes the worst."""
    try:
        return token_use(told), True
    except UsageError:
        read, written = _said(told, "input_tokens", "prompt_tokens"), _said(told, "output_tokens", "completion_tokens")
        if read is None:
            read = sum(_tokens(text) for text in request.texts())
        if written is None:
            written = min(request.max_tokens, sum(_tokens(words_of(block)) for block in content) + 1)
        return TokenUse(input=read, output=written), False


def usage_so_far(told: object) -> Iterator[TokenUse]:
    """What a stream has told of its usage; nothing while that is not all."""
    with suppress(UsageError):
        yield token_use(told)


async def event_data(response: httpx2.Response) -> AsyncGenerator[str, None]:
    """The data of a response's server-sent events."""
    import httpx2

    events = cast("AsyncGenerator[httpx2.ServerSentEvent, None]", aiter(httpx2.EventSource(response)))
    async with aclosing(events):
        async for event in events:
            if event.data:
                yield event.data


def _said(told: object, *names: str) -> int | None:
    counts = [told.get(name) for name in names] if isinstance(told, Mapping) else []
    return next((count for count in counts if is_whole(count) and 0 <= count <= MOST_TOKENS), None)


def _tokens(text: str) -> int:
    return len(clean(text).encode()) // _BYTES_PER_TOKEN + 1


def _whole(digits: str) -> int | str:
    """A number too long to be read stays a text: it must not cost the answer that it comes with."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
