"""The same question for a model that knows no tools, or no answers of a given form: in words, and read back strictly.

What the model writes counts as a tool use or as an answer only if it is exactly that: one JSON object, alone or in one
code fence. Everything else is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nudge.model import (
    Block,
    ModelReply,
    ModelRequest,
    OneTool,
    StopReason,
    StreamEvent,
    Text,
    TextDelta,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
)
from nudge.models.failures import Capability
from nudge.models.wire import clean_json, json_object

CALLS = "tool_calls"
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)

_FORM = (
    "Answer with one JSON object and nothing else: no words before or after it. "
    "It has to fit this JSON schema:\n{schema}"
)
_TOOLS = (
    "You can use the tools below. To use one or more, answer with one JSON object and nothing else, like this:\n"
    '{{"tool_calls": [{{"name": "NAME OF THE TOOL", "input": {{…}}}}]}}\n'
    "`input` has to fit the tool's schema. You get the results in the next message. {choice}\n\nTools:\n{tools}"
)
_CHOICE = "If you need no tool, answer in plain words."
_ANY = "Use at least one tool now."
_ONE = "Use the tool {name} now."


def in_words(request: ModelRequest, lacks: frozenset[Capability]) -> ModelRequest:
    """The request for a model that lacks these capabilities. The added words come after the cached prefix."""
    if request.schema is not None and Capability.SCHEMA in lacks:
        form = Text(_FORM.format(schema=json.dumps(dict(request.schema), ensure_ascii=False)))
        request = replace(request, system=(*request.system, form), schema=None)
    if Capability.TOOLS in lacks:
        names = {use.id: use.name for turn in request.turns for use in turn.content if isinstance(use, ToolUse)}
        turns = tuple(Turn(turn.role, _as_text(turn.content, names)) for turn in request.turns)
        offered = () if request.tool_choice is ToolChoice.NONE else _offered(request)
        system = (*request.system, *offered)
        return replace(request, system=system, turns=turns, tools=(), tool_choice=ToolChoice.AUTO)
    return request


def read_in_words(reply: ModelReply, request: ModelRequest, lacks: frozenset[Capability]) -> ModelReply:
    """The reply to `in_words(request, lacks)` as one to the request itself."""
    whole = reply.stop_reason is not StopReason.MAX_TOKENS
    if request.schema is not None and Capability.SCHEMA in lacks:
        return replace(reply, data=_object(reply.text) if whole else None)
    if request.tools and Capability.TOOLS in lacks and whole:
        uses = tuple(_tool_uses(_object(reply.text), len(request.turns)))
        if uses:
            return replace(reply, content=uses, stop_reason=StopReason.TOOL_USE)
    return reply


async def stream_in_words(
    events: AsyncIterator[StreamEvent], request: ModelRequest, lacks: frozenset[Capability]
) -> AsyncIterator[StreamEvent]:
    """The same for a stream. Words that may turn out to be a tool use are held back until it is clear."""
    in_form = request.schema is not None and Capability.SCHEMA in lacks
    may_call = bool(request.tools) and Capability.TOOLS in lacks
    held: str | None = "" if may_call else None
    async for event in events:
        if isinstance(event, TextDelta):
            if in_form:
                continue
            if held is not None:
                held += event.text
                if held.lstrip()[:1] in ("", "{", "`"):
                    continue
                event, held = TextDelta(held), None
        elif isinstance(event, ModelReply):
            event = read_in_words(event, request, lacks)
            if held and not event.tool_uses:
                yield TextDelta(held)
            for use in event.tool_uses if may_call else ():
                yield use
        yield event


def _offered(request: ModelRequest) -> tuple[Text, ...]:
    if not request.tools:
        return ()
    choice = _CHOICE
    if isinstance(request.tool_choice, OneTool):
        choice = _ONE.format(name=request.tool_choice.name)
    elif request.tool_choice is ToolChoice.ANY:
        choice = _ANY
    tools = "\n".join(
        json.dumps({"name": tool.name, "description": tool.description, "input": dict(tool.schema)}, ensure_ascii=False)
        for tool in request.tools
    )
    return (Text(_TOOLS.format(choice=choice, tools=tools)),)


def _as_text(content: tuple[Block, ...], names: Mapping[str, str]) -> tuple[Block, ...]:
    """Tool uses and results of earlier turns as the words that they would have been."""
    found: list[Block] = [block for block in content if not isinstance(block, ToolUse | ToolResult)]
    uses = [{"name": use.name, "input": dict(use.input)} for use in content if isinstance(use, ToolUse)]
    if uses:
        found.append(Text(("\n" if found else "") + json.dumps({CALLS: uses}, ensure_ascii=False)))
    results = [result for result in content if isinstance(result, ToolResult)]
    told = [
        f"{'Error' if result.is_error else 'Result'} of {names.get(result.tool_use_id, 'a tool')}:\n{result.content}"
        for result in results
    ]
    return (*(Text(f"{words}\n\n") for words in told), *found)


def _tool_uses(found: Mapping[str, Any] | None, turns: int) -> Iterator[ToolUse]:
    """The tool uses of an answer that is nothing but tool uses; none, if any of them is malformed."""
    calls = found.get(CALLS) if found is not None and len(found) == 1 else None
    if not isinstance(calls, list):
        return
    for call in calls:
        if not (isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("input"), dict)):
            return
    for number, call in enumerate(calls, 1):
        yield ToolUse(f"call_{turns}_{number}", call["name"], clean_json(call["input"]))


def _object(text: str) -> dict[str, Any] | None:
    stripped = text.strip()
    fenced = _FENCE.fullmatch(stripped)
    return json_object(fenced[1] if fenced else stripped)
