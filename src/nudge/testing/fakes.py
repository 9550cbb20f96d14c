"""Fakes of the small ports: a model, an approver and conditions that do as they are told."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, TypeAlias

from nudge.model import (
    ModelReply,
    ModelRequest,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolUse,
    replay,
    text_reply,
)
from nudge.progress.extensions import Approval, ExtensionRequest
from nudge.reminders.conditions import Question, Verdict

Said: TypeAlias = str | Mapping[str, Any] | ToolUse | ModelReply | Exception
"""Words, the data of a form, a tool use, a whole reply, or an error to raise."""


class OfflineModel:
    """A model by script: it gives one answer after another, remembers what it was asked, and costs nothing.

    A function gets the request and says the answer. After the last answer it says `default`.

    >>> import asyncio
    >>> from nudge.model import ModelRequest, Purpose, user
    >>> model = OfflineModel(ToolUse("t1", "read_file", {"path": "a.py"}), "Done.")
    >>> request = ModelRequest(Purpose.WORK, "", (), (user("Fix it."),), 100)
    >>> asyncio.run(model.complete(request)).stop_reason.value, asyncio.run(model.complete(request)).text
    ('tool_use', 'Done.')
    >>> [asked.turns[0].text for asked in model.requests]
    ['Fix it.', 'Fix it.']
    """

    def __init__(self, *answers: Said | Callable[[ModelRequest], Said], default: Said = "") -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []
        self._default = default

    @property
    def name(self) -> str:
        return "offline"

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else self._default
        said = answer(request) if callable(answer) else answer
        match said:
            case Exception():
                raise said
            case ModelReply():
                return said
            case ToolUse():
                return ModelReply((said,), self.name, stop_reason=StopReason.TOOL_USE)
            case str():
                return text_reply(said, self.name)
            case _:
                return text_reply("", self.name, data=said)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Word by word."""
        async for event in replay(await self.complete(request)):
            if isinstance(event, TextDelta):
                for word in re.findall(r"\S*\s*", event.text)[:-1]:
                    yield TextDelta(word)
            else:
                yield event

    async def close(self) -> None:
        return None


class ScriptedApprover:
    """Answers one decision a request, then denies, like a person who has left."""

    def __init__(self, *decisions: Approval) -> None:
        self.decisions = list(decisions)
        self.asked: list[ExtensionRequest] = []

    async def ask(self, request: ExtensionRequest) -> Approval:
        self.asked.append(request)
        return self.decisions.pop(0) if self.decisions else Approval.DENIED


Answer = bool | Verdict | Callable[[Question], Verdict | bool]


class ScriptedConditions:
    """One answer after another; the last one stays.

    >>> import asyncio
    >>> conditions = ScriptedConditions(False, True)
    >>> question = Question("make test", "coach", "r-a1b2c3", 0, 10_000_000)
    >>> [asyncio.run(conditions.ask(question)).met for _ in range(3)]
    [False, True, True]
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers: list[Answer] = list(answers) or [True]
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Verdict:
        self.asked.append(question)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(question)
        if isinstance(answer, Verdict):
            return answer
        return Verdict(answer, "" if answer else "exit 1", "", 0 if answer else 1)
