"""What a call used, read from a copy of its answer: whole, or as server-sent events.

A usage that the service tells is the truth, zeros included. Where it is missing, what came is counted so that nothing
can have more tokens: an answer that broke off is charged for its input and that much.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nudge.errors import UsageError
from nudge.gateway.calls import ModelCall, Protocol
from nudge.gateway.repeats import calls_in_answer
from nudge.tokens import TokenUse, most_tokens, token_use

HIDDEN_TOKENS_PER_SECOND = 500
"""No model thinks faster: what it may have thought unseen is at most this much for every second."""
BLOCK_TOKENS = 50
"""For what opens a block of an answer: its kind, the name of a tool."""
LARGEST_EVENT = 16 * 1024 * 1024
LARGEST_BODY = 64 * 1024 * 1024


@dataclass(slots=True)
class Told:
    """What an answer has told so far."""

    model: str = ""
    usage: Mapping[str, Any] | None = None
    """The usage of the whole call, once the service has told it."""
    begun: Mapping[str, Any] | None = None
    """The usage as it was when the answer began: its input is the truth."""
    visible: int = 0
    """The most tokens that can be in what came."""
    response_id: str = ""
    calls: dict[str, tuple[str, object]] = field(default_factory=dict)
    """The tool calls of a response that the service may keep, by their ids."""
    error: str = ""
    """What went wrong after the answer had begun."""
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """What a call is charged for: all of it, or its input at the bound and `output` tokens (None: the worst case)."""

    use: TokenUse | None = None
    output: int | None = None


def used(told: Told, call: ModelCall, seconds: float, *, cut: bool) -> Used:
    """What to charge for an answer that told this much in so many seconds.

    `cut` says that it did not come to its end, for whatever reason. An answer that did and has no usage is charged what
    came; a whole body without one may have been anything, and is charged the worst case.
    """
    whole = _read(told.usage)
    if whole is not None:
        return Used(whole)
    if not cut and not call.stream:
        return Used()
    hidden = int(seconds * HIDDEN_TOKENS_PER_SECOND) if call.hidden else 0
    output = min(call.max_tokens, told.visible + hidden)
    begun = None if call.searches else _read(told.begun)
    if begun is None:
        return Used(output=output)
    return Used(
        TokenUse(
            begun.input,
            max(output, begun.output),
            begun.cache_read,
            begun.cache_write,
            begun.cache_write_1h,
            searches=begun.searches,
        )
    )


def _read(usage: Mapping[str, Any] | None) -> TokenUse | None:
    if usage is None:
        return None
    try:
        return token_use(usage)
    except UsageError:
        return None


class BodyReader:
    """Reads an answer that comes as one JSON object."""

    def __init__(self, protocol: Protocol) -> None:
        self.told = Told()
        self._protocol = protocol
        self._body = bytearray()
        self._too_large = False

    def feed(self, data: bytes) -> None:
        if len(self._body) + len(data) > LARGEST_BODY:
            self._too_large = True
        elif not self._too_large:
            self._body += data
        self.told.visible += len(data)

    def end(self) -> None:
        answer = None if self._too_large else _parsed(bytes(self._body))
        if self._protocol is Protocol.GOOGLE:
            for one in answer if isinstance(answer, list) else [answer]:  # a stream without events is one long list
                if isinstance(one, Mapping):
                    _google(self.told, one)
        elif isinstance(answer, Mapping):
            self.told.usage = _mapping(answer.get("usage"))
            self.told.model = _text(answer.get("model"))
            self.told.response_id = _text(answer.get("id"))
            self.told.calls = calls_in_answer(answer.get("output"))
            self.told.finished = True


@dataclass(slots=True)
class StreamReader:
    """Reads an answer that comes as server-sent events."""

    protocol: Protocol
    told: Told = field(default_factory=Told)
    _rest: bytearray = field(default_factory=bytearray)
    _held: bytes = b""
    """A CR at the end of a piece: its LF may come with the next."""

    def feed(self, data: bytes) -> None:
        for event in self._events(data):
            if (said := _json(event)) is not None:
                _READERS[self.protocol](self.told, said)

    def end(self) -> None:
        """Events end with an empty line, so what is left is none."""

    @property
    def between_events(self) -> bool:
        """Whether another event could be put in here."""
        return not self._rest and not self._held

    def _events(self, data: bytes) -> Iterator[bytes]:
        """The data of each event that is complete. Lines end with CR, LF or both. Every byte is looked at once, however
        long an event is."""
        data = self._held + data
        self._held = b"\r" if data.endswith(b"\r") else b""
        data = data.removesuffix(self._held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        rest, looked_at = self._rest, max(0, len(self._rest) - 1)
        rest += data
        begins = 0
        while (ends := rest.find(b"\n\n", looked_at)) >= 0:
            lines = [line[5:] for line in bytes(rest[begins:ends]).split(b"\n") if line.startswith(b"data:")]
            begins = looked_at = ends + 2
            if lines:
                yield b"\n".join(lines)
        del rest[: len(rest) if len(rest) - begins > LARGEST_EVENT else begins]


def _messages(told: Told, event: Mapping[str, Any]) -> None:
    match event.get("type"):
        case "message_start":
            message = _mapping(event.get("message")) or {}
            told.model = _text(message.get("model"))
            told.begun = _mapping(message.get("usage"))
        case "content_block_start":
            told.visible += BLOCK_TOKENS
        case "content_block_delta":
            told.visible += _deltas(event.get("delta"))
        case "message_delta":
            # Cumulative: what it does not say again is as it was when the answer began.
            said = _mapping(event.get("usage"))
            if said is not None:
                later = {name: value for name, value in said.items() if value is not None}
                told.usage = {**(told.begun or {}), **later}
        case "message_stop":
            told.finished = True
        case "error":
            told.error = _text((_mapping(event.get("error")) or {}).get("message")) or "error"


def _chat(told: Told, event: Mapping[str, Any]) -> None:
    told.model = _text(event.get("model")) or told.model
    if (usage := _mapping(event.get("usage"))) is not None:
        told.usage = usage
    if (error := _mapping(event.get("error"))) is not None:
        told.error = _text(error.get("message")) or "error"
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping):
            told.visible += _deltas(choice.get("delta"))
            told.finished = told.finished or choice.get("finish_reason") is not None


def _responses(told: Told, event: Mapping[str, Any]) -> None:
    kind = _text(event.get("type"))
    if (response := _mapping(event.get("response"))) is not None:
        told.model = _text(response.get("model")) or told.model
        told.response_id = _text(response.get("id")) or told.response_id
        if (usage := _mapping(response.get("usage"))) is not None:
            told.usage = usage
        told.calls = calls_in_answer(response.get("output"))
    if kind.endswith(".delta"):
        told.visible += _deltas(event.get("delta"))
    elif kind == "response.output_item.added":
        told.visible += BLOCK_TOKENS
    elif kind in ("response.completed", "response.incomplete"):
        told.finished = True
    elif kind in ("response.failed", "error"):
        told.error = kind


def _google(told: Told, event: Mapping[str, Any]) -> None:
    """Every piece has the usage so far; it is that of the whole call once a piece says why the answer ends."""
    told.model = _text(event.get("modelVersion")) or told.model
    if (error := _mapping(event.get("error"))) is not None:
        told.error = _text(error.get("message")) or "error"
    candidates = event.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        if isinstance(candidate, Mapping):
            told.visible += _deltas((_mapping(candidate.get("content")) or {}).get("parts"))
            told.finished = told.finished or candidate.get("finishReason") is not None
    told.finished = told.finished or "promptFeedback" in event  # a prompt that is refused has no candidates
    if (usage := _mapping(event.get("usageMetadata"))) is not None:
        told.begun = usage
        told.usage = usage if told.finished else None


_READERS = {
    Protocol.MESSAGES: _messages,
    Protocol.CHAT: _chat,
    Protocol.RESPONSES: _responses,
    Protocol.GOOGLE: _google,
}


_NO_WORDS = ("type", "role", "signature", "thoughtSignature")


def _deltas(delta: Any) -> int:
    """The most tokens in a piece of an answer, whatever its fields are called."""
    if isinstance(delta, str):
        return most_tokens(delta) if delta else 0
    if isinstance(delta, Mapping):
        return sum(_deltas(value) for name, value in delta.items() if name not in _NO_WORDS)
    return sum(_deltas(value) for value in delta) if isinstance(delta, list) else 0


def _json(data: bytes) -> Mapping[str, Any] | None:
    return _mapping(_parsed(data))


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
