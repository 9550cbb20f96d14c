"""A model that plays a script. For tests of agents, and for `nudge work --demo`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nudge.errors import UsageError
from nudge.model import (
    Block,
    ModelReply,
    ModelRequest,
    Role,
    StopReason,
    StreamEvent,
    Text,
    ToolUse,
    replay,
)
from nudge.tokens import TokenUse

_USED = TokenUse(1_000, 100)
_FIELDS = {"say", "calls", "usage", "seconds"}


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What the model says and which tools it calls, what that uses, and how long it takes."""

    say: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    usage: TokenUse = _USED
    seconds: float = 0.0


class ScriptedModel:
    """Plays one turn after the other. Which one is next follows from the conversation alone, so a script goes on where
    it was after a restart. When it may use no tool, or the script is over, it says `closing`.

    >>> import asyncio
    >>> from nudge.model import ModelRequest, Purpose, Tool, user
    >>> look = {"say": "Let me look.", "calls": [{"read_file": {"path": "app.py"}}], "usage": [1200, 80]}
    >>> model = ScriptedModel.of({"turns": [look], "closing": "Nothing to do."})
    >>> read = Tool("read_file", "", {"type": "object"})
    >>> asked = ModelRequest(Purpose.WORK, "", (), (user("Fix it."),), 100, tools=(read,))
    >>> first = asyncio.run(model.complete(asked))
    >>> first.text, first.tool_uses[0].input, first.usage.input
    ('Let me look.', {'path': 'app.py'}, 1200)
    """

    def __init__(
        self,
        turns: Sequence[ScriptedTurn],
        closing: str = "Done.",
        *,
        name: str = "claude-sonnet-5-5",
        sleep: Callable[[float], Any] | None = None,
    ) -> None:
        self.turns = tuple(turns)
        self.closing = closing
        self.requests: list[ModelRequest] = []
        self._name = name
        self._sleep = sleep

    @classmethod
    def of(cls, script: Mapping[str, Any], **more: Any) -> ScriptedModel:
        """A script as YAML or JSON has it: `turns`, each with `say`, `calls`, `usage` (input and output tokens) and
        `seconds`, and `closing`."""
        turns = [_turn(number, turn) for number, turn in enumerate(script.get("turns") or (), 1)]
        return cls(turns, str(script.get("closing") or "Done."), **more)

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        number = sum(turn.role is Role.ASSISTANT for turn in request.turns)
        if not request.tools or number >= len(self.turns):
            return ModelReply((Text(self.closing),), self._answering(request), _USED)
        turn = self.turns[number]
        if self._sleep is not None and turn.seconds:
            await self._sleep(turn.seconds)
        calls = [ToolUse(f"call-{number + 1}-{n}", tool, dict(given)) for n, (tool, given) in enumerate(turn.calls, 1)]
        content: tuple[Block, ...] = (*([Text(turn.say)] if turn.say else []), *calls)
        stop = StopReason.TOOL_USE if calls else StopReason.END_TURN
        return ModelReply(content, self._answering(request), turn.usage, stop_reason=stop)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        async for event in replay(await self.complete(request)):
            yield event

    async def close(self) -> None:
        return None

    def _answering(self, request: ModelRequest) -> str:
        return request.model or self._name


def _turn(number: int, data: Any) -> ScriptedTurn:
    if not isinstance(data, Mapping) or not set(data) <= _FIELDS:
        raise UsageError(f"Turn {number} of the script is wrong.", next_step=f"Use {', '.join(sorted(_FIELDS))}.")
    calls = []
    for call in data.get("calls") or ():
        if not isinstance(call, Mapping) or len(call) != 1:
            raise UsageError(f"Turn {number} of the script: a call is one tool with its input.")
        tool, given = next(iter(call.items()))
        calls.append((str(tool), dict(given or {})))
    used = data.get("usage") or (1_000, 100)
    return ScriptedTurn(
        str(data.get("say") or ""), tuple(calls), TokenUse(int(used[0]), int(used[1])), float(data.get("seconds") or 0)
    )
