"""The offline model: the coach's rules behind the Model port. It costs nothing and is always there."""

from __future__ import annotations

import json
from collections.abc import Mapping

from nudge.coach.facts import CoachFacts
from nudge.coach.rules import answer
from nudge.errors import NudgeError
from nudge.model import ModelReply, ModelRequest, Usage

NAME = "offline"


class OfflineModel:
    """Answers every question of the coach from its facts; equal facts give equal answers."""

    @property
    def name(self) -> str:
        return NAME

    async def complete(self, request: ModelRequest) -> ModelReply:
        if not isinstance(request.facts, CoachFacts):
            raise NudgeError("The offline model answers from facts, and there are none.")
        found = answer(request.facts)
        if isinstance(found, Mapping):
            return ModelReply(json.dumps(found, ensure_ascii=False), NAME, Usage(), data=found)
        return ModelReply(found, NAME, Usage())

    async def close(self) -> None:
        return None
