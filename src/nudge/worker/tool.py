"""What a tool is, what it works with, and how one call of it runs.

To add one: a module in `nudge/worker/tools/` and a line in its `__init__.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nudge.errors import NudgeError
from nudge.model import Tool as ToolDefinition
from nudge.progress.tools import ToolKind
from nudge.redaction import redact
from nudge.tokens import most_tokens
from nudge.worker.sandbox import Limits, Sandbox
from nudge.worker.workspace import Workspace

MOST_TOKENS = 10_000


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call works with. `secrets` never appear in a result."""

    workspace: Workspace
    sandbox: Sandbox
    limits: Limits = field(default_factory=Limits)
    most_tokens: int = MOST_TOKENS
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What the model reads."""

    text: str
    is_error: bool = False


class Described(Protocol):
    """What a model is told of a tool. `kind` decides the phase of the run."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]: ...

    @property
    def kind(self) -> ToolKind: ...


class Tool(Described, Protocol):
    """A tool for the workspace. Those that are `reads_only` change nothing: those of one turn may run side by side, and
    they are offered when the budget is nearly used up."""

    @property
    def reads_only(self) -> bool: ...

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """`args` fit the schema. Raise NudgeError for what the model can put right."""
        ...


async def call(tool: Tool, args: Mapping[str, Any], context: ToolContext) -> ToolOutput:
    """Run one call: arguments checked, mistakes told to the model, secrets taken out, the result cut."""
    problems = list(mistakes(args, tool.schema))
    if problems:
        return ToolOutput(f"{tool.name}: {' '.join(problems)}", is_error=True)
    try:
        output = await tool.run(args, context)
    except NudgeError as error:
        output = ToolOutput(str(error), is_error=True)
    except OSError as error:
        output = ToolOutput(f"{tool.name} failed: {error.strerror or error}.", is_error=True)
    return replace(output, text=cut(redact(output.text, context.secrets), context.most_tokens))


def definition(tool: Described) -> ToolDefinition:
    """The tool as a model is told of it."""
    return ToolDefinition(tool.name, tool.description, tool.schema)


def inputs(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def whole(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}


def flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


_TYPES: Mapping[str, type[Any]] = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def mistakes(value: Any, schema: Mapping[str, Any], name: str = "") -> Iterable[str]:
    """What does not fit, in sentences for the model. It knows the parts of JSON schema that `inputs` and friends make.

    >>> list(mistakes({"path": 1}, inputs({"path": text("a file")})))
    ['path must be text.']
    """
    kind = schema["type"]
    fits: bool = isinstance(value, _TYPES[kind])
    if not fits or (kind == "integer" and isinstance(value, bool)):
        yield f"{name or 'The input'} must be {_WORDS[kind]}."
    elif kind == "object":
        known = schema["properties"]
        for field_name in schema["required"]:
            if field_name not in value:
                yield f"{field_name} is missing."
        for field_name, inner in value.items():
            if field_name in known:
                yield from mistakes(inner, known[field_name], field_name)
            else:
                yield f"{field_name} is unknown; there is {', '.join(known)}."
    elif kind == "array":
        for inner in value:
            yield from mistakes(inner, schema["items"], f"each of {name}")
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{name} must be one of {', '.join(schema['enum'])}."
    elif kind == "integer" and not schema["minimum"] <= value <= schema["maximum"]:
        yield f"{name} must be from {schema['minimum']:,} to {schema['maximum']:,}."


def cut(words: str, tokens: int) -> str:
    """The beginning and the end of a text that has more tokens, with a note of what was left out between them.

    >>> cut("short", 100), cut("a b c " * 1000, 60).count("left out")
    ('short', 1)
    """
    if most_tokens(words) <= tokens:
        return words
    room = max(20, tokens - 40)
    head = _fitting(words, room * 2 // 3)
    tail = _fitting(words[::-1], room // 3)[::-1]
    missing = words[len(head) : len(words) - len(tail)]
    count = missing.count("\n")
    lines = f"{count:,} lines, " if count > 1 else ""
    return f"{head}\n[… {lines}{len(missing):,} characters left out …]\n{tail}"


def _fitting(words: str, tokens: int) -> str:
    """As much of the beginning as has at most so many tokens."""
    low, high = 0, min(len(words), tokens * 2)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if most_tokens(words[:middle]) <= tokens else (low, middle - 1)
    return words[:low]
