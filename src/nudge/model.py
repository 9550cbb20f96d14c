"""The Model port: one question to a language model, one answer, and what it used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Purpose(StrEnum):
    """Why a model is asked. Routing and prices are chosen by purpose, and the usage log keeps it."""

    HEARTBEAT = "heartbeat"
    CONVERSATION = "conversation"
    BRIEFING = "briefing"
    REVIEW = "review"
    SUMMARY = "summary"
    WORK = "work"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. `role` is "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` counts what was neither read from nor written to the prompt cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A question. `system` is stable and comes first (the prompt cache holds it); `turns` end with the volatile part.

    `facts` carries the same context as structured values for models that are rules (the offline model); a model that
    reads text ignores it. `schema` asks for one JSON object of that shape, given back in `ModelReply.data`.
    """

    purpose: Purpose
    model: str
    system: str
    turns: tuple[Turn, ...]
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    facts: object | None = None
    attempt_id: str = ""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer. `data` is set only where a schema was asked for and the answer is one well-formed JSON object;
    it is not validated further: what does not fit is the caller's to treat as silence."""

    text: str
    model: str
    usage: Usage
    data: Mapping[str, Any] | None = None
    stop_reason: str = "end_turn"
    details: Mapping[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """Raises ModelUnavailableError (with `retry_after` where the service said one) and NotConfiguredError (bad key)."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...

    async def close(self) -> None: ...
