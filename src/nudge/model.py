"""The Model port: one question to a language model, and its answer, whole or as it is written.

Nothing here belongs to one provider. A conversation is made of turns, a turn of blocks. What the model wants done comes
back as `ToolUse` blocks; the caller does it and sends the results in the next turn.

    request = ModelRequest(Purpose.WORK, "", (cached("You fix tests."),), (user("Go on."),), 1_000, tools=(READ,))
    reply = await model.complete(request)
    turns = (*request.turns, reply.turn, user(*(ToolResult(use.id, run(use)) for use in reply.tool_uses)))
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from nudge.errors import UsageError
from nudge.tokens import TokenUse


class Purpose(StrEnum):
    """Why a model is asked. Routing and prices are chosen by purpose, and the usage log keeps it."""

    HEARTBEAT = "heartbeat"
    CONVERSATION = "conversation"
    BRIEFING = "briefing"
    REVIEW = "review"
    SUMMARY = "summary"
    WORK = "work"


@dataclass(frozen=True, slots=True)
class Text:
    """Words. `cache` marks the end of a prefix: everything up to here may be kept in the provider's prompt cache."""

    text: str
    cache: bool = False


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model wants a tool to run.

    `malformed` is an input that is no JSON object, as the model wrote it; `input` is empty then. Answer such a call
    with an error instead of running it.
    """

    id: str
    name: str
    input: Mapping[str, Any]
    malformed: str = ""
    cache: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a tool use, for the model to read."""

    tool_use_id: str
    content: str
    is_error: bool = False
    cache: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block in its provider's own shape: thinking that has to be sent back as it came, an image, a document.

    Other providers leave it out: they could not read it.
    """

    data: Mapping[str, Any]
    provider: str = "anthropic"
    cache: bool = False

    @property
    def type(self) -> str:
        return str(self.data.get("type", ""))


Block: TypeAlias = Text | ToolUse | ToolResult | Opaque


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        return _text_of(self.content)


def user(*content: Block | str) -> Turn:
    """A turn of the person, or of the program that answers tool uses.

    >>> user("Go on.").text
    'Go on.'
    """
    return Turn(Role.USER, _blocks(content))


def assistant(*content: Block | str) -> Turn:
    return Turn(Role.ASSISTANT, _blocks(content))


def cached(text: str) -> Text:
    """Words that end a prefix worth caching."""
    return Text(text, cache=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may ask for. `schema` is the JSON schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ToolChoice(StrEnum):
    """Whether the model has to use a tool."""

    AUTO = "auto"
    ANY = "any"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class OneTool:
    """The model has to use this tool."""

    name: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A question. `system` is stable and comes first (the prompt cache holds it); `turns` end with the volatile part.

    `schema` asks for one JSON object of that shape, given back in `ModelReply.data`. It excludes tools: an answer of a
    given form ends a conversation, tools go on with it. An empty `model` is chosen by the purpose.
    """

    purpose: Purpose
    model: str
    system: tuple[Text, ...]
    turns: tuple[Turn, ...]
    max_tokens: int
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | OneTool = ToolChoice.AUTO
    schema: Mapping[str, Any] | None = None
    attempt_id: str = ""

    def __post_init__(self) -> None:
        if self.schema is not None and self.tools:
            raise UsageError("A request has either a schema or tools, not both.")
        if isinstance(self.tool_choice, OneTool) and self.tool_choice.name not in {tool.name for tool in self.tools}:
            raise UsageError(f"The request asks for the tool {self.tool_choice.name!r}, which it does not offer.")

    @property
    def system_text(self) -> str:
        return "\n\n".join(block.text for block in self.system)

    def texts(self) -> list[str]:
        """Everything that the model reads, as words, for those who count: system, turns, tools, the answer's form.

        Images are not in it; a caller that counts adds its own bound for each.
        """
        blocks = [block for turn in self.turns for block in turn.content]
        tools = [json.dumps([tool.name, tool.description, tool.schema], default=str) for tool in self.tools]
        form = [json.dumps(self.schema, default=str)] if self.schema is not None else []
        return [*(block.text for block in self.system), *map(words_of, blocks), *tools, *form]


class StopReason(StrEnum):
    """Why an answer ended. `ModelReply.stop_text` has the provider's own word for it."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    TOOL_USE = "tool_use"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer. `data` is set only where a schema was asked for and the answer is one well-formed JSON object;
    it is not validated further: what does not fit is the caller's to treat as silence.

    An answer that was cut at `max_tokens` has neither `data` nor a last tool use: half of either is worse than none.
    """

    content: tuple[Block, ...]
    model: str
    usage: TokenUse = field(default_factory=TokenUse)
    data: Mapping[str, Any] | None = None
    stop_reason: StopReason = StopReason.END_TURN
    stop_text: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return _text_of(self.content)

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def turn(self) -> Turn:
        """The answer as the turn that goes back with the next question."""
        return Turn(Role.ASSISTANT, self.content)


def text_reply(
    text: str, model: str, usage: TokenUse | None = None, data: Mapping[str, Any] | None = None
) -> ModelReply:
    """An answer of words only.

    >>> text_reply("Bed?", "offline").text
    'Bed?'
    """
    return ModelReply(_blocks([text] if text else []), model, usage or TokenUse(), data)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more words of an answer."""

    text: str


StreamEvent: TypeAlias = TextDelta | ToolUse | TokenUse | ModelReply
"""What a stream gives: words as they come, each tool use once it is complete, the usage so far (all of it, not what was
added), and at the end the whole reply."""


class Model(Protocol):
    """Both ways of asking raise ModelUnavailableError (with `retry_after` where the service said one) and
    NotConfiguredError (bad key, unknown model)."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """The answer as it is written. The last event is the reply.

        A stream that breaks after its first words raises: the words are out, and only the caller knows what to do with
        them. The words of an answer to a schema are not streamed. Whoever leaves early closes the stream
        (`contextlib.aclosing`); the service charges for what it wrote until then.
        """
        ...

    async def close(self) -> None: ...


async def replay(reply: ModelReply) -> AsyncGenerator[StreamEvent, None]:
    """A finished reply as a stream, for models that have nothing to wait for."""
    for block in reply.content:
        if isinstance(block, Text) and block.text and reply.data is None:
            yield TextDelta(block.text)
        elif isinstance(block, ToolUse):
            yield block
    yield reply.usage
    yield reply


def turn_to_json(turn: Turn) -> dict[str, Any]:
    """A turn as plain values: the form of Anthropic's API, in which conversations are stored and compacted."""
    return {"role": turn.role.value, "content": [block_to_json(block) for block in turn.content]}


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    """
    >>> turn_from_json(turn_to_json(user("Go on."))) == user("Go on.")
    True
    """
    content = data["content"]
    return Turn(Role(data["role"]), _blocks([content]) if isinstance(content, str) else blocks_from_json(content))


def block_to_json(block: Block) -> dict[str, Any]:
    data: dict[str, Any]
    match block:
        case Text():
            data = {"type": "text", "text": block.text}
        case ToolUse():
            data = {"type": "tool_use", "id": block.id, "name": block.name, "input": dict(block.input)}
        case ToolResult():
            data = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": block.content}
            if block.is_error:
                data["is_error"] = True
        case Opaque(provider="anthropic"):
            data = dict(block.data)
        case Opaque():
            data = {"type": "opaque", "provider": block.provider, "data": dict(block.data)}
    if block.cache:
        data["cache_control"] = {"type": "ephemeral"}
    return data


def blocks_from_json(content: object) -> tuple[Block, ...]:
    """The blocks of a list in that form. What is no block is left out; one of an unknown type stays opaque."""
    if not isinstance(content, list | tuple):
        return ()
    found = (_block_from_json(data) for data in content if isinstance(data, Mapping))
    return tuple(block for block in found if block is not None)


def _block_from_json(data: Mapping[str, Any]) -> Block | None:
    cache = "cache_control" in data
    match data:
        case {"type": "text", "text": str(text)}:
            return Text(text, cache)
        case {"type": "tool_use", "id": str(id_), "name": str(name), "input": Mapping() as given}:
            return ToolUse(id_, name, dict(given), cache=cache)
        case {"type": "tool_use", "id": str(id_), "name": str(name), "input": given}:
            words = given if isinstance(given, str) else json.dumps(given, default=str)
            return ToolUse(id_, name, {}, words, cache)
        case {"type": "tool_result", "tool_use_id": str(id_)}:
            said = data.get("content")
            words = said if isinstance(said, str) else _text_of(blocks_from_json(said))
            return ToolResult(id_, words, bool(data.get("is_error")), cache)
        case {"type": "opaque", "provider": str(provider), "data": Mapping() as inner}:
            return Opaque(dict(inner), provider, cache)
        case {"type": "text" | "tool_use" | "tool_result"}:
            return None
        case {"type": str()}:
            return Opaque({key: value for key, value in data.items() if key != "cache_control"}, cache=cache)
    return None


def _blocks(content: Iterable[Block | str]) -> tuple[Block, ...]:
    return tuple(Text(block) if isinstance(block, str) else block for block in content)


def _text_of(content: Iterable[Block]) -> str:
    return "".join(block.text for block in content if isinstance(block, Text))


def words_of(block: Block) -> str:
    """A block as the words that somebody counts. An image has none."""
    match block:
        case Text():
            return block.text
        case ToolResult():
            return block.content
        case ToolUse():
            return f"{block.name} {block.malformed or json.dumps(dict(block.input), default=str)}"
        case Opaque():
            return "" if block.type == "image" else json.dumps(dict(block.data), default=str)
