"""Repeats: the tool calls and results in a conversation, and whether they get anywhere.

A client sends its whole conversation with every call. What was counted before is known by its place and its id, so each
tool call counts once. A conversation that is not what it was (compacted, rewound, forked) is read again from its start,
and so is every one after a restart: nothing of it is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from nudge.errors import NudgeError
from nudge.gateway.calls import Protocol
from nudge.gateway.memory import Remembered
from nudge.progress.loops import UNKNOWN, LoopAction, LoopDetector, LoopResult
from nudge.progress.loops.signature import digest

CONVERSATIONS = 1_000
"""How many are kept in mind; one that is forgotten is read again."""
_STRICTNESS = tuple(LoopAction)
_REMINDER = "<system-reminder>"
"""How Claude Code begins what it adds to a conversation by itself."""


class Repeats(StrEnum):
    """What happens to a run that repeats itself: nothing, a report, or a refusal of its next call."""

    OFF = "off"
    OBSERVE = "observe"
    REFUSE = "refuse"


class RepeatsError(NudgeError):
    """The run repeats itself, and its next call is refused."""

    def __init__(self, seen: LoopResult) -> None:
        super().__init__(f"{seen.text}", next_step="Write to the agent to let it go on: it starts over then.")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call, and once it is `answered` its result: what it brought, or the `error` with which it failed."""

    id: str
    name: str
    args: object
    result: object = UNKNOWN
    error: object = None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """The tool calls of one answer of the model; without any, the person spoke."""

    calls: tuple[ToolCall, ...] = ()

    @property
    def mark(self) -> str:
        """What it is known by when it is sent again. Ids alone will not do: some services number the calls of every
        answer from 0, or not at all."""
        return digest(json.dumps([(call.id, call.name, call.args) for call in self.calls], default=str))


Asked = Mapping[str, tuple[str, object]]
"""Calls without a result yet, by their ids: name and arguments."""


def turns_of(protocol: Protocol, said: Mapping[str, Any], asked: Asked | None = None) -> list[Turn]:
    """The turns of the conversation in a body. `asked` are calls of an answer that the service kept for itself.

    >>> turns = turns_of(Protocol.CHAT, {"messages": [
    ...     {"role": "user", "content": "Build it."},
    ...     {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "make", "arguments": "{}"}}]},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ... ]})
    >>> [[(call.name, call.result) for call in turn.calls] for turn in turns]
    [[], [('make', 'done')]]
    """
    reader = _Reader(asked or {})
    _READERS[protocol](reader, said)
    return reader.turns()


def calls_in_answer(output: object) -> dict[str, tuple[str, object]]:
    """The tool calls in the output of a response that the service keeps."""
    return {
        str(item.get("call_id")): (_text(item.get("name")), item.get("arguments", item.get("input")))
        for item in _mappings(output)
        if item.get("type") in _RESPONSES_CALLS
    }


class _Reader:
    """Puts calls and results together, in the order in which the model made the calls. A result belongs to the newest
    call with its id that has none: ids may come again."""

    def __init__(self, asked: Asked) -> None:
        self._turns: list[list[ToolCall] | None] = []
        self._waiting: dict[str, tuple[list[ToolCall], int]] = {}
        self._open = False
        self.calls([(one, name, args) for one, (name, args) in asked.items()])

    def calls(self, made: Sequence[tuple[str, str, object]], *, same_turn: bool = False) -> None:
        if not made:
            return
        last = self._turns[-1] if self._turns else None
        if last is None or not (same_turn and self._open):
            last = []
            self._turns.append(last)
        for call in made:
            self._waiting[call[0]] = (last, len(last))
            last.append(ToolCall(*call))
        self._open = True

    def result(self, call: str, result: object = UNKNOWN, error: object = None) -> None:
        self._open = False
        if call in self._waiting:
            turn, place = self._waiting.pop(call)
            turn[place] = replace(turn[place], result=result, error=error, answered=True)

    def person(self) -> None:
        self._open = False
        self._turns.append(None)

    def turns(self) -> list[Turn]:
        told = [None if made is None else tuple(call for call in made if call.answered) for made in self._turns]
        return [Turn(calls or ()) for calls in told if calls is None or calls]


def _messages(reader: _Reader, said: Mapping[str, Any]) -> None:
    for message in _mappings(said.get("messages")):
        content = message.get("content")
        blocks = _mappings(content)
        if message.get("role") == "assistant":
            uses = [block for block in blocks if block.get("type") == "tool_use"]
            reader.calls([(_text(use.get("id")), _text(use.get("name")), use.get("input")) for use in uses])
            continue
        for block in (block for block in blocks if block.get("type") == "tool_result"):
            failed = block.get("is_error") is True
            told = block.get("content", "")
            reader.result(_text(block.get("tool_use_id")), *((UNKNOWN, _words(told)) if failed else (told, None)))
        texts = [content] if isinstance(content, str) else [_text(block.get("text")) for block in blocks]
        if message.get("role") == "user" and any(_is_said(text) for text in texts):
            reader.person()


def _chat(reader: _Reader, said: Mapping[str, Any]) -> None:
    for message in _mappings(said.get("messages")):
        match message.get("role"):
            case "assistant":
                made = [(_text(one.get("id")), _function(one)) for one in _mappings(message.get("tool_calls"))]
                reader.calls([(one, *function) for one, function in made])
            case "tool":
                reader.result(_text(message.get("tool_call_id")), message.get("content"))
            case "user":
                reader.person()


def _responses(reader: _Reader, said: Mapping[str, Any]) -> None:
    told = said.get("input")
    if isinstance(told, str):
        reader.person()
    for item in _mappings(told):
        kind = item.get("type", "message")
        if kind in _RESPONSES_CALLS:
            call = (_text(item.get("call_id")), _text(item.get("name")) or kind, _arguments(item))
            reader.calls([call], same_turn=True)
        elif str(kind).endswith("_call_output"):
            reader.result(_text(item.get("call_id")), item.get("output"))
        elif kind == "message" and item.get("role") == "user":
            reader.person()


def _google(reader: _Reader, said: Mapping[str, Any]) -> None:
    """Calls may have no ids here, also where their results have: these are in the order of the calls."""
    asked: list[str] = []
    for number, content in enumerate(_mappings(said.get("contents"))):
        parts = _mappings(content.get("parts"))
        calls = [call for part in parts if isinstance(call := part.get("functionCall"), Mapping)]
        results = [one for part in parts if isinstance(one := part.get("functionResponse"), Mapping)]
        if calls:
            asked = [_text(call.get("id")) or f"{number}.{place}" for place, call in enumerate(calls)]
            made = zip(asked, calls, strict=True)
            reader.calls([(one, _text(call.get("name")), call.get("args")) for one, call in made])
        for place, result in enumerate(results):
            given = _text(result.get("id"))
            known = given if given in asked else asked[place] if place < len(asked) else ""
            reader.result(known, result.get("response"))
        if content.get("role") != "model" and any(_is_said(_text(part.get("text"))) for part in parts):
            reader.person()


_RESPONSES_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_READERS: Mapping[Protocol, Callable[[_Reader, Mapping[str, Any]], None]] = {
    Protocol.MESSAGES: _messages,
    Protocol.CHAT: _chat,
    Protocol.RESPONSES: _responses,
    Protocol.GOOGLE: _google,
}


@dataclass(slots=True)
class Conversation:
    """One as far as it was counted: how many turns, the mark of the last, what was said to it, and the calls of an
    answer that the service kept."""

    detector: LoopDetector = field(default_factory=LoopDetector)
    counted: int = 0
    last: str = ""
    number: int = 0
    seen: LoopResult = field(default_factory=LoopResult)
    asked: dict[str, tuple[str, object]] = field(default_factory=dict)

    def goes_on_with(self, turns: Sequence[Turn]) -> bool:
        return self.counted <= len(turns) and (not self.counted or turns[self.counted - 1].mark == self.last)

    def count(self, turns: Sequence[Turn]) -> LoopResult:
        """Count turns that are new. Gives what the detector said to the last turn, at its strictest; a call that is
        made again gets the same answer."""
        for turn in turns:
            self.number += 1
            if not turn.calls:
                self.detector.record_person_message()
            seen = [
                self.detector.record(call.name, call.args, result=call.result, error=call.error, step=self.number)
                for call in turn.calls
            ]
            self.seen = max(seen, key=lambda one: _STRICTNESS.index(one.action), default=LoopResult())
            self.last = turn.mark
        self.counted += len(turns)
        return self.seen


class Watch:
    """The conversations of a gateway."""

    def __init__(self) -> None:
        self._known = Remembered[tuple[str, str, str], Conversation](CONVERSATIONS)
        self._kept = Remembered[str, Conversation](CONVERSATIONS)
        self._told = Remembered[tuple[str, str], set[str]](CONVERSATIONS)

    def look(
        self, agent: str, run: str, protocol: Protocol, said: Mapping[str, Any], follows: str = ""
    ) -> tuple[Conversation, LoopResult]:
        """The conversation in a body, and what the detector says about its last turn."""
        known = self._kept.pop(follows, None) if follows else None
        if known is not None:
            return known, known.count(turns_of(protocol, said, known.asked))
        turns = turns_of(protocol, said)
        first = next((turn.mark for turn in turns if turn.calls), "")
        if not first:
            return Conversation(), LoopResult()
        known = self._known.get((agent, run, first))
        if known is None or not known.goes_on_with(turns):
            known = self._known[agent, run, first] = Conversation()
            known.counted = max(0, len(turns) - known.detector.tuning.span)
        return known, known.count(turns[known.counted :])

    def keep(self, response: str, conversation: Conversation, asked: dict[str, tuple[str, object]]) -> None:
        """Note that the service kept a response, so that a call may follow it without repeating what was said."""
        conversation.asked = asked
        self._kept[response] = conversation

    def is_news(self, agent: str, run: str, seen: LoopResult) -> bool:
        """Whether this was not reported of the run before. The same loop in stricter words is news."""
        told = self._told.setdefault((agent, run), set())
        what = f"{seen.kind} {seen.tool} {seen.action}"
        if what in told:
            return False
        told.add(what)
        return True


def _is_said(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith(_REMINDER)


def _function(call: Mapping[str, Any]) -> tuple[str, object]:
    function = call.get("function") or call.get("custom")
    if not isinstance(function, Mapping):
        return "", None
    return _text(function.get("name")), function.get("arguments", function.get("input"))


def _arguments(item: Mapping[str, Any]) -> object:
    return next((item[name] for name in ("arguments", "input", "action") if name in item), None)


def _words(content: object) -> str:
    """The text of an error: what a failed call says is compared by its words."""
    if isinstance(content, str):
        return content
    return "\n".join(_text(block.get("text")) for block in _mappings(content)) or json.dumps(content, default=str)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
